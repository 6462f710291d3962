"""The teachers' pages: one for each lesson, true to its minutes, its explorers, and the mistakes that its grader names.

The verdicts in the tables are compared in ``test_named_mistakes.py``, which has them.
"""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from support.notebook_gate import LINK, NOTEBOOKS, Lesson, lessons_of
from support.teaching_pages import QUESTION, TEACHING, Page, explorers_of, puzzles_of, table

from helpers.exercises import PUZZLES

LESSONS = lessons_of(NOTEBOOKS)
TIMING, EXPLORERS, MISTAKES, LATE = "Timing", "Questions at the explorers", "Common mistakes", "When you are late"
MINUTES = re.compile(r"(?:About|and|take) (\d+) (?:minutes|more)")
SHORT = 45  # minutes of the plan for a single class
LONGEST = 80  # lines of a page, without those of its tables
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)


def minutes_of(lesson: Lesson) -> int:
    """How long a lesson takes in all, as its first cell says."""
    said = next(line for line in lesson.cells[0].source.splitlines() if line.startswith("**How long.**"))
    return sum(map(int, MINUTES.findall(said)))


def wrong_sections(page: Page, lesson: Lesson) -> list[str]:
    """The sections that are not there, in this order."""
    wanted = [TIMING, *[EXPLORERS] * bool(explorers_of(lesson)), *[MISTAKES] * bool(puzzles_of(lesson)), LATE]
    found = [name for name in page.sections if name in wanted]
    return [f"its sections are {found}, not {wanted}"] * (found != wanted)


def wrong_minutes(page: Page, lesson: Lesson) -> list[str]:
    """The sections of the table are the lesson's, in order, and each column of minutes has the right sum."""
    head, *rows = table(page.sections[TIMING])
    headings = [text for cell in lesson.prose for text in re.findall(r"^##+ (.+)", cell.words, re.MULTILINE)]
    places = [headings.index(row[0]) if row[0] in headings else -1 for row in rows]
    wanted = {"minutes": minutes_of(lesson)}
    wanted |= {f"in {SHORT}": SHORT} if wanted["minutes"] > SHORT else {}
    if head != ["section", *wanted, "what happens"]:
        return [f"its columns are {head}"]
    found = [f"{row[0]!r} is not a heading of the lesson" for row, at in zip(rows, places, strict=True) if at < 0]
    found += ["the sections are not in the order of the lesson"] * (places != sorted(places))
    for column, title in enumerate(wanted, 1):
        total = sum(int(row[column]) for row in rows if row[column] != "–")
        found += [f"{title!r} adds up to {total}, not to {wanted[title]}"] * (total != wanted[title])
    return found


def wrong_questions(page: Page, lesson: Lesson) -> list[str]:
    """Each explorer has its two questions with their answers, in the order of the lesson."""
    wanted, parts = explorers_of(lesson), page.parts(EXPLORERS)
    headings = [f'`{call}` in "{heading}"' for call, heading in wanted]
    found = [f"its explorers are {[name for name, _ in parts]}, not {headings}"]
    found *= [name for name, _ in parts] != headings
    for name, text in parts:
        items = re.findall(r"^\d.*", text, re.MULTILINE)
        asked = QUESTION.findall(text)
        found += [f"{name} has {len(items)} questions, {len(asked)} of them with an answer"] * (
            [len(items), len(asked)] != [2, 2]
        )
    return found


def wrong_mistakes(page: Page, lesson: Lesson) -> list[str]:
    """The tables hold the puzzles' known mistakes with their questions, in order."""
    puzzles = puzzles_of(lesson)
    tables = {name.strip("`"): table(text) for name, text in page.parts(MISTAKES)}
    found = [f"its puzzles are {list(tables)}, not {puzzles}"] * (list(tables) != puzzles)
    for name in puzzles:
        wanted = [[mistake.name, mistake.question] for mistake in PUZZLES[name].mistakes]
        rows = [[row[0], row[-1]] for row in tables.get(name, [])[1:]]
        found += [f"the table of {name} is out of date: run python tests/support/teaching_pages.py"] * (rows != wanted)
    return found


def wrong_text(page: Page, lesson: Lesson) -> list[str]:
    """A page is short, begins with its title and a link to its lesson, and its links lead to files."""
    links = [unquote((a or b).split("#")[0]) for a, b in LINK.findall(page.text)]
    found = [f"it links to {link}" for link in links if ":" not in link and not (TEACHING / link).exists()]
    found += ["it does not begin with its title"] * (not page.text.startswith("# For teachers: "))
    found += ["it does not link to its lesson"] * (f"../{lesson.path.name}" not in links)
    lines = sum(not line.startswith("|") for line in page.text.splitlines())
    return found + [f"it has {lines} lines"] * (lines > LONGEST)


def wrong(page: Page, lesson: Lesson) -> list[str]:
    """Everything that is wrong with a page."""
    if found := wrong_sections(page, lesson):
        return found
    parts = {EXPLORERS: wrong_questions, MISTAKES: wrong_mistakes}
    checks = [wrong_text, wrong_minutes, *(check for name, check in parts.items() if name in page.sections)]
    return [problem for check in checks for problem in check(page, lesson)]


@every_lesson
def test_a_page_says_what_is_true_of_its_lesson(path: Path) -> None:
    assert wrong(Page.of(path), Lesson.read(path)) == []


def test_each_page_is_that_of_a_lesson() -> None:
    assert {path.stem for path in TEACHING.glob("*")} == {path.stem for path in LESSONS}


# --- The checks above can fail ---------------------------------------------------------------------------

EXAMPLE = NOTEBOOKS / "02_weight_gradient.ipynb"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("## Common mistakes", "## Mistakes", "its sections are"),
        ("| 10 | 8 |", "| 11 | 8 |", "'minutes' adds up to 96, not to 95"),
        ("| 10 | 8 |", "| 10 | 7 |", "'in 45' adds up to 44, not to 45"),
        ("| The same in loops |", "| Loops |", "'Loops' is not a heading"),
        ("| The same in loops |", "| Recap |", "not in the order of the lesson"),
        ("| in 45 |", "| short |", "its columns are"),
        ("### `explorers.threads` in", "### `explorers.thread` in", "its explorers are"),
        ('"Part 1: which weight is mine?"\n', '"Part 1"\n', "its explorers are"),
        ("\n2. *How many additions", "\n2. *How many addition* s", "2 questions, 1 of them with an answer"),
        ("\n2. *How many additions", "\nHow many additions", "1 questions, 1 of them"),
        ("| the filter is flipped |", "| a flip |", "the table of conv2d_grad_weight is out of date"),
        ("how often does a thread", "how often must a thread", "is out of date"),
        ("### `conv2d_grad_weight`", "### `conv2d`", "its puzzles are ['conv2d'], not ['conv2d_grad_weight']"),
        ("(../04_bias_gradient.ipynb)", "(../04_bias.ipynb)", "it links to ../04_bias.ipynb"),
        ("(../02_weight_gradient.ipynb)", "(../01_convolution_as_correlation.ipynb)", "does not link to its lesson"),
        ("# For teachers", "For teachers", "does not begin with its title"),
    ],
)
def test_a_page_that_is_wrong_is_seen(old: str, new: str, said: str) -> None:
    page, lesson = Page.of(EXAMPLE), Lesson.read(EXAMPLE)
    assert page.text.count(old) == 1
    assert said in "\n".join(wrong(page._replace(text=page.text.replace(old, new)), lesson))
