"""The lessons as a whole: as shipped nothing is attempted, and what is filled in passes only if it is right."""

import re
from pathlib import Path

import nbformat
import pytest
from support.filled import filled, right_answers
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of

from helpers import gradebook as command
from helpers.exercises import FAULTS, MARKINGS, PUZZLES, QUESTIONS
from helpers.grading import reading, results
from helpers.grading.grader import grade
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT

LESSONS = {path.stem: Lesson.read(path) for path in lessons_of(NOTEBOOKS)}
CELLS = {name: [cell.source for cell in lesson.code] for name, lesson in LESSONS.items()}
every_lesson = pytest.mark.parametrize("lesson", LESSONS)
EXERCISES = {"grade": PUZZLES, "predict": QUESTIONS, "mark": MARKINGS, "find_fault": FAULTS}


def row(folder: Path, cells: list[str]) -> results.Row:
    """What the table of results says of a notebook with these code cells."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, folder / "lesson.ipynb")
    return results.notebook_row("lesson", folder / "lesson.ipynb", command.GRADERS)


def asked(lesson: str) -> set[tuple[str, str]]:
    """The exercises that a lesson names, found without its syntax."""
    names = r"""helpers\.(\w+)\(\s*["']([^"']+)["']"""
    found = {call for cell in CELLS[lesson] for call in re.findall(names, cell)}
    return {(function, name) for function, name in found if function in EXERCISES}


def test_every_matrix_to_mark_and_every_fault_to_find_is_in_one_lesson_and_they_come_in_order():
    found = [call for cells in CELLS.values() for call in reading.calls(cells)]
    assert [call.exercise for call in found if call.function == "mark"] == list(MARKINGS)
    assert [call.exercise for call in found if call.function == "find_fault"] == list(FAULTS)


@every_lesson
def test_as_shipped_nothing_is_attempted(lesson, tmp_path):
    calls = [call for call in reading.calls(CELLS[lesson]) if call.arguments is not None]
    assert {call[:2] for call in calls} == asked(lesson)
    said = row(tmp_path, CELLS[lesson])
    assert {*said.outcomes.values()} <= {NOT_ATTEMPTED}
    assert not any(said.answers.values())
    assert {results.outcome(call, command.GRADERS[call.function][call.exercise]) for call in calls} <= {NOT_ATTEMPTED}


@every_lesson
def test_filled_in_with_the_right_answers_everything_is_right(lesson, tmp_path, monkeypatch):
    here = lambda name, source: grade((PUZZLES | FAULTS)[name], source)  # noqa: E731
    monkeypatch.setattr(command, "_grade_kernel", here)  # these kernels need no process of their own
    said = row(tmp_path, filled(CELLS[lesson], right_answers()))
    assert {*said.outcomes, *said.answers} == {name for _, name in asked(lesson)}
    assert {name: outcome for name, outcome in said.outcomes.items() if outcome != RIGHT} == {}
    assert [name for name, right in said.answers.items() if not right] == []
