"""Paths of a reader through a cell of a lesson: the steps, and what is then seen there, from `paths.toml`.

A step names a part of the cell and what is done with it, by a method of Playwright's Locator, or what is soon seen of
it, by one of its expectations; then comes what these are given. A part is a selector, in which `button "Check"` is
short for role and name; behind `page` it is one of the whole page. Other steps are methods of `Cell`, as they are or of
a part. `$name` is a text that `let` or `about` gave this name.
"""

import re
from pathlib import Path
from string import Template
from textwrap import indent

import pytest
from playwright.sync_api import Locator, LocatorAssertions, expect
from support.browser import LivePage, text_of
from support.shown import soon, touched

import helpers
from helpers.data import tables
from helpers.grading import student_files
from helpers.lessons.exercises import ALL_PUZZLES, MATCHINGS, QUESTIONS

FILE = Path(__file__).with_suffix(".toml")
NAMED = re.compile(r'(\w+) ("[^"]*"|/[^/]*/)')
THEME = """async theme => {  // the command is done before the page has its colors
  const paper = () => getComputedStyle(document.documentElement).getPropertyValue('--jp-layout-color0');
  await jupyterapp.commands.execute('apputils:change-theme', {theme: `JupyterLab ${theme}`});
  for (let i = 0; i < 1500 && paper() !== (theme === 'Dark' ? '#111' : 'white'); i++)
    await new Promise(done => setTimeout(done, 20));
}"""
# How far the notebook is scrolled, and its cells' kinds and texts: what keys in a part do not change.
AS_IT_IS = """() => [document.querySelector('.jp-WindowedPanel-outer').scrollTop].concat(
  jupyterapp.shell.currentWidget.content.widgets.map(
    cell => [cell.model.type, cell.model.sharedModel.source].join()))"""


