"""All puzzles and questions of the lessons, by name: what the learner starts from, and how their work is graded.

`python -m helpers.lessons.exercises` is the process apart in which a text is graded (`helpers.grading.sandbox`): it
reads lines such as ``{"puzzle": "map", "source": "..."}``, and answers each with the verdicts.
"""

import json
import re
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from helpers.grading import drawn, grader, student_files
from helpers.grading.fault import Fault, FaultReport
from helpers.grading.marking_question import Marking
from helpers.grading.matching import Matching
from helpers.grading.prediction import Question, questions
from helpers.grading.puzzle import Puzzle
from helpers.grading.python_puzzle import PythonPuzzle
from helpers.grading.sandbox import LONGEST, Worker, serve
from helpers.grading.verdict import NOT_ATTEMPTED, Grades, Verdict
from helpers.lessons.by_name import ByName, by_file, by_table, from_table
from wgsl import Kernel, Listing

if TYPE_CHECKING:
    from helpers.lessons.shared.planted import Planting
    from helpers.widgets.editor import Editor
    from helpers.widgets.marking import MarkCells
    from helpers.widgets.question import Ask, Match

PUZZLES: ByName[Puzzle] = by_file(".wgsl")
PYTHON_PUZZLES: ByName[PythonPuzzle] = by_file(".py")
ALL_PUZZLES: Mapping[str, Puzzle | PythonPuzzle] = ChainMap(PYTHON_PUZZLES, PUZZLES)  # those in Python come last
QUESTIONS: ByName[Question] = from_table("questions.toml", questions)
MATCHINGS: ByName[Matching] = by_table("matchings.toml", "MATCHINGS")
MARKINGS: ByName[Marking] = by_table("markings.toml", "MARKINGS")
FAULTS: ByName[Fault] = by_table("faults.toml", "FAULTS")
PLANTED: "ByName[Planting]" = by_table("planted.toml", "PLANTED")
WORKER = Worker("helpers.lessons.exercises")


def puzzles() -> tuple[str, ...]:
    """The names of all puzzles, as their lessons appear; those in Python are last."""
    return tuple(ALL_PUZZLES)


def skeleton(puzzle: str) -> str:
    """The text from which the learner starts: the official kernel without the lines to be written.

    From a blank page, it is comments that state the task.

    Raises ValueError for a name that no puzzle has.
    """
    return _chosen("puzzle", puzzle, ALL_PUZZLES).skeleton


def solution(puzzle: str) -> Listing:
    """The official kernel, for display, once the learner has graded a text of their own; `.text` is its text.

    Its lines are numbered as those of that text: in a cell, the first one stands below ``my_kernel = ...``.

    Raises ValueError for a name that no puzzle has, and NoAttemptError before the first attempt.
    """
    chosen = _chosen("puzzle", puzzle, ALL_PUZZLES)
    attempt = student_files.last_attempt(puzzle)
    if attempt is None:
        raise student_files.NoAttemptError(
            f"the solution of {puzzle} is shown after your first attempt: write a text of your own, which may be "
            "wrong, and run its tests; the hints in the lesson help you to begin"
        )
    first_line = 2 if attempt.startswith("\n") else 1
    return replace(chosen.solution, first_line=first_line)


def last_attempt(puzzle: str) -> str | None:
    """The text that the learner graded last, so that a new copy of a lesson can be filled in again; None if none.

    Raises ValueError for a name that no puzzle has.
    """
    return student_files.last_attempt(_chosen("puzzle", puzzle, ALL_PUZZLES).name)


def write(puzzle: str) -> "Editor":
    """An editor for a puzzle's text, with the verdict beside it; it is the file notebooks/my/<puzzle>.wgsl or .py.

    Raises ValueError for a name that no puzzle has, and where the file is not UTF-8.
    """
    chosen = _chosen("puzzle", puzzle, ALL_PUZZLES)
    from helpers.widgets.editor import Editor  # here, as the process apart needs no widgets

    return Editor(chosen, partial(grade, puzzle))


