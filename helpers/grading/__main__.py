"""What students made of the exercises in their notebooks, as a table.

A notebook is read and never run. Each kernel in it is tried in a process of its own, with limits of time and memory.
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from helpers.exercises import FAULTS, MARKINGS, PUZZLES, QUESTIONS
from helpers.gpu import GpuError
from helpers.grading import results
from helpers.grading.sandbox import LONGEST, Worker
from helpers.grading.verdict import Grades, Verdict


@cache  # many students hand in the same text
def _alone(exercise: str, source: str) -> Grades:
    """The verdicts on a kernel, from a process that is used for no other."""
    worker = Worker("helpers.exercises")
    try:
        return worker.grade(exercise, source, (PUZZLES | FAULTS)[exercise].tests)
    finally:
        worker.close()


def _grade(exercise: str, source: str) -> Grades:
    puzzle = _named(PUZZLES, exercise)
    if not isinstance(source, str):
        raise TypeError(source)
    untouched = len(source) <= LONGEST and puzzle.unchanged(source)
    return puzzle.not_attempted() if untouched else _alone(exercise, source)


def _predict(exercise: str, answer: object) -> Verdict:
    return _named(QUESTIONS, exercise).judge(exercise, answer)


def _mark(exercise: str, cells: object) -> Verdict:
    return _named(MARKINGS, exercise).judge(exercise, cells)


def _find_fault(exercise: str, line: object, correction: object) -> Verdict:
    return _named(FAULTS, exercise).judge(line, correction, lambda source: _alone(exercise, source)).verdict


def _named(exercises: dict, name: str) -> object:
    """One of the exercises. Raises ValueError where it is none of them."""
    if name not in exercises:
        raise ValueError(name)
    return exercises[name]


JUDGES: dict[str, results.Judge] = {
    "grade": _grade,
    "predict": _predict,
    "mark": _mark,
    "find_fault": _find_fault,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 where there is nothing to read, 1 where this machine runs no kernel."""
    parser = argparse.ArgumentParser(prog="python -m helpers.grading", description=__doc__)
    parser.add_argument("folder", type=Path, help="a folder of students' notebooks; folders in it are searched, too")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file")
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder; name the one that holds the students' notebooks")
    paths = results.notebooks(options.folder)
    if not paths:
        parser.error(f"{options.folder} holds no notebooks, no file that ends in .ipynb")
    try:
        rows = [_row(options.folder, path, f"{i} of {len(paths)}") for i, path in enumerate(paths, 1)]
    except GpuError as error:
        print(error, file=sys.stderr)
        return 1
    print(results.tables(rows))
    if options.csv:
        options.csv.write_text(results.as_csv(rows), encoding="utf-8")
    return 0


def _row(folder: Path, path: Path, progress: str) -> results.Row:
    """One notebook's outcomes, announced before they are found."""
    notebook = path.relative_to(folder).as_posix()
    print(f"{progress}: {notebook}", file=sys.stderr, flush=True)
    return results.row(notebook, path, JUDGES)


if __name__ == "__main__":
    sys.exit(main())
