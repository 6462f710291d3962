"""A table of what students made of the exercises, from the files that `helpers.hand_in` makes.

Or, with --mistakes, what they got wrong, the most frequent first, with the question that unlocks each.

What a student wrote is tried in a separate process, with limits of time and memory: kernels, lines of Python, and
planted faults. Here, texts and answers are only compared.
"""

import argparse
import json
import os
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path

from helpers.classroom import class_mistakes, class_table
from helpers.gpu import GpuError
from helpers.grading.fault import Fault
from helpers.grading.prediction import AnswerError, Question
from helpers.grading.puzzle import Puzzle
from helpers.grading.python_puzzle import PythonPuzzle
from helpers.grading.sandbox import LONGEST, Worker
from helpers.grading.student_files import NOTEBOOKS
from helpers.grading.transport import as_data, from_data
from helpers.grading.verdict import NOT_ATTEMPTED, Grades, Verdict
from helpers.lessons.exercises import ALL_PUZZLES, FAULTS, MARKINGS, MATCHINGS, PLANTED, PUZZLES, QUESTIONS
from helpers.lessons.shared.planted import Planting
from helpers.workers import WorkersError, add_options, mapped
from wgsl.output import escape_what_cannot_be_printed

AT_ONCE = min(os.cpu_count() or 1, 16)  # texts that are graded side by side; each may take a gigabyte
GradeText = Callable[[str, str], Grades]  # takes an exercise and a text


def _grade_text(exercise: str, source: str) -> Grades:
    """The verdicts on a text. Raises GpuError only where this machine cannot run a right kernel either."""
    try:
        return _grade_in_own_process(exercise, source)
    except GpuError as error:
        known = next(iter(PUZZLES.values()))
        _grade_in_own_process(known.name, known.official.source)
        raise RuntimeError(str(error)) from None


def _grade_in_own_process(exercise: str, source: str) -> Grades:
    """The verdicts on a text, from a process that is used for no other."""
    worker = Worker("helpers.lessons.exercises")
    try:
        return worker.grade(exercise, source, _tests(exercise))
    finally:
        worker.close()


def _tests(exercise: str) -> Sequence[str]:
    """The names of an exercise's tests; a planted fault has one verdict."""
    if exercise in PLANTED:
        return (exercise,)
    return ChainMap(ALL_PUZZLES, FAULTS)[exercise].tests


def graded(piece: list[str]) -> dict:
    """The verdicts on a text, given with its exercise, or what went wrong with this text alone."""
    try:
        return {"verdicts": as_data(_grade_text(*piece))}
    except GpuError:
        raise
    except Exception as error:
        return {"error": [type(error).__name__, str(error)]}


def _grade(puzzle: Puzzle | PythonPuzzle, grade_text: GradeText, source: object) -> Grades:
    if not isinstance(source, str):
        raise AnswerError(f"source is a {type(source).__name__}: it must be text")
    if len(source) <= LONGEST and puzzle.unchanged(source):
        return puzzle.not_attempted()
    return grade_text(puzzle.name, source)


def _answer(question: Question, name: str, answer: object) -> Verdict:
    return question.grade(name, question.typed(answer) if isinstance(answer, str) else answer)


def _find_fault(fault: Fault, grade_text: GradeText, answer: object) -> Verdict:
    match answer:
        case [line, str(correction)] if len(correction) <= LONGEST:
            return fault.grade(line, correction, partial(grade_text, fault.name))
    raise AnswerError(f"answer = {answer!r}: it must be the number of a line and its correction")


def _plant(planting: Planting, name: str, grade_text: GradeText, answer: object) -> Verdict:
    match answer:
        case [str(old), str(new)] if planting.kernel_has(old):
            (verdict,) = grade_text(name, json.dumps([old, new]))
            return verdict
    raise AnswerError(f"answer = {answer!r}: it must be a piece of the kernel's text and what replaces it")


def graders(grade_text: GradeText) -> class_table.Graders:
    """The graders of all exercises, with the one of texts."""
    return {
        **{name: partial(_grade, puzzle, grade_text) for name, puzzle in ALL_PUZZLES.items()},
        **{name: partial(_answer, question, name) for name, question in {**QUESTIONS, **MATCHINGS, **MARKINGS}.items()},
        **{name: partial(_find_fault, fault, grade_text) for name, fault in FAULTS.items()},
        **{name: partial(_plant, planting, name, grade_text) for name, planting in PLANTED.items()},
    }


