"""Lesson 06's pictures, their sliders, and the drawings in its hints: legible, and true to what was computed."""

import re
from itertools import product

import numpy as np
import pytest
from support.legible import faults, illegible, states, written
from support.notebook_gate import NOTEBOOKS, Lesson
from support.sample import sample

import helpers
from helpers.gemm import explorers, reference
from helpers.gemm.pictures import activations as formulas
from helpers.gemm.pictures.activations import NAMES
from helpers.gemm.shapes import ACTIVATIONS
from helpers.pictures.canvas import number
from helpers.widgets.explorer import Explorer

# --- The gradients of a fused layer -------------------------------------------------------------------------

A = np.array([[1, 0, 2, 1], [0, 3, 1, -1], [2, 1, 0, 1]], np.float32)
B = np.array([[1, 0, 2, -1, 1], [0, 1, 1, 2, 0], [2, -1, 0, 1, 3], [1, 0, -2, 1, 1]], np.float32)
BIAS = np.array([1, 0, -1, 2, -3], np.float32)
GRAD = np.array([[2, -1, 1, 0, 3], [1, 2, -1, 3, -2], [0, 1, 2, -1, 1]], np.float32)


def gradients(columns: int = 5, sign: int = 1) -> Explorer:
    """The explorer over the numbers above, or a part of them, and what the GPU makes of them."""
    a, b, bias, grad = sign * A, B[:, :columns], BIAS[:columns], sign * GRAD[:, :columns]
    pre = helpers.gemm_bias_act(a[None], b, bias)[0]
    d_a, d_b, d_bias = helpers.gemm_bias_act_backward(a[None], b, bias, grad[None], "relu")
    return explorers.gradients(a, b, bias, grad, pre, d_a[0], d_b, d_bias)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_the_terms_add_up_to_what_the_gpu_returned(columns, sign):
    explorer = gradients(columns, sign)
    for values in sample(states(explorer), 20):
        said = explorer.set(**values)
        total, returned = said.rsplit(" = ", 1)[1].split("; ")
        assert returned == f"the GPU returned {total}."
        factors = [text[1:] for text in written(explorer.picture) if text[0] == "×"]
        assert factors == re.findall(r"·\(?(−?\d+)", said)  # the second factor of each product
        assert "−0" not in written(explorer.picture)


def test_a_wrong_result_differs_from_the_sum_of_its_terms():
    picture = gradients().picture
    picture.matrices["d_b"][2, 1] += 1
    assert picture.show(2, 2, 1).sentence.endswith(" = 2; the GPU returned 3.")
    assert written(picture)[-2:] == ["sum of its terms: 2", "the GPU returned: 3"]


def test_the_smallest_example_is_drawn():
    one = np.ones((1, 1), np.float32)
    assert explorers.gradients(one, one, one[0], *[one] * 4, one[0]).sentence.startswith("d_b[0,0] = a[:,0] · grad")


# --- Tiles ------------------------------------------------------------------------------------------------


def operands(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return tuple(random.integers(-3, 4, size).astype(np.float32) for size in ((m, k), (k, n)))


def tiles(*sizes: int) -> Explorer:
    """The explorer over these operands and what the GPU makes of them."""
    a, b = operands(*sizes)
    return explorers.tiles(a, b, helpers.gemm_bias_act(a[None], b, np.zeros(sizes[2], np.float32))[0])


def test_a_thread_is_sure_of_its_own_cells_before_the_barrier_and_of_all_after_it():
    picture = tiles(8, 10, 8).picture
    assert [written(picture.show(step, 6)).count("?") for step in (4, 5)] == [30, 0]


def test_each_turn_adds_to_the_sum_and_each_thread_ends_with_its_element_as_the_gpu_returned_it():
    (a, b), explorer, total = operands(8, 10, 8), tiles(8, 10, 8), "0"
    for step in (2, 6, 10):
        said = explorer.set(step=step, thread=6)
        assert f" to its sum, {total}, and gets " in said
        total = re.search(r"gets (\S+)\. ", said)[1]
        assert f"thread 6 owns (a @ b)[5,6]; sum so far: {total}" in written(explorer.picture)
    for thread, value in enumerate(map(number, (a @ b)[4:, 4:].flat)):
        assert explorer.set(step=12, thread=thread).endswith(f"= {value}; the GPU returned {value}.")


# --- A transposed load ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("load", "moved", "read"),
    [
        (0, "b[5,2] at offset 27 and writes it to right[6].", "25 to 28, side by side: coalesced."),
        (1, "b[5,2] at offset 27 and writes it to right[9].", "25 to 28, side by side: coalesced."),
        (2, "b[6,1] at offset 31 and writes it to right[6].", "21, 26, 31 and 36, N = 5 apart: strided."),
    ],
)
def test_two_ways_make_the_same_tile_and_differ_in_what_neighbors_read(load, moved, read):
    said = explorers.transposed_load().set(load=load, thread=6)
    assert said == f"Thread 6 reads {moved} Together, threads 4 to 7 read offsets {read}"


