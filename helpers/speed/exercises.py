"""What a learner works out in lesson 08: a kernel whose threads compute 2 x 2 results each, and questions to answer."""

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

QUESTIONS: dict[str, Question] = questions(__file__) | {  # lesson 08
    "loads_in_a_tile": Question(
        TILES.loads_a_turn / TILES.multiply_adds_a_turn,
        {
            2: "this is right without tiles; how many threads use a number that one of them has loaded?",
            1 / 16: "each number is used 16 times; how many numbers does one multiply-add need?",
            8: "this is multiply-adds for each load; which of the two is divided by the other?",
            1: "this is one operand, and without tiles; how many numbers does a thread load in a turn?",
        },
        "in one turn a thread loads 2 numbers, one of each operand; how many multiply-adds does it make in it?",
        "Each of 16 × 16 threads computes one result of a matrix product. In each turn, the workgroup loads a tile of "
        "16 × 16 numbers of each matrix from storage memory, one number of each for each thread, and each thread makes "
        "16 multiply-adds. How many numbers are loaded for each multiply-add?",
        "In a turn, a thread loads one number of each tile and makes 16 multiply-adds: 2 / 16 = 1/8. A kernel without "
        "tiles loads 2 numbers for each multiply-add, which is 16 times as many.",
    ),
    "reads_of_8_by_8": Question(
        1 / REGISTERS.per_read,
        {
            2: "these are the reads with one result in a thread; how many results does each number serve here?",
            16: "these are the reads for one k; by how many multiply-adds do you divide them?",
            4: "this is multiply-adds for each read; which of the two is divided by the other?",
            1 / 64: "this is one read for 64 products; how many numbers of each tile do 8 x 8 results need?",
            1 / 8: "this counts the numbers of one tile; how many tiles does a thread read?",
        },
        "for one k, a thread reads 8 numbers of each tile; how many products does it make of them?",
        "A thread computes a square of 8 × 8 results of a matrix product. For each k, it reads 8 numbers of the left "
        "tile and 8 of the right one from workgroup memory, and multiplies each of the former by each of the latter. "
        "How many numbers does it read for each multiply-add?",
        "It reads 8 + 8 = 16 numbers, and makes 8 · 8 = 64 products of them: 16 / 64 = 1/4. With one result in a "
        "thread, it is 2 for each multiply-add, 8 times as many.",
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
            SLICES - 1: "a few multiprocessors have nothing to do then; how many workgroups do that many slices have?",
            H200.multiprocessors: "this is one slice for each multiprocessor; how many workgroups does a slice have?",
            WORKGROUPS: "this is how many workgroups a slice has; how many slices give each multiprocessor one?",
            H200.multiprocessors - WORKGROUPS: "these multiprocessors are idle without slices; how many does each "
            "further slice keep busy?",
        },
        "each slice has as many workgroups as the result has tiles; how many slices give every multiprocessor one?",
        f"A weight gradient has {WORKGROUPS} tiles of results, and a workgroup for each. The GPU has "
        f"{H200.multiprocessors} multiprocessors. Split-K cuts each sum into slices, and each slice has workgroups of "
        "its own. How many slices do you need at least, so that each multiprocessor has a workgroup?",
        f"With {SLICES - 1} slices there are {SLICES - 1} · {WORKGROUPS} = {(SLICES - 1) * WORKGROUPS} workgroups, "
        f"which are too few. With {SLICES} there are {SLICES} · {WORKGROUPS} = {SLICES * WORKGROUPS}.",
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
