"""The four passes of the backward pass, of which a learner writes the steps."""

from helpers.gemm.exercise.cases import TILED, puzzle
from helpers.gemm.exercise.slips import ONE_TRANSPOSED, at_the_edges, in_tiles
from helpers.grading.puzzle import Slip

KINK = "select(0.0, grad[at], pre + bias[n] > 0.0)"
LOADS_OF_GRAD_PRE = """read_a(item, m, first + local.x);  // *
    right[local.y * TILE + local.x] = read_b(first + local.y, n);"""
GRAD_PRE_SLIPS = (
    *in_tiles("pre", "K", "m", "n"),
    *at_the_edges("m", "n"),
    *ONE_TRANSPOSED,
    Slip("the bias is not added", "pre + bias[n] > 0.0", "pre > 0.0", "what else is in pre, besides the products?"),
    Slip(
        "the bias of the row is added, and not that of the column",
        "pre + bias[n]",
        "pre + bias[m]",
        "how many numbers does bias have?",
    ),
    Slip("grad is written as it is", KINK, "grad[at]", "what does the chain rule multiply grad by?"),
    Slip(
        "the derivative at pre = 0 is 1",
        "bias[n] > 0.0",
        "bias[n] >= 0.0",
        "which value does this lesson take at the kink of relu?",
    ),
    Slip(
        "the two values of select are swapped",
        "0.0, grad[at]",
        "grad[at], 0.0",
        "which of its values does select return where the condition is false?",
    ),
    Slip(
        "grad is multiplied by relu itself",
        KINK,
        "grad[at] * max(0.0, pre + bias[n])",
        "what is the derivative of relu where pre is 3?",
    ),
    Slip(
        "the derivative is taken at grad, and not at pre",
        KINK,
        "max(0.0, grad[at])",
        "which number went through relu in the forward pass?",
    ),
    Slip(
        "the derivative is written without grad",
        KINK,
        "select(0.0, 1.0, pre + bias[n] > 0.0)",
        "what does the chain rule multiply the derivative by?",
    ),
    Slip(
        "the output of relu is written",
        KINK,
        "max(0.0, pre + bias[n])",
        "what does this pass do with grad?",
    ),
    Slip(
        "a is read from item 0 for every item",
        "read_a(item, m",
        "read_a(0u, m",
        "which index says whose rows are multiplied?",
    ),
    Slip(
        "every item is written to the place of item 0",
        "let at = (item * params.M + m)",
        "let at = m",
        "how many elements come before those of item 1?",
    ),
    Slip(
        "local.x and local.y are exchanged along k in both loads",
        LOADS_OF_GRAD_PRE,
        """read_a(item, m, first + local.y);  // *
    right[local.y * TILE + local.x] = read_b(first + local.x, n);""",
        "is k a column or a row of a, and which of the two is it in b?",
    ),
    Slip(
        "first is left out of both loads, so that each turn loads the same tiles",
        LOADS_OF_GRAD_PRE,
        LOADS_OF_GRAD_PRE.replace("first + ", ""),
        "where along k does the second pair of tiles begin?",
    ),
)

LOADS_OF_D_A = """read_grad_pre(item, m, first + local.x);  // *
    // 2. Load one number of b into right, so that the tile is transposed.
    let load_k = group.x * TILE + local.y;  // *
    right[local.x * TILE + local.y] = read_b(load_k, first + local.x);"""
D_A_SLIPS = (
    *in_tiles("sum", "N", "m", "k"),
    *at_the_edges("m", "k"),
    Slip(
        "the tile of b is not transposed",
        "right[local.x * TILE + local.y]",
        "right[local.y * TILE + local.x]",
        "what does a row of b become in right?",
    ),
    Slip(
        "the tile of grad_pre is transposed, too, in the loads or in the products",
        "left[local.y * TILE + local.x]",
        "left[local.x * TILE + local.y]",
        "which factor of grad_pre @ b^T is transposed?",
    ),
    Slip(
        "k and n are swapped in read_b, so that b itself is multiplied",
        "read_b(load_k, first + local.x)",
        "read_b(first + local.x, load_k)",
        "in which order does read_b take its row and its column?",
    ),
    Slip(
        "row k of b is read, where k is the column of the thread's own element",
        "read_b(load_k",
        "read_b(k",
        "which of local.x and local.y is the same for neighboring threads, which read one row of b?",
    ),
    Slip(
        "column k of grad_pre is read",
        "read_grad_pre(item, m, first + local.x)",
        "read_grad_pre(item, m, k)",
        "along which letter does the sum run?",
    ),
    Slip(
        "first is left out of both loads, so that each turn loads the same tiles",
        LOADS_OF_D_A,
        LOADS_OF_D_A.replace("first + ", ""),
        "where along n does the second pair of tiles begin?",
    ),
    Slip(
        "first is left out of the load of left",
        "m, first + local.x",
        "m, local.x",
        "where along n does the second tile of grad_pre begin?",
    ),
    Slip(
        "first is left out of the load of right",
        "load_k, first + local.x",
        "load_k, local.x",
        "where along n does the second tile of b begin?",
    ),
    Slip(
        "grad_pre is read from item 0 for every item",
        "read_grad_pre(item, m",
        "read_grad_pre(0u, m",
        "which index says whose rows are multiplied?",
    ),
    Slip(
        "every item is written to the place of item 0",
        "d_a[(item * params.M + m)",
        "d_a[m",
        "how many elements come before those of item 1?",
    ),
    Slip(
        "rows of d_a are taken to be as long as those of grad_pre",
        "* params.K + k] = sum",
        "* params.N + k] = sum",
        "how many numbers does a row of d_a have?",
    ),
)