class Cell:
    """A cell of a lesson, in which a reader works."""

    def __init__(self, lesson: LivePage, here: Locator) -> None:
        self.lesson, self.page, self.here, self.texts = lesson, lesson.page, here, {}

    def follow(self, path: str) -> None:
        """Do what the steps of a path say, and see what they say."""
        for step in PATHS[path]:
            try:
                self.step(*map(self.filled, step))
            except BaseException as error:
                error.add_note(f"{path}: {step}")
                raise

    def filled(self, value: object) -> object:
        """Return a value of a step, in a text with the texts that it names."""
        return Template(value).safe_substitute(self.texts) if isinstance(value, str) else value

    def step(self, who: str, *what: object) -> None:
        """Take one step: a method of this class, or what is done with a part, or expected of it."""
        if hasattr(self, who):
            return getattr(self, who)(*what)
        part = self.part(who)
        does, *values = what
        if hasattr(self, does):
            return getattr(self, does)(part, *values)
        if "to_" in does:
            part = expect(part)
            values = map(as_pattern, values)
        return getattr(part, does)(*values)

    def part(self, name: str) -> Locator:
        """A part of the cell, or of the page."""
        place = self.page if name.startswith("page ") else self.here
        return place.locator(NAMED.sub(r"role=\1[name=\2]", name.removeprefix("page ")))

    # --- Steps ------------------------------------------------------------------------------------------------

    def cell(self, words: str) -> None:
        """From now on, in the cell with these words."""
        self.here = self.lesson.code_cell(words)

    def explorer(self, words: str) -> None:
        """In the cell with these words, which is run anew, and here for comparison."""
        self.shown, self.same = self.lesson.explorer(words), self.lesson.same(words)
        self.here = self.shown.cell

    def says(self, values: dict[str, int]) -> None:
        """The picture soon says the same as in this process, with these values."""
        expect(self.shown.words).to_have_text(self.same.set(**values))

    def shows(self, values: dict[str, int]) -> None:
        """So do its sliders, and the picture itself."""
        self.says(values)
        self.shown.shows(self.same)

    def mouse(self, does: str) -> None:
        getattr(self.page.mouse, does)()

    def python(self, code: str) -> None:
        """Run this in the cell, in place of what it has."""
        self.lesson.retype(self.here, f"import helpers\n{code}")

    def restart(self) -> None:
        """Python begins again, and nothing has run."""
        self.lesson.restart()

    def theme(self, name: str) -> None:
        self.page.evaluate(THEME, name)

    def let(self, name: str, text: str, old: str = "", new: str = "") -> None:
        """Name a text, in which a piece is replaced."""
        assert old in text
        self.texts[name] = text.replace(old, new)

    def about(self, name: str) -> None:
        """Name the texts of a puzzle or a question."""
        if name in ALL_PUZZLES:
            puzzle, skeleton = ALL_PUZZLES[name], helpers.skeleton(name)
            self.texts |= {"name": name, "tests": len(puzzle.tests), "solution": puzzle.solution.text}
            self.texts |= {"skeleton": skeleton, "indented": indent(skeleton, "  ")}
        else:
            self.texts["why"] = {**QUESTIONS, **MATCHINGS}[name].why.replace("`", "")

    def keys(self, names: str) -> None:
        """Press these keys, wherever the page has its focus."""
        for name in names.split():
            self.page.keyboard.press(name)

    def writes(self, text: str) -> None:
        """Put a text in the place of the one that has the focus."""
        self.keys("Control+a")
        self.page.keyboard.insert_text(text)

    def types(self, text: str) -> None:
        self.page.keyboard.type(text)

    def types_on(self, text: str) -> None:
        """Each letter just after those before have been sent."""
        for letter in text:
            with self.lesson.socket.expect_event("framesent", lambda frame: '"keep"' in text_of(frame)):
                self.types(letter)

    def remember(self) -> None:
        self.before = self.page.evaluate(AS_IT_IS)

    def unchanged(self) -> None:
        """Nothing was scrolled since then, and all cells are as they were."""
        assert self.page.evaluate(AS_IT_IS) == self.before

    def kept(self, name: str, text: str) -> None:
        """The learner's file soon has this text, or their answers are this one alone."""
        if name in ALL_PUZZLES:
            soon(self.page, "what is kept", lambda: student_files.read(name), text)
        else:
            soon(self.page, "what is kept", student_files.answers, {name: text})

    # --- Of a part --------------------------------------------------------------------------------------------

    def tap(self, part: Locator) -> None:
        touched(part)

    def finger_to(self, part: Locator, other: str) -> None:
        touched(part, self.part(other))

    def mouse_at(self, part: Locator, x: int, y: int) -> None:
        """Move the mouse to so many pixels from the upper left corner, far faster than pictures are drawn."""
        box = part.bounding_box()
        self.page.mouse.move(box["x"] + x, box["y"] + y, steps=20)

    def drag_to(self, part: Locator, other: str) -> None:
        part.drag_to(self.part(other))

    def alone_takes(self, part: Locator, keys: str) -> None:
        """Keys that it has some use for, or none, but that would change or scroll cells."""
        part.focus()
        self.remember()
        self.keys(f"m b x d d {keys}")
        self.unchanged()

    def gives(self, part: Locator, code: str, value: object) -> None:
        """A function of JavaScript soon returns this value for it."""
        soon(self.page, code, lambda: part.evaluate(code), value)

    def reads(self, part: Locator, text: str) -> None:
        """All lines of a text, however they are broken."""
        assert "\n".join(part.all_inner_texts()).split() == text.split()

    def tab_to(self, part: Locator) -> None:
        for _ in range(30):
            self.keys("Tab")
            if part.evaluate("part => part === document.activeElement"):
                return
        pytest.fail("Tab does not reach it")

    def silently_left(self, part: Locator) -> None:
        """To leave it sends nothing to Python."""
        sent = []
        self.lesson.socket.on("framesent", lambda frame: sent.append('"whole"' in text_of(frame)))
        part.blur()
        self.page.wait_for_timeout(100)
        assert not any(sent)


def as_pattern(value: object) -> object:
    """Return an expected value: a text between slashes is a regular expression."""
    if isinstance(value, str) and re.fullmatch("/.*/", value):
        return re.compile(value[1:-1])
    return value


# --- The file -----------------------------------------------------------------------------------------------------


def read(file: Path) -> dict[str, list[list[object]]]:
    """Return the steps of each path of a file.

    Raises ValueError, which names the file, the path, the step and the rule, where a step is none.
    """
    paths = tables.parse(file)
    for name, steps in paths.items():
        for number, step in enumerate(steps, 1):
            place = f"{file.name}, {name!r}, step {number} = {step!r:.60}"
            check(step, place)
    return paths


def check(step: object, place: str) -> None:
    """Raise ValueError where a step is no method of `Cell`, and nothing that is done with a part or expected of it."""
    if not isinstance(step, list) or not step or not isinstance(step[0], str):
        raise ValueError(f"{place}: a step is a list that begins with a part or a method of Cell")
    if hasattr(Cell, step[0]):
        return
    does = step[1] if len(step) > 1 else ""
    if not isinstance(does, str) or not any(hasattr(kind, does) for kind in (Cell, Locator, LocatorAssertions)):
        raise ValueError(f"{place}: behind a part stands a method of Cell, Locator or LocatorAssertions, not {does!r}")


PATHS = read(FILE)
