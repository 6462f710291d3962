"""Lessons with answers filled in, as a learner would: what is assigned to an exercise's arguments is replaced."""

import ast
import re
from collections.abc import Iterable, Mapping

import numpy as np

from helpers.grading import student_files
from helpers.grading.prediction import Answer
from helpers.lessons.exercises import ALL_PUZZLES, FAULTS, MARKINGS, MATCHINGS, QUESTIONS

FUNCTIONS = "grade", "mark", "find_fault"
Answers = Mapping[tuple[str, str], tuple[str, ...]]  # of (function, exercise): its arguments as Python


def in_quotes(kernel: str) -> str:
    """A kernel as a cell holds it."""
    return f'"""\n{kernel}\n"""'


def right_answers() -> dict[tuple[str, str], tuple[str, ...]]:
    """The right answer to every exercise."""
    answers = {("grade", name): (in_quotes(puzzle.solution.text),) for name, puzzle in ALL_PUZZLES.items()}
    answers |= {("mark", name): (repr(marking.written(marking.right)),) for name, marking in MARKINGS.items()}
    return answers | {("find_fault", name): _found(name) for name in FAULTS}


def _plain(answer: Answer) -> Answer:
    """An answer as Python's own number, word or tuple."""
    return answer.item() if isinstance(answer, np.generic) else answer


def _found(name: str) -> tuple[str, str]:
    """The wrong line, and what the right kernel has there."""
    fault = FAULTS[name]
    return repr(fault.line), repr(fault.kernel.source.split("\n")[fault.line - 1])


def answer_in_the_page(exercises: Iterable[tuple[str, str]]) -> None:
    """Keep the right kernels and answers, as if a learner had typed them into a page's editors, questions and cells."""
    for function, name in exercises:
        if function == "write":
            student_files.keep(name, ALL_PUZZLES[name].solution.text)
        if function == "ask":
            student_files.keep_answer(name, _plain(QUESTIONS[name].right))
        if function == "match":
            student_files.keep_answer(name, ", ".join(MATCHINGS[name].right))
        if function == "mark":
            student_files.keep_answer(name, MARKINGS[name].written(MARKINGS[name].right))


def filled(cells: Iterable[str], answers: Answers) -> list[str]:
    """Code cells with these answers; of an exercise without one, what is there stays."""
    written = [cell.encode() for cell in cells]  # a syntax tree counts bytes
    edits: dict[tuple[int, int, int], str] = {}
    values: dict[str, tuple[int, int, int]] = {}
    for at, cell in enumerate(written):
        for statement in ast.parse(cell).body:
            calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
            for call in calls:
                for argument, text in zip(call.args[1:], answers.get(_exercise(call), ()), strict=False):
                    edits[values[argument.id]] = text
            if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
                values[statement.targets[0].id] = (at, *_place(cell, statement.value))
    for (at, start, end), text in sorted(edits.items(), reverse=True):
        written[at] = written[at][:start] + text.encode() + written[at][end:]
    return [cell.decode() for cell in written]


def _exercise(call: ast.Call) -> tuple[str, str]:
    """The function and the exercise of a call; words that name none for any other."""
    match = re.match(r"helpers\.(\w+)\('([^']+)'", ast.unparse(call))
    if match and match[1] in FUNCTIONS:
        return match[1], match[2]
    return "", ""


def _place(cell: bytes, node: ast.expr) -> tuple[int, int]:
    """The bytes of a cell at which a value begins and ends."""
    lines = cell.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines))]
    return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
