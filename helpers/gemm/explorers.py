"""Pictures with sliders for a fused layer: matrix product, bias and activation, and their gradients."""

from math import ceil

import numpy as np

from helpers.gemm.indices import LOADS
from helpers.gemm.pictures.activations import NAMES, ActivationsPicture
from helpers.gemm.pictures.gradients import PRODUCTS, GradientsPicture
from helpers.gemm.pictures.tiles import TILE, TilesPicture, TransposedLoadPicture
from helpers.gemm.shapes import GemmShape
from helpers.kernels import load
from helpers.stepper import stepper
from helpers.widgets.explorer import Explorer
from wgsl import Kernel
from wgsl.simulator.run import simulate


def gradients(a, b, bias, grad, pre, d_a, d_b, d_bias) -> Explorer:
    """Sliders over the four products of a relu layer, and over the row and column of the result.

    Parameters
    ----------
    a, b, bias, grad : float32 arrays (M, K), (K, N), (N) and (M, N)
        Small whole numbers; M and K up to 4, N up to 5.
    pre, d_a, d_b, d_bias : float32 arrays (M, N), (M, K), (K, N) and (N)
        What the GPU returned: the forward pass without its relu, and the three gradients with it.
    """
    picture = GradientsPicture(a, b, bias, grad, {"pre": pre, "d_a": d_a, "d_b": d_b, "d_bias": d_bias})
    rules = {
        "product": len(PRODUCTS),
        "row": lambda values: picture.size(values["product"])[0],
        "column": lambda values: picture.size(values["product"])[1],
    }
    start = {"product": 2, "row": min(2, len(b) - 1), "column": min(1, b.shape[1] - 1)}
    return Explorer(picture.show, rules, start, play=("row", "column"))


def tiles(a: np.ndarray, b: np.ndarray, result: np.ndarray) -> Explorer:
    """Sliders over the steps of one workgroup of 4 x 4 threads, and over its threads.

    Parameters
    ----------
    a, b : float32 arrays (M, K) and (K, N)
        Whole numbers of one digit; M and N of 4 or 8, K of 9 to 12. Where 4 does not divide K, zeros fill the last
        tiles.
    result : float32 array (M, N)
        What the GPU returned for a @ b.
    """
    picture = TilesPicture(a, b, result)
    return Explorer(picture.show, {"step": picture.steps, "thread": TILE**2}, {"thread": 6}, play="step")


def tile_steps(a: np.ndarray, b: np.ndarray, kernel: Kernel | None = None, **options) -> Explorer:
    """Sliders through a simulated run of workgroups of 4 x 4 threads that compute a @ b, line by line.

    Parameters
    ----------
    a, b : float32 arrays (M, K) and (K, N)
        Whole numbers; M and N up to 4 for one workgroup, K up to 8.
    kernel : Kernel
        A version or an edit of `2_tiled`; version 2 itself if not given.
    options
        Those of `stepper`, such as the step at first.
    """
    (m, k), n, tiles = a.shape, b.shape[1], (TILE, TILE)
    kernel = (kernel or load("gemm_bias_act", "2_tiled")).with_constants(TILE=TILE)
    shape = GemmShape(m, k, n)
    buffers = a, b, np.zeros(n, np.float32), np.zeros((m, n), np.float32), np.array(shape.params(), np.uint32)
    trace = simulate(kernel, buffers, (ceil(n / TILE), ceil(m / TILE), 1))
    shapes = {"a": a.shape, "output": (m, n), "b": b.shape, "left": tiles, "right": tiles}
    only = "= read_", "workgroupBarrier", "tile_product(local", "output["
    return stepper(trace, shapes, part=kernel.part(3), only=only, **options)


def transposed_load() -> Explorer:
    """Sliders over three ways to load a tile of b, and over the threads of one workgroup of 4 x 4."""
    rules = {"load": len(LOADS), "thread": TILE**2}
    return Explorer(TransposedLoadPicture().show, rules, {"load": 1, "thread": 6}, play="thread")


def activations() -> Explorer:
    """Sliders over the six activations by number, and over x in tenths from -6 to 6."""
    picture = ActivationsPicture()
    rules = {"act": len(NAMES), "tenths": (-60, 60)}
    return Explorer(picture.show, rules, {"act": 2, "tenths": 10})