LOADS_OF_D_B = """first + local.y, load_k);  // *
      right[local.y * TILE + local.x] =  // *
        read_grad_pre(item, first + local.y, n);"""
D_B_SLIPS = (
    *in_tiles("sum", "M", "k", "n"),
    *at_the_edges("k", "n"),
    Slip(
        "only the first item of the batch is added up",
        "item < params.batch",
        "item < 1u",
        "which loop is missing?",
    ),
    Slip(
        "the sum starts at 0 again for each item",
        "item++) {",
        "item++) { sum = 0.0;",
        "how many items belong to one element of d_b?",
    ),
    Slip(
        "the sum starts at 0 again in each turn",
        "first += TILE) {",
        "first += TILE) { sum = 0.0;",
        "how many turns belong to one element?",
    ),
    Slip(
        "a is read from item 0 for every item",
        "read_a(item, first",
        "read_a(0u, first",
        "whose rows of grad_pre are they multiplied by?",
    ),
    Slip(
        "grad_pre is read from item 0 for every item",
        "read_grad_pre(item, first",
        "read_grad_pre(0u, first",
        "whose rows of a are they multiplied by?",
    ),
    Slip(
        "only the first tile is added up",
        "first < params.M; first",
        "first < 1u; first",
        "how many turns do the M rows of an item need?",
    ),
    Slip(
        "the last tile is left out where it is not full",
        "first < params.M; first",
        "first + TILE <= params.M; first",
        "which turn loads the rows that are left over?",
    ),
    Slip(
        "first is left out of both loads, so that each turn loads the same tiles",
        LOADS_OF_D_B,
        LOADS_OF_D_B.replace("first + ", ""),
        "where along m does the second pair of tiles begin?",
    ),
    Slip(
        "the tile of a is not transposed, in the loads or in the products",
        "left[local.x * TILE + local.y]",
        "left[local.y * TILE + local.x]",
        "what does a row of a become in left?",
    ),
    Slip(
        "the tile of grad_pre is transposed, too, in the loads or in the products",
        "right[local.y * TILE + local.x]",
        "right[local.x * TILE + local.y]",
        "which factor of a^T @ grad_pre is transposed?",
    ),
    Slip(
        "m and k are swapped in read_a",
        "first + local.y, load_k",
        "load_k, first + local.y",
        "in which order does read_a take its row and its column?",
    ),
    Slip(
        "column k of a is read, where k is the row of the thread's own element",
        "first + local.y, load_k",
        "first + local.y, k",
        "which of local.x and local.y changes between neighboring threads, which read along a row of a?",
    ),
)

ADDED = """row < params.batch * params.M; row++) {  // *
    sum += grad_pre[row * params.N + n];"""
ROW_ADDED = """row < params.N; row++) {
    sum += grad_pre[n * params.N + row];"""
D_BIAS_SLIPS = (
    Slip(
        "only the first item of the batch is added up",
        "row < params.batch * params.M",
        "row < params.M",
        "how many rows do all items have together?",
    ),
    Slip(
        "only one row of each item is added up",
        "row < params.batch * params.M",
        "row < params.batch",
        "how many rows does each item have?",
    ),
    Slip("the sum starts at row 1", "var row = 0u", "var row = 1u", "which number has the first row?"),
    Slip(
        "each number replaces those before it",
        "sum += grad_pre",
        "sum = grad_pre",
        "what was in sum before, and where does it go?",
    ),
    Slip(
        "a row is added up, and not a column",
        "row * params.N + n",
        "n * params.N + row",
        "how far apart in memory are two numbers of one column?",
    ),
    Slip("each thread adds up a whole row", ADDED, ROW_ADDED, "to which elements of pre was bias[n] added?"),
    Slip(
        "each of the first M threads adds up a whole row",
        ADDED,
        ROW_ADDED.replace("sum", "if (n >= params.M) { return; } sum"),
        "to which elements of pre was bias[n] added?",
    ),
    Slip(
        "rows of grad_pre are taken to be M numbers long",
        "row * params.N",
        "row * params.M",
        "how many columns does grad_pre have?",
    ),
    Slip("n is compared with M", "n >= params.N", "n >= params.M", "how many columns does grad_pre have?"),
    Slip(
        "threads without a column go on",
        "if (n >= params.N) { return; }",
        "",
        "what do 256 threads do where there are two columns?",
    ),
)

PASSES = (
    puzzle("gemm_bwd_grad_pre", "item m n", TILED, ("K", "a b bias grad", "grad_pre", "MKNB"), GRAD_PRE_SLIPS),
    puzzle("gemm_bwd_da", "item m k", TILED, ("N", "grad_pre b", "d_a", "MKNB"), D_A_SLIPS),
    puzzle("gemm_bwd_db", "k n", TILED, ("M", "a grad_pre", "d_b", "MKNB"), D_B_SLIPS),
    puzzle(
        "gemm_bwd_dbias",
        "n",
        ("tiny", "past_the_edges", "batch_of_2", "300_columns"),
        ("M", "grad_pre", "d_bias", "MNB"),
        D_BIAS_SLIPS,
    ),
)
