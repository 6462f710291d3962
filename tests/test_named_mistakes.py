"""Known mistakes: each is refused and named, also in a learner's own text, and the teachers' pages say so."""

import re
from dataclasses import replace
from functools import cache

import pytest
from support.grading import (  # noqa: F401
    MISTAKES,
    WAITING,
    edited,
    mistakes_of,
    outcomes,
    planted,
    quoted_wrong,
    simulate_once,
    with_mistake,
)
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of
from support.sample import sample
from support.teaching_pages import page_of, puzzles_of, row, table

from helpers.grading import grader
from helpers.grading.grader import grade
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import same_code
from helpers.grading.recognition import further
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE, WRONG, Grades
from helpers.lessons.exercises import ALL_PUZZLES, PUZZLES
from wgsl import Kernel

# --- As edits of the official kernel --------------------------------------------------------------------------

TRIED = sample(MISTAKES, 14)


@cache
def rows() -> dict[str, list[list[str]]]:
    """The rows of the teachers' pages about the mistakes in each puzzle."""
    tables = {}
    for path in lessons_of(NOTEBOOKS):
        lesson = Lesson.read(path)
        tables |= {name: table(page_of(lesson)) for name in puzzles_of(lesson)}
    return tables


def named(grades: Grades) -> list[str]:
    """The mistakes that the verdicts name, each with what follows."""
    details = "\n".join(verdict.detail for verdict in grades)
    opening = "this is|its numbers are right, but its counts are"
    return re.findall(f"^(?:{opening}) what (comes out|happens) when (.*?): (.*)", details, re.MULTILINE)


@pytest.mark.parametrize(("name", "mistake"), TRIED, ids=[f"{name}-{mistake.name}" for name, mistake in TRIED])
def test_a_known_mistake_is_rejected_named_drawn_and_on_the_page_for_teachers(name, mistake):
    grades = with_mistake(name, mistake)
    seen = set(outcomes(grades))
    assert seen == {NOT_YET} or (seen <= {RIGHT, WRONG, UNSAFE} and grades.passed < len(grades))
    ((verb, known_name, question),) = named(grades)
    assert verb == ("comes out" if {WRONG, NOT_YET} & seen else "happens")
    assert known_name == mistake.name  # an earlier mistake would be named if it did the same
    assert question.startswith(f"{mistake.question} ")
    assert name in WAITING or row(mistake, grades) in rows()[name], "run python tests/support/teaching_pages.py"
    assert not quoted_wrong(PUZZLES[name].with_mistake(mistake).source, grades)
    unsafe = [verdict.detail for verdict in grades if verdict.outcome == UNSAFE]
    assert not any(re.match("(each number is |its numbers are )?right", detail) for detail in unsafe)
    assert not re.search(r"99999|99,999|Scalar|Some\(|None|e\+\d|naga|wgpu|array\(", str(grades))
    wrong = [case for case, verdict in zip(PUZZLES[name].cases(), grades, strict=True) if verdict.outcome == WRONG]
    drawings = [verdict.drawing for verdict in grades if verdict.drawing]
    assert len(drawings) == (WRONG in seen)
    for drawing in drawings:
        lines = drawing.split("\n")
        assert min(wrong, key=lambda case: case.expected.size).name in lines[0]
        assert len(lines) <= 20
        assert max(map(len, lines)) <= 80
        assert re.search(r"\d\*|nan\*| \.", drawing)


def test_a_known_mistake_comes_with_one_short_question():
    for _, mistake in mistakes_of(ALL_PUZZLES):
        assert re.fullmatch(r"[a-z+][^?]{10,110}\?", mistake.question), mistake.question  # it goes on after a colon
        assert not re.search("[;:?]", mistake.name), mistake.name  # no cure after the mistake


def test_a_question_cites_nothing_that_a_text_may_lack():
    """A learner may have no loop where ours has one; a barrier that some threads miss is in every text that fits."""
    for name, mistake in MISTAKES:
        assert not re.search(r"\b(your|the) (loop|`?if`?|guard)\b", mistake.question), (name, mistake.question)
        if "barrier" in mistake.question:
            assert "Barrier()" in mistake.made_in(PUZZLES[name].official).source, (name, mistake.question)


# --- In a learner's own text ----------------------------------------------------------------------------------

OTHERS = []
for puzzle_name, mistake in MISTAKES:
    OTHERS += [(puzzle_name, mistake.name, edits) for edits in mistake.others]
OTHERS += [(row.puzzle, row.name, row.edits) for row in planted("in_one_puzzle")]


@pytest.mark.parametrize(("name", "mistake", "edits"), sample(OTHERS, 3))
def test_a_learners_own_text_is_named_by_its_mistake(name, mistake, edits):
    puzzle = PUZZLES[name]
    kernel = Mistake(mistake, "", edits).made_in(Kernel(puzzle.solution.text))
    assert not any(same_code(kernel, puzzle.with_mistake(known)) for known in puzzle.mistakes)
    assert [known_name for _, known_name, _ in named(grade(puzzle, kernel.source))] == [mistake]


def test_where_two_mistakes_fit_in_the_tests_drawn_problems_tell_them_apart():
    puzzle = PUZZLES["max_pool2d_backward"]
    names = "the padding takes part as zeros", "a window that reaches into the padding gives no gradient"
    fit = [known for known in puzzle.mistakes if known.name in names]
    assert [known.name for known in further(puzzle, puzzle.with_mistake(fit[0]), fit)] == [names[0]]


def test_a_demonstration_is_named_on_any_machine(monkeypatch):
    """Also one that is too slow to try a known mistake, where the text is that of the mistake, word for word."""
    monkeypatch.setattr(grader, "WORK", -1)
    source = edited("conv2d_grad_weight", ("n < params.batch", "n < 1u"))
    puzzle = PUZZLES["conv2d_grad_weight"]
    assert named(grade(puzzle, source))
    assert not named(grade(puzzle, f"{source} ;"))


def test_where_two_mistakes_fit_none_is_named_but_a_place_or_the_reads(monkeypatch):
    """A text that does what two mistakes of different names do: where no one change mends it, the reads are told."""
    puzzle = replace(PUZZLES["output_window"])
    known = next(mistake for mistake in puzzle.mistakes if "kh and kw are swapped in the input" in mistake.name)
    twin = replace(known, name="the window is transposed", question="which of the two moves to the right?")
    text = puzzle.with_mistake(known).source + " ;"
    vars(puzzle)["mistakes"] = (known,)
    assert named(grade(puzzle, text))
    vars(puzzle)["mistakes"] = known, twin
    grades = grade(puzzle, text)
    assert not named(grades)
    assert re.search(r"In line 24, with .* all numbers are right\. .*\?$", grades[0].detail)
    monkeypatch.setattr(grader, "repair", lambda *_: None)
    grades = grade(puzzle, text)
    assert not named(grades)
    assert re.search(r"reads .*; it should read .*\. More than one .*\?$", grades[0].detail)


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        (
            "weight_padding",
            [
                ("kh - params.padding_h", "kh - params.kernel_h / 2u"),
                ("kw - params.padding_w", "kw - params.kernel_w / 2u"),
            ],
        ),
        ("add_bias", [("N: u32, C: u32, P: u32", "N: u32, P: u32, C: u32")]),
    ],
)
def test_a_mistake_that_cites_what_a_text_has_not_is_not_named(name, edits):
    grades = grade(PUZZLES[name], edited(name, *edits))
    assert WRONG in outcomes(grades)
    assert not named(grades)
