"""Lesson 06 as a reader meets it: the questions that lesson 02 is asked, and its own sliders and exercise."""

import numpy as np
import pytest
import test_browser as asked
from browser import LivePage
from playwright.sync_api import expect

import helpers
from helpers import exercise_gemm, explore_gemm

LESSON = "06_fused_gemm_backward.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")
A = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]], np.float32)
B = np.array([[1, 2], [0, -1], [1, 0], [2, 1]], np.float32)
BIAS, GRAD = np.array([-1, 1], np.float32), np.array([[5, 2], [-1, 4], [2, -3]], np.float32)


def test_everything_stored_shows_before_anything_runs(opened: LivePage) -> None:
    asked.test_everything_stored_shows_before_anything_runs(opened)


def test_every_cell_runs_and_says_what_is_stored(lesson: LivePage) -> None:
    asked.test_every_cell_runs_and_says_what_is_stored(lesson)


def test_every_control_has_a_name_and_every_picture_its_words(lesson: LivePage) -> None:
    asked.test_every_control_has_a_name_and_every_picture_its_words(lesson)


def test_every_picture_is_whole(lesson: LivePage) -> None:
    asked.test_every_picture_is_whole(lesson)


def test_rows_and_columns_follow_the_product(lesson: LivePage) -> None:
    shown, pre = lesson.explorer("explore_gemm.products("), helpers.gemm_bias_act(A[None], B, BIAS)[0]
    d_a, d_b, d_bias = helpers.gemm_bias_act_backward(A[None], B, BIAS, GRAD[None], "relu")
    twin = explore_gemm.products(A, B, BIAS, GRAD, pre, d_a[0], d_b, d_bias)
    before = shown.png()
    for product in (0, 1, 3, 2):  # the limits of row and column change with each
        shown.type("product", product)
        twin.set(product=product)
        shown.shows(twin)
    shown.handle("row").press("ArrowRight")
    twin.set(row=twin.values["row"] + 1)
    shown.shows(twin)
    assert shown.png() != before


def test_activations_move(lesson: LivePage) -> None:
    shown, twin = lesson.explorer("explore_gemm.activations("), explore_gemm.activations()
    for name, value in {"act": 5, "tenths": -60}.items():
        shown.type(name, value)
        twin.set(**{name: value})
        shown.shows(twin)


def test_every_step_of_the_tiles_says_something_new(lesson: LivePage) -> None:
    shown, said = lesson.explorer("explore_gemm.tiles("), set()
    shown.type("step", 0)
    expect(shown.words).to_contain_text("Step 0")
    for _ in range(12):
        words = shown.words.inner_text()
        said.add(words)
        shown.handle("step").press("ArrowRight")
        expect(shown.words).not_to_have_text(words)
    assert len(said) == 12


def test_the_exercise_can_be_solved(lesson: LivePage) -> None:
    cell, tests = lesson.code_cell("my_slope = None"), len(exercise_gemm.TESTS)
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    cell.locator(".cm-content").click()
    lesson.page.keyboard.press("Control+a")
    lesson.page.keyboard.insert_text('my_slope = "select(exp(x), 1.0, x > 0.0)"\nexercise_gemm.grade(my_slope)')
    solved = lesson.code_cell("exercise_gemm.grade(my_slope)")
    lesson.run(solved)
    expect(solved).to_contain_text(f"{tests} of {tests} tests pass")
