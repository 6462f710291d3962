"""The exercise of lesson 08: a kernel whose threads compute 2 x 2 results each."""

from dataclasses import replace
from pathlib import Path

from helpers.grading.puzzle import TWICE, Skill
from helpers.lessons.shared.products import PRODUCTS, puzzle

PRODUCT = puzzle("register_tile", PRODUCTS["product"], Path(__file__).with_name("puzzles"))
REGISTER_TILES = Skill(
    "2 x 2 results in each thread, with two numbers of each tile for four products",
    "three_tiles",
    {"loads_storage": 1.25, "loads_workgroup": 1.25, "thread_loads": TWICE, "results": 1},
    larger=PRODUCT.skill.larger,
)
PUZZLES = (replace(PRODUCT, skill=REGISTER_TILES),)
