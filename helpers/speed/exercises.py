"""What a learner works out in lesson 07: a kernel whose threads compute 2 x 2 results each, and questions to answer."""

from dataclasses import replace
from math import ceil

from helpers.gemm.exercises import TILED, puzzle
from helpers.grading.prediction import Question, questions
from helpers.grading.puzzle import TWICE, Skill
from helpers.speed.gpu_limits import H200
from helpers.speed.tile_sizes import TileSizes

TILES, REGISTERS = TileSizes(16, 16, 16, 1), TileSizes(64, 64, 16, 8)
ROWS, COLUMNS = 64, 64 * 3 * 3  # of the matrix of weights of a 3 x 3 layer with 64 channels on both sides
WORKGROUPS = REGISTERS.workgroups(ROWS, COLUMNS)
SLICES = ceil(H200.multiprocessors / WORKGROUPS)

PUZZLES = (
    replace(
        puzzle("register_tile", "m n", TILED[:-1], ("K", "a b", "c", "MKN"), "speed"),
        skill=Skill(
            "2 x 2 results in each thread, with two numbers of each tile for four products",
            "three_tiles",
            {"loads_storage": 1.25, "loads_workgroup": 1.25, "thread_loads": TWICE, "results": 1},
        ),
    ),
)

QUESTIONS: dict[str, Question] = questions(__file__) | {  # lesson 07
    "loads_in_a_tile": Question(
        TILES.loads_a_turn / TILES.multiply_adds_a_turn,
        {
            2: "this is the naive kernel; here each number that a thread loads serves a whole row or column of threads",
            1 / 16: "each number is used 16 times; but a multiply-add needs two of them",
            8: "this is multiply-adds for each load; the question is the other way round",
        },
        "in one turn a thread loads 2 numbers, one of each operand; how many multiply-adds does it make in it?",
    ),
    "reads_of_8_by_8": Question(
        1 / REGISTERS.per_read,
        {
            2: "these are the reads with one result in a thread; here each number serves 8 results",
            16: "these are the reads for one k; by how many multiply-adds do you divide them?",
            4: "this is multiply-adds for each read; the question is the other way round",
            1 / 64: "64 results need 64 products, but not of the same two numbers",
        },
        "for one k, a thread reads 8 numbers of each tile; how many products does it make of them?",
    ),
    "roof_of_tiles": Question(
        2 * TILES.intensity * H200.bandwidth / 1e3,
        {
            TILES.intensity * H200.bandwidth / 1e3: "a multiply-add is two operations",
            H200.bandwidth / 1e3: "these are the bytes; how many operations does the kernel make for each of them?",
        },
        "2 numbers of 4 bytes serve 16 multiply-adds, of two operations each; multiply by the bytes per second",
    ),
    "workgroups_of_a_weight_gradient": Question(
        WORKGROUPS,
        {
            1: "64 output channels are one tile of rows; how many columns does the matrix of weights have?",
            ROWS * COLUMNS: "this is how many weights there are; how many of them does one workgroup compute?",
            ROWS: "a weight belongs to an input channel and to a place in the filter; the matrix has 64 rows",
        },
        "the result has a row for each output channel, and a column for each weight of a filter; tiles are 64 x 64",
    ),
    "slices_to_fill": Question(
        SLICES,
        {
            SLICES - 1: "then a few multiprocessors still have nothing to do",
            H200.multiprocessors: "one slice already has several workgroups",
        },
        "each slice has as many workgroups as the result has tiles; how many slices give every multiprocessor one?",
    ),
    "taps_of_the_classes": Question(
        (1, 2, 2, 4),
        {
            (4, 2, 2, 1): "right, but give them from the fewest to the most",
            (9, 9, 9, 9): "all nine taps is what the kernel tests; how many of them pass, in each class?",
            (2, 2, 2, 2): "the sum is 9: each tap of the filter belongs to one class",
            (1, 2, 3, 3): "rows and columns are chosen separately: 1 or 2 of the rows, and 1 or 2 of the columns",
        },
        "a tap counts where (ih + 1 - kh) and (iw + 1 - kw) are even; of 3 rows, how many are left for an even ih?",
    ),
    "products_of_winograd": Question(
        4 * 4 * 3 * 3 / 6**2,
        {
            36: "this is how many products it makes; by how much are they fewer than those of the direct way?",
            16 / 9: "this is 16 outputs by 9 weights; compare the products: 9 for each output, or one for each number",
            108: "this is the difference; how many times fewer are they?",
        },
        "directly, 16 outputs take 9 products each; Winograd's way takes one for each number of the 6 x 6 tile",
    ),
}
