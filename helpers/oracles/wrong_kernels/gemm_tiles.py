"""Wrong kernels of the fully connected layer's versions with 8 x 8 elements a thread, forward and backward."""

from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels.row import NUMBERS, OVERLAP, RACE, READ, UNWRITTEN, WRITE, WrongKernel

# The smallest problems that show a mistake: no tile is full, and a sum has two steps of 8.
LAYER = GemmShape(3, 12, 8, 2, "relu")
OWN_B = GemmShape(3, 12, 8, 2, "relu", b_per_item=True)
LONG = GemmShape(3, 12, 12, 4, "relu")  # two steps along k, n and the rows of all items
PER_ITEM = GemmShape(3, 4, 8, 2, "relu", b_per_item=True, per_item=True)
BROAD = GemmShape(2, 3, 68, 1, "relu")  # two tiles side by side
TALL = GemmShape(129, 1, 4)  # three tiles; and one row more than d_bias takes in one step

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
        WrongKernel(kernel, "last step of k left out", LAYER, "k0 < K; k0", "k0 + TILE_K <= K; k0"),
        WrongKernel(kernel, "every item reads item 0's b", OWN_B, "item * B_STRIDE + ", ""),
        WrongKernel(kernel, "bias forgotten", LAYER, " + bias_n", ""),
        WrongKernel(kernel, "reads past the last row of a", LAYER, "(m < M && k < K)", "(k < K)", READ),
        WrongKernel(kernel, "terms past the end of k", LAYER, "(m < M && k < K)", "(m < M)", READ),
        WrongKernel(
            kernel, "writes past its row", LAYER, "(m < M && n < N)", "(m < M)", RACE + OVERLAP + WRITE + NUMBERS
        ),
        WrongKernel(
            kernel,
            "every tile is in the first column",
            BROAD,
            "n0 = workgroup.x * TILE_N",
            "n0 = 0u",
            OVERLAP + UNWRITTEN + NUMBERS,
        ),
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
    WrongKernel(GEMM_3, "the first eight rows of a tile only", LAYER, "left[k][row + i *", "left[k][i *"),
    WrongKernel(GEMM_3, "columns of b side by side", LAYER, "right[k][column + j * (TILE_N / 8u)]", "right[k][j]"),
    WrongKernel(GEMM_4, "a row of a quad twice", LAYER, "m + 3u, k)", "m + 2u, k)"),
    WrongKernel(GEMM_4, "second quad of rows is the first", TALL, "left[k][row + TILE_M / 8u]", "left[k][row]"),
    WrongKernel(GEMM_5, "the same tile fetched again", LAYER, "n0, k0 + TILE_K); }", "n0, k0); }"),
    WrongKernel(GEMM_5, "a quad placed beside its place", LAYER, "[quad] = next_left", "[quad ^ 1u] = next_left"),
    # --- The backward pass --------------------------------------------------------------------------------
    *_barriers(),
    WrongKernel(BACK_3, "bias forgotten in the recomputed pre", LONG, " + bias_n", ""),
    WrongKernel(BACK_3, "upstream gradient forgotten", LONG, "upstream * finite", "finite"),
    WrongKernel(BACK_3, "derivative forgotten", LONG, " * finite_or_0(derivative(pre))", ""),
    WrongKernel(BACK_3, "d_a without its last step", LONG, "n0 < N; n0", "n0 + TILE_K <= N; n0"),
    WrongKernel(BACK_3, "d_a with another item's b", OWN_B, "b[item * B_STRIDE", "b[0u * B_STRIDE"),
    WrongKernel(BACK_3, "rows of b side by side", LONG, "read_b(item, k + B_QUADS, n)", "read_b(item, k + 1u, n)"),
    WrongKernel(BACK_3, "d_b without the last rows", LONG, "m0 < end; m0", "m0 + TILE_K <= end; m0"),
    WrongKernel(BACK_3, "d_b per item ends one item late", PER_ITEM, "end = first + D_B_ROWS", "end = ALL_ROWS"),
    WrongKernel(
        BACK_3,
        "d_b of all items in one",
        PER_ITEM,
        "d_b[item * D_B_STRIDE + ",
        "d_b[",
        RACE + OVERLAP + UNWRITTEN + NUMBERS,
    ),
    WrongKernel(
        BACK_3,
        "d_bias without the last rows",
        TALL,
        "row < ALL_ROWS; row += TILE_K",
        "row + TILE_K < ALL_ROWS; row += TILE_K",
    ),
    WrongKernel(BACK_3, "d_bias reads past the last column", LONG, "min(n, N - 1u)", "n", READ),
    WrongKernel(BACK_3, "d_bias of one sum in four", TALL, "sum.x + sum.y + sum.z + sum.w", "sum.x"),
)
