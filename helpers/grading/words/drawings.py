"""The text pictures below a verdict: the lines that are drawn, and above them what they show."""

from helpers.grading.drawing import Excerpt, NumbersDrawn, ValuesDrawn
from helpers.grading.words.letters import cut
from helpers.grading.words.texts import times

WIDEST = 150  # letters of a line
LEGEND = {"*": "* marks a wrong number", ".": "a dot is a number that was never written"}


def excerpt(drawn: Excerpt) -> str:
    """Return the lines, each cut where it is long."""
    return "\n".join(cut(line, drawn.widest) for line in drawn.text.split("\n"))


def numbers_drawn(drawn: NumbersDrawn) -> str:
    """Return which test it is, which workgroups run which of several passes, the legend, and the lines."""
    head = [f"The smallest test with wrong numbers is {drawn.test}." if drawn.test else "The drawn problem:"]
    if drawn.passes:
        passes = ", then ".join(f"{name} in {times(workgroups)}" for name, workgroups in drawn.passes)
        head.append(f"Its workgroups: {passes}.")
    legend = "; ".join(words for mark, words in LEGEND.items() if mark in drawn.marks)
    return "\n".join(cut(line, WIDEST) for line in [*head, f"({legend})", *drawn.lines])


def values_drawn(drawn: ValuesDrawn) -> str:
    """Return which test it is, the legend, and the lines."""
    head = f"The smallest test that fails is {drawn.test}." if drawn.test else "The drawn problem:"
    return "\n".join([head, "(* marks a wrong value)", *drawn.lines])


SENTENCES = {Excerpt: excerpt, NumbersDrawn: numbers_drawn, ValuesDrawn: values_drawn}
