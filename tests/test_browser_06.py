"""Lesson 06 in a browser: what any lesson is asked, and its own sliders and exercise."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.exercises import PUZZLES
from helpers.gemm import explorers

LESSON = "06_fused_gemm_backward.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")
A = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]], np.float32)
B = np.array([[1, 2], [0, -1], [1, 0], [2, 1]], np.float32)
BIAS, GRAD = np.array([-1, 1], np.float32), np.array([[5, 2], [-1, 4], [2, -3]], np.float32)


class TestLesson(EveryLesson):
    pass


def test_rows_and_columns_follow_the_product(lesson: LivePage) -> None:
    shown, pre = lesson.explorer("explorers.gradients("), helpers.gemm_bias_act(A[None], B, BIAS)[0]
    d_a, d_b, d_bias = helpers.gemm_bias_act_backward(A[None], B, BIAS, GRAD[None], "relu")
    same = explorers.gradients(A, B, BIAS, GRAD, pre, d_a[0], d_b, d_bias)
    for product in (0, 1, 3, 2):  # the limits of row and column change with each
        shown.type("product", product)
        same.set(product=product)
        shown.shows(same)
    shown.handle("row").press("ArrowRight")
    same.set(row=same.values["row"] + 1)
    shown.shows(same)


def test_a_tile_is_loaded_in_three_ways(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.transposed_load("), explorers.transposed_load()
    for load in (0, 2, 1):
        shown.type("load", load)
        same.set(load=load)
        shown.shows(same)
    shown.handle("thread").press("ArrowRight")
    same.set(thread=7)
    shown.shows(same)


@pytest.mark.parametrize("name", ["tiled_product", "gemm_bwd_da"])
def test_an_exercise_can_be_solved(lesson: LivePage, name: str) -> None:
    """Its cell is found by its place in the file: of a long text, the editor holds only the lines in sight."""
    grading, tests = f'helpers.grade("{name}", my_kernel)', len(PUZZLES[name].tests)
    cells = Lesson.read(NOTEBOOKS / LESSON).code
    cell = lesson.code_cells.nth(next(i for i, cell in enumerate(cells) if grading in cell.source))
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    lesson.retype(cell, f"my_kernel = {json.dumps(PUZZLES[name].solution.text)}\n{grading}")
    expect(cell).to_contain_text(f"{tests} of {tests} tests pass")


def test_a_prediction_is_answered(lesson: LivePage) -> None:
    cell = lesson.code_cell('helpers.predict("slot_of_thread_6", my_answer)')
    lesson.retype(cell, 'my_answer = 6\nhelpers.predict("slot_of_thread_6", my_answer)')
    expect(cell).to_contain_text("its own slot")
