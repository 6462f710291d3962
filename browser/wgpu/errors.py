"""The browser's errors as wgpu's classes, with texts in the form that `wgsl.suggestions` reads."""

from collections.abc import Iterable
from typing import Any

from wgsl.adapter import GPUError, GPUOutOfMemoryError, GPUValidationError, refused_text


class GPUGoneError(RuntimeError):
    """The browser took the GPU away, or it does not answer: no call works any more."""

    def __init__(self, why: str) -> None:
        todo = "choose Kernel > Restart Kernel, and run the cells again; what you wrote is kept"
        super().__init__(f"{why}: {todo} (where that does not help, close the browser first)")

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message alone, as the code is not to blame."""
        return [str(self)]


def raised(error: Any) -> GPUError:
    """The exception for an error that an error scope caught."""
    kind = GPUOutOfMemoryError if error.constructor.name == "GPUOutOfMemoryError" else GPUValidationError
    return kind(error.message)


def compile_error(messages: Iterable[Any]) -> GPUValidationError | None:
    """The first error among a compiler's messages, with its place, or None."""
    first = next((message for message in messages if message.type == "error"), None)
    return first and GPUValidationError(refused_text(first.message, first.lineNum, first.linePos))
