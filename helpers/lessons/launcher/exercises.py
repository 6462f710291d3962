"""The exercises of appendix C: two launches in raw calls, judged by what they make."""

from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.launcher import launch

NAMES = {
    **launch.CALLS,
    "code": launch.Code(),
    "READ": launch.Access.READ,
    "WRITE": launch.Access.WRITE,
}


LAUNCHED = {
    "four_numbers": (5, 2, 7, 1),
    "nine_numbers": (4, 8, 2, 9, 1, 7, 3, 6, 5),
}


def _results(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers that the kernel makes of these."""
    return tuple(3 * x + 1 for x in numbers)


def _launch_cases() -> list[PythonCase]:
    return [_launch_case(name, numbers) for name, numbers in LAUNCHED.items()]


def _launch_case(name: str, numbers: tuple[int, ...]) -> PythonCase:
    values = NAMES | {"numbers": numbers, "count": len(numbers)}
    return PythonCase(name, (values,), (_results(numbers),))


def _second_cases() -> list[PythonCase]:
    return [_second_case(name, numbers) for name, numbers in LAUNCHED.items()]


def _second_case(name: str, numbers: tuple[int, ...]) -> PythonCase:
    """A launch after one that is done: what that one was given, and what it made."""
    count = len(numbers)
    results = _results(numbers)
    input = launch.Buffer(list(numbers))
    output = launch.Buffer(list(results))
    layout = launch.Layout(launch.DECLARED)
    values = {
        **NAMES,
        "module": launch.Module(),
        "layout": layout,
        "pipeline": launch.Pipeline(),
        "input": input,
        "output": output,
        "bind_group": launch.BindGroup(layout, (input, output)),
        "count": count,
        "workgroups": ceil(count / launch.THREADS),
    }
    return PythonCase(name, (values,), (_results(results),))


def _numbers(random: np.random.Generator) -> tuple[int, ...]:
    """A few numbers, which fill the last workgroup or do not."""
    return tuple(random.integers(1, 100, random.integers(1, 22)).tolist())


def _drawn_launch(random: np.random.Generator) -> PythonCase:
    return _launch_case("", _numbers(random))


def _drawn_second(random: np.random.Generator) -> PythonCase:
    return _second_case("", _numbers(random))


NOTHING_TWICE = Skill(
    "a second launch that makes nothing twice and copies nothing",
    "nine_numbers",
    {"create_*": 1, "write_buffer": 1},
)


FOLDER = Path(__file__).with_name("puzzles")
PYTHON_PUZZLES = (
    PythonPuzzle("raw_launch", FOLDER, "result", _launch_cases, drawn=_drawn_launch),
    PythonPuzzle("second_launch", FOLDER, "result", _second_cases, NOTHING_TWICE, _drawn_second),
)
