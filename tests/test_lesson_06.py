"""Lesson 06: tiles that fly, terms to point at, a layer that reads digits by the reader's kernels, and its hints."""

import re

import numpy as np
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.lessons.exercises import MATCHINGS
from helpers.lessons.fused_gemm_backward import explorers, one_layer
from helpers.lessons.fused_gemm_backward.pictures import passes
from helpers.lessons.fused_gemm_backward.pictures.tiles import STEPS
from helpers.lessons.fused_gemm_backward.pictures.transposed_load import FLIGHT
from helpers.operations.gemm.operations import BACKWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.pictures.canvas import number

LESSON = Lesson.read(NOTEBOOKS / "06_fused_gemm_backward.ipynb")
WRITTEN = "grad_pre", "d_a", "d_b", "d_bias"  # by the official passes, in this order

# --- Tiles ------------------------------------------------------------------------------------------------------


def test_every_thread_ends_with_its_element_as_the_gpu_returned_it():
    explorer = explorers.tiles()
    a, b = explorer.picture.operands.values()
    for (row, column), value in np.ndenumerate(a @ b):
        said = explorer.set(step=2 * len(STEPS), row=row, column=column)
        assert said.endswith(f"writes c[{row},{column}] = {number(value)}; the kernel wrote {number(value)}.")
    explorer.picture.result = explorer.picture.result + 1  # a wrong number is not hidden
    value = (a @ b)[0, 0]
    said = explorer.set(row=0, column=0)
    assert said.endswith(f"= {number(value)}; the kernel wrote {number(value + 1)}.")


def test_a_turn_adds_its_terms_and_the_next_one_goes_on():
    explorer, multiply = explorers.tiles(), STEPS.index("multiply")
    sums = []
    for turn in (0, 1):
        said = explorer.set(step=turn * len(STEPS) + multiply)
        terms = sum(int(x) * int(y) for x, y in re.findall(r"(\d)·(\d)", said))
        sums.append(terms)
        assert said.endswith(f"and has {sum(sums)}.")


def test_numbers_arrive_one_row_of_threads_after_the_other_and_all_before_the_barrier_ends():
    picture, home = explorers.tiles().picture, {}
    for step in range(STEPS.index("barrier") + 1):
        picture.show(step, 5, 6)
        words = [word for mark in picture.marks for word in mark.words if mark.weight == "bold" and word.size == 13]
        slots = [box for grid in picture.tiles for box in grid.boxes]
        home[step] = sum(any(np.allclose(box.middle, word[:2]) for box in slots) for word in words)
    assert home == {0: 0, 1: 0, 2: 8, 3: 0}  # then they lie in their slots, as other words
    assert len([word for word in written(picture) if word.isdigit()]) == 2 * 48 + 2 * 16 + 16


def test_no_flying_number_is_written_over_another():
    for make, values in (
        (explorers.tiles, [{"step": s, "row": r, "column": c} for s in (1, 2, 7, 8) for r in (0, 5) for c in (3, 6)]),
        (explorers.transposed_load, [{"load": w, "flight": f} for w in range(3) for f in range(len(FLIGHT))]),
    ):
        explorer = make()
        for each in values:
            explorer.set(**each)
            assert not list(faults(explorer.picture)), each


# --- The gradients of a fused layer -------------------------------------------------------------------------


def test_the_terms_add_up_to_what_the_gpu_returned_and_each_can_be_pointed_at():
    explorer = explorers.gradients()
    picture = explorer.picture
    for product in range(4):
        for row, column in np.ndindex(*picture.size(product)):
            said = explorer.set(product=product, row=row, column=column)
            total, returned = said.rsplit(" = ", 1)[1].split("; ")
            assert returned == f"the kernel wrote {total}."
            terms = {term for part in picture.touchable.values() for term in _terms(part)}
            for term in terms:
                assert f", a term of {said.partition(' = ')[0]}." in picture.show(product, row, column, term).sentence


def _terms(part) -> list[int]:
    """The terms that can be pointed at in a grid of factors."""
    return [said["term"] for said in part.values.values()] if part.passing else []


# --- The passes as cards --------------------------------------------------------------------------------------


def test_the_cards_say_the_workgroups_of_each_pass_and_the_right_words_are_their_arrays():
    plan, picture = BACKWARD.plan(GemmShape(passes.M, passes.K, passes.N), "2_tiled"), passes.PassesPicture()
    started = {name: step.workgroups for name, step in zip(WRITTEN, plan.passes, strict=True)}
    assert [(*grid, 1) for grid in passes.GRIDS] == [started[name] for name in MATCHINGS["four_passes"].right]
    assert [word for word in written(picture) if "workgroups" in word] == [
        f"workgroups in x: {x}, y: {y}" for x, y in passes.GRIDS
    ]
    assert not list(faults(picture))


# --- A layer that reads digits ----------------------------------------------------------------------------------


def test_a_step_goes_down_the_slope_of_the_loss_and_the_digits_are_read_better(monkeypatch):
    weights = one_layer.learned(np.matmul, lambda a, grad: a.T @ grad)
    picture = one_layer.OneLayer(weights, "NumPy")
    assert picture.right_of_all[0] == 0.1
    assert picture.right_of_all[-1] > one_layer.ENOUGH
    a, labels = one_layer._pixels(0, one_layer.SEEN)
    losses = [np.mean(np.log(np.exp(a @ w).sum(1)) - (a @ w)[range(len(a)), labels]) for w in weights[:6]]
    assert losses == sorted(losses, reverse=True)
    for step, digit in ((0, 0), (10, 7), (one_layer.STEPS, 99)):
        said = picture.show(step, digit).sentence
        assert not list(faults(picture))
    assert said.endswith(f"is read as a {picture.scores[-1, 99].argmax()}.")


# --- The drawings in the hints --------------------------------------------------------------------------------


def drawn(puzzle: str) -> list[str]:
    """The lines of the drawing in the second hint of a puzzle, which stands above its cell."""
    at = next(i for i, cell in enumerate(LESSON.cells) if cell.source.endswith(f'helpers.write("{puzzle}")'))
    return re.search(r"^```\n(.*?)^```$", LESSON.cells[at - 1].source, re.DOTALL | re.MULTILINE)[1].splitlines()


def test_the_drawing_of_the_tiles_has_row_column_and_element_in_line():
    lines = drawn("tiled_product")
    assert len([line for line in lines if line.lstrip().startswith("m ") and "left" in line and " x " in line]) == 1
    assert len({line.index(mark) for line in lines for mark in "n:x" if f"  {mark} " in f"{line} "}) == 1


def test_the_drawing_of_the_transposed_tile_is_right():
    text = "\n".join(drawn("transposed_tile"))
    a, left = (np.array(re.findall(rf"{row} = \d ([A-P])  (.)  (.)  (.)", text)) for row in "mk")
    np.testing.assert_array_equal(left, a.T)
    x, y, letter = re.search(r"reads (.).*local\.x = (\d), local\.y = (\d)", text, re.DOTALL).group(2, 3, 1)
    assert (int(y) * 4 + int(x), a[int(y), int(x)]) == (6, letter)
