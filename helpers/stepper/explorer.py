"""Sliders through a simulated run."""

from collections.abc import Mapping

from helpers.pictures.explorer import Explorer, below
from helpers.simulator.findings.trace import Trace
from helpers.stepper.picture import StepperPicture


def stepper(trace: Trace, shapes: Mapping[str, tuple[int, ...]], lines: range | None = None, **values: int) -> Explorer:
    """Sliders over the steps of a simulated run and over its threads; buttons play the steps.

    Parameters
    ----------
    trace : Trace
        What `helpers.simulate` returned, for a problem with few threads and small arrays.
    shapes : mapping of name to shape
        The storage buffers and workgroup variables to draw, in this order, each in the shape of its tensor.
    lines : range
        The lines whose steps are shown, and whose text; all if not given.
    values : int
        Where the sliders `step` and `thread` start.
    """
    lines = lines or range(1, trace.kernel.source.count("\n") + 2)
    picture = StepperPicture(trace, dict(shapes), lines)
    rules = {"step": below(len(picture.replay.steps)), "thread": below(picture.replay.count)}
    return Explorer(picture.show, rules, {"step": 0, "thread": 0} | values, play="step")
