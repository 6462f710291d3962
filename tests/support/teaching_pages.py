"""The teachers' pages: where they are, and what stands in their tables and lists."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.grading.puzzle import Slip
from helpers.grading.verdict import RIGHT, Grades

TEACHING = NOTEBOOKS / "teaching"
EXPLORER = re.compile(r"\w*explorers\.\w+(?=\()")
PUZZLE = re.compile(r'helpers\.grade\("(\w+)", my_\w+\)')
SECTION = re.compile(r"^## (?P<name>.+)\n(?P<text>(?:(?!## ).*\n)*)", re.MULTILINE)
PART = re.compile(r"^### (?P<name>.+)\n(?P<text>(?:(?!### ).*\n)*)", re.MULTILINE)
QUESTION = re.compile(r"^\d\. \*(?P<asked>[^*]+\?)\* (?P<answer>\S.*[.)])$", re.MULTILINE)


class Page(NamedTuple):
    """One page, read."""

    path: Path
    text: str

    @classmethod
    def of(cls, lesson: Path) -> "Page":
        """The page of a lesson."""
        path = TEACHING / f"{lesson.stem}.md"
        return cls(path, path.read_text(encoding="utf-8"))

    @property
    def sections(self) -> dict[str, str]:
        """The text below each heading of the second level."""
        return {match["name"]: match["text"] for match in SECTION.finditer(self.text)}

    def parts(self, section: str) -> list[tuple[str, str]]:
        """The headings of the third level in a section, with the text below each."""
        return [(match["name"], match["text"]) for match in PART.finditer(self.sections[section])]


def table(text: str) -> list[list[str]]:
    """The cells of a table's rows, from its head on, without the line below that."""
    rows = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set("".join(row)) <= set(":- ")]


def explorers_of(lesson: Lesson) -> list[tuple[str, str]]:
    """The calls that show an explorer, each with the heading above it, in the order of the lesson."""
    heading, found = [""], []
    for cell in lesson.cells:
        if cell.is_code:
            found += [(call, heading) for call in EXPLORER.findall(cell.source)]
        else:
            heading = re.findall(r"^#+ (.+)", cell.words, re.MULTILINE)[-1:] or heading
    return [(call, heading[0]) for call, heading in found]


def puzzles_of(lesson: Lesson) -> list[str]:
    """The puzzles of a lesson, in their order."""
    return [name for cell in lesson.code for name in PUZZLE.findall(cell.source)]


def row(slip: Slip, grades: Grades) -> list[str]:
    """What a page says about a known mistake: its name, the verdicts, and the question."""
    counts = Counter(verdict.outcome for verdict in grades if verdict.outcome != RIGHT)
    said = [f"{outcome} in {counts[outcome]} of {len(grades)} tests" for outcome in counts]
    return [slip.mistake, ", ".join(said), slip.question]
