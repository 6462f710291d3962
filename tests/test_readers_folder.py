"""Notebooks are compared with what they show to a reader who has written nothing, whoever runs the comparison."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from support.filled import answer_in_the_page
from support.nbval_runs import nbval
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of, needed
from support.sample import at_night

from helpers.grading import student_files
from helpers.lessons.exercises import ALL_PUZZLES, MARKINGS, MATCHINGS, QUESTIONS
from helpers.operations.kernels import ROOT

FIND_THE_PROJECT = f"import sys\n\nsys.path.insert(0, {str(ROOT)!r})"
SHOW = """\
from helpers.grading import student_files

student_files.latest("map") or student_files.answers() or "nothing"
"""
BY_THE_READERS_KERNEL = re.compile(r"helpers\.(train_filters|change_digit|train_layer)\(")
DRAWING = [path for path in lessons_of(NOTEBOOKS) if BY_THE_READERS_KERNEL.search(path.read_text(encoding="utf-8"))]


def diligent(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader's folder in which everything is written, graded, right and answered."""
    monkeypatch.setenv("CONVGRAD_MY", str(folder))
    exercises = {"write": ALL_PUZZLES, "ask": QUESTIONS, "match": MATCHINGS, "mark": MARKINGS}
    for function, names in exercises.items():
        answer_in_the_page((function, name) for name in names)
    for name, puzzle in ALL_PUZZLES.items():
        student_files.keep_attempt(name, puzzle.solution.text)
        student_files.keep_outcome(name, puzzle.solution.text, 1, 1)


def failures(folder: Path, cells: list[NotebookNode]) -> list[str]:
    """Return nbval's reason why a cell is red, or nothing, for each of these cells, run with the project's code."""
    finds = v4.new_code_cell(FIND_THE_PROJECT)  # a cell without a count is not compared
    nbformat.write(v4.new_notebook(cells=[finds, *cells]), folder / "cells.ipynb")
    return nbval(folder)["cells"][1:]


def test_the_readers_files_are_not_seen(tmp_path, monkeypatch):
    diligent(tmp_path / "my", monkeypatch)
    shown = v4.new_output("execute_result", {"text/plain": "'nothing'"}, execution_count=1)
    assert failures(tmp_path, [v4.new_code_cell(SHOW, execution_count=1, outputs=[shown])]) == [""]


@at_night
@pytest.mark.parametrize("path", DRAWING, ids=lambda path: path.stem)
def test_a_picture_by_the_readers_kernel_is_compared_as_it_is_stored(tmp_path, monkeypatch, path):
    diligent(tmp_path / "my", monkeypatch)
    lesson = Lesson.read(path)
    drawing = [cell for cell in lesson.code if BY_THE_READERS_KERNEL.search(cell.source)]
    cells = [cell.node if cell in drawing else v4.new_code_cell(cell.source) for cell in needed(lesson, drawing)]
    assert failures(tmp_path, cells) == [""] * len(cells)
