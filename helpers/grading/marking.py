"""Exercises in which the learner marks the cells of a matrix that feed an element: by clicking, or by typing."""

import html
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from pathlib import Path

import ipywidgets

from helpers.grading import attempts
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.output import in_lines
from helpers.pictures.canvas import LINE, ORANGE

Cell = tuple[int, int]  # row and column
Cells = frozenset[Cell]
LETTER, COORDINATES, HIGH = 54, 72, 43  # pixels: the widths of a button with a letter and with two, and its height
PAIR = re.compile(r"\(?\s*(\d+)\s*,\s*(\d+)\s*\)?")
ASKED = "margin: 0; padding: 0 4px; line-height: 1.35"
SAID = f"{ASKED}; min-height: 2.7em"  # as high with one line as with two


class UnreadableError(ValueError):
    """A text that names no cells."""


@dataclass(frozen=True)
class Marking:
    """Which cells of a matrix are asked for, and the likely wrong sets, each with the question that leads on.

    `asked` is the task as a sentence; `letters` name the cells row by row, or there are none and a cell is
    ``(row, column)``.
    """

    asked: str
    rows: int
    columns: int
    right: Cells
    mistakes: Mapping[Cells, str] = field(default_factory=dict)
    advice: str = ""
    letters: str = ""

    @cached_property
    def names(self) -> dict[Cell, str]:
        """What each cell is called, row by row."""
        cells = list(product(range(self.rows), range(self.columns)))
        return dict(zip(cells, self.letters or [f"({row}, {column})" for row, column in cells], strict=True))

    def written(self, cells: Collection[Cell]) -> str:
        """Some cells as the learner writes them, row by row."""
        return " ".join(name for cell, name in self.names.items() if cell in cells)

    def read(self, answer: object) -> Cells:
        """The cells that an answer names.

        Raises UnreadableError for a cell that the matrix does not have, and AnswerError where the answer is neither
        text nor pairs.
        """
        if isinstance(answer, str):
            return frozenset(self._read_text(answer))
        if isinstance(answer, Iterable) and all(isinstance(pair, tuple | list) for pair in answer):
            return frozenset(self._inside(*pair) for pair in answer)
        raise AnswerError(f"cells = {answer!r} is a {type(answer).__name__}: it must be text, as in {self._example!r}")

    def _read_text(self, text: str) -> Iterable[Cell]:
        if not self.letters or PAIR.search(text):
            if rest := PAIR.sub("", text).strip(" ,;[]\n"):
                raise UnreadableError(f"{rest!r} names no cell; {self._rule}")
            return [self._inside(int(row), int(column)) for row, column in PAIR.findall(text)]
        named = {name: cell for cell, name in self.names.items()}
        letters = re.sub(r"[\s,;]", "", text)
        if unknown := [letter for letter in letters if letter not in named]:
            raise UnreadableError(f"{unknown[0]!r} names no cell; {self._rule}")
        return [named[letter] for letter in letters]

    def _inside(self, *cell: int) -> Cell:
        if cell not in self.names:
            raise UnreadableError(f"{cell!r} names no cell; {self._rule}")
        return cell

    @property
    def _example(self) -> str:
        """How two cells are written that are not both right."""
        return self.written(list(self.names)[:1] + list(self.names)[-1:])

    @property
    def _rule(self) -> str:
        names = list(self.names.values())
        return f"the cells are {names[0]} to {names[-1]}; write them as in {self._example!r}"

    def judge(self, name: str, answer: object) -> Verdict:
        """What to say to an answer; `name` is the exercise's, and no cells are no answer yet.

        Raises AnswerError, a TypeError, where the answer is neither text nor pairs.
        """
        try:
            cells = self.read(answer)
        except UnreadableError as error:
            return Verdict(name, WRONG, str(error))
        if not cells:
            return Verdict(name, NOT_ATTEMPTED, "click the cells, or write their names")
        if cells == self.right:
            return Verdict(name, RIGHT)
        return Verdict(name, WRONG, self.mistakes.get(cells) or self._counted(cells))

    def _counted(self, cells: Cells) -> str:
        """How many cells of an unknown mistake are wrong, without saying which."""
        wrong, missing = (len(them) for them in (cells - self.right, self.right - cells))
        marked = [f"marked {wrong} cell{'s' * (wrong > 1)} too many"] * bool(wrong)
        return f"you {' and '.join(marked + [f'left out {missing}'] * bool(missing))}; {self.advice}"


def kept(exercise: str) -> str:
    """The learner's marks of an earlier run, as text; none where there are none."""
    with suppress(OSError, UnicodeDecodeError):
        return _file(exercise).read_text(encoding="utf-8")
    return ""


