"""The picture to point at: a sum in CUDA beside the same in WGSL."""

from math import ceil

import numpy as np

from helpers import gpu
from helpers.gpu import adapter_info
from helpers.lessons.if_you_know_cuda.side_by_side import COUNT, SIZE, WGSL, SideBySide, pairs
from helpers.widgets.controls import Trials, by_pointing
from helpers.widgets.explorer import Explorer

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
    return Explorer(picture.show, {"pair": len(pairs())}, {"pair": 10}, front=(), steps=TRY)
