"""The lessons as a whole: as shipped nothing is attempted, and what is filled in and handed in is right."""

import ast
from pathlib import Path

import pytest
from support.filled import answer_in_the_page, filled, right_answers
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of
from support.sample import sample

import helpers
from helpers.classroom import class_table
from helpers.classroom import gradebook as command
from helpers.grading import student_files
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, Grades
from helpers.lessons.exercises import ALL_PUZZLES, FAULTS, MARKINGS, MATCHINGS, QUESTIONS, WORKER, work
from helpers.lessons.shared.notebook_cells import exercises

LESSONS = {path.stem: Lesson.read(path) for path in lessons_of(NOTEBOOKS)}
CELLS = {}
for stem, lesson in LESSONS.items():
    CELLS[stem] = [cell.source for cell in lesson.code]
some_lessons = pytest.mark.parametrize("lesson", sample(LESSONS, 3))
EXERCISES = {
    "grade": ALL_PUZZLES,
    "write": ALL_PUZZLES,
    "ask": QUESTIONS,
    "match": MATCHINGS,
    "mark": MARKINGS,
    "find_fault": FAULTS,
}


@pytest.fixture(autouse=True)
def _graded_here(monkeypatch):
    """Kernels are graded when they are handed in, here, as they need no process of their own."""
    monkeypatch.setattr(WORKER, "grade", lambda name, source, tests, *seed: Grades.alike(tests, NOT_ATTEMPTED))
    monkeypatch.setattr(command, "_grade_text", work)


def asked(lesson: str) -> set[str]:
    """The exercises that a lesson names."""
    return {name for function, name in exercises(CELLS[lesson]) if function in EXERCISES}


def do(cells: list[str]) -> None:
    """Run the exercises in these cells, and what is assigned to a name as a literal; everything else is left out."""
    names: dict[str, object] = {"helpers": helpers}
    for cell in cells:
        for statement in ast.parse(cell).body:
            if isinstance(statement, ast.Assign):
                names |= assigned(statement)
            elif exercises([ast.unparse(statement)]):
                exec(compile(ast.Module([statement], []), "cell", "exec"), names)


def assigned(statement: ast.Assign) -> dict[str, object]:
    """The names that a statement assigns literals to, and their values."""
    try:
        value = ast.literal_eval(statement.value)
    except ValueError:
        return {}
    target = statement.targets[0]
    if isinstance(target, ast.Tuple):
        return dict(zip((name.id for name in target.elts), value, strict=True))
    if isinstance(target, ast.Name):
        return {target.id: value}
    return {}


def test_every_exercise_has_a_name_of_its_own():
    names = [*ALL_PUZZLES, *QUESTIONS, *MATCHINGS, *MARKINGS, *FAULTS]
    assert len(set(names)) == len(names)


def test_every_matrix_to_mark_and_every_fault_to_find_is_in_one_lesson_and_they_come_in_order():
    calls = []
    for cells in CELLS.values():
        calls += exercises(cells)
    assert [name for function, name in calls if function == "mark"] == list(MARKINGS)
    assert [name for function, name in calls if function == "match"] == list(MATCHINGS)
    assert [name for function, name in calls if function == "find_fault"] == list(FAULTS)


@some_lessons
def test_as_shipped_nothing_is_attempted(lesson):
    do(CELLS[lesson])
    assert student_files.answers() == {}
    made = helpers.hand_in("Ada")
    assert repr(made) == "There is nothing to hand in yet: grade a kernel or answer a question first."
    assert not any(student_files.my_folder().glob("hand_in*"))


@some_lessons
def test_filled_in_with_the_right_answers_everything_is_right(lesson):
    if not asked(lesson):
        pytest.skip("a lesson without exercises")
    require_all_right(CELLS[lesson], class_table.lesson(LESSONS[lesson].path), asked(lesson))


def require_all_right(cells: list[str], lesson: class_table.Lesson, names: set[str]) -> class_table.Row:
    """Require that a lesson's right answers, filled in and handed in, are right in the teacher's table."""
    answer_in_the_page(exercises(cells))
    do(filled(cells, right_answers()))
    file: Path = helpers.hand_in("Ada Lovelace").file
    row = class_table.row("lesson", file, command.GRADERS, [lesson])
    assert {*row.outcomes, *row.answers} == names
    assert {name: outcome for name, outcome in row.outcomes.items() if outcome != RIGHT} == {}
    assert [name for name, right in row.answers.items() if not right] == []
    assert row.problem == ""
    return row


def test_what_is_written_and_asked_in_the_page_is_in_the_teachers_table():
    cells = [
        'helpers.write("weight_index")',
        'helpers.write("strided_grad_weight")',
        'helpers.write("central_difference")',
        'my_race = ""\nhelpers.grade("is_race", my_race)',
        'helpers.ask("pixels_of_a_weight")',
    ]
    puzzles = ["weight_index", "strided_grad_weight", "central_difference", "is_race"]
    is_question = dict.fromkeys(puzzles, False) | {"pixels_of_a_weight": True}
    row = require_all_right(cells, is_question, set(is_question))
    assert class_table.lines([row])[0] == ["file", "student", *puzzles, "questions"]
