"""Lesson 08: the picture of split-K has a place for every result, and counts the multiprocessors that work."""

import pytest

from helpers.bench.gpu_limits import H200
from helpers.lessons.the_speed_ladder.pictures.split_k import SUMS, SplitKPicture

NINE_TILES = (64, 1600, 576)  # M, K, N
ONE_TILE = (64, 100_000, 64)


def test_the_results_lie_side_by_side_in_one_row_with_its_name_on_the_left():
    picture = SplitKPicture(NINE_TILES).show(2, 0)
    assert len(picture.results) == picture.tiles == 9
    for i, result in enumerate(picture.results):
        assert result == pytest.approx((SUMS.x + i * SUMS.width / 9, SUMS.y, SUMS.width / 9, SUMS.height))
    words = {}
    for mark in picture.marks:
        words |= {word.text: word for word in mark.words}
    name = words["tile"]
    assert name.align == "right"
    assert name.x < SUMS.x
    assert name.y == SUMS.middle[1]


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        (H200.multiprocessors - 1, "131 workgroups: 1 of 132 multiprocessors has nothing to do."),
        (H200.multiprocessors, "132 workgroups: all 132 multiprocessors work."),
        (H200.multiprocessors + 1, "133 workgroups: all 132 multiprocessors work."),
    ],
)
def test_the_multiprocessors_without_a_workgroup_are_counted(slices, words):
    assert words in SplitKPicture(ONE_TILE).show(slices, 0).sentence
