"""All puzzles and questions of the lessons, by name: what the learner starts from, and what their work deserves.

    python -m helpers.exercises NAME < kernel.wgsl

grades a text in this process, and prints the verdicts as JSON: it is what `grade` starts.
"""

import sys
from functools import partial

from helpers.convolution import exercise as convolution
from helpers.gemm import exercise as gemm
from helpers.grading.judge import judged
from helpers.grading.prediction import Answer, Question
from helpers.grading.puzzle import Puzzle
from helpers.grading.sandbox import graded_apart, serve
from helpers.grading.verdict import Grades, Verdict
from helpers.summation import exercise as summation
from helpers.threads import exercise as threads
from helpers.wgsl import Listing

_SUBJECTS = threads, convolution, summation, gemm  # in the order of their first lessons
PUZZLES: dict[str, Puzzle] = {puzzle.name: puzzle for subject in _SUBJECTS for puzzle in subject.PUZZLES}
QUESTIONS: dict[str, Question] = {name: q for subject in _SUBJECTS for name, q in subject.QUESTIONS.items()}


def puzzles() -> tuple[str, ...]:
    """The names of all puzzles, as their lessons appear."""
    return tuple(PUZZLES)


def skeleton(puzzle: str) -> str:
    """The text from which the learner starts: the official kernel without the lines to be written.

    Raises ValueError for a name that no puzzle has.
    """
    return _puzzle(puzzle).skeleton


def solution(puzzle: str) -> Listing:
    """The official kernel, for display; `.text` is its text. Raises ValueError for a name that no puzzle has."""
    return _puzzle(puzzle).solution


def grade(puzzle: str, source: str) -> Grades:
    """Try a learner's kernel on every case of a puzzle, in a process of its own.

    It is compiled on the adapter, and then simulated. Only the cases in which the simulator finds nothing wrong are
    run on the adapter, too, so that no endless loop reaches a GPU.

    Parameters
    ----------
    puzzle : str
        One of `puzzles()`.
    source : str
        A WGSL module with the bindings of `skeleton(puzzle)`. If it differs from that only in comments and blanks, it
        is no attempt, and nothing is run.

    Raises
    ------
    ValueError
        No puzzle has this name.
    TypeError
        `source` is not text.
    GpuError
        This machine cannot run any kernel; that says nothing about the learner's.
    """
    chosen = _puzzle(puzzle)
    if not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}: it must be the text of your kernel")
    if chosen.unchanged(source):
        return chosen.not_attempted()
    return graded_apart(("helpers.exercises", puzzle), source, chosen.tests)


def predict(question: str, answer: Answer | None) -> Verdict:
    """Judge an answer to a lesson's question, and name the likely mistake; None is no answer yet.

    Raises ValueError for a name that no question has, TypeError for an answer of another kind than the question asks.
    """
    if not isinstance(question, str) or question not in QUESTIONS:
        raise ValueError(f"question = {question!r}: it must be one of {', '.join(QUESTIONS)}")
    return QUESTIONS[question].judge(question, answer)


def _puzzle(name: str) -> Puzzle:
    if not isinstance(name, str) or name not in PUZZLES:
        raise ValueError(f"puzzle = {name!r}: it must be one of {', '.join(PUZZLES)}")
    return PUZZLES[name]


if __name__ == "__main__":
    serve(partial(judged, _puzzle(sys.argv[1])))
