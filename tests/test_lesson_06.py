"""Lesson 06: tiles that fly, terms to point at, a layer that reads digits by the reader's kernels, and its hints."""

import re
from itertools import chain, product

import numpy as np
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.lessons.exercises import MATCHINGS
from helpers.lessons.fused_gemm_backward import explorers, one_layer
from helpers.lessons.fused_gemm_backward.pictures import passes
from helpers.lessons.fused_gemm_backward.pictures.gradients import GradientsPicture
from helpers.lessons.fused_gemm_backward.pictures.tiles import STEPS, TilesPicture
from helpers.lessons.fused_gemm_backward.pictures.transposed_load import FLIGHT
from helpers.operations.gemm.operations import BACKWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.pictures.canvas import Box, Word, number

LESSON = Lesson.read(NOTEBOOKS / "06_fused_gemm_backward.ipynb")
WRITTEN = "grad_pre", "d_a", "d_b", "d_bias"  # by the official passes, in this order

# --- Tiles ------------------------------------------------------------------------------------------------------


def test_every_thread_ends_with_its_element_as_the_gpu_returned_it():
    explorer = explorers.tiles()
    a, b = explorer.picture.operands.values()
    for (row, column), value in np.ndenumerate(a @ b):
        sentence = explorer.set(step=2 * len(STEPS), row=row, column=column)
        assert sentence.endswith(f"writes c[{row},{column}] = {number(value)}; the kernel wrote {number(value)}.")
    explorer.picture.result = explorer.picture.result + 1  # a wrong number is not hidden
    value = (a @ b)[0, 0]
    sentence = explorer.set(row=0, column=0)
    assert sentence.endswith(f"= {number(value)}; the kernel wrote {number(value + 1)}.")


def test_a_turn_adds_its_terms_and_the_next_one_goes_on():
    explorer = explorers.tiles()
    multiply = STEPS.index("multiply")
    total = 0
    for turn in (0, 1):
        sentence = explorer.set(step=turn * len(STEPS) + multiply)
        total += sum(int(x) * int(y) for x, y in re.findall(r"(\d)·(\d)", sentence))
        assert sentence.endswith(f"and has {total}.")


def test_numbers_arrive_one_row_of_threads_after_the_other_and_all_before_the_barrier_ends():
    picture = explorers.tiles().picture
    arrived = []
    for step in range(STEPS.index("barrier") + 1):
        picture.show(step, 5, 6)
        arrived.append(numbers_in_slots(picture))
    assert arrived == [0, 0, 8, 0]  # at the barrier they lie in their slots, as other words
    assert len([word for word in written(picture) if word.isdigit()]) == 2 * 48 + 2 * 16 + 16


def numbers_in_slots(picture: TilesPicture) -> int:
    """The number of flying numbers that lie in the middle of a slot."""
    slots = list(chain.from_iterable(grid.boxes for grid in picture.tiles))
    bold = chain.from_iterable(mark.words for mark in picture.marks if mark.weight == "bold")
    flying = [word for word in bold if word.size == 13]
    return sum(is_in_one(word, slots) for word in flying)


def is_in_one(word: Word, slots: list[Box]) -> bool:
    """True if a word lies in the middle of one of the slots."""
    return any(np.allclose(slot.middle, word[:2]) for slot in slots)


def test_no_flying_number_is_written_over_another():
    tiles = explorers.tiles()
    for step, row, column in product((1, 2, 7, 8), (0, 5), (3, 6)):
        tiles.set(step=step, row=row, column=column)
        assert not list(faults(tiles.picture)), (step, row, column)
    load = explorers.transposed_load()
    for way, flight in product(range(3), range(len(FLIGHT))):
        load.set(load=way, flight=flight)
        assert not list(faults(load.picture)), (way, flight)


# --- The gradients of a fused layer -------------------------------------------------------------------------


def test_the_terms_add_up_to_what_the_gpu_returned_and_each_can_be_pointed_at():
    explorer = explorers.gradients()
    picture = explorer.picture
    for factors in range(4):
        for row, column in np.ndindex(*picture.size(factors)):
            sentence = explorer.set(product=factors, row=row, column=column)
            element = sentence.partition(" = ")[0]
            total, returned = sentence.rsplit(" = ", 1)[1].split("; ")
            assert returned == f"the kernel wrote {total}."
            for term in terms_of(picture):
                assert f", a term of {element}." in picture.show(factors, row, column, term).sentence


def terms_of(picture: GradientsPicture) -> set[int]:
    """The terms that can be pointed at in the grids of factors."""
    terms = set()
    for part in picture.touchable.values():
        if part.passing:
            terms |= {values["term"] for values in part.values.values()}
    return terms


# --- The passes as cards --------------------------------------------------------------------------------------


def test_the_cards_say_the_workgroups_of_each_pass_and_the_right_words_are_their_arrays():
    plan = BACKWARD.plan(GemmShape(passes.M, passes.K, passes.N), "2_tiled")
    picture = passes.PassesPicture()
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
        sentence = picture.show(step, digit).sentence
        assert not list(faults(picture))
    assert sentence.endswith(f"is read as a {picture.scores[-1, 99].argmax()}.")


# --- The drawings in the hints --------------------------------------------------------------------------------


def drawn(puzzle: str) -> list[str]:
    """The lines of the drawing in the second hint of a puzzle, which stands above its cell."""
    at = next(i for i, cell in enumerate(LESSON.cells) if cell.source.endswith(f'helpers.write("{puzzle}")'))
    return re.search(r"^```\n(.*?)^```$", LESSON.cells[at - 1].source, re.DOTALL | re.MULTILINE)[1].splitlines()


def test_the_drawing_of_the_tiles_has_row_column_and_element_in_line():
    lines = drawn("tiled_product")
    assert len([line for line in lines if line.lstrip().startswith("m ") and "left" in line and " x " in line]) == 1
    columns = {line.index(mark) for line, mark in product(lines, "n:x") if f"  {mark} " in f"{line} "}
    assert len(columns) == 1


def test_the_drawing_of_the_transposed_tile_is_right():
    text = "\n".join(drawn("transposed_tile"))
    a, left = (np.array(re.findall(rf"{row} = \d ([A-P])  (.)  (.)  (.)", text)) for row in "mk")
    np.testing.assert_array_equal(left, a.T)
    x, y, letter = re.search(r"reads (.).*local\.x = (\d), local\.y = (\d)", text, re.DOTALL).group(2, 3, 1)
    assert (int(y) * 4 + int(x), a[int(y), int(x)]) == (6, letter)
