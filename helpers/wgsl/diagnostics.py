"""What ends the reading of a text: it is not WGSL, or it is WGSL that the simulator does not run."""


class Refused(Exception):
    """A text that no WGSL compiler accepts.

    `reason` says why, in the words of the adapter's compiler where it has some, so that both are explained alike; the
    place is `length` letters from the offset `at`, and `label` is what the compiler writes below them.
    """

    def __init__(self, reason: str, at: int, length: int = 1, label: str = "") -> None:
        super().__init__(reason)
        self.reason, self.at, self.length, self.label = reason, at, max(1, length), label


class Undefined(Refused):
    """A value that is known before the run, and that WGSL does not define: the division by zero of two constants."""


class Unsupported(Exception):
    """A feature of WGSL that the simulator does not run, by its name, with its offset in the text."""

    def __init__(self, feature: str, at: int) -> None:
        super().__init__(feature)
        self.feature, self.at = feature, at


class WgslError(ValueError):
    """A kernel that does not compile: the place, and what the compiler expected there.

    `line` and `column` count from 1; they are None where the compiler names no place.
    """

    line: int | None = None
    column: int | None = None

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message alone, without the launcher's frames above it."""
        return [f"{type(self).__name__}: {self}"]


class UnsupportedWgsl(WgslError):
    """A kernel with a feature of WGSL that the simulator does not run; the message has its name and its line."""
