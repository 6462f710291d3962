"""The error of a central difference over its step: for a linear loss it falls, for another one it is like a V."""

from helpers.oracles.pictures.error_chart import ErrorChart, Line, part
from helpers.oracles.steps import POWERS, Differences
from helpers.pictures.canvas import BLUE, ORANGE, Word
from helpers.summation.error_picture import DIAMOND, SQUARE


class StepPicture(ErrorChart):
    """Two losses, one linear and one not, and the error of their central differences at each step."""

    def __init__(self, linear: Differences, curved: Differences) -> None:
        self.linear, self.curved = linear, curved
        lines = (
            Line(linear.name, linear.errors, BLUE, SQUARE),
            Line(curved.name, curved.errors, ORANGE, DIAMOND, (9, 3)),
        )
        title, ticks = "error of central differences in float32", {power: step(power) for power in POWERS[::5]}
        super().__init__(title, "the largest derivative", lines, -7, POWERS, ticks, "step")
        for power, align, notes in (
            (-14.8, "left", ("rounding:", "twice the step,", "half the error")),
            (-2.2, "right", ("truncation:", "twice the step,", "4 times the error")),
        ):
            self.on_paper([Word(self.x(power), 84 + 18 * i, note, 13, align) for i, note in enumerate(notes)])
        self.stands_still()

    def show(self, k: int) -> "StepPicture":
        """Move to the step 2**k."""
        self.starts()
        place = POWERS.index(k)
        values = [part(line.errors[place]) for line in self.plotted]
        self.point(k, f"at step {step(k)}", values)
        linear, curved = (_error(each, place) for each in (self.linear, self.curved))
        difference = f"the central difference of the {self.linear.name}'s loss"
        self.sentence = (
            f"At step {step(k)}, {difference} is off by {linear}. That of {self.curved.name} is off by {curved}."
        )
        return self


def step(power: int) -> str:
    """A power of two, as a whole number or a fraction."""
    return f"{2**power:,}" if power >= 0 else f"1/{2**-power:,}"


def _error(differences: Differences, place: int) -> str:
    """How large the error is, where it comes from, and whether it is the smallest."""
    error, truncation = differences.errors[place], differences.truncation[place]
    cause = "mostly truncation" if truncation > error / 2 else "mostly rounding"
    if truncation < error / 1000:
        cause = "rounding alone"
    best = ": this is its best step" if error == differences.errors.min() else ""
    return f"{part(error)} ({cause}){best}"
