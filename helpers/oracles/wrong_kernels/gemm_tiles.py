"""Wrong kernels of the fully connected layer's versions with 8 x 8 elements a thread, forward and backward."""

from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels.row import RACE, READ, WrongKernel

# The smallest problems that show a mistake: no tile is full, and a sum has two steps of 8.
LAYER = GemmShape(3, 12, 8, 2, "relu")
LONG = GemmShape(3, 12, 12, 4, "relu")  # two steps along k, n and the rows of all items

GEMM_3, GEMM_4 = "gemm_bias_act/3_register_tiles", "gemm_bias_act/4_vec4_tiles"
GEMM_5, BACK_3 = "gemm_bias_act/5_prefetch", "gemm_bias_act_backward/3_register_tiles"

LOADED, USED = "workgroupBarrier();  // both tiles are in place", "workgroupBarrier();  // no thread still reads them"
MULTIPLY = "\n    }\n    multiply(row, column);\n    "
# What precedes each of the two barriers in the loop of a backward pass.
PASSES = {
    "grad_pre": ("place_left_by_k(thread);\n    place_right_by_quad(thread);\n    ", "n0, k0 + TILE_K);" + MULTIPLY),
    "d_a": ("place_left_by_k(thread);\n    place_right_by_k(thread);\n    ", "k0, n0 + TILE_K);" + MULTIPLY),
    "d_b": ("place_left_by_quad(thread);\n    place_right_by_quad(thread);\n    ", "n0, m0 + TILE_K);" + MULTIPLY),
}


def _forward(kernel: str) -> tuple[WrongKernel, ...]:
    """The mistakes that each of the three forward versions can have."""
    return (
        WrongKernel(kernel, "no barrier after the loads", LAYER, LOADED, "", RACE),
        WrongKernel(kernel, "no barrier after the products", LAYER, USED, "", RACE),
        WrongKernel(kernel, "reads past the last row of a", LAYER, "(m < M && k < K)", "(k < K)", READ),
    )


def _barriers() -> tuple[WrongKernel, ...]:
    """Every barrier of the backward pass, missing."""
    rows = []
    for name, (loaded, used) in PASSES.items():
        rows += [
            WrongKernel(BACK_3, f"no barrier after the loads of {name}", LONG, loaded + LOADED, loaded, RACE),
            WrongKernel(BACK_3, f"no barrier after the products of {name}", LONG, used + USED, used, RACE),
        ]
    summed = "workgroupBarrier();  // the sums of all rows"
    return (*rows, WrongKernel(BACK_3, "no barrier before the sums of d_bias", LONG, summed, "// the sums", RACE))


WRONG_KERNELS = (
    *_forward(GEMM_3),
    *_forward(GEMM_4),
    *_forward(GEMM_5),
    WrongKernel(GEMM_3, "columns of b side by side", LAYER, "right[k][column + j * (TILE_N / 8u)]", "right[k][j]"),
    WrongKernel(GEMM_4, "a row of a quad twice", LAYER, "m + 3u, k)", "m + 2u, k)"),
    WrongKernel(GEMM_5, "the same tile fetched again", LAYER, "n0, k0 + TILE_K); }", "n0, k0); }"),
    # --- The backward pass --------------------------------------------------------------------------------
    *_barriers(),
    WrongKernel(BACK_3, "d_b without the last rows", LONG, "m0 < end; m0", "m0 + TILE_K <= end; m0"),
    WrongKernel(BACK_3, "d_bias reads past the last column", LONG, "min(n, N - 1u)", "n", READ),
)
