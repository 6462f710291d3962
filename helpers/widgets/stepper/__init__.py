"""A simulated run, step by step: sliders over the kernel's text, its threads, and the memory that they touch."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from helpers.widgets.stepper.explorer import StepperExplorer
from helpers.widgets.stepper.picture import HEIGHT, StepperPicture
from helpers.widgets.stepper.text import outline
from wgsl.simulator.trace import Trace


def stepper(
    trace: Trace,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    *,
    only: Sequence[str] = (),
    stop: str = "",
    steps: Mapping[str, object] = MappingProxyType({}),
    **values: int,
) -> StepperExplorer:
    """Sliders over the steps of a simulated run and over its threads; buttons play the steps, or go to where one asks.

    Parameters
    ----------
    trace : Trace
        What `helpers.simulate` returned, for a problem with few threads and small arrays. The variables that it
        watched are shown as the thread has them.
    shapes : mapping of name to shape
        The storage buffers and workgroup variables to draw, in this order, each in the shape of its tensor; all that
        the run touches if not given, buffers in the shapes in which they were passed.
    only : sequence of str
        Pieces of the text: only lines that contain one of them have steps, and the text is an outline around them.
        A call of a function without such lines is one step.
    stop : str
        Where "next stop" goes on to, as a reader writes it: "sum is 12", or "total[0] is written".
    steps : mapping of str to values or callable
        What to try, as an `Explorer` takes it.
    values : int
        Where the sliders `step` and `thread` start.
    """
    stepped = _lines_with(only, trace.kernel.code)
    shown = outline(trace.kernel, stepped) if only else stepped
    room = HEIGHT - 28 if steps else HEIGHT  # what to try takes a row
    picture = StepperPicture(trace, shapes or _touched(trace), shown, stepped, room)
    return StepperExplorer(picture, values, stop, steps)


def _lines_with(pieces: Sequence[str], code: str) -> list[int]:
    """The numbers of the lines that contain one of some pieces; of all lines where there are no pieces."""
    lines = code.split("\n")
    if not pieces:
        return list(range(1, len(lines) + 1))
    return [i for i, line in enumerate(lines, 1) if _contains_one(line, pieces)]


def _contains_one(line: str, pieces: Sequence[str]) -> bool:
    return any(piece in line for piece in pieces)


def _touched(trace: Trace) -> dict[str, tuple[int, ...]]:
    """The arrays that a run touches: buffers in their shapes, workgroup variables as long as the part in use."""
    bindings = zip(trace.kernel.bindings, trace.buffers, strict=True)
    shapes = {binding.name: buffer.shape for binding, buffer in bindings if binding.name in trace.variables}
    for i, name in enumerate(trace.variables):
        words = trace.accesses["index"][trace.accesses["variable"] == i]
        shapes.setdefault(name, (int(words.max()) + 1,))
    return shapes
