"""A product in tiles, of which a learner writes every line."""

from helpers.gemm.exercise.cases import TILED, puzzle
from helpers.gemm.exercise.slips import ONE_TRANSPOSED, TRANSPOSED, at_the_edges, in_tiles
from helpers.grading.puzzle import Slip

PLACE = "let n = group.x * TILE + local.x;  // *\n  let m = group.y * TILE + local.y;"
LOADED = "let k_left = first + local.x;  // *\n    let k_right = first + local.y;"

SLIPS = (
    *in_tiles("sum", "K", "m", "n"),
    *at_the_edges("m", "n"),
    *ONE_TRANSPOSED,
    Slip(
        "left is not filled with zeros past the edges",
        "m < params.M && k_left < params.K",
        "true",
        "what is read for left where the tile reaches farther than a?",
    ),
    Slip(
        "right is not filled with zeros past the edges",
        "k_right < params.K && n < params.N",
        "true",
        "what is read for right where the tile reaches farther than b?",
    ),
    Slip(
        "nothing writes 0 to the tiles past the edges",
        "    left[slot] = 0.0;  // *\n    right[slot] = 0.0;  // *\n",
        "",
        "what is in the slots past the edge when the products are added?",
    ),
    Slip(
        "rows of a are taken to be as long as those of b",
        "m * params.K + k_left",
        "m * params.N + k_left",
        "how many numbers does a row of a have?",
    ),
    Slip(
        "rows of b are taken to be as long as those of a",
        "k_right * params.N + n",
        "k_right * params.K + n",
        "how many numbers does a row of b have?",
    ),
    Slip(
        "rows of c are taken to be as long as those of a",
        "c[m * params.N + n]",
        "c[m * params.K + n]",
        "how many numbers does a row of c have?",
    ),
    Slip(
        "only the first tile is added up",
        "first < params.K; first",
        "first < 1u; first",
        "how many turns does a row of K numbers need?",
    ),
    Slip(
        "the last tile is left out where it is not full",
        "first < params.K; first",
        "first + TILE <= params.K; first",
        "which turn loads the numbers that are left over?",
    ),
    Slip(
        "the sum starts at 0 again in each turn",
        "first += TILE) {",
        "first += TILE) { sum = 0.0;",
        "how many turns belong to one element?",
    ),
    Slip(
        "x and y are exchanged in n and m",
        PLACE,
        "let n = group.y * TILE + local.y;  // *\n  let m = group.x * TILE + local.x;",
        "which of x and y counts columns?",
    ),
    Slip(
        "local.x and local.y are exchanged in n and m",
        PLACE,
        "let n = group.x * TILE + local.y;  // *\n  let m = group.y * TILE + local.x;",
        "which of local.x and local.y counts columns?",
    ),
    Slip(
        "both tiles are transposed, in the loads or in the products",
        "let slot = local.y * TILE + local.x",
        "let slot = local.x * TILE + local.y",
        TRANSPOSED.format("a", "left"),
    ),
    Slip(
        "local.x and local.y are exchanged along k in both loads",
        LOADED,
        "let k_left = first + local.y;  // *\n    let k_right = first + local.x;",
        "is k a column or a row of a, and which of the two is it in b?",
    ),
    Slip(
        "first is left out of the loads, so that each turn loads the same tiles",
        LOADED,
        LOADED.replace("first + ", ""),
        "where along k does the second pair of tiles begin?",
    ),
)

TILED_PRODUCT = puzzle("tiled_product", "m n", TILED[:-1], ("K", "a b", "c", "MKN"), SLIPS)
