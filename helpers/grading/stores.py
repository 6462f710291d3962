"""The lines of a kernel that store numbers to buffers."""

from collections.abc import Sequence

import numpy as np

from wgsl.facts import Line
from wgsl.simulator.trace import Trace


def lines_of(traces: Sequence[Trace], lines: Sequence[str], again: bool = False) -> tuple[Line, ...]:
    """Return the lines of a text that store to buffers; or those alone that store an element `again` in a pass."""
    found = set()
    for trace in traces:
        most = _elements(trace) if again else 0
        found |= {number for number, keys in trace.counts.by_line.items() if keys["stores_storage"] > most}
    return tuple(Line(number, _code(lines[number - 1])) for number in sorted(found))


def _elements(trace: Trace) -> int:
    """Return how many different elements of buffers a pass stores."""
    variables = (variable for variable in trace.log.variables if variable.space == "storage")
    stored = (trace.log.touched(variable, write=True)[1] for variable in variables)
    return sum(len(np.unique(words)) for words in stored)


def _code(line: str) -> str:
    """Return a line without its comment."""
    return " ".join(line.partition("//")[0].split())
