"""Find a puzzle, a question or another exercise by its name: in the file that has it, so that one lesson is imported.

lessons/<lesson>/puzzles/<name>.wgsl or .py    a puzzle
lessons/<lesson>/questions.toml                [name], a question; so in matchings, markings, faults and planted
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from helpers.data import tables

Exercise = TypeVar("Exercise")

HERE = Path(__file__).parent
LESSONS = (  # as one reads them; each is the name of its notebook, without the number
    "meet_the_gpu",
    "convolution_as_correlation",
    "weight_gradient",
    "input_gradient",
    "bias_gradient",
    "trusting_a_gradient",
    "fused_gemm_backward",
    "train_lenet",
    "the_speed_ladder",
    "many_gpus",
    "simulator",
    "dilation_and_groups",
    "launcher",
    "past_the_library",
    "order_of_a_sum",
    "if_you_know_cuda",
)


class ByName(Mapping[str, Exercise]):
    """The exercises of one kind in all lessons, by their names; each lesson is imported when one of its is asked for.

    Parameters
    ----------
    names : function
        For a lesson's folder, the names of its exercises of this kind.
    exercises : function
        For a lesson, its exercises of this kind by their names, in their order.
    """

    def __init__(
        self, names: Callable[[Path], tuple[str, ...]], exercises: Callable[[str], Mapping[str, Exercise]]
    ) -> None:
        self._names, self._exercises = names, cache(exercises)

    def lesson(self, name: str) -> str:
        """Return the lesson that has an exercise of this name. Raises KeyError where none has."""
        for lesson in LESSONS:
            if name in self._names(HERE / lesson):
                return lesson
        raise KeyError(name)

    def __getitem__(self, name: str) -> Exercise:
        return self._exercises(self.lesson(name))[name]

    def __contains__(self, name: object) -> bool:
        return any(name in self._names(HERE / lesson) for lesson in LESSONS)

    def __iter__(self) -> Iterator[str]:
        for lesson in LESSONS:
            if self._names(HERE / lesson):
                yield from self._exercises(lesson)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def by_file(kind: str) -> ByName:
    """Return the puzzles whose official texts have this suffix: those in PUZZLES or PYTHON_PUZZLES of their lessons."""
    attribute = {".wgsl": "PUZZLES", ".py": "PYTHON_PUZZLES"}[kind]

    @cache
    def names(folder: Path) -> tuple[str, ...]:
        return tuple(path.stem for path in (folder / "puzzles").glob(f"*{kind}"))

    def exercises(lesson: str) -> dict[str, Exercise]:
        return {puzzle.name: puzzle for puzzle in getattr(_module(lesson), attribute)}

    return ByName(names, exercises)


def by_table(file: str, attribute: str) -> ByName:
    """Return the exercises whose names are those of a lesson's tables: they are in an attribute of its `exercises`."""
    return ByName(_in_file(file), lambda lesson: getattr(_module(lesson), attribute))


def from_table(file: str, read: Callable[[Path], Mapping[str, Exercise]]) -> ByName:
    """Return the exercises that are read from a lesson's tables alone: no lesson is imported."""
    return ByName(_in_file(file), lambda lesson: read(HERE / lesson / file))


def _in_file(file: str) -> Callable[[Path], tuple[str, ...]]:
    @cache
    def names(folder: Path) -> tuple[str, ...]:
        return tables.names(folder / file)

    return names


def _module(lesson: str) -> ModuleType:
    return import_module(f"helpers.lessons.{lesson}.exercises")
