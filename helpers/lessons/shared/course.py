"""The lessons as their files describe them, the roads through them, and LeNet's places for the reader's kernels.

Number, title, idea and what a reader then can do are on the page for the teacher; minutes and what is needed are in
the first cell of the notebook, and the puzzles in its code.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from helpers.gpu import GpuError
from helpers.grading.student_files import NOTEBOOKS, StudentFileError
from helpers.lessons.exercises import ALL_PUZZLES, is_right
from helpers.lessons.shared.notebook_cells import code_cells, exercises
from helpers.lessons.shared.student_kernels import PLACES
from helpers.network.layers import LENET

LESSONS = "[0-9][0-9]_*.ipynb", "appendix_[a-z]_*.ipynb"  # in this order
HEAD = re.compile(r"^# For teachers: (?:appendix )?(\w+),? (.+)", re.MULTILINE)
IDEA = re.compile(r"\*\*One idea:\*\* (.+?)\. \*\*Afterwards the class can\*\* (.+?)\.(?:\s|$)")
MINUTES = re.compile(r"(?:About|and|take) (\d+) (?:minutes|more)")
NEEDED = re.compile(r"\((?:(\d\d)|appendix_([a-z]))_\w+\.ipynb\)")
CLASS = 45  # minutes
LENET_LESSON = "07"
KINDS = {  # what has a place, by the beginning of an operation's name
    "conv2d": "Conv2d",
    "relu": "Conv2d",
    "max_pool2d": "MaxPool2d",
    "gemm_bias_act": "Linear",
    "cross_entropy": "Loss",
    "sgd": "Update",
}


class Lesson(NamedTuple):
    """A lesson or an appendix; `able` completes "then you can"."""

    file: str
    number: str
    title: str
    idea: str
    able: str
    minutes: int
    needs: tuple[str, ...]
    puzzles: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its number and its title."""
        return f"{self.number} {self.title}"


class Road(NamedTuple):
    """A way through the course: for whom, and the numbers of its lessons in their order."""

    name: str
    numbers: tuple[str, ...]
    minutes: int


class Slot(NamedTuple):
    """A place in LeNet for a kernel of the reader's: what it computes, for which kind of layer, and its puzzles."""

    kind: str
    result: str
    puzzles: tuple[str, ...]
    lesson: str


def lessons(folder: Path = NOTEBOOKS) -> tuple[Lesson, ...]:
    """All lessons in their order, then the appendices."""
    return tuple(_lesson(path) for pattern in LESSONS for path in sorted(folder.glob(pattern)))


def _lesson(path: Path) -> Lesson:
    page = (path.parent / "teaching" / f"{path.stem}.md").read_text(encoding="utf-8")
    first = "".join(json.loads(path.read_bytes())["cells"][0]["source"])
    how_long, needed = (_line(first, words) for words in ("How long", "What you need"))
    needs = sorted({number or letter.upper() for number, letter in NEEDED.findall(needed)})
    named = (name for _, name in exercises(code_cells(path)))
    puzzles = dict.fromkeys(name for name in named if name in ALL_PUZZLES)
    minutes = sum(map(int, MINUTES.findall(how_long)))
    return Lesson(path.name, *HEAD.search(page).groups(), *IDEA.search(page).groups(), minutes, (*needs,), (*puzzles,))


def _line(text: str, words: str) -> str:
    """The text after some words in bold, up to the next ones or the end of the line."""
    return re.search(rf"\*\*{words}\.\*\*(.*?)(?:\*\*|\n|$)", text)[1]


def before(number: str, known: Sequence[Lesson]) -> set[str]:
    """The numbers of all lessons that one needs, directly or through others."""
    needs = {lesson.number: lesson.needs for lesson in known}[number]
    return {*needs}.union(*(before(other, known) for other in needs))


def direct(lesson: Lesson, known: Sequence[Lesson]) -> list[str]:
    """The lessons that a lesson needs, without those that they need already."""
    return [number for number in lesson.needs if not any(number in before(other, known) for other in lesson.needs)]


def roads(known: Sequence[Lesson]) -> tuple[Road, ...]:
    """Everything; what leads to LeNet, a class for each lesson; and of that, the lessons whose kernels LeNet takes.

    The last one is for those who know threads already: without the first lesson.
    """
    first, *_ = numbers = tuple(lesson.number for lesson in known)
    chosen = {
        "a class": before(LENET_LESSON, known) | {LENET_LESSON},
        "fast": {slot.lesson for slot in slots(known)} - {first},
    }
    ways = {name: tuple(number for number in numbers if number in some) for name, some in chosen.items()}
    everything = Road("all", numbers, sum(lesson.minutes for lesson in known))
    return everything, *(Road(name, way, CLASS * len(way)) for name, way in ways.items())


def slots(known: Sequence[Lesson]) -> tuple[Slot, ...]:
    """LeNet's places for what lessons ask for, in the order of its layers; two puzzles may compute the same."""
    of = {puzzle: lesson.number for lesson in reversed(known) for puzzle in lesson.puzzles}
    same: dict[tuple[str, str], list[str]] = {}
    for puzzle, place in PLACES.items():
        kind = next(kind for name, kind in KINDS.items() if place.operation.name.startswith(name))
        same.setdefault((kind, place.result), []).append(puzzle)
    asked = {place: sorted(of[name] for name in names if name in of) for place, names in same.items()}
    found = [Slot(*place, tuple(same[place]), numbers[0]) for place, numbers in asked.items() if numbers]
    return tuple(sorted(found, key=lambda slot: [*layers()].index(slot.kind)))


@cache
def layers() -> Mapping[str, int]:
    """The number of layers of each kind LeNet has, and its one loss and one update."""
    return Counter([*(type(layer).__name__ for layer in LENET), "Loss", "Update"])


def right(known: Sequence[Lesson]) -> frozenset[str]:
    """The puzzles on the map of which the reader's last text is right.

    What cannot be read, or be tried on this machine, is not: the exercise says why.
    """
    return frozenset(puzzle for lesson in known for puzzle in lesson.puzzles if _passes(puzzle))


def _passes(puzzle: str) -> bool:
    try:
        return is_right(puzzle)
    except (GpuError, StudentFileError):
        return False
