"""The widget in which a learner marks cells, by clicking or by typing; apart, as ipywidgets takes long to load."""

import html
from contextlib import suppress

import ipywidgets

from helpers.grading import student_files
from helpers.grading.marking_question import Cell, Cells, Marking, UnreadableError, kept
from helpers.grading.verdict import NOT_ATTEMPTED
from helpers.pictures.canvas import LINE, ORANGE
from helpers.widgets import WAKE
from wgsl.output import in_lines

LETTER, COORDINATES, HIGH = 54, 72, 43  # pixels: the widths of a button with a letter and with two, and its height
ASKED = "margin: 0; padding: 0; line-height: 1.35"
SAID = f"{ASKED}; min-height: 2.7em"  # as high with one line as with two


class MarkCells(ipywidgets.VBox):
    """A matrix of buttons, a text box that always says what is marked, and the verdict on it when it is asked for.

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
        self.name, self.marking, self.verdict = name, marking, marking.grade(name, cells)
        self._settling = False
        self._width = LETTER if marking.letters else COORDINATES
        self._buttons = {cell: self._button(cell) for cell in marking.names}
        box = {
            "layout": {"width": f"{self._width * max(6, marking.columns)}px"},
            "style": {"description_width": "60px"},
        }
        self._box = ipywidgets.Text(description="marked", continuous_update=False, **box)
        self._words = ipywidgets.HTML()
        self._check = ipywidgets.Button(description="Check", tooltip="say whether the marked cells are right")
        self._check.layout.width = "auto"
        grid = {"grid_template_columns": f"repeat({marking.columns}, {self._width}px)", "grid_gap": "4px"}
        asked = ipywidgets.HTML(f'<p style="{ASKED}">{html.escape(marking.asked)}</p>')
        matrix = ipywidgets.GridBox(list(self._buttons.values()), layout=grid)
        super().__init__([asked, matrix, ipywidgets.HBox([self._box, self._check]), self._words])
        self.add_class("convgrad-marking")
        self._start(cells)
        for button in self._buttons.values():
            button.observe(lambda change: self._settling or self._clicked(), "value")
        self._box.observe(lambda change: self._settling or self.set(change.new), "value")
        self._check.on_click(lambda _: self.check())

    @property
    def marked(self) -> Cells:
        """The cells that are marked now."""
        return frozenset(cell for cell, button in self._buttons.items() if button.value)

    def set(self, cells: object) -> str:
        """Mark these cells and no others, from code or from the text box; returns what is said to it.

        A text that names no cells leaves the marks as they are.
        """
        verdict = self.marking.grade(self.name, cells)
        with suppress(UnreadableError):
            self._show(self.marking.read(cells))
            self._keep()
        self._say(verdict.said)
        return self.sentence

    def check(self) -> str:
        """Grade what the text box says, which is what is marked or what cannot be read; returns what is said to it."""
        return self.set(self._box.value)

    def _start(self, cells: object) -> None:
        """Show the marks of the cell's text and their verdict, or the marks of an earlier run where it is empty."""
        is_given = self.verdict.outcome != NOT_ATTEMPTED
        with suppress(UnreadableError):
            self._show(self.marking.read(cells if is_given else kept(self.name)))
            if is_given:
                self._keep()
        self._say(self.verdict.said if is_given else self._counted)

    def _clicked(self) -> None:
        """Keep the marks; they are finished when the learner says so."""
        self._show(self.marked)
        self._keep()
        self._say(self._counted)

    def _keep(self) -> None:
        student_files.keep_answer(self.name, self._box.value)

    @property
    def _counted(self) -> str:
        """How many cells are marked."""
        count = len(self.marked)
        if not count:
            return self.marking.grade(self.name, "").said
        return f"{count} cell{'s' * (count > 1)} marked: press Check when you have all"

    def _button(self, cell: Cell) -> ipywidgets.ToggleButton:
        layout = {"width": f"{self._width}px", "height": f"{HIGH}px", "margin": "0", "padding": "0"}
        button = ipywidgets.ToggleButton(layout=layout)
        self._paint(cell, button)
        return button

    def _paint(self, cell: Cell, button: ipywidgets.ToggleButton) -> None:
        """Show whether a cell is marked: by a sign, by its outline, and in the words that a screen reader reads."""
        row, column = cell
        button.description = "✓ " * button.value + self.marking.names[cell]
        button.tooltip = f"row {row}, column {column}, {'marked' if button.value else 'not marked'}"
        button.layout.border = f"3px solid {ORANGE}" if button.value else f"1px solid {LINE}"

    def _show(self, cells: Cells) -> None:
        self._settling = True
        for cell, button in self._buttons.items():
            button.value = cell in cells
            self._paint(cell, button)
        self._box.value = self.marking.written(cells)
        self._settling = False

    def _say(self, sentence: str) -> None:
        self.sentence = sentence
        self._words.value = f'<p role="status" aria-live="polite" style="{SAID}">{html.escape(sentence)}</p>'

    def __repr__(self) -> str:
        return in_lines(repr(self.verdict))

    def _repr_mimebundle_(self, **kwargs) -> dict:
        said = "".join(f"<p>{html.escape(words)}</p>" for words in (self.marking.asked, self.verdict.said, WAKE))
        return super()._repr_mimebundle_(**kwargs) | {"text/plain": repr(self), "text/html": said}
