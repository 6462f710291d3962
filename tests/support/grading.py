"""The verdicts on the known mistakes, and simulated runs that are each made once: many texts are compared with them."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from helpers.data import tables
from helpers.grading import grader, mistakes, recognition
from helpers.grading.mistakes import Edits, Mistake
from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.python_puzzle import PythonPuzzle
from helpers.grading.read_sets import ReadSets, read_sets
from helpers.grading.test_run import TestRun, simulated
from helpers.grading.verdict import Grades
from helpers.lessons.exercises import ALL_PUZZLES, PUZZLES
from wgsl import Kernel
from wgsl.simulator.work import Work

PASSES = {"gemm_bwd_grad_pre", "gemm_bwd_da", "gemm_bwd_dbias"}
FURTHER = {"neighbor_difference", "conv2d", "conv2d_grad_input"} | PASSES  # on the map alone
WAITING = {*FURTHER}


def mistakes_of(puzzles: Mapping[str, Puzzle | PythonPuzzle]) -> list[tuple[str, Mistake]]:
    """The known mistakes of some puzzles, each with the puzzle's name."""
    pairs = []
    for name, puzzle in puzzles.items():
        pairs += [(name, mistake) for mistake in puzzle.mistakes]
    return pairs


MISTAKES = mistakes_of(PUZZLES)
_made: dict[tuple, TestRun] = {}


def _simulated_once(kernel: Kernel, case: Case, most: int | None = None, work: Work | None = None) -> TestRun:
    key = kernel.source, case.name, case.expected.tobytes(), case.params, most
    if key not in _made:
        _made[key] = simulated(kernel, case, most, work)
    return _made[key]


@pytest.fixture(autouse=True)
def simulate_once(monkeypatch):
    """For a module that imports it: the grader takes runs from here, and looks for a mistake as long as it takes."""
    monkeypatch.setattr(grader, "simulated", _simulated_once)
    monkeypatch.setattr(recognition, "simulated", _simulated_once)
    monkeypatch.setattr(grader, "WORK", 10**9)


class Planted(NamedTuple):
    """Edits of a puzzle's official text: what they do, and the count that shows it, if one does."""

    puzzle: str
    name: str
    edits: Edits
    count: str = ""

    def __str__(self) -> str:
        return f"{self.puzzle}, {self.name}"


def planted(table: str) -> list[Planted]:
    """The edits in a file of this folder, ``<table>.toml``."""
    path = Path(__file__).with_name(f"{table}.toml")
    rows = []
    for row in tables.read_list(path, "texts"):
        place = f"{path.name}, {row.get('puzzle')}, {row.get('name')!r}"
        tables.check(place, row, {"puzzle": str, "name": str, "edits": list}, {"count": str})
        edits = mistakes.read_edits(place, row["edits"])
        rows.append(Planted(row["puzzle"], row["name"], edits, row.get("count", "")))
    return rows


@cache
def with_mistake(name: str, mistake: Mistake) -> Grades:
    """The verdicts on the official text with a known mistake, which is recognized by what it does."""
    if name not in PUZZLES:
        return ALL_PUZZLES[name].grade(ALL_PUZZLES[name].with_mistake(mistake).source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grader, "same_code", lambda one, other: False)
        return grader.grade(PUZZLES[name], PUZZLES[name].with_mistake(mistake).source)


def outcomes(grades: Grades) -> list[str]:
    """The outcome of each test."""
    return [verdict.outcome for verdict in grades]


def only(grades: Grades) -> str:
    """The outcome that all tests have."""
    (outcome,) = set(outcomes(grades))
    return outcome


def quoted_wrong(source: str, grades: Grades) -> list[str]:
    """The quotes of the verdicts that differ from the line that they name.

    A quote follows its line and begins it, or stands before "in line 7" and is any part of it. It may end in dots.
    """
    lines = source.split("\n")
    details = "\n".join(verdict.detail.replace("...`", "`") for verdict in grades)
    quotes = re.findall(r"(?:`([^`]*)` in )?\bline (\d+)(, column|, `([^`]*)`)?", details, re.IGNORECASE)
    code = {number: " ".join(lines[int(number) - 1].partition("//")[0].split()) for _, number, *_ in quotes}
    return [
        f"{i}: {text!r}"
        for part, i, named, text in quotes
        if not ((part and part in code[i]) or (named and code[i].startswith(text)))
    ]


def edited(name: str, *edits: tuple[str, str]) -> str:
    """The text of a cell: the official kernel with edits, each of a piece that occurs once."""
    kernel = Kernel(f"\n{PUZZLES[name].solution.text}\n", name)
    for old, new in edits:
        kernel = kernel.edit(old, new)
    return kernel.source


def graded(name: str, *edits: tuple[str, str]) -> Grades:
    """The verdicts on the official kernel with these edits."""
    return grader.grade(PUZZLES[name], edited(name, *edits))


def read_by(name: str, *edits: tuple[str, str], test: str = "") -> ReadSets:
    """The reads of the official kernel with some edits, in the smallest test that it fails, or in the one named."""
    kernel = Kernel(edited(name, *edits))
    cases = [case for case in PUZZLES[name].cases() if test in case.name]
    runs = (simulated(kernel, case) for case in sorted(cases, key=lambda case: case.expected.size))
    run = next(run for run in runs if run.wrong.any())
    return read_sets(kernel, PUZZLES[name].official, run.case, run.wrong)


def first_tests(name: str) -> Puzzle:
    """A puzzle with its first two tests, which are quick."""
    return replace(PUZZLES[name], cases=lambda: PUZZLES[name].cases()[:2])