def grade(puzzle: str, source: str | None = None, seed: drawn.Seed = None) -> Grades:
    """Try a learner's text on every case of a puzzle, and keep it as an attempt; a kernel, in a separate process.

    Where it passes, it is tried on drawn problems, too, and the first that it fails is one more verdict. The same text
    always gets the same verdicts.

    It is compiled on the adapter, and then simulated. Only the cases in which the simulator finds nothing wrong are
    run on the adapter, too, so that no endless loop reaches a GPU.

    Parameters
    ----------
    puzzle : str
        One of `puzzles()`.
    source : str, optional
        A WGSL module with the bindings that `skeleton(puzzle)` has or asks for, or the lines of Python that it asks
        for, which are interpreted. If it differs from that only in comments and blanks, it is no attempt, and nothing
        is run. If it is left out, it is the learner's file, notebooks/my/<puzzle>.wgsl or .py.
    seed : int or str, optional
        A course's or a student's: with another one, other problems are drawn.

    Raises
    ------
    ValueError
        No puzzle has this name.
    TypeError
        `source` is not text, or `seed` is neither a whole number nor text.
    GpuError
        This machine cannot run any kernel; that says nothing about the learner's.
    """
    chosen = _chosen("puzzle", puzzle, ALL_PUZZLES)
    drawn.check_seed(seed)
    if source is None:
        source = student_files.read(puzzle) or chosen.skeleton
    if not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}: it must be the text of what you wrote")
    if len(source) <= LONGEST and chosen.unchanged(source):
        return chosen.not_attempted()
    student_files.keep_attempt(puzzle, source)
    return _graded(chosen, source) if seed is None else _verdicts(chosen, source, seed)


def is_right(puzzle: str) -> bool:
    """Return whether the learner's last text for a puzzle passes all tests; it is graded where that is not known yet.

    Raises ValueError for a name that no puzzle has, and GpuError where this machine cannot run any kernel.
    """
    chosen = _chosen("puzzle", puzzle, ALL_PUZZLES)
    text = student_files.latest(puzzle)
    if text is None or (len(text) <= LONGEST and chosen.unchanged(text)):
        return False
    kept = student_files.outcome(puzzle, text)
    if kept is None:
        return _all_right(_graded(chosen, text))
    return kept.right


def _graded(puzzle: Puzzle | PythonPuzzle, source: str) -> Grades:
    """The verdicts on a learner's text; whether it is right is kept."""
    grades = _verdicts(puzzle, source)
    student_files.keep_outcome(puzzle.name, source, grades.passed, len(grades))
    return grades


def _all_right(grades: Grades) -> bool:
    return grades.passed == len(grades)


def _verdicts(puzzle: Puzzle | PythonPuzzle, source: str, seed: drawn.Seed = None) -> Grades:
    """Those on a kernel come from a process apart; lines of Python are interpreted here, as they can do nothing."""
    if isinstance(puzzle, PythonPuzzle):
        return puzzle.grade(source, seed)
    return WORKER.grade(puzzle.name, source, puzzle.tests, seed)


def try_mistake(puzzle: str, old: str, new: str) -> Grades:
    """The verdicts on the official kernel with one piece of its text replaced; this is no attempt of the learner's.

    Parameters
    ----------
    puzzle : str
        One of `puzzles()`.
    old : str
        A piece of the official kernel's text, as `solution` shows it without line numbers, which occurs there once.
    new : str
        What replaces it.

    Raises
    ------
    ValueError
        No puzzle has this name, or `old` does not occur exactly once.
    TypeError
        `old` or `new` is not text.
    GpuError
        This machine cannot run any kernel.
    """
    chosen = _chosen("puzzle", puzzle, ALL_PUZZLES)
    official = Kernel(f"\n{chosen.solution.text}\n", f"the official kernel of {puzzle}")  # numbered as in a cell
    return _verdicts(chosen, official.edit(old, new).source)


def ask(question: str) -> "Ask":
    """A question to answer in the page; the answer is kept in notebooks/my.

    Raises ValueError for a name that no question has, or one that is not asked in words.
    """
    chosen = _chosen("question", question, QUESTIONS)
    if not chosen.asked:
        in_words = {name: other for name, other in QUESTIONS.items() if other.asked}
        _chosen("question", question, in_words)  # refuses it
    from helpers.widgets.question import Ask

    return Ask(question, chosen)


def match(question: str) -> "Match":
    """Words to lay on cards, such as the parts of a picture; what is laid is kept in notebooks/my.

    Raises ValueError for a name that no such question has.
    """
    chosen = _chosen("question", question, MATCHINGS)
    from helpers.widgets.question import Match

    return Match(question, chosen)


