"""The glossary is complete: each term has a sentence, a lesson and three other names, and each lesson links to it."""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[1]
LESSONS = {path.name[:2]: path for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")}
NUMBERS = set(re.findall(r"^\| \[?(\d\d) ", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE))


def prose(path: Path) -> str:
    """All Markdown of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def wrong(glossary: str) -> list[str]:
    """What is wrong with a glossary in Markdown: groups of terms, each under a heading."""
    found = []
    for group in glossary.split("\n## "):
        rows = [line.strip("| ").split(" | ") for line in group.split("\n") if line.startswith("| **")]
        terms = [row[0].strip("*").lower() for row in rows]
        found += [f"{terms}: not sorted"] * (terms != sorted(terms))
        found += [f"{row[0]}: {problem}" for row in rows for problem in wrong_row(*row)]
    return found


def wrong_row(term: str, meaning: str = "", lesson: str = "", *others: str) -> list[str]:
    number, names = lesson.strip("[")[:2], term.strip("*").lower().split(", ")
    path = LESSONS.get(number)
    link = f"[{number}]({path.name})" if path else f"{number} (to come)"
    return (
        ["not six fields"] * (len(others) != 3 or not all(others))
        + ["not one sentence"] * (not re.fullmatch(r"[A-Z](?:(?!\. [A-Z]).)*\.", meaning))
        + ["no such lesson"] * (number not in NUMBERS)
        + [f"the lesson must be written {link}"] * (lesson != link)
        + ["the lesson never uses it"] * (path is not None and not any(name in prose(path).lower() for name in names))
    )


def test_every_term_is_complete():
    assert wrong(prose(ROOT / "notebooks" / "glossary.ipynb")) == []


@pytest.mark.parametrize("path", LESSONS.values(), ids=lambda path: path.stem)
def test_every_lesson_links_to_the_glossary(path):
    assert "](glossary.ipynb)" in prose(path)


# --- The check above can fail ----------------------------------------------------------------------------

ROW = "| **filter** | Some weights. | [02](02_weight_gradient.ipynb) | filter | — | `weight` |"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (" | —", "", "not six fields"),
        ("weights.", "weights. They slide.", "not one sentence"),
        ("[02](02_weight_gradient.ipynb)", "02 (to come)", "must be written [02](02_weight_gradient.ipynb)"),
        ("[02](02_weight_gradient.ipynb)", "11 (to come)", "no such lesson"),
        ("**filter**", "**flux**", "the lesson never uses it"),
        (ROW, f"{ROW}\n{ROW.replace('filter', 'a filter')}", "not sorted"),
    ],
)
def test_an_incomplete_term_is_seen(old, new, said):
    assert wrong(ROW) == []
    assert said in "\n".join(wrong(ROW.replace(old, new)))
