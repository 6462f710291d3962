"""The teachers' pages: one for each lesson, true to its minutes, its explorers, and the mistakes that its grader names.

The verdicts in the tables are compared in ``test_named_mistakes.py``, which has them.
"""

import re
from itertools import chain
from urllib.parse import unquote

import pytest
from support.notebook_gate import FOR_CUDA, LINK, NOTEBOOKS, Lesson, lessons_of
from support.teaching_pages import (
    PUZZLE,
    QUESTION,
    TEACHING,
    explorers_of,
    headings_of,
    page_of,
    parts,
    puzzles_of,
    table,
)

from helpers.lessons.exercises import ALL_PUZZLES
from helpers.lessons.shared.course import MINUTES

EXPLORERS, MISTAKES, LATE = "Questions at the explorers", "Common mistakes", "When you are late"
PLAN, COLUMNS = "Before, in and after class", ["section", "before class", "in class", "after class"]
TOOK = re.compile(r"(\d+)(?::|$)")  # the minutes, at the beginning of a cell
CLASS = 45  # minutes
LONGEST = 80  # lines of a page, without those of its tables
LESSONS = [Lesson.read(path) for path in (*lessons_of(NOTEBOOKS), FOR_CUDA)]
every_lesson = pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.path.stem)


def test_each_page_is_that_of_a_lesson() -> None:
    assert {path.stem for path in TEACHING.glob("*")} == {lesson.path.stem for lesson in LESSONS}


@pytest.mark.parametrize(
    ("cell", "puzzles"),
    [
        ('my_map = """\n"""\nhelpers.grade("map", my_map)', ["map"]),
        ('helpers.write("map")', ["map"]),
        ('helpers.write("map", "guard")', []),
        ('helpers.grade("map", None)', []),
    ],
)
def test_a_puzzle_of_a_lesson_is_a_cell_or_an_editor(cell: str, puzzles: list[str]) -> None:
    assert PUZZLE.findall(cell) == puzzles


@every_lesson
def test_a_page_is_short_and_its_sections_and_links_are_there(lesson: Lesson) -> None:
    text = page_of(lesson)
    wanted = [PLAN]
    if explorers_of(lesson):
        wanted.append(EXPLORERS)
    if puzzles_of(lesson):
        wanted.append(MISTAKES)
    wanted.append(LATE)
    assert [name for name, _ in parts(text) if name in wanted] == wanted
    assert text.startswith("# For teachers: ")
    links = {unquote((a or b).split("#")[0]) for a, b in LINK.findall(text)}
    assert f"../{lesson.path.name}" in links
    assert [link for link in links if ":" not in link and not (TEACHING / link).exists()] == []
    assert sum(not line.startswith("|") for line in text.splitlines()) <= LONGEST


def minutes_in(cell: str) -> int:
    """The minutes with which a cell of the plan begins; 0 where it begins with none."""
    match = TOOK.match(cell)
    return int(match[1]) if match else 0


@every_lesson
def test_the_plan_has_three_columns_and_their_minutes_add_up(lesson: Lesson) -> None:
    how_long = re.search(r"^\*\*How long\.\*\*.*", lesson.cells[0].source, re.MULTILINE)[0]
    minutes = sum(map(int, MINUTES.findall(how_long)))
    head, everybody, *rows = table(dict(parts(page_of(lesson)))[PLAN])
    assert head == COLUMNS
    assert all(everybody)
    assert bool(re.search(r"`--mistakes 0\d`", everybody[2])) == (lesson is not LESSONS[0])  # a class begins with them
    took = [[*map(minutes_in, row[1:])] for row in rows]
    assert all(map(any, took))
    assert sum(map(sum, took)) == minutes
    assert sum(in_class for _, in_class, _ in took) == min(minutes, CLASS)
    headings = [*chain.from_iterable(map(headings_of, lesson.prose))]
    places = [headings.index(row[0]) for row in rows]
    assert places == sorted(places)


@every_lesson
def test_each_explorer_has_two_questions_with_answers_and_each_puzzle_its_known_mistakes(lesson: Lesson) -> None:
    sections = dict(parts(page_of(lesson)))
    asked = parts(sections.get(EXPLORERS, ""), level=3)
    assert [name for name, _ in asked] == [f'`{call}` in "{heading}"' for call, heading in explorers_of(lesson)]
    for name, text in asked:
        assert len(re.findall(r"^\d", text, re.MULTILINE)) == len(QUESTION.findall(text)) == 2, name
    tables = {name.strip("`"): table(text)[1:] for name, text in parts(sections.get(MISTAKES, ""), level=3)}
    assert [*tables] == puzzles_of(lesson), "run python tests/support/teaching_pages.py"
    for name, rows in tables.items():
        known = [[mistake.name, mistake.question] for mistake in ALL_PUZZLES[name].mistakes]
        assert [[row[0], row[-1]] for row in rows] == known, "run python tests/support/teaching_pages.py"
