"""Pictures: in every state that a slider can reach, words are legible, apart from each other and on the sheet."""

import numpy as np
import pytest
from support.legible import faults, written
from support.sample import sample

from helpers.convolution import reference as convolution
from helpers.convolution.pictures.groups import GroupsPicture
from helpers.convolution.pictures.parameter_gradients import SharedProductsPicture, ThreadsPicture
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import ORANGE, Box, Picture, number, outline
from helpers.pictures.figures import draw_signed
from helpers.pictures.parts import Grid
from helpers.summation.pictures import TreePicture

# --- Canvas and parts -------------------------------------------------------------------------------------


def test_what_stands_still_is_kept_and_what_moves_is_replaced():
    picture = Picture(50, 100)
    assert picture.starts("a")
    picture.boxes([Box(5, 5, 20, 20)])
    picture.stands_still()
    kept = [*picture.marks]
    picture.write(60, 20, "x")
    assert not picture.starts("a")
    assert picture.marks == kept
    assert picture.starts("b")
    assert picture.marks == []


def test_a_grid_leaves_cells_without_memory_empty_and_makes_wide_numbers_fit():
    picture = Picture(200)
    grid = Grid(picture, [[1, np.nan], [-12345, 0]], 10, 40, (30, 30), "title", "note")
    assert sorted(written(picture)) == sorted(["title", "note", "1", "−1.234e+04", "0"])
    grid.factors({(0, 0): -1000}, ORANGE)
    assert grid.bottom == 100
    assert all(
        extent <= 30 for extent in (np.ptp(outline(w, m.weight)[0][:, 0]) for m in picture.marks[2:] for w in m.words)
    )


def test_what_moves_is_replaced_among_the_numbers_too():
    picture = Picture(200)
    for value in 1, 2:
        if picture.starts():
            Grid(picture, [[7]], 10, 40, (30, 30), "still")
            picture.stands_still()
        Grid(picture, [[value]], 60, 40, (30, 30), "moving")
        assert repr(picture.tables()) == "still; moving"
        assert f"<td>{value}</td>" in picture.tables()


# --- Groups and threads ---------------------------------------------------------------------------------


def gradients(*groups: int, channels: tuple[int, int] = (4, 4)) -> list[np.ndarray]:
    """The gradient of a layer's weights, of which each pair of channels has at most one, for numbers of groups."""
    (ci, co), random = channels, np.random.default_rng(0)
    image, upstream = random.integers(0, 9, (1, ci, 3, 3)), random.integers(-4, 5, (1, co, 3, 3))
    return [convolution.conv2d_grad_weight(image, (co, ci // g, 1, 1), upstream, groups=g) for g in groups]


@pytest.mark.parametrize("channels", [(4, 4), (4, 8), (4, 2)], ids=str)
def test_the_blocks_of_groups_are_legible_and_hold_their_gradients(channels):
    grads = gradients(1, 2, channels=channels)
    picture = GroupsPicture(grads)
    assert not list(faults(picture))
    numbers = [text for text in written(picture) if text.lstrip("−").isdigit()]
    indices = [str(i) for count in channels for i in range(count) for _ in grads]
    assert sorted(numbers) == sorted([*indices, *(number(value) for grad in grads for value in grad.flat)])


def test_pictures_of_threads_are_legible():
    shape = ConvShape(1, 1, 28, 28, 6, 5, 5)
    threads, shared = ThreadsPicture(shape), SharedProductsPicture(shape, 256)
    for thread in sample(range(0, 256, 5), 12):
        assert not list(faults(threads.show(thread)))
        assert not list(faults(shared.show(thread)))
    sizes = [word.size for mark in threads.marks for word in mark.words if len(word.text) == 3]
    assert min(sizes) >= 12.9  # three digits that the back row of a classroom can read
    tree = TreePicture([-10.25 * i for i in range(16)], -1230)
    for step in range(5):
        assert not list(faults(tree.show(step, 0), 10))


# --- Images -------------------------------------------------------------------------------------------------


def signed(values: np.ndarray) -> Picture:
    picture = Picture(100, 200)
    draw_signed(picture, values, Box(10, 10, 80, 80))
    return picture


def test_signs_are_more_than_colors():
    large = signed(np.array([[2.0, -1.0], [0.1, -2.0]]))
    assert "".join(written(large)) == "+−−"  # not where it is nearly 0
    strokes = [mark for mark in signed(np.linspace(-1, 1, 400).reshape(20, 20)).marks if mark.line == 0.7]
    assert len(strokes[0].path.vertices) == 2 * 150  # a stroke through each cell below -1/4