# --- Activations ------------------------------------------------------------------------------------------


def test_every_tangent_is_in_its_plot():
    explorer = explorers.activations()
    for values in sample(states(explorer), 40):
        explorer.set(**values)
        plot, x, name = explorer.picture.plots[0], values["tenths"] / 10, NAMES[values["act"]]
        ends = np.reshape(plot.tangent(x, reference.act(x, name), reference.derivative(x, name)), (2, 2))
        corner = np.array(plot.box[:2])
        assert ((ends >= corner - 1e-6) & (ends <= corner + plot.box[2:] + 1e-6)).all(), values


def test_the_kernels_number_the_activations_as_drawn():
    assert tuple(ACTIVATIONS) == NAMES
    assert explorers.activations().set(act=4, tenths=0) == (
        "sigmoid at x = 0: act(x) = 0.5, and its derivative is 0.25, so an upstream gradient of 1 goes on as 0.25."
    )


def test_every_naive_formula_fails_in_float32_only_and_every_stable_one_is_right():
    for formula in formulas.UNSTABLE:
        naive, stable, true = formula.values()
        assert not formulas.is_right(naive, true), formula
        assert formulas.is_right(stable, true), formula
        near = [compute(np.float64(0.7)) for compute in (formula.naively, formula.stably)]
        np.testing.assert_allclose(near, formula.reference(0.7), rtol=1e-12, err_msg=formula.quantity)


def test_the_table_of_formulas_is_legible():
    assert not list(faults(formulas.unstable_formulas()))


# --- All of them --------------------------------------------------------------------------------------------

EXPLORERS = {
    "gradients": gradients,
    "a column of the gradients": lambda: gradients(1, -1),
    "tiles of 8, 10 and 8": lambda: tiles(8, 10, 8),
    "tiles of 4, 12 and 8": lambda: tiles(4, 12, 8),
    "tiles of 8, 9 and 4": lambda: tiles(8, 9, 4),
    "transposed load": explorers.transposed_load,
    "activations": explorers.activations,
}


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_state_is_legible(name):
    assert not illegible(EXPLORERS[name](), 40)


# --- The drawings in the hints --------------------------------------------------------------------------------


def drawn(puzzle: str) -> list[str]:
    """The lines of the drawing in the second hint of a puzzle, which stands above its cell."""
    cells = Lesson.read(NOTEBOOKS / "06_fused_gemm_backward.ipynb").cells
    at = next(i for i, cell in enumerate(cells) if cell.source.endswith(f'helpers.grade("{puzzle}", my_kernel)'))
    return re.search(r"^```\n(.*?)^```$", cells[at - 1].source, re.DOTALL | re.MULTILINE)[1].splitlines()


def test_the_drawing_of_the_tiles_has_row_column_and_element_in_line():
    lines = drawn("tiled_product")
    assert len([line for line in lines if line.lstrip().startswith("m ") and "left" in line and " x " in line]) == 1
    assert len({line.index(mark) for line in lines for mark in "n:x" if f"  {mark} " in f"{line} "}) == 1


def test_the_drawing_of_the_derivative_is_right():
    numbers = {line[:12].strip(): np.array(re.findall(r"-?\d+", line), int) for line in drawn("gemm_bwd_grad_pre")}
    pre = numbers["pre"]
    np.testing.assert_array_equal(numbers["relu"], reference.act(pre, "relu"))
    np.testing.assert_array_equal(numbers["derivative"], reference.derivative(pre, "relu"))
    np.testing.assert_array_equal(numbers["grad_pre"], numbers["grad"] * numbers["derivative"])


def test_the_drawing_of_the_transposed_tile_is_right():
    text = "\n".join(drawn("gemm_bwd_da"))
    b, right = (np.array(re.findall(rf"{row} = \d ([A-P])  (.)  (.)  (.)", text)) for row in "kn")
    np.testing.assert_array_equal(right, b.T)
    x, y, letter = re.search(r"reads (.).*local\.x = (\d), local\.y = (\d)", text, re.DOTALL).group(2, 3, 1)
    assert (int(y) * 4 + int(x), b[int(y), int(x)]) == (6, letter)


def test_the_drawing_of_the_turns_is_right():
    turns = product(range(2), range(0, 18, 16))
    rows = {0: "0 to 15", 16: "16, 17, and zeros"}
    wanted = [f"{turn} {item} {first} {rows[first]}" for turn, (item, first) in enumerate(turns)]
    assert [" ".join(line.split()) for line in drawn("gemm_bwd_db")[2:-1]] == wanted


def test_the_drawing_of_a_column_is_right():
    _, *rows = drawn("gemm_bwd_dbias")
    for row, line in enumerate(rows):
        item = f"item {row // 2} " * (row % 2 == 0)
        offsets = ", ".join(str(3 * row + n) for n in range(3))
        assert " ".join(line.split()) == f"{item}m = {row % 2} row {row} . x . offsets {offsets}"
