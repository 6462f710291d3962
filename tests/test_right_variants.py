"""No right kernel is refused: many ways to write each puzzle's kernel are right in every test."""

from itertools import combinations

import pytest
from support.right_variants import right_variants
from support.sample import sample

from helpers.exercises import PUZZLES
from helpers.grading.grader import grade
from helpers.grading.puzzle import same_code
from helpers.grading.verdict import RIGHT
from helpers.wgsl import Kernel

VARIANTS = list(right_variants())
TRIED = [pytest.param(name, text, id=f"{name}: {what}") for name, what, text in sample(VARIANTS, 45)]


@pytest.mark.parametrize(("name", "text"), TRIED)
def test_a_right_kernel_is_right_in_every_test(name, text):
    grades = grade(PUZZLES[name], text)
    assert [verdict.outcome for verdict in grades] == [RIGHT] * len(PUZZLES[name].tests), f"{grades}\n\n{text}"


def test_there_are_many_and_some_of_each_puzzle():
    counts = [sum(name == puzzle for name, *_ in VARIANTS) for puzzle in PUZZLES]
    assert sum(counts) == len(VARIANTS) >= 100
    assert min(counts) >= 5


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_no_two_are_the_same_code_and_none_is_the_official_one(puzzle):
    texts = {what: Kernel(text) for name, what, text in VARIANTS if name == puzzle} | {"ours": PUZZLES[puzzle].official}
    same = [pair for pair in combinations(texts, 2) if same_code(texts[pair[0]], texts[pair[1]])]
    assert same == []
