"""The page's pictures: a sum in CUDA beside the same in WGSL, to point at, and a race in a text of the reader's."""

from collections.abc import Sequence
from math import ceil

import numpy as np

from helpers import gpu
from helpers.gpu import adapter_info
from helpers.grading.race import race
from helpers.lessons.if_you_know_cuda.side_by_side import COUNT, SIZE, WGSL, SideBySide, pairs
from helpers.widgets.controls import Trials, by_pointing
from helpers.widgets.explorer import Explorer
from helpers.widgets.race_picture import RacePicture
from wgsl import simulate

MOST_ITERATIONS = 2_000
TRY: Trials = {
    "Point at atomicAdd: what takes its place?": by_pointing({"pair": 12}),
    "Point at template: when is SIZE chosen?": by_pointing({"pair": 0}),
    "Point at the launch: what is missing?": by_pointing({"pair": 13}),
}


def side_by_side() -> Explorer:
    """Two texts whose lines are pointed at; that in WGSL has been run."""
    blocks = ceil(COUNT / SIZE)
    sums = gpu.launch(WGSL, [np.ones(COUNT, np.float32), np.zeros(blocks, np.float32), (COUNT,)], blocks)
    picture = SideBySide(float(sums.sum()), adapter_info().short)
    return Explorer(picture.show, {"pair": len(pairs())}, {"pair": 10}, steps=TRY)


def race_in(text: str, buffers: Sequence[np.ndarray], workgroups: tuple[int, int, int]) -> RacePicture | None:
    """The first data race of a reader's text, drawn; where there is none, what else is found is printed.

    It raises what `helpers.simulate` raises.
    """
    trace = simulate(text, buffers, workgroups, max_steps=MOST_ITERATIONS)
    for finding in trace.findings:
        shown = race(trace, finding) if finding.kind == "data race" else None
        if shown:
            return RacePicture(shown)
    print("\n".join(map(str, trace.findings)) or "No race was found, and nothing else that is wrong.")
    return None
