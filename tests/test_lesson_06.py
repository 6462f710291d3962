"""Lesson 06's pictures, their sliders, and the drawings in its hints: legible, and true to what was computed."""

import re
from itertools import product

import numpy as np
import pytest
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS, Lesson
from support.sample import sample

import helpers
from helpers.gemm import explorers, reference
from helpers.gemm.pictures import formulas
from helpers.gemm.pictures.activations import NAMES, ActivationsPicture
from helpers.gemm.pictures.gradients import GradientsPicture
from helpers.gemm.pictures.tiles import TilesPicture
from helpers.gemm.pictures.transposed_load import TransposedLoadPicture
from helpers.gemm.shapes import ACTIVATIONS
from helpers.pictures.canvas import number
from helpers.pictures.explorer import Explorer

# --- The gradients of a fused layer -------------------------------------------------------------------------

A = np.array([[1, 0, 2, 1], [0, 3, 1, -1], [2, 1, 0, 1]], np.float32)
B = np.array([[1, 0, 2, -1, 1], [0, 1, 1, 2, 0], [2, -1, 0, 1, 3], [1, 0, -2, 1, 1]], np.float32)
BIAS = np.array([1, 0, -1, 2, -3], np.float32)
GRAD = np.array([[2, -1, 1, 0, 3], [1, 2, -1, 3, -2], [0, 1, 2, -1, 1]], np.float32)


def gradients_picture(columns: int = 5, negate: bool = False) -> GradientsPicture:
    """The picture over the numbers above, with the reference in the GPU's place."""
    sign = -1 if negate else 1
    a, b, bias, grad = sign * A, B[:, :columns], BIAS[:columns], sign * GRAD[:, :columns]
    d_a, d_b, d_bias = reference.backward(a[None], b, bias, grad[None], "relu")
    returned = {"pre": reference.pre(a, b, bias), "d_a": d_a[0], "d_b": d_b, "d_bias": d_bias}
    return GradientsPicture(a, b, bias, grad, returned)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 5])
def test_every_state_of_the_gradients_is_legible(columns, negate):
    picture = gradients_picture(columns, negate)
    for number_ in range(4):
        for element in sample(np.ndindex(picture.size(number_)), 8):
            assert not list(faults(picture.show(number_, *element))), (number_, element)
            assert "−0" not in written(picture)


def test_a_wrong_result_differs_from_the_sum_of_its_terms():
    picture = gradients_picture()
    picture.matrices["d_b"][2, 1] += 1
    assert picture.show(2, 2, 1).sentence.endswith(" = 2; the GPU returned 3.")
    assert written(picture)[-2:] == ["sum of its terms: 2", "the GPU returned: 3"]


def test_an_example_too_large_for_the_sheet_is_refused():
    with pytest.raises(ValueError, match=r"M, K, N = \(5, 4, 5\): at most 4, 4 and 5 fit"):
        GradientsPicture(np.ones((5, 4)), B, BIAS, np.ones((5, 5)), {})


# --- Tiles ------------------------------------------------------------------------------------------------


