"""Wrong kernels of the fully connected layer."""

from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels.row import (
    MISSED_BARRIER,
    NOT_A_NUMBER,
    NUMBERS,
    OVERLAP,
    RACE,
    READ,
    UNINITIALIZED,
    UNWRITTEN,
    WRITE,
    WrongKernel,
)

# The smallest problems that show a mistake.
LAYER = GemmShape(3, 6, 9, 2, "relu")  # M, K and N differ, no tile is full; one, two and three tiles
ONE_ROW = GemmShape(1, 6, 9)  # a term past the end of a is past the end of b
OWN_B = GemmShape(3, 6, 9, 2, "relu", b_per_item=True)
SIGMOID, TANH = GemmShape(1, 2, 3, 1, "sigmoid"), GemmShape(1, 2, 3, 1, "tanh")
GELU, SILU = GemmShape(1, 2, 3, 1, "gelu"), GemmShape(1, 2, 3, 1, "silu")

GEMM_1, GEMM_2 = "gemm_bias_act/1_thread_per_element", "gemm_bias_act/2_tiled"

RELU = "case 1u: { return max(x, 0.0); }"

WRONG_KERNELS = (
    WrongKernel(GEMM_1, "bias forgotten", LAYER, "var pre = bias[n];", "var pre = 0.0;"),
    WrongKernel(GEMM_1, "activation forgotten", LAYER, "activate(pre)", "pre"),
    WrongKernel(GEMM_1, "derivative instead of the activation", LAYER, RELU, "case 1u: { return f32(x > 0.0); }"),
    WrongKernel(GEMM_1, "relu is the absolute value", LAYER, RELU, "case 1u: { return abs(x); }"),
    WrongKernel(GEMM_1, "every item reads item 0's a", LAYER, "a[row * params.k", "a[row % params.m * params.k"),
    WrongKernel(GEMM_1, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    WrongKernel(GEMM_1, "b transposed", LAYER, "k * params.n + n]", "n * params.k + k]"),
    WrongKernel(GEMM_1, "last term left out", LAYER, "k < params.k;", "k + 1u < params.k;"),
    WrongKernel(GEMM_1, "one term too many", ONE_ROW, "k < params.k;", "k <= params.k;", READ),
    WrongKernel(GEMM_1, "writes past the end", LAYER, "if (index >= ", "if (index > ", READ + WRITE),
    WrongKernel(GEMM_1, "no guard at the end", LAYER, "if (index >= ", "if (false && index >= ", READ + WRITE),
    WrongKernel(GEMM_1, "added to what was there", LAYER, "output[index] =", "output[index] +="),
    WrongKernel(
        GEMM_1, "0 times what was there added", LAYER, "output[index] =", "output[index] = 0.0 * output[index] +"
    ),
    WrongKernel(GEMM_1, "larger than what was there", LAYER, "= activate(pre)", "= max(output[index], activate(pre))"),
    WrongKernel(GEMM_1, "silu is swish of 1.702", SILU, "-88.0) * sigmoid(x)", "-88.0) * sigmoid(1.702 * x)"),
    WrongKernel(GEMM_2, "bias forgotten", LAYER, "activate(pre + bias[n])", "activate(pre)"),
    WrongKernel(GEMM_2, "activation forgotten", LAYER, "activate(pre + bias[n])", "pre + bias[n]"),
    WrongKernel(GEMM_2, "activation before the bias", LAYER, "activate(pre + bias[n])", "activate(pre) + bias[n]"),
    WrongKernel(GEMM_2, "last tile of k left out", LAYER, "first < params.k;", "first + TILE <= params.k;"),
    WrongKernel(GEMM_2, "only the last tile of k", LAYER, "pre += tile_product", "pre = tile_product"),
    WrongKernel(GEMM_2, "every tile of b is the first", LAYER, "first + local.y, n", "local.y, n"),
    WrongKernel(GEMM_2, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    WrongKernel(GEMM_2, "tile of b transposed", LAYER, "right[i * TILE + column]", "right[column * TILE + i]"),
    WrongKernel(GEMM_2, "last column of a tile left out", LAYER, "i < TILE; i++", "i + 1u < TILE; i++"),
    WrongKernel(GEMM_2, "one column too many", LAYER, "i < TILE; i++", "i <= TILE; i++", READ + NUMBERS),
    WrongKernel(GEMM_2, "no barrier after the loads", LAYER, "workgroupBarrier();  // both", "// both", RACE),
    WrongKernel(
        GEMM_2, "no barrier after the products", LAYER, "workgroupBarrier();  // no thread", "// no thread", RACE
    ),
    WrongKernel(
        GEMM_2,
        "threads outside return above a barrier",
        LAYER,
        "var pre = 0.0;",
        "var pre = 0.0;\n  if (m >= params.m || n >= params.n) { return; }",
        MISSED_BARRIER + UNINITIALIZED + NUMBERS,
    ),
    WrongKernel(
        GEMM_2, "reads past the last row of a", LAYER, "if (m < params.m && k < params.k)", "if (m < params.m)", READ
    ),
    WrongKernel(
        GEMM_2,
        "writes past its row",
        LAYER,
        "if (m < params.m && n < params.n) {",
        "if (m < params.m) {",
        RACE + OVERLAP + READ + WRITE + NUMBERS,
    ),
    WrongKernel(
        GEMM_2,
        "last column left out",
        LAYER,
        "n < params.n) {\n    output",
        "n + 1u < params.n) {\n    output",
        UNWRITTEN + NUMBERS,
    ),
    WrongKernel(GEMM_2, "gelu is cut from below at -3", GELU, "clamp(x, -11.0, 11.0)", "clamp(x, -3.0, 11.0)"),
    WrongKernel(GEMM_2, "sigmoid mirrored", SIGMOID, "exp(-abs(x))", "exp(abs(x))"),
    WrongKernel(GEMM_2, "tanh at half its argument", TANH, "(2.0 * t) - sigmoid(-2.0 * t)", "(t) - sigmoid(-t)"),
    WrongKernel(GEMM_2, "tanh's series too far out", TANH, "abs(t) < 0.1", "abs(t) < 2.0"),
    WrongKernel(
        GEMM_2,
        "tanh as a quotient that overflows",
        TANH,
        "select(sigmoid(2.0 * t) - sigmoid(-2.0 * t), series, abs(t) < 0.1)",
        "(exp(2.0 * x) - 1.0) / (exp(2.0 * x) + 1.0)",
        NOT_A_NUMBER + NUMBERS,
    ),
)
