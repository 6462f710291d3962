"""What students made of the exercises in their notebooks, as a table.

A notebook is read and never run. Each kernel in it is tried in a process of its own, with limits of time and memory.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from helpers.exercises import FAULTS, MARKINGS, PUZZLES, QUESTIONS
from helpers.gpu import GpuError
from helpers.grading import results
from helpers.grading.attempts import NOTEBOOKS
from helpers.grading.fault import Fault
from helpers.grading.prediction import AnswerError
from helpers.grading.puzzle import Puzzle
from helpers.grading.reading import NotebookError
from helpers.grading.sandbox import LONGEST, Worker
from helpers.grading.verdict import Grades, Verdict

CLICKED = (
    "Cells that a student marked with clicks alone are not in the notebook: the table says not attempted. "
    "Ask for them to be typed in the cell."
)


def _grade_kernel(exercise: str, source: str) -> Grades:
    """The verdicts on a kernel. Raises GpuError only where this machine cannot run a right kernel either."""
    try:
        return _grade_in_own_process(exercise, source)
    except GpuError as error:
        known = next(iter(PUZZLES.values()))
        _grade_in_own_process(known.name, known.official.source)
        raise RuntimeError(str(error)) from None


@cache  # many students hand in the same text
def _grade_in_own_process(exercise: str, source: str) -> Grades:
    """The verdicts on a kernel, from a process that is used for no other."""
    worker = Worker("helpers.exercises")
    try:
        return worker.grade(exercise, source, (PUZZLES | FAULTS)[exercise].tests)
    finally:
        worker.close()


def _grade(puzzle: Puzzle, source: object) -> Grades:
    if not isinstance(source, str):
        raise AnswerError(f"source is a {type(source).__name__}: it must be the text of a kernel")
    untouched = len(source) <= LONGEST and puzzle.unchanged(source)
    return puzzle.not_attempted() if untouched else _grade_kernel(puzzle.name, source)


def _find_fault(fault: Fault, line: object, correction: object) -> Verdict:
    return fault.grade(line, correction, lambda source: _grade_kernel(fault.name, source))


GRADERS: results.Graders = {
    "grade": {name: partial(_grade, puzzle) for name, puzzle in PUZZLES.items()},
    "predict": {name: partial(question.grade, name) for name, question in QUESTIONS.items()},
    "mark": {name: partial(marking.grade, name) for name, marking in MARKINGS.items()},
    "find_fault": {name: partial(_find_fault, fault) for name, fault in FAULTS.items()},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 where there is nothing to read, 1 where this machine runs no kernel."""
    parser = argparse.ArgumentParser(prog="python -m helpers.gradebook", description=__doc__, epilog=CLICKED)
    parser.add_argument("folder", type=Path, help="a folder of students' notebooks; folders in it are searched, too")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file")
    options = parser.parse_args(arguments)
    sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may have letters that this output lacks
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder; name the one that holds the students' notebooks")
    paths = results.notebooks(options.folder)
    if not paths:
        parser.error(f"{options.folder} holds no notebooks, no file that ends in .ipynb")
    try:
        lessons = _lessons()
        rows = [_row(options.folder, path, f"{i} of {len(paths)}", lessons) for i, path in enumerate(paths, 1)]
    except GpuError as error:
        print(error, file=sys.stderr)
        return 1
    print(results.tables(rows))
    if any(MARKINGS.keys() & row.outcomes.keys() for row in rows):
        print(f"\n{CLICKED}")
    if options.csv:
        options.csv.write_text(results.as_csv(rows), encoding="utf-8", errors="backslashreplace")
    return 0


def _lessons() -> list[results.Lesson]:
    """The exercises of each lesson here; a file that is no notebook has none."""
    lessons = []
    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        with suppress(NotebookError):
            lessons.append(results.lesson(path))
    return lessons


def _row(folder: Path, path: Path, progress: str, lessons: Sequence[results.Lesson]) -> results.Row:
    """One notebook's outcomes, announced before they are found."""
    notebook = path.relative_to(folder).as_posix()
    print(f"{progress}: {notebook}", file=sys.stderr, flush=True)
    return results.notebook_row(notebook, path, GRADERS, lessons)


if __name__ == "__main__":
    sys.exit(main())
