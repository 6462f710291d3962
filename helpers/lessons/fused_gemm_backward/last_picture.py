"""Lesson 06's last picture: one layer that learns to read digits by the reader's products."""

from collections.abc import Callable

from helpers.lessons.exercises import PUZZLES
from helpers.lessons.fused_gemm_backward import one_layer
from helpers.lessons.shared.own_kernels import Array, own_kernel, runner
from helpers.widgets.explorer import Explorer


def train_layer() -> Explorer:
    """Lesson 06: one layer learns to read digits by your products; where yours is not right yet, by the official one.

    Raises GpuError where this machine cannot run any kernel.
    """
    makers = [_product(*puzzles) for puzzles in (("tiled_product", "product"), ("transposed_tile",))]
    (forward, one), (grad_weight, other) = makers
    return one_layer.explorer(forward, grad_weight, f"{one} and {other}")


def _product(*puzzles: str) -> tuple[Callable[[Array, Array], Array], str]:
    """The product that some puzzles ask for, a @ b or a^T @ b, and whose kernel computes it."""
    run, _, whose = own_kernel(*puzzles)
    if run is None:
        official = PUZZLES[puzzles[0]].solution.text
        run = runner(official)
        whose = f"our {puzzles[0]}"

    def product(left: Array, right: Array) -> Array:
        """Workgroups of 16 x 16 threads."""
        m, k = left.shape
        n = right.shape[1]
        rows = k if puzzles[0] == "transposed_tile" else m
        return run((left, right), (rows, n), (m, k, n), (-(-n // 16), -(-rows // 16), 1))

    return product, whose