def mark(exercise: str, cells: object = "") -> "MarkCells":
    """A matrix whose cells the learner marks, by clicking or by typing, and the verdict on what is marked.

    In a lesson::

        my_cells = ""
        helpers.mark("pixels_of_dW[0,1]", my_cells)

    Parameters
    ----------
    exercise : str
        A name in `MARKINGS`.
    cells : str or sequence of pairs
        The names of the cells in any order, such as "a b y", or where they have none "(0, 1) (0, 2)" or such pairs.
        If it is empty, the marks of an earlier run are shown, if there were any.

    Raises
    ------
    ValueError
        No exercise has this name.
    TypeError
        `cells` is neither text nor pairs.
    """
    marking = _chosen("exercise", exercise, MARKINGS)
    from helpers.widgets.marking import MarkCells  # here, as the process apart needs no widgets

    return MarkCells(exercise, marking, cells)


def find_fault(exercise: str, line: int | None = None, correction: str = "") -> FaultReport:
    """A kernel with a fault, what the tests say of it, and the verdict on where the fault is and how it is corrected.

    In a lesson::

        my_line = None
        my_correction = ""
        helpers.find_fault("fault_in_a_sum", my_line, my_correction)

    Parameters
    ----------
    exercise : str
        A name in `FAULTS`.
    line : int or None
        The number of the wrong line in the listing; None is no answer yet.
    correction : str
        What this line should be; it may be several lines. The kernel is tried with it, and any right kernel is right.

    Raises
    ------
    ValueError
        No exercise has this name.
    TypeError
        `line` is not a whole number, or `correction` is not text.
    GpuError
        This machine cannot run any kernel.
    """
    fault = _chosen("exercise", exercise, FAULTS)
    report = fault.grade(line, correction, lambda source: WORKER.grade(exercise, source, fault.tests))
    if report.outcome != NOT_ATTEMPTED:
        student_files.keep_answer(exercise, [line, correction])
    return report


def plant_fault(exercise: str, old: str | None = None, new: str = "") -> Verdict:
    """Return the verdict on an edit of the official kernel: is it wrong, and does a lesson's test miss that?

    Parameters
    ----------
    exercise : str
        A name in `PLANTED`.
    old, new : str
        A piece of the text that occurs there once, and what replaces it; without them, it is no answer yet.

    Raises
    ------
    ValueError
        No exercise has this name.
    TypeError
        `old` or `new` is not text, or `old` does not occur exactly once.
    """
    planting = _chosen("exercise", exercise, PLANTED)
    from helpers.lessons.shared.planted import plant  # here, as no other exercise needs the wrong kernels

    verdict = plant(exercise, planting, old, new)
    if verdict.outcome != NOT_ATTEMPTED:
        student_files.keep_answer(exercise, [old, new])
    return verdict


def hand_in(student: str) -> student_files.Packed:
    """Put the learner's kernels and answers into one file for the teacher, notebooks/my/hand_in_<student>.json.

    Raises TypeError and ValueError for a name that is no text or has no letters, and ValueError where a text is not
    UTF-8, and where the file cannot be written.
    """
    if not isinstance(student, str):
        raise TypeError(f"student is a {type(student).__name__}: it must be your name, as text")
    if not re.search(r"\w", student):
        raise ValueError(f"student = {student!r}: it must be your name")
    return student_files.pack(student, ALL_PUZZLES)


def _chosen(argument: str, name: str, known: Mapping[str, Any]) -> Any:
    """The exercise of this name. Raises ValueError for a name that none has."""
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"{argument} = {name!r:.100}: it must be one of {', '.join(known)}")
    return known[name]


def work(puzzle: str, source: str, seed: drawn.Seed = None) -> Grades:
    """The verdicts on a text, in this process; that of a planted fault is its edit, as a list of JSON."""
    if puzzle in PLANTED:
        from helpers.lessons.shared.planted import plant

        return Grades([plant(puzzle, PLANTED[puzzle], *json.loads(source))])
    if puzzle in PYTHON_PUZZLES:
        return PYTHON_PUZZLES[puzzle].grade(source, seed)
    return grader.grade(ChainMap(PUZZLES, FAULTS)[puzzle], source, seed)


if __name__ == "__main__":
    first = next(iter(PUZZLES.values()))
    serve(work, partial(grader.grade, first, first.official.source))
