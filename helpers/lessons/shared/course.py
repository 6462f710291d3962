"""The lessons as their files describe them, the roads through them, and LeNet's places for the reader's kernels.

Number, title, idea and what a reader then can do are on the page for the teacher; minutes and what is needed are in
the first cell of the notebook, and the puzzles in its code.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from helpers.gpu import GpuError
from helpers.grading.student_files import NOTEBOOKS, StudentFileError
from helpers.lessons.exercises import ALL_PUZZLES, is_right
from helpers.lessons.shared.notebook_cells import code_cells, exercises
from helpers.lessons.shared.student_kernels import PLACES, Place
from helpers.network.layers import LENET

LESSONS = "[0-9][0-9]_*.ipynb", "appendix_[a-z]_*.ipynb"  # in this order
HEAD = re.compile(r"^# For teachers: (?:appendix )?(\w+),? (.+)", re.MULTILINE)
IDEA = re.compile(r"\*\*One idea:\*\* (.+?)\. \*\*Afterwards the class can\*\* (.+?)\.(?:\s|$)")
MINUTES = re.compile(r"(?:About|and|take) (\d+) (?:minutes|more)")
NEEDED = re.compile(r"\((?:(\d\d)|appendix_([a-z]))_\w+\.ipynb\)")
LENET_LESSON = "07"
FOR_CUDA = "if_you_know_cuda.ipynb"
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
    """A way through the course: for whom, the numbers of its lessons in their order, and a page before them, if any."""

    name: str
    numbers: tuple[str, ...]
    minutes: int
    page: str = ""


class Slot(NamedTuple):
    """A place in LeNet for a kernel of the reader's: what it computes, for which kind of layer, and its puzzles."""

    kind: str
    result: str
    puzzles: tuple[str, ...]
    lesson: str


def lessons(folder: Path = NOTEBOOKS) -> tuple[Lesson, ...]:
    """All lessons in their order, then the appendices."""
    paths = []
    for pattern in LESSONS:
        paths += sorted(folder.glob(pattern))
    return tuple(_lesson(path) for path in paths)


def _lesson(path: Path) -> Lesson:
    """The lesson of a notebook, from its first cell, its code and the page for the teacher."""
    page = (path.parent / "teaching" / f"{path.stem}.md").read_text(encoding="utf-8")
    cells = json.loads(path.read_bytes())["cells"]
    first = "".join(cells[0]["source"])
    number, title = HEAD.search(page).groups()
    idea, able = IDEA.search(page).groups()
    minutes = MINUTES.findall(_line(first, "How long"))
    needed = NEEDED.findall(_line(first, "What you need"))
    needs = {number or letter.upper() for number, letter in needed}
    names = dict.fromkeys(name for _, name in exercises(code_cells(path)))  # each once, in their order
    return Lesson(
        file=path.name,
        number=number,
        title=title,
        idea=idea,
        able=able,
        minutes=sum(map(int, minutes)),
        needs=tuple(sorted(needs)),
        puzzles=tuple(name for name in names if name in ALL_PUZZLES),
    )


def _line(text: str, words: str) -> str:
    """The text after some words in bold, up to the next ones or the end of the line."""
    return re.search(rf"\*\*{words}\.\*\*(.*?)(?:\*\*|\n|$)", text)[1]


def before(number: str, known: Sequence[Lesson]) -> set[str]:
    """The numbers of all lessons that one needs, directly or through others."""
    (lesson,) = (lesson for lesson in known if lesson.number == number)
    numbers = set(lesson.needs)
    for needed in lesson.needs:
        numbers |= before(needed, known)
    return numbers


def direct(lesson: Lesson, known: Sequence[Lesson]) -> list[str]:
    """The lessons that a lesson needs, without those that they need already."""
    indirect = set()
    for number in lesson.needs:
        indirect |= before(number, known)
    return [number for number in lesson.needs if number not in indirect]


def roads(known: Sequence[Lesson]) -> tuple[Road, ...]:
    """Everything; what leads to LeNet; and of that, the lessons whose kernels LeNet takes.

    The last one has a page of its own in the place of the first lesson. Each takes the minutes of its lessons.
    """
    to_lenet = before(LENET_LESSON, known) | {LENET_LESSON}
    with_kernels = {slot.lesson for slot in slots(known)} - {known[0].number}
    return (
        _road("all", known),
        _road("a class", [lesson for lesson in known if lesson.number in to_lenet]),
        _road("from CUDA", [lesson for lesson in known if lesson.number in with_kernels])._replace(page=FOR_CUDA),
    )


def _road(name: str, lessons: Sequence[Lesson]) -> Road:
    """A road through these lessons."""
    numbers = tuple(lesson.number for lesson in lessons)
    minutes = sum(lesson.minutes for lesson in lessons)
    return Road(name, numbers, minutes)


def slots(known: Sequence[Lesson]) -> tuple[Slot, ...]:
    """LeNet's places for what lessons ask for, in the order of its layers; two puzzles may compute the same."""
    first_lessons = _first_lessons(known)
    by_result: dict[tuple[str, str], list[str]] = {}  # the puzzles that compute the same for a kind of layer
    for puzzle, place in PLACES.items():
        same = by_result.setdefault((_kind(place), place.result), [])
        same.append(puzzle)
    places = []
    for (kind, result), puzzles in by_result.items():
        numbers = [first_lessons[puzzle] for puzzle in puzzles if puzzle in first_lessons]
        if numbers:
            places.append(Slot(kind, result, tuple(puzzles), min(numbers)))
    order = list(layers())
    return tuple(sorted(places, key=lambda slot: order.index(slot.kind)))


def _kind(place: Place) -> str:
    """The kind of layer in which a kernel has a place."""
    for beginning, kind in KINDS.items():
        if place.operation.name.startswith(beginning):
            return kind
    raise ValueError(f"{place.operation.name}: no kind of layer has it")


def _first_lessons(known: Sequence[Lesson]) -> dict[str, str]:
    """The number of the first lesson that asks for each puzzle."""
    numbers = {}
    for lesson in known:
        for puzzle in lesson.puzzles:
            numbers.setdefault(puzzle, lesson.number)
    return numbers


@cache
def layers() -> Mapping[str, int]:
    """The number of layers of each kind LeNet has, and its one loss and one update."""
    kinds = [type(layer).__name__ for layer in LENET]
    return Counter([*kinds, "Loss", "Update"])


def right(known: Sequence[Lesson]) -> frozenset[str]:
    """The puzzles on the map of which the reader's last text is right.

    What cannot be read, or be tried on this machine, is not: the exercise says why.
    """
    puzzles = chain.from_iterable(lesson.puzzles for lesson in known)
    return frozenset(puzzle for puzzle in puzzles if _passes(puzzle))


def _passes(puzzle: str) -> bool:
    """Return whether the reader's last text of a puzzle is right, as far as this machine can try it."""
    try:
        return is_right(puzzle)
    except (GpuError, StudentFileError):
        return False