def operands(m: int, k: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(3)
    return tuple(random.integers(-3, 4, size).astype(np.float32) for size in ((m, k), (k, n)))


def tiles_picture(*sizes: int) -> TilesPicture:
    a, b = operands(*sizes)
    return TilesPicture(a, b, a @ b)


@pytest.mark.parametrize("sizes", [(8, 10, 8), (4, 12, 8), (8, 9, 4)], ids=str)
def test_every_state_of_the_tiles_is_legible(sizes):
    picture = tiles_picture(*sizes)
    for step, thread in sample(product(range(picture.steps), range(0, 16, 3)), 20):
        assert not list(faults(picture.show(step, thread))), (step, thread)


def test_a_thread_is_sure_of_its_own_cells_before_the_barrier_and_of_all_after_it():
    picture = tiles_picture(8, 10, 8)
    assert written(picture.show(4, 6)).count("?") == 30
    assert "?" not in written(picture.show(5, 6))


@pytest.mark.parametrize(
    ("arrays", "problem"),
    [
        (operands(8, 13, 8), r"M, K, N = \(8, 13, 8\): the picture has room"),
        (operands(6, 10, 8), r"M, K, N = \(6, 10, 8\): the picture has room"),
        ((operands(8, 10, 8)[0], np.full((10, 8), 10)), "b has elements other than -9"),
    ],
)
def test_matrices_that_do_not_fit_are_refused(arrays, problem):
    with pytest.raises(ValueError, match=problem):
        TilesPicture(*arrays, np.zeros((8, 8)))


# --- A transposed load ----------------------------------------------------------------------------------------


def test_every_state_of_the_transposed_load_is_legible():
    picture = TransposedLoadPicture()
    for load, thread in sample(product(range(3), range(16)), 16):
        assert not list(faults(picture.show(load, thread))), (load, thread)


def test_two_ways_make_the_same_tile_and_differ_in_what_neighbors_read():
    explorer = explorers.transposed_load()
    said = [explorer.set(load=load, thread=6) for load in range(3)]
    assert said[1] == explorer.set(load=1)
    assert said[0].startswith("Thread 6 reads b[5,2] at offset 27 and writes it to right[6].")
    assert said[1].startswith("Thread 6 reads b[5,2] at offset 27 and writes it to right[9].")
    assert said[2].startswith("Thread 6 reads b[6,1] at offset 31 and writes it to right[6].")
    assert all(
        sentence.endswith("threads 4 to 7 read offsets 25 to 28, side by side: coalesced.") for sentence in said[:2]
    )
    assert said[2].endswith("threads 4 to 7 read offsets 21, 26, 31 and 36, N = 5 apart: strided.")


# --- Activations ------------------------------------------------------------------------------------------


def test_every_state_of_the_activations_is_legible_and_every_tangent_in_its_plot():
    picture = ActivationsPicture()
    for act, tenths in sample(product(range(len(NAMES)), range(-60, 61, 5)), 40):
        assert not list(faults(picture.show(act, tenths))), (act, tenths)
        plot, x = picture.plots[0], tenths / 10
        line = plot.tangent(x, *(float(of(x, NAMES[act])) for of in (reference.act, reference.derivative)))
        ends = np.array(line).reshape(2, 2) - plot.box[:2]
        assert (ends >= -1e-6).all(), (act, tenths)
        assert (ends <= np.array(plot.box[2:]) + 1e-6).all(), (act, tenths)


def test_every_naive_formula_fails_in_float32_only_and_every_stable_one_is_right():
    for formula in formulas.UNSTABLE:
        naive, stable, true = formula.values()
        assert not formulas.is_right(naive, true), formula
        assert formulas.is_right(stable, true), formula
        of = reference.derivative if "derivative" in formula.quantity else reference.act
        name = formula.quantity.split()[-1]
        assert formulas.is_right(true, float(of(np.float64(formula.x), name))), formula
        near = [compute(np.float64(0.7)) for compute in formulas.COMPUTED[formula.quantity]]
        np.testing.assert_allclose(near, of(np.float64(0.7), name), rtol=1e-12, err_msg=formula.quantity)


def test_the_table_of_formulas_is_legible():
    assert not list(faults(formulas.unstable_formulas()))


# --- Sliders ------------------------------------------------------------------------------------------------


def gradients() -> Explorer:
    """The explorer over the numbers above and what the GPU makes of them."""
    pre = helpers.gemm_bias_act(A[None], B, BIAS)[0]
    d_a, d_b, d_bias = helpers.gemm_bias_act_backward(A[None], B, BIAS, GRAD[None], "relu")
    return explorers.gradients(A, B, BIAS, GRAD, pre, d_a[0], d_b, d_bias)


def test_the_sum_of_the_terms_is_what_the_gpu_returned():
    explorer = gradients()
    for chosen in range(4):
        for row, column in np.ndindex(explorer.picture.size(chosen)):
            total, returned = explorer.set(product=chosen, row=row, column=column).rsplit(" = ", 1)[1].split("; ")
            assert returned == f"the GPU returned {total}."


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (
            (0, 1, 2),
            "pre[1,2] = a[1,:] · b[:,2] + bias[2] = 0·2 + 3·1 + 1·0 + (−1)·(−2) + (−1) = 4; the GPU returned 4.",
        ),
        ((1, 1, 2), "d_a[1,2] = grad_pre[1,:] · b[2,:] = 1·2 + 2·(−1) + (−1)·0 + 3·1 + 0·3 = 3; the GPU returned 3."),
        ((2, 2, 1), "d_b[2,1] = a[:,2] · grad_pre[:,1] = 2·0 + 1·2 + 0·1 = 2; the GPU returned 2."),
        ((3, 0, 3), "d_bias[3] = grad_pre[:,3].sum() = 0 + 3 + (−1) = 2; the GPU returned 2."),
    ],
)
def test_sentences_of_the_gradients(values, sentence):
    assert gradients().set(**dict(zip(("product", "row", "column"), values, strict=True))) == sentence


