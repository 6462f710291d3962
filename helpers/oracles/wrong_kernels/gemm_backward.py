"""Wrong kernels of the fully connected layer's backward pass: grad_pre, d_a, d_b and d_bias."""

from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels.row import (
    MISSED_BARRIER,
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
OWN_B = GemmShape(3, 6, 9, 2, "relu", b_per_item=True)
PER_ITEM = GemmShape(3, 6, 9, 2, "relu", b_per_item=True, per_item=True)
BROAD = GemmShape(1, 1, 257)  # more columns than 256 threads
TALL = GemmShape(9, 2, 3)  # more rows than two tiles
SIGMOID, TANH = GemmShape(1, 2, 3, 1, "sigmoid"), GemmShape(1, 2, 3, 1, "tanh")
GELU, SILU = GemmShape(1, 2, 3, 1, "gelu"), GemmShape(1, 2, 3, 1, "silu")

BACK_1, BACK_2 = "gemm_bias_act_backward/1_thread_per_element", "gemm_bias_act_backward/2_tiled"

STEP = "case 1u: { return select(0.0, 1.0, x > 0.0); }"  # relu's derivative
LOADED, USED = "workgroupBarrier();  // both tiles are in place", "workgroupBarrier();  // no thread still reads them"

WRONG_KERNELS = (
    # --- One thread an element ----------------------------------------------------------------------------
    WrongKernel(BACK_1, "bias forgotten in the recomputed pre", LAYER, "var pre = bias[n];", "var pre = 0.0;"),
    WrongKernel(BACK_1, "upstream gradient forgotten", LAYER, "grad[index] * finite", "finite"),
    WrongKernel(BACK_1, "derivative forgotten", LAYER, " * finite_or_0(derivative(pre))", ""),
    WrongKernel(BACK_1, "activation instead of its derivative", LAYER, STEP, "case 1u: { return max(x, 0.0); }"),
    WrongKernel(
        BACK_1,
        "grad_pre's last element left out",
        LAYER,
        "(index >= params.batch_size * params.m * params.n)",
        "(index + 1u >= params.batch_size * params.m * params.n)",
        UNWRITTEN + NUMBERS,
    ),
    WrongKernel(
        BACK_1,
        "no guard in grad_pre",
        LAYER,
        "(index >= params.batch_size * params.m * params.n)",
        "(false)",
        READ + WRITE,
    ),
    WrongKernel(BACK_1, "d_a with another item's b", OWN_B, "+ n] * b[item * ", "+ n] * b[0u * "),
    WrongKernel(BACK_1, "d_a with b not transposed", LAYER, "k * params.n + n;", "n * params.k + k;"),
    WrongKernel(BACK_1, "d_a without its last term", LAYER, "n < params.n; n++", "n + 1u < params.n; n++"),
    WrongKernel(
        BACK_1, "no guard in d_a", LAYER, "(index >= params.batch_size * params.m * params.k)", "(false)", READ + WRITE
    ),
    WrongKernel(BACK_1, "d_a added to what was there", LAYER, "d_a[index] =", "d_a[index] +="),
    WrongKernel(BACK_1, "d_b of item 0 only", LAYER, "row < first + rows", "row < first + params.m"),
    WrongKernel(
        BACK_1,
        "d_b with a not transposed",
        LAYER,
        "a[row * params.k + k] * grad_pre",
        "a[k * params.m + row] * grad_pre",
    ),
    WrongKernel(
        BACK_1, "d_b is a mean over the batch", LAYER, "d_b[index] = sum", "d_b[index] = sum / f32(params.batch_size)"
    ),
    WrongKernel(BACK_1, "every item adds up all", PER_ITEM, "/ results * params.m", "* params.m", READ + NUMBERS),
    WrongKernel(BACK_1, "d_bias of item 0 only", LAYER, "row < params.batch_size * params.m", "row < params.m"),
    WrongKernel(
        BACK_1, "d_bias with a row too many", LAYER, "row < params.batch_size", "row <= params.batch_size", READ
    ),
    WrongKernel(
        BACK_1, "d_bias is a mean over the rows", LAYER, "d_bias[n] = sum;", "d_bias[n] = sum / f32(params.m);"
    ),
    WrongKernel(
        BACK_1,
        "threads past d_bias repeat the last",
        LAYER,
        "let n = flat_index(global, grid);",
        "let n = min(flat_index(global, grid), params.n - 1u);",
        OVERLAP,
    ),
    WrongKernel(BACK_1, "silu without its x", SILU, "(1.0 + t * sigmoid(-t))", "(1.0 + sigmoid(-t))"),
    # --- Tiles: grad_pre ----------------------------------------------------------------------------------
    WrongKernel(BACK_2, "bias forgotten in the recomputed pre", LAYER, "derivative(pre + bias[n])", "derivative(pre)"),
    WrongKernel(BACK_2, "upstream gradient forgotten", LAYER, "grad[at] * finite", "finite"),
    WrongKernel(BACK_2, "derivative forgotten", LAYER, "* finite_or_0(derivative(pre + bias[n]))", ""),
    WrongKernel(BACK_2, "activations counted from 1", LAYER, "case 1u", "case 0u"),
    WrongKernel(BACK_2, "last tile of k left out", LAYER, "first < params.k;", "first + TILE <= params.k;"),
    WrongKernel(BACK_2, "only the last tile of k", LAYER, "pre += tile_product", "pre = tile_product"),
    WrongKernel(BACK_2, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    WrongKernel(BACK_2, "reads past the last column of b", LAYER, " && n < params.n) { return b", ") { return b", READ),
    WrongKernel(
        BACK_2,
        "grad_pre of item 0 only",
        LAYER,
        "[0, batch)\n  var pre",
        "[0, batch)\n  if (item > 0u) { return; }\n  var pre",
        UNWRITTEN + NUMBERS,
    ),
    WrongKernel(BACK_2, "no barrier after the loads of grad_pre", LAYER, f"{LOADED}\n    pre", "pre", RACE),
    WrongKernel(
        BACK_2, "no barrier after the products of grad_pre", LAYER, f"{USED}\n  }}\n  // No", "}\n  // No", RACE
    ),
    WrongKernel(
        BACK_2,
        "threads outside return above a barrier",
        LAYER,
        "var pre = 0.0;",
        "var pre = 0.0;\n  if (m >= params.m || n >= params.n) { return; }",
        MISSED_BARRIER + UNINITIALIZED + NUMBERS,
    ),
    # --- Tiles: the derivatives ---------------------------------------------------------------------------
    WrongKernel(BACK_2, "relu rises at 0", LAYER, "x > 0.0); }    //", "x >= 0.0); }  //"),
    WrongKernel(BACK_2, "gelu overflows", GELU, "clamp(x, -11.0, 11.0)", "x"),
    WrongKernel(BACK_2, "gelu is cut too early", GELU, "clamp(x, -11.0, 11.0)", "clamp(x, -4.0, 4.0)"),
    WrongKernel(BACK_2, "gelu's cube loses its factor", GELU, "3.0 * CUBE", "CUBE"),
    WrongKernel(BACK_2, "gelu without the product rule", GELU, "(1.0 + t * dz * sigmoid(-z))", "1.0"),
    WrongKernel(BACK_2, "silu is sigmoid", SILU, "sigmoid(t) * (1.0 + t * sigmoid(-t))", "sigmoid(t)"),
    WrongKernel(BACK_2, "sigmoid instead of its derivative", SIGMOID, "sigmoid(x) * sigmoid(-x)", "sigmoid(x)"),
    WrongKernel(BACK_2, "a difference cancels", SIGMOID, "sigmoid(x) * sigmoid(-x)", "sigmoid(x) * (1.0 - sigmoid(x))"),
    WrongKernel(BACK_2, "sigmoid mirrored", SILU, "exp(-abs(x))", "exp(abs(x))"),
    WrongKernel(BACK_2, "tanh at half its argument", TANH, "(2.0 * t) * sigmoid(-2.0 * t)", "(t) * sigmoid(-t)"),
    # --- Tiles: d_a ---------------------------------------------------------------------------------------
    WrongKernel(BACK_2, "d_a walks along k", LAYER, "first < params.n;", "first < params.k;"),
    WrongKernel(BACK_2, "d_a's last tile left out", LAYER, "first < params.n;", "first + TILE <= params.n;"),
    WrongKernel(
        BACK_2, "d_a with b not transposed", LAYER, "right[local.x * TILE + local.y", "right[local.y * TILE + local.x"
    ),
    WrongKernel(BACK_2, "no barrier after the loads of d_a", LAYER, f"{LOADED}\n    sum", "sum", RACE),
    WrongKernel(BACK_2, "no barrier after the products of d_a", LAYER, f"{USED}\n  }}\n  if", "}\n  if", RACE),
    WrongKernel(
        BACK_2, "d_a writes past the end", LAYER, "m < params.m && k < params.k) {\n", "k < params.k) {\n", RACE + WRITE
    ),
    WrongKernel(BACK_2, "d_a added to what was there", LAYER, "params.k + k] = sum", "params.k + k] += sum"),
    # --- Tiles: d_b ---------------------------------------------------------------------------------------
    WrongKernel(
        BACK_2, "d_b with a not transposed", LAYER, "left[local.x * TILE + local.y", "left[local.y * TILE + local.x"
    ),
    WrongKernel(BACK_2, "d_b of the first rows only", TALL, "first < params.m;", "first < TILE;"),
    WrongKernel(BACK_2, "d_b of item 0 only", LAYER, "select(params.batch_size, ", "select(1u, "),
    WrongKernel(BACK_2, "d_b from item 0's a", LAYER, "read_a(item, first + local.y", "read_a(0u, first + local.y"),
    WrongKernel(BACK_2, "every item adds up all", PER_ITEM, "params.d_b_stride != 0u", "false"),
    WrongKernel(
        BACK_2,
        "every item writes item 0's d_b",
        PER_ITEM,
        "group.z * params.d_b_stride + ",
        "",
        RACE + OVERLAP + UNWRITTEN + NUMBERS,
    ),
    WrongKernel(BACK_2, "no barrier after the loads of d_b", LAYER, f"{LOADED}\n      sum", "sum", RACE),
    WrongKernel(BACK_2, "no barrier after the products of d_b", LAYER, f"{USED}\n    }}\n", "}\n", RACE),
    WrongKernel(
        BACK_2,
        "d_b writes past its row",
        LAYER,
        "k < params.k && n < params.n) {\n",
        "k < params.k) {\n",
        RACE + OVERLAP + WRITE + NUMBERS,
    ),
    # --- Tiles: d_bias ------------------------------------------------------------------------------------
    WrongKernel(BACK_2, "d_bias of item 0 only", LAYER, "params.batch_size * params.m", "params.m"),
    WrongKernel(
        BACK_2,
        "d_bias of the first 256 columns",
        BROAD,
        "let n = global.x;",
        "let n = global.x % 256u;",
        OVERLAP + UNWRITTEN + NUMBERS,
    ),
    WrongKernel(
        BACK_2, "d_bias writes past the end", LAYER, "if (n >= params.n) {", "if (n > params.n) {", READ + WRITE
    ),
    WrongKernel(BACK_2, "d_bias added to what was there", LAYER, "d_bias[n] = sum;", "d_bias[n] += sum;"),
)