KNOWN: dict[str, class_mistakes.Known] = {
    name: exercise.mistakes
    for name, exercise in {**ALL_PUZZLES, **QUESTIONS, **MATCHINGS, **MARKINGS, **FAULTS}.items()
} | dict.fromkeys(PLANTED, ())
GRADERS = graders(lambda exercise, source: _grade_text(exercise, source))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 2 where there is nothing to read or no worker, 1 where this machine runs no kernel."""
    escape_what_cannot_be_printed()
    parser = _parser()
    options = parser.parse_args(arguments)
    if not options.folder.is_dir():
        parser.error(f"{options.folder} is not a folder; name the one that holds what the students handed in")
    contents = class_table.find(options.folder)
    written = {os.path.realpath(file) for file in (options.csv, options.ledger) if file}
    paths = [path for path in contents.files if os.path.realpath(path) not in written]
    if not paths:
        parser.error(f"{options.folder} has no file to read; name the folder that holds what the students handed in")
    lessons = _lessons()
    counted = _counted(parser, options.mistakes, lessons)
    try:
        rows = _rows(options.folder, paths, [*lessons.values()], options.workers, options.ledger)
    except (GpuError, WorkersError) as error:
        print(error, file=sys.stderr)
        return 1 if isinstance(error, GpuError) else 2
    _print(rows, counted, contents.left_out(options.folder))
    if options.csv:
        options.csv.write_text(class_table.as_csv(rows), encoding="utf-8", errors="backslashreplace")
    return 0


def _parser() -> argparse.ArgumentParser:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m helpers.gradebook", description=__doc__)
    parser.add_argument(
        "folder", type=Path, help="a folder of what students handed in; folders in it are searched, too"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="also write the table to this file")
    parser.add_argument(
        "--mistakes", nargs="*", metavar="NAME", help="count mistakes: all, or those of lessons (02, A) or exercises"
    )
    add_options(parser)
    return parser


def _counted(
    parser: argparse.ArgumentParser, names: Sequence[str] | None, lessons: Mapping[str, class_table.Lesson]
) -> dict[str, class_mistakes.Known] | None:
    """The exercises whose mistakes are counted: those of some lessons or names, or all; None where none are."""
    if names is None:
        return None
    unknown = [name for name in names if name not in lessons and name not in KNOWN]
    if unknown:
        parser.error(f"no lesson and no exercise is named {unknown[0]!r}; lessons are {', '.join(lessons)}")
    if not names:
        return KNOWN
    exercises = {*chain.from_iterable(lessons.get(name, [name]) for name in names)}
    return {name: known for name, known in KNOWN.items() if name in exercises}


def _print(rows: list[class_table.Row], counted: Mapping[str, class_mistakes.Known] | None, left_out: str) -> None:
    """Print the table, or the mistakes where they are counted, and a note of the files that were not read."""
    if counted is None:
        print(class_table.tables(rows))
    else:
        print(class_mistakes.counted(rows, counted))
        print(*(f"\n{row.file}: {row.problem}" for row in rows if row.problem), sep="")
    if left_out:
        print(f"\n{left_out}")


def _lessons() -> dict[str, class_table.Lesson]:
    """The exercises of each lesson here, by its number or letter; a file that is no notebook has none."""
    lessons = {}
    for pattern in ("[0-9]*.ipynb", "appendix_*.ipynb"):
        for path in sorted(NOTEBOOKS.glob(pattern)):
            with suppress(ValueError, OSError):
                lessons[path.stem.removeprefix("appendix_").partition("_")[0].upper()] = class_table.lesson(path)
    return lessons


def _rows(
    folder: Path, paths: Sequence[Path], lessons: Sequence[class_table.Lesson], workers: str | None, ledger: Path | None
) -> list[class_table.Row]:
    """The outcomes in all files, in their order. All texts in them are graded before, each text once."""
    results: dict[tuple[str, str], dict] = {}

    def noted(exercise: str, source: str) -> Grades:
        results[exercise, source] = {}
        return Grades.alike(_tests(exercise), NOT_ATTEMPTED)

    def looked_up(exercise: str, source: str) -> Grades:
        result = results.get((exercise, source)) or graded([exercise, source])
        if "error" in result:
            kind, message = result["error"]
            raise type(kind, (Exception,), {})(message)
        return from_data(result["verdicts"])

    def rows(grade_text: GradeText) -> list[class_table.Row]:
        known = graders(grade_text)
        return [class_table.row(class_table.name_in(folder, path), path, known, lessons) for path in paths]

    rows(noted)
    done = mapped("helpers.classroom.gradebook:graded", [*map(list, results)], workers, ledger, _side_by_side)
    results |= zip(results, done, strict=True)
    graded_rows = rows(looked_up)
    class_table.note_same_names(graded_rows)
    return graded_rows


def _side_by_side(function: Callable[[str], str], pieces: Iterable[str]) -> Iterator[str]:
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        yield from pool.map(function, pieces)
    finally:
        pool.shutdown(cancel_futures=True)