def test_the_limits_of_row_and_column_follow_the_product():
    explorer = gradients()
    explorer.set(product=2, row=3, column=4)
    assert explorer.values == {"product": 2, "row": 3, "column": 4}
    explorer.set(product=1)
    assert explorer.values == {"product": 1, "row": 2, "column": 3}
    explorer.set(product=3)
    assert explorer.values == {"product": 3, "row": 0, "column": 3}


def test_the_smallest_example_is_drawn():
    one, zero = np.ones((1, 1), np.float32), np.zeros(1, np.float32)
    explorer = explorers.gradients(one, one, zero, one, one, one, one, zero + 1)
    assert explorer.sentence == "d_b[0,0] = a[:,0] · grad_pre[:,0] = 1·1 = 1; the GPU returned 1."


def test_sentences_of_the_tiles():
    rng = np.random.default_rng(3)
    a, b = (rng.integers(-3, 4, size).astype(np.float32) for size in ((8, 10), (10, 8)))
    explorer = explorers.tiles(a, b, helpers.gemm_bias_act(a[None], b, np.zeros(8, np.float32))[0])
    row, column = "threads 4 to 7", "threads 2, 6, 10 and 14"
    loads = explorer.set(step=8, thread=6)
    assert loads.startswith("Step 8, load: thread 6 loads a[5,10] = 0 (past the edge) and b[9,6]")
    assert f"what {row} loaded on the left and {column} on the right" in explorer.set(step=5)
    assert f"{row} read what thread 6 loaded on the left, and {column} what it loaded" in explorer.set(step=7)
    assert "no tile follows" in explorer.set(step=11)
    for thread, value in enumerate((a @ b)[4:, 4:].flat):
        end = explorer.set(step=12, thread=thread)
        assert end.endswith(f"= {number(value)}; the GPU returned {number(value)}."), end


def test_the_kernels_number_the_activations_as_drawn():
    assert tuple(ACTIVATIONS) == NAMES
    assert explorers.activations().set(act=4, tenths=0) == (
        "sigmoid at x = 0: act(x) = 0.5, and its derivative is 0.25, so an upstream gradient of 1 goes on as 0.25."
    )


# --- The drawings in the hints --------------------------------------------------------------------------------


def drawn(puzzle: str) -> list[str]:
    """The lines of the drawing in the second hint of a puzzle, which stands above its cell."""
    cells = Lesson.read(NOTEBOOKS / "06_fused_gemm_backward.ipynb").cells
    at = next(i for i, cell in enumerate(cells) if cell.source.endswith(f'helpers.grade("{puzzle}", my_kernel)'))
    return re.search(r"^```\n(.*?)^```$", cells[at - 1].source, re.DOTALL | re.MULTILINE)[1].splitlines()


def test_the_drawing_of_the_tiles_has_row_column_and_element_in_line():
    lines = drawn("tiled_product")
    [row] = [i for i, line in enumerate(lines) if line.lstrip().startswith("m ")]
    assert (
        [row] == [i for i, line in enumerate(lines) if "left" in line] == [i for i, s in enumerate(lines) if " x " in s]
    )
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
