"""What a learner works out in lesson 08: a kernel whose threads compute 2 x 2 results each, and questions to answer."""

from dataclasses import replace

from helpers.gemm.exercises import PRODUCTS, puzzle
from helpers.grading.prediction import questions
from helpers.grading.puzzle import TWICE, Skill

PUZZLES = (
    replace(
        puzzle("register_tile", PRODUCTS["product"], "speed"),
        skill=Skill(
            "2 x 2 results in each thread, with two numbers of each tile for four products",
            "three_tiles",
            {"loads_storage": 1.25, "loads_workgroup": 1.25, "thread_loads": TWICE, "results": 1},
        ),
    ),
)

QUESTIONS = questions(__file__)
