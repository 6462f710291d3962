"""Wrong kernels of all versions: here of those that helpers/lessons/shared/wrong_kernels.py, of lesson 05, has not.

`wrong_kernels.txt` has those that are planted by hand.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from support.problem_lists import NAMES as KINDS

from helpers.lessons.shared import wrong_kernels as lesson_05
from helpers.lessons.shared.wrong_kernels import RACE, WrongKernel, small, tables
from helpers.operations.kernels import load

# --- The table ------------------------------------------------------------------------------------------------

TABLE = Path(__file__).with_suffix(".txt")
NAMES = vars(lesson_05) | KINDS | {"replace": replace}
for name, value in re.findall(r"^(\w+) = (.*?)(?:  #.*)?$", TABLE.read_text(encoding="utf-8"), re.MULTILINE):
    NAMES[name] = eval(value, NAMES)

FOUND = [*tables(TABLE, NAMES)]
USUAL = {usual.kernel: usual for usual, _ in FOUND}
assert len(USUAL) == len(FOUND), "a version has two headings"


# --- Every barrier, missing -----------------------------------------------------------------------------------

RACES = {  # the problem and the constants that show them, where they are not the usual ones
    "conv2d/2_implicit_gemm": (NAMES["TILES"], NAMES["ALONE"]),
    "conv2d_grad_input/3_implicit_gemm": (NAMES["TILES"], NAMES["ALONE"]),
    "conv2d_grad_input/4_residue_classes": (NAMES["CLASSES"], NAMES["WHOLE"]),
    "conv2d_grad_weight/3_split_k": (NAMES["TILES"], NAMES["ALONE"]),
    "conv2d_grad_weight/4_winograd": (NAMES["TILES_18"], {"TILE_K": 16}),
}
RARE = {  # by the barrier's comment, the only problem that shows the race
    "  // no thread still reads the old tile": NAMES["MANY_IMAGES"],
    "  // no thread still reads the sums of the filter before": NAMES["PAIRS"],
}


def without_a_barrier(name: str) -> Iterator[WrongKernel]:
    """A version without each of its barriers, one at a time: a data race."""
    shape, constants = RACES.get(name, (USUAL[name].shape, USUAL[name].constants))
    source = small(load(name)).source
    for barrier in re.finditer(r"workgroupBarrier\(\);(.*)", source):
        begin = barrier.start()
        while source.count(source[begin : barrier.end()]) > 1:  # with the text before it that makes it unique
            begin = source.rindex("\n", 0, begin)
        before, comment = source[begin : barrier.start()], barrier[1]
        title = f"no barrier in line {source.count(chr(10), 0, barrier.start()) + 1}"
        yield WrongKernel(name, title, before + barrier[0], before + comment, RACE, RARE.get(comment, shape), constants)


WRONG_KERNELS = (
    *lesson_05.WRONG_KERNELS,
    *(row for _, rows in FOUND for row in rows),
    *(row for version in USUAL for row in without_a_barrier(version)),
)
