"""A fault in a kernel for every version, which the checks must notice: what the tests plant, and no lesson shows.

`kernel_faults.toml` has those that are planted by hand, in the format of helpers/lessons/shared/wrong_kernels.toml. To
them come the wrong kernels that lesson 05 shows, and every version without each of its barriers.
"""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from support import kernel_fault_shapes as shapes

from helpers.lessons.shared import wrong_kernel_shapes as shapes_of_lesson_05
from helpers.lessons.shared import wrong_kernels as lesson_05
from helpers.lessons.shared.wrong_kernels import RACE, WrongKernel, read, shapes_in, small
from helpers.operations.kernels import load

# --- The table ------------------------------------------------------------------------------------------------

SHAPES = shapes_in(shapes_of_lesson_05) | shapes_in(shapes)
VERSIONS = read(Path(__file__).with_suffix(".toml"), SHAPES)
USUAL = {version.usual.kernel: version.usual for version in VERSIONS}


# --- Every barrier, missing -----------------------------------------------------------------------------------

RACES = {  # the problem and the constants that show them, where they are not the usual ones
    "conv2d/2_implicit_gemm": (shapes.TILES, {"SPLITS": 1}),  # all steps of a sum in one workgroup
    "conv2d_grad_input/3_implicit_gemm": (shapes.TILES, {"SPLITS": 1}),
    "conv2d_grad_input/4_residue_classes": (shapes.CLASSES, {"PIECES": 1}),  # so small a layer would share them
    "conv2d_grad_weight/3_split_k": (shapes.TILES, {"SPLITS": 1}),
    "conv2d_grad_weight/4_winograd": (shapes.TILES_18, {"TILE_K": 16}),
}
RARE = {  # by the barrier's comment, the only problem that shows the race
    "  // no thread still reads the old tile": shapes.MANY_IMAGES,
    "  // no thread still reads the sums of the filter before": shapes.PAIRS,
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
    *chain.from_iterable(version.rows for version in VERSIONS),
    *chain.from_iterable(map(without_a_barrier, USUAL)),
)