def keep(exercise: str, text: str) -> None:
    """Keep the learner's marks beside the kernels that they graded, for as long as there is room for a file."""
    with suppress(OSError):
        _file(exercise).parent.mkdir(parents=True, exist_ok=True)
        _file(exercise).write_text(text, encoding="utf-8")


def _file(exercise: str) -> Path:
    return attempts.folder() / f"{re.sub('[^A-Za-z0-9]+', '_', exercise).strip('_')}.txt"


class MarkCells(ipywidgets.VBox):
    """A matrix of buttons, a text box that always says what is marked, and the verdict on it.

    Parameters
    ----------
    name : str
        The exercise's name, which begins the verdict.
    marking : Marking
        The exercise.
    cells : str or pairs
        What is marked at the start, if anything.

    If `cells` is empty, the learner's marks of an earlier run are shown. The stored output is the verdict on `cells`
    alone, so that it is the same with and without widgets.
    """

    def __init__(self, name: str, marking: Marking, cells: object = "") -> None:
        self.name, self.marking, self.verdict = name, marking, marking.judge(name, cells)
        self._settling = False
        self._width = LETTER if marking.letters else COORDINATES
        self._buttons = {cell: self._button(cell) for cell in marking.names}
        self._box = ipywidgets.Text(description="marked", continuous_update=False)
        self._box.layout = ipywidgets.Layout(width=f"{self._width * max(6, marking.columns)}px")
        self._box.style = {"description_width": "60px"}
        self._words = ipywidgets.HTML()
        grid = ipywidgets.Layout(grid_template_columns=f"repeat({marking.columns}, {self._width}px)", grid_gap="4px")
        asked = ipywidgets.HTML(f'<p style="{ASKED}">{html.escape(marking.asked)}</p>')
        matrix = ipywidgets.GridBox(list(self._buttons.values()), layout=grid)
        super().__init__([asked, matrix, self._box, self._words])
        self.add_class("convgrad-marking")
        self._start(cells)
        for button in self._buttons.values():
            button.observe(lambda change: self._settling or self._clicked(), "value")
        self._box.observe(lambda change: self._settling or self.set(change.new), "value")

    @property
    def marked(self) -> Cells:
        """The cells that are marked now."""
        return frozenset(cell for cell, button in self._buttons.items() if button.value)

    @property
    def sentence(self) -> str:
        """What the widget says now of the marks, which may be others than the cell's text."""
        return re.sub("<[^>]*>", "", html.unescape(self._words.value))

    def set(self, cells: object) -> str:
        """Mark these cells and no others, from code or from the text box; returns what is said to it.

        A text that names no cells leaves the marks as they are.
        """
        verdict = self.marking.judge(self.name, cells)
        try:
            self._show(self.marking.read(cells), verdict)
        except UnreadableError:
            self._say(verdict)
        else:
            keep(self.name, self._box.value)
        return self.sentence

    def _start(self, cells: object) -> None:
        """Show the marks of the cell's text, or else those of an earlier run."""
        for answer in (cells, kept(self.name)):
            try:
                marked = self.marking.read(answer)
            except UnreadableError:
                continue
            if marked:
                return self._show(marked, self.marking.judge(self.name, answer))
        return self._show(frozenset(), self.verdict)

    def _clicked(self) -> None:
        self.set(self.marking.written(self.marked))

    def _button(self, cell: Cell) -> ipywidgets.ToggleButton:
        layout = ipywidgets.Layout(width=f"{self._width}px", height=f"{HIGH}px", margin="0", padding="0")
        button = ipywidgets.ToggleButton(layout=layout)
        self._paint(cell, button)
        return button

    def _paint(self, cell: Cell, button: ipywidgets.ToggleButton) -> None:
        """Show whether a cell is marked: by a sign, by its outline, and in the words that a screen reader reads."""
        row, column = cell
        button.description = "✓ " * button.value + self.marking.names[cell]
        button.tooltip = f"row {row}, column {column}, {'marked' if button.value else 'not marked'}"
        button.layout.border = f"3px solid {ORANGE}" if button.value else f"1px solid {LINE}"

    def _show(self, cells: Cells, verdict: Verdict) -> None:
        self._settling = True
        for cell, button in self._buttons.items():
            if button.value != (cell in cells):
                button.value = cell in cells
            if button.description.startswith("✓") != button.value:
                self._paint(cell, button)
        self._box.value = self.marking.written(cells)
        self._settling = False
        self._say(verdict)

    def _say(self, verdict: Verdict) -> None:
        words = f"{verdict.outcome}{': ' * bool(verdict.detail)}{verdict.detail}"
        self._words.value = f'<p role="status" aria-live="polite" style="{SAID}">{html.escape(words)}</p>'

    def __repr__(self) -> str:
        return in_lines(repr(self.verdict))

    def _repr_mimebundle_(self, **kwargs) -> dict:
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self)}
