"""Pictures with sliders for a fused layer: matrix product, bias and activation, and their gradients."""

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.fused_gemm_backward.pictures.gradients import PRODUCTS, GradientsPicture
from helpers.lessons.fused_gemm_backward.pictures.tiles import THREADS, TilesPicture
from helpers.lessons.fused_gemm_backward.pictures.transposed_load import FLIGHT, TransposedLoadPicture
from helpers.lessons.shared.products import LESSONS
from helpers.operations.gemm.indices import LOADS
from helpers.operations.gemm.operations import gemm_bias_act, gemm_bias_act_backward
from helpers.widgets.controls import Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer


def gradients() -> Explorer:
    """Sliders over the four products of the lesson's layer, with relu, and over the row and column of the result."""
    picture = _picture_of_layer()

    def rows(values: Values) -> int:
        return picture.size(values["product"])[0]

    def columns(values: Values) -> int:
        return picture.size(values["product"])[1]

    rules = {
        "product": len(PRODUCTS),
        "row": rows,
        "column": columns,
    }
    rows_of_a = LESSONS["a"]
    bottom = len(rows_of_a) - 1
    right = len(rows_of_a[0]) - 1
    last_of_d_a = {"product": 1, "row": bottom, "column": right}
    steps = {
        "Point at a number of pre: which numbers make it?": by_pointing({"product": 0}),
        f"Set product to 1, and point at d_a[{bottom},{right}].": by_pointing(last_of_d_a),
        "Set product to 2. Which columns meet now?": {"product": 2},
    }
    values = {"row": 2, "column": 1}
    return Explorer(picture.show, rules, values, play=("row", "column"), front=["product"], steps=steps)


def _picture_of_layer() -> GradientsPicture:
    """The picture of the lesson's layer, with what the GPU makes of it."""
    a = np.float32(LESSONS["a"])
    b = np.float32(LESSONS["b"])
    bias = np.float32(LESSONS["bias"])
    grad = np.float32(LESSONS["grad"])
    pre = gemm_bias_act(a[None], b, bias)[0]
    d_a, d_b, d_bias = gemm_bias_act_backward(a[None], b, bias, grad[None], "relu")
    returned = {
        "pre": pre,
        "d_a": d_a[0],
        "d_b": d_b,
        "d_bias": d_bias,
    }
    return GradientsPicture(a, b, bias, grad, returned)


def tiles() -> Explorer:
    """Sliders over the steps of one workgroup of 4 x 4 threads, and over the elements of c = a @ b."""
    random = np.random.default_rng(4)
    a = random.integers(0, 4, (8, 6)).astype(np.float32)
    b = random.integers(0, 4, (6, 8)).astype(np.float32)
    result = gemm_bias_act(a[None], b, np.zeros(8, np.float32))[0]
    picture = TilesPicture(a, b, result, adapter_info().short)
    last = len(picture.moves) - 1
    steps = {
        "Press play: tiles fly in.": by_playing({"step": last}),
        "Point at a number in left.": by_pointing(lambda values: values.get("slot", 0) in range(1, THREADS + 1)),
        "Point at c[0,0]: which tiles?": by_pointing({"row": 0, "column": 0}),
    }
    rules = {
        "step": last + 1,
        "row": 8,
        "column": 8,
    }
    start = {"row": 5, "column": 6}
    return Explorer(picture.show, rules, start, play="step", front=["step"], steps=steps, pace=600)


def transposed_load() -> Explorer:
    """Sliders over three ways to load a tile of a, over its flight, and over the threads of a workgroup of 4 x 4."""
    picture = TransposedLoadPicture()
    rules = {
        "load": len(LOADS),
        "thread": THREADS,
        "flight": len(FLIGHT),
    }
    steps = {
        "Play the flight of load 0, then of load 1.": by_playing({"load": 1, "flight": len(FLIGHT) - 1}),
        "Set load to 2: which offsets do neighbors read?": {"load": 2},
        "With load 1, point at slot 14 of left.": by_pointing({"load": 1, "thread": 11}),
    }
    start = {"thread": 1}
    return Explorer(picture.show, rules, start, play="flight", front=[*rules], steps=steps)
