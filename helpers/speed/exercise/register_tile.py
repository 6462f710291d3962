"""The step from one result of a thread to 2 x 2: the learner adds it to a kernel that already loads its tiles."""

from dataclasses import replace

from helpers.gemm.exercise.cases import TILED, puzzle
from helpers.grading.puzzle import Skill, Slip

READ_AND_MULTIPLY = """      let left_0 = left[row][k];  // *
      let left_1 = left[row + 1u][k];  // *
      let right_0 = right[k][column];  // *
      let right_1 = right[k][column + 1u];  // *
      // 3. Add a product to each of the four sums.
      sums[0] += left_0 * right_0;  // *
      sums[1] += left_0 * right_1;  // *
      sums[2] += left_1 * right_0;  // *
      sums[3] += left_1 * right_1;  // *
"""
RESULT = "group.y * TILE + row + i / 2u;  // *\n    let n = group.x * TILE + column"
ONE_BY_ONE = """      sums[0] += left[row][k] * right[k][column];
      sums[1] += left[row][k] * right[k][column + 1u];
      sums[2] += left[row + 1u][k] * right[k][column];
      sums[3] += left[row + 1u][k] * right[k][column + 1u];
"""

SLIPS = (
    Slip(
        "each product reads both of its numbers from the tiles again",
        READ_AND_MULTIPLY,
        ONE_BY_ONE,
        "how many different numbers do the four products need?",
    ),
    Slip(
        "neighboring threads begin at neighboring results, so that their squares overlap",
        "let row = 2u * local.y;  // *\n  let column = 2u * local.x;",
        "let row = local.y;  // *\n  let column = local.x;",
        "which results does the thread to the right of yours have?",
    ),
    Slip(
        "the two sums off the diagonal are exchanged",
        "sums[1] += left_0 * right_1;  // *\n      sums[2] += left_1 * right_0;",
        "sums[2] += left_0 * right_1;  // *\n      sums[1] += left_1 * right_0;",
        "to which row and which column of your square does the sum number 1 belong?",
    ),
    Slip(
        "the sums start at 0 again in each turn",
        "first += TILE) {\n",
        "first += TILE) { sums = array<f32, 4>();\n",
        "how many turns belong to one result?",
    ),
    Slip(
        "only the upper left result of each square is tested against the edges",
        "if (m < params.M && n < params.N)",
        "if (group.y * TILE + row < params.M && group.x * TILE + column < params.N)",
        "does c have all four results of a square that lies across its edge?",
    ),
    Slip(
        "only the lower right result of each square is tested against the edges",
        "if (m < params.M && n < params.N)",
        "if (group.y * TILE + row + 1u < params.M && group.x * TILE + column + 1u < params.N)",
        "where a square lies across the edge of c, which of its four results exist?",
    ),
    Slip(
        "each product replaces the sum",
        READ_AND_MULTIPLY,
        READ_AND_MULTIPLY.replace("+=", "="),
        "what does += do with the old sum that = does not?",
    ),
    Slip("k runs up to SIDE in each turn", "k < TILE", "k < SIDE", "how many numbers does a row of left have?"),
    Slip(
        "SIDE stands in the place of TILE where the results are written",
        RESULT,
        RESULT.replace("TILE", "SIDE"),
        "how many rows and columns of c belong to one workgroup?",
    ),
)

REGISTER_TILE = replace(
    puzzle("register_tile", "m n", TILED[:-1], ("K", "a b", "c", "MKN"), SLIPS),
    subject="speed",
    skill=Skill(
        "two numbers of each tile for four products", "three_tiles", {"loads_storage": 1.25, "loads_workgroup": 1.25}
    ),
)
