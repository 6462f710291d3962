"""A data race as a picture: the element, and the two accesses between which nothing decides."""

import numpy as np

from helpers.grading.drawing import window
from helpers.grading.read_sets_picture import EDGE, SHEET
from helpers.pictures.canvas import GRAY, ORANGE, Box, Picture
from wgsl.simulator.findings import Finding
from wgsl.simulator.trace import Trace

CELL, MOST, LETTERS = 38, 9, 46  # CSS pixels of an element; elements that are drawn; letters of a line


class RacePicture(Picture):
    """The earlier access above an array, the later one below it, and lines from both to the element."""

    def __init__(self, trace: Trace, earlier: np.void, later: np.void) -> None:
        super().__init__(196, SHEET)
        name, index = trace.variables[int(later["variable"])], int(later["index"])
        said = [_said(trace, access) for access in (earlier, later)]
        size = int(trace.accesses["index"][trace.accesses["variable"] == later["variable"]].max()) + 1
        shown = range(size)[window(index, size, MOST)]
        cells = {at: Box(EDGE + 4 + CELL * i, 82, CELL, 30) for i, at in enumerate(shown)}
        self.boxes(cells.values())
        self.tinted([cells[index]], ORANGE, 3)
        self.label(cells.values(), (f"[{at}]" for at in shown), 13)
        self.write(cells[shown[-1]].x + CELL + 8, 97, name, 14, GRAY)
        middle = cells[index].middle[0]
        self.lines([(middle, 56, middle, 80), (middle, 114, middle, 138)], ORANGE, 3)
        for (who, line), y in zip(said, (14, 150), strict=True):
            self.bold(EDGE, y, who, 14, ORANGE)
            self.write(EDGE, y + 24, line if len(line) <= LETTERS else f"{line[: LETTERS - 1]}…", 12.5)
        first, second = (who for who, _ in said)
        self.stands_still()
        self.sentence = f"{first}; {second[:1].lower()}{second[1:]}: nothing says which of the two comes first."


def _said(trace: Trace, access: np.void) -> tuple[str, str]:
    """Who does what where, and the line."""
    group = f" of workgroup {tuple(map(int, access['workgroup']))}" if max(trace.workgroups) > 1 else ""
    does, line = "writes" if access["write"] else "reads", int(access["line"])
    place = f"{trace.variables[int(access['variable'])]}[{int(access['index'])}]"
    text = trace.kernel.source.split("\n")[line - 1].partition("//")[0].strip()
    return f"Thread {int(access['invocation'])}{group} {does} {place} in line {line}", text


def race_picture(trace: Trace, finding: Finding) -> RacePicture | None:
    """The picture of a race that a run has shown; None where its accesses are not kept."""
    seen = trace.accesses
    (group, thread), *_ = finding.invocations
    mine = (seen["workgroup"] == group).all(axis=1) & (seen["invocation"] == thread)
    others = seen[~mine & (seen["line"] == finding.other_line)]
    for later in seen[mine & (seen["line"] == finding.line)]:
        same = (others["variable"] == later["variable"]) & (others["index"] == later["index"])
        for earlier in others[same & (others["write"] | later["write"])]:
            return RacePicture(trace, earlier, later)
    return None
