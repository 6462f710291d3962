"""Known mistakes: each is refused and named, also in a learner's own text, and the teachers' pages say so."""

import re
from functools import cache

import pytest
from support.grading import (  # noqa: F401
    MISTAKES,
    WAITING,
    edited,
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
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE, WRONG, Grades
from helpers.lessons.exercises import ALL_PUZZLES, PUZZLES
from wgsl import Kernel

# --- As edits of the official kernel --------------------------------------------------------------------------

TRIED = sample(MISTAKES, 14)


@cache
def rows() -> dict[str, list[list[str]]]:
    """What the teachers' pages say of the mistakes in each puzzle."""
    lessons = [Lesson.read(path) for path in lessons_of(NOTEBOOKS)]
    return {name: table(page_of(lesson)) for lesson in lessons for name in puzzles_of(lesson)}


def named(grades: Grades) -> list[str]:
    """The mistakes that the verdicts name, each with what follows."""
    said = "\n".join(verdict.detail for verdict in grades)
    opening = "this is|its numbers are right, but its counts are"
    return re.findall(f"^(?:{opening}) what (comes out|happens) when (.*?): (.*)", said, re.MULTILINE)


@pytest.mark.parametrize(("name", "mistake"), TRIED, ids=[f"{name}-{each.name}" for name, each in TRIED])
def test_a_known_mistake_is_rejected_named_drawn_and_on_the_page_for_teachers(name, mistake):
    grades = with_mistake(name, mistake)
    found = set(outcomes(grades))
    assert found == {NOT_YET} or (found <= {RIGHT, WRONG, UNSAFE} and grades.passed < len(grades))
    ((what, said, question),) = named(grades)
    assert what == ("comes out" if {WRONG, NOT_YET} & found else "happens")
    assert said == mistake.name  # an earlier mistake would be named if it did the same
    assert question.startswith(f"{mistake.question} ")
    assert name in WAITING or row(mistake, grades) in rows()[name], "run python tests/support/teaching_pages.py"
    assert not quoted_wrong(PUZZLES[name].with_mistake(mistake).source, grades)
    assert not any(
        re.match("(each number is |its numbers are )?right", v.detail) for v in grades if v.outcome == UNSAFE
    )
    assert not re.search(r"99999|99,999|Scalar|Some\(|None|e\+\d|naga|wgpu|array\(", str(grades))
    wrong = [case for case, verdict in zip(PUZZLES[name].cases(), grades, strict=True) if verdict.outcome == WRONG]
    drawings = [verdict.drawing for verdict in grades if verdict.drawing]
    assert len(drawings) == (WRONG in found)
    for lines in (drawing.split("\n") for drawing in drawings):
        assert min(wrong, key=lambda case: case.expected.size).name in lines[0]
        assert (len(lines) <= 20, max(map(len, lines)) <= 80) == (True, True)
        assert re.search(r"\d\*|nan\*| \.", "\n".join(lines))


def test_a_known_mistake_comes_with_one_short_question():
    for mistake in (mistake for puzzle in ALL_PUZZLES.values() for mistake in puzzle.mistakes):
        assert re.fullmatch(r"[a-z+][^?]{10,110}\?", mistake.question), mistake.question  # it goes on after a colon
        assert not re.search("[;:?]", mistake.name), mistake.name  # no cure after the mistake


# --- In a learner's own text ----------------------------------------------------------------------------------

OTHERS = [(name, mistake.name, edits) for name, mistake in MISTAKES for edits in mistake.others]
OTHERS += [(row.puzzle, row.name, row.edits) for row in planted("in_one_puzzle")]


@pytest.mark.parametrize(("name", "mistake", "edits"), sample(OTHERS, 3))
def test_a_learners_own_text_is_named_by_its_mistake(name, mistake, edits):
    puzzle = PUZZLES[name]
    own = Mistake(mistake, "", edits).made_in(Kernel(puzzle.solution.text))
    assert not any(same_code(own, puzzle.with_mistake(known)) for known in puzzle.mistakes)
    assert [said for _, said, _ in named(grade(puzzle, own.source))] == [mistake]


def test_a_demonstration_is_named_on_any_machine(monkeypatch):
    """Also one that is too slow to try a known mistake, where the text is that of the mistake, word for word."""
    monkeypatch.setattr(grader, "WORK", -1)
    source = edited("conv2d_grad_weight", ("n < params.batch", "n < 1u"))
    assert [bool(named(grade(PUZZLES["conv2d_grad_weight"], text))) for text in (source, f"{source} ;")] == [
        True,
        False,
    ]
