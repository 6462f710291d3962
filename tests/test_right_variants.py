"""No right kernel is refused: many ways to write each puzzle's kernel are right in every test."""

import os
import random
from itertools import combinations

import pytest
from support.right_variants import right_variants

from helpers.exercises import PUZZLES
from helpers.grading.judge import judged
from helpers.grading.puzzle import same_code
from helpers.grading.verdict import RIGHT
from helpers.wgsl import Kernel

VARIANTS = list(right_variants())
TRIED = 30  # in an ordinary run


def tried() -> list[tuple[str, str, str]]:
    """All variants where all is to be tried; else always the same ones, at least one of each puzzle."""
    if os.environ.get("CONVGRAD_ALL_TESTS"):
        return VARIANTS
    chosen = random.Random(1).sample(VARIANTS, len(VARIANTS))
    one_of_each = {name: (name, *rest) for name, *rest in chosen}.values()
    others = [each for each in chosen if each not in one_of_each]
    return sorted([*one_of_each, *others[: TRIED - len(one_of_each)]], key=VARIANTS.index)


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, _, text in tried()], ids=[f"{name}: {what}" for name, what, _ in tried()]
)
def test_a_right_kernel_is_right_in_every_test(name, text):
    grades = judged(PUZZLES[name], text)
    assert [verdict.outcome for verdict in grades] == [RIGHT] * len(PUZZLES[name].tests), f"{grades}\n\n{text}"


def test_there_are_many_and_some_of_each_puzzle_in_an_ordinary_run_too():
    counts = [sum(name == puzzle for name, *_ in VARIANTS) for puzzle in PUZZLES]
    assert sum(counts) == len(VARIANTS) >= 100
    assert min(counts) >= 5
    assert {name for name, *_ in tried()} == set(PUZZLES)
    assert len(tried()) in (TRIED, len(VARIANTS))


@pytest.mark.parametrize("puzzle", PUZZLES)
def test_no_two_are_the_same_code_and_none_is_the_official_one(puzzle):
    texts = {what: Kernel(text) for name, what, text in VARIANTS if name == puzzle} | {"ours": PUZZLES[puzzle].official}
    same = [pair for pair in combinations(texts, 2) if same_code(texts[pair[0]], texts[pair[1]])]
    assert same == []
