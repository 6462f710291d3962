"""Wrong lines of Python that no known mistake fits: the place of the change that makes them right, never the cure."""

from dataclasses import replace

import pytest

from helpers.grading import python_repair, words
from helpers.grading.change import Change
from helpers.grading.transport import as_data, from_data
from helpers.grading.verdict import RIGHT, Verdict
from helpers.grading.words import repairs
from helpers.lessons.exercises import PYTHON_PUZZLES

MEANS, SPLIT, SLOPE = "combine_means", "split_batch", "central_difference"
CHECK = "s = shape(2, 2, 5, 7, 3, 3, 2, 2, (1, 2))\nx, w, dy = image(s), filters(s), upstream(s)\n"
DOTS = "a = dot(conv2d(x, w, s), dy)\nb = dot(x, grad_input(dy, w, s))\n"
PARTS = "q, r = divmod(n, p)\n"
ORDERS = "orders = same_workgroup and barrier_between\nwrites = a_writes or b_writes\n"
# One change each: the puzzle, the text, the line and the kind that are told, and the piece that is quoted.
KINDS = [
    ("break_even", "saved = (w - 1) * w\nt = h / saved", 1, "operator", "(w - 1) * w"),
    ("break_even", "t = h / (1 - 1 / w) * 4", 1, "several", "4"),
    (MEANS, "combined = (a * n_a + b) / (n_a + n_b)", 1, "missing", "b"),
    (MEANS, "wa = n_a / (n_a + n_b)\ncombined = wa * a + wa * b", 2, "missing", "wa * b"),
    (MEANS, "combined = (a * n_a + b) * n_b / (n_a + n_b)", 1, "several", "(a * n_a + b) * n_b"),
    (SLOPE, "derivative = (loss(w + h) - loss(w - h)) / (2 * h) ** 2", 1, "several", "(2 * h) ** 2"),
    (SLOPE, "a = loss(w + h)\nb = loss(h)\nderivative = (a - b) / (2 * h)", 2, "missing", "h"),
    (
        SPLIT,
        "first = 0\nfor i in range(k - 1): first += n // p + (i < n % p)\npart = first, first + n // p + (k < n % p)",
        2,
        "several",
        "k - 1",
    ),
    (SPLIT, PARTS + "first = k * q + min(k, r)\npart = first, first + q + 1", 3, "value", "1"),
    (
        SPLIT,
        "q = n // p\nr = n % p\npart = k * q + min(k, r + 1), (k + 1) * q + min(k + 1, r + 1)",
        3,
        "paired",
        "r + 1",
    ),
    (SPLIT, PARTS + "part = k * q + max(k, r), (k + 1) * q + max(k + 1, r)", 2, "each", "max"),
    ("check_grad_input", CHECK + DOTS + "accepted = a <= b", 5, "comparison", "a <= b"),
    ("check_grad_input", CHECK + DOTS + "accepted = a - b < 1", 5, "around", "a - b"),
    ("check_grad_input", CHECK + DOTS + "accepted = abs(a - b) < 900", 5, "replaced", "900"),
    ("check_grad_input", CHECK + DOTS.replace("(x, g", "(w, g") + "accepted = a == b", 4, "replaced", "w"),
    ("by_others", "other = who != epoch and when == thread", 1, "exchanged", "epoch"),
    ("by_others", "other = who != when and thread == epoch", 1, "exchanged", "when"),
    (
        "is_race",
        ORDERS + "race = same_word and writes and not (orders or same_thread) and both_atomic",
        3,
        "negated",
        "both_atomic",
    ),
]


def told(name: str, text: str) -> Verdict:
    """The first verdict that is not right."""
    return next(verdict for verdict in PYTHON_PUZZLES[name].grade(text) if verdict.outcome != RIGHT)


def change_in(name: str, text: str) -> Change:
    """The one change that is told."""
    (change,) = told(name, text).repair.changes
    return change


@pytest.mark.parametrize(("name", "text", "line", "kind", "quote"), KINDS)
def test_the_place_of_one_change_is_told_and_not_its_cure(name, text, line, kind, quote):
    change = change_in(name, text)
    assert (change.line, change.kind, change.text) == (line, kind, quote)
    fact, question = repairs.sentences(told(name, text).repair)
    assert fact.endswith(", every test passes.")
    assert f"line {line}" in fact
    assert question.endswith("?")


NOTHING = [  # a text that no single change makes right, and texts of which something else says why
    (MEANS, "combined = (a - b) * n_a"),
    ("break_even", "t = h * w"),
    ("break_even", "t = v"),
    ("catch_them_all", "test = shape(2, 2, 5, 7, 3, 3, 2, 2, (1, 2)), ones()"),
]


@pytest.mark.parametrize(("name", "text"), NOTHING)
def test_where_no_change_is_found_or_more_is_known_no_place_is_told(name, text):
    assert told(name, text).repair is None


def test_where_a_change_in_either_of_two_lines_is_enough_both_are_told():
    text = "wa = n_a / (n_a + n_b)\nwb = n_b / n_a\ncombined = wa * a + wb * b"
    repair = told(MEANS, text).repair
    assert [change.line for change in repair.changes] == [2, 3]
    assert "in line 2 or in line 3" in repairs.sentences(repair)[0]


def test_a_text_that_passes_the_tests_alone_is_told_its_place_too():
    verdict = told("break_even", "t = h * w / (w - 1)\nif w > 8 and w < 1000: t = h")
    assert verdict.test == "drawn problem"
    assert 2 in [change.line for change in verdict.repair.changes]


def test_a_change_that_passes_the_tests_and_not_the_drawn_cases_is_none():
    puzzle = PYTHON_PUZZLES["break_even"]
    few = replace(puzzle, cases=lambda: puzzle.cases()[:1])  # where w is 2 alone
    text = "factor = 3\nt = factor * h"
    assert not any(verdict.repair for verdict in few.grade(text))
    assert any(verdict.repair for verdict in replace(few, drawn=None).grade(text))


def test_the_work_is_bounded_and_the_result_is_always_the_same(monkeypatch):
    name, text, *_ = KINDS[7]
    assert told(name, text) == told(name, text)
    monkeypatch.setattr(python_repair, "MOST_STEPS", 5_000)
    assert told(name, text).repair is None


def test_a_verdict_says_what_where_and_asks_and_travels():
    grades = PYTHON_PUZZLES[MEANS].grade(KINDS[2][1])
    what, where, question = words.lines(grades[0])
    assert what.startswith("`combined` is 3, right is 6")
    assert where == "In line 1, a term or a factor is missing from `b`: with it, every test passes."
    assert question == "What should `combined` be?"
    assert from_data(as_data(grades)) == grades
