"""The teachers' pages: where they are, and what their tables and lists say.

    python tests/support/teaching_pages.py

writes the tables of mistakes in all pages again, from ``*.mistakes.toml`` in the lessons' folders and the
grader's verdicts; with the beginnings of file names behind it, such as `00 02`, in these pages.
"""

import re
import sys
from collections import Counter
from itertools import chain
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this file is a script, too
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from support.grading import with_mistake
from support.notebook_gate import NOTEBOOKS, Cell, Lesson

from helpers.grading.mistakes import Mistake
from helpers.grading.verdict import RIGHT, Grades
from helpers.lessons.exercises import ALL_PUZZLES

TEACHING = NOTEBOOKS / "teaching"
EXPLORER = re.compile(r"\w*explorers\.(?!terms_of_)\w+(?=\()")
PUZZLE = re.compile(r'helpers\.(?:grade(?=\("\w+", my_\w+\))|write(?=\("\w+"\)))\("(\w+)"')  # a cell, or an editor
TABLE = re.compile(r"^(?P<above>### `(?P<puzzle>\w+)`\n(?:(?:[^|#\n].*)?\n)*)(?:\|.*\n)+", re.MULTILINE)
HEAD = "| mistake | what the checker says | the question that unlocks it |\n|:--|:--|:--|\n"
QUESTION = re.compile(r"^\d\. \*[^*]+\?\* \S.*[.)]$", re.MULTILINE)


def page_of(lesson: Lesson) -> str:
    """The text of a lesson's page."""
    return (TEACHING / f"{lesson.path.stem}.md").read_text(encoding="utf-8")


def parts(text: str, level: int = 2) -> list[tuple[str, str]]:
    """The headings of a level, with the text below each."""
    marks = "#" * level
    _, *pieces = re.split(rf"^{marks} (.+)\n", text, flags=re.MULTILINE)
    return list(zip(pieces[::2], pieces[1::2], strict=True))


def table(text: str) -> list[list[str]]:
    """The cells of a table's rows, from its head on, without the line below that."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [cells_of(line) for line in lines if not set(line) <= set("|:- ")]


def cells_of(line: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.strip() for cell in line.strip("|").split("|")]


def explorers_of(lesson: Lesson) -> list[tuple[str, str]]:
    """The calls that show an explorer, each with the heading above it, in the order of the lesson."""
    heading = ""
    calls = []
    for cell in lesson.cells:
        if cell.is_code:
            calls += [(call, heading) for call in EXPLORER.findall(cell.source)]
        headings = headings_of(cell)
        if headings:
            heading = headings[-1]
    return calls


def headings_of(cell: Cell) -> list[str]:
    """The headings in a cell of prose; none in one of code."""
    return [] if cell.is_code else re.findall(r"^#+ (.+)", cell.words, re.MULTILINE)


def puzzles_of(lesson: Lesson) -> list[str]:
    """The puzzles of a lesson, in their order."""
    return [*chain.from_iterable(PUZZLE.findall(cell.source) for cell in lesson.code)]


def row(mistake: Mistake, grades: Grades) -> list[str]:
    """The cells of a known mistake in a page's table: its name, the verdicts, and the question."""
    counts = Counter(verdict.outcome for verdict in grades if verdict.outcome != RIGHT)
    verdicts = [f"{outcome} in {count} of {len(grades)} tests" for outcome, count in counts.items()]
    return [mistake.name, ", ".join(verdicts), mistake.question]


def with_tables(text: str) -> str:
    """A page with the tables of mistakes as they are made from the puzzles now."""
    return TABLE.sub(lambda table: f"{table['above']}{HEAD}{_rows(table['puzzle'])}", text)


def _rows(puzzle: str) -> str:
    rows = (row(mistake, with_mistake(puzzle, mistake)) for mistake in ALL_PUZZLES[puzzle].mistakes)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


if __name__ == "__main__":
    chosen = tuple(sys.argv[1:]) or ""
    for path in sorted(page for page in TEACHING.glob("*.md") if page.name.startswith(chosen)):
        path.write_text(with_tables(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
        print(f"{path}: written")
