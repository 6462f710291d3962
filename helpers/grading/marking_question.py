"""Exercises in which the learner marks the cells of a matrix that feed an element: by clicking, or by typing."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NoReturn

from helpers.grading.prediction import LONGEST_ANSWER, AnswerError, Question
from helpers.grading.reasons import Reason
from helpers.grading.replies import CellsOff, LongAnswer, NoAnswer, Reply, UnknownCell
from helpers.grading.verdict import NOT_ATTEMPTED, WRONG, Verdict

Cell = tuple[int, int]  # row and column
Cells = frozenset[Cell]
PAIR = re.compile(r"\(?\s*(\d{1,9})\s*,\s*(\d{1,9})\s*\)?")


class UnreadableError(ValueError):
    """A text that names no cells, with the reason of its verdict."""

    def __init__(self, reason: LongAnswer | UnknownCell) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, kw_only=True)
class Marking(Question):
    """The cells of a matrix that are asked for, and the likely wrong sets, each with the question that leads on.

    `asked` is the task as a sentence; `letters` name the cells row by row, or there are none and a cell is
    ``(row, column)``. The `picture` has each cell in its `cards`, by name.
    """

    size: Cell  # rows and columns
    letters: str = ""
    picture: Callable[[], object] | None = None
    hint = ""  # of an answer to type: the cells need none

    @staticmethod
    def typed(text: str) -> str:
        """The answer that is graded of a text in the page."""
        return text

    @property
    def cards(self) -> tuple[str, ...]:
        """The names of all cells, row by row."""
        return tuple(self.letters or map(str, product(*map(range, self.size))))

    @cached_property
    def names(self) -> dict[Cell, str]:
        """The name of each cell, row by row."""
        return dict(zip(product(*map(range, self.size)), self.cards, strict=True))

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
        rule = f"it must be text, as in {self._example!r}"
        raise AnswerError(f"cells = {answer!r:.100} is a {type(answer).__name__}: {rule}")

    def _read_text(self, text: str) -> Iterable[Cell]:
        if len(text) > LONGEST_ANSWER:  # a regular expression takes long to find no pair in many blanks
            raise UnreadableError(LongAnswer(len(text), self._example))
        if not self.letters or PAIR.search(text):
            for between in PAIR.split(text)[:: 1 + PAIR.groups]:
                if word := between.strip(" ,;[]\n"):
                    self._unknown(word)
            return [self._inside(int(row), int(column)) for row, column in PAIR.findall(text)]
        named = {name: cell for cell, name in self.names.items()}
        return [named[letter] if letter in named else self._unknown(letter) for letter in re.sub(r"[\s,;]", "", text)]

    def _inside(self, *cell: object) -> Cell:
        return cell if cell in list(self.names) else self._unknown(cell)

    def _unknown(self, name: object) -> NoReturn:
        """Raise UnreadableError, with the rule."""
        raise UnreadableError(UnknownCell(f"{name!r:.100}", self.cards[0], self.cards[-1], self._example))

    @property
    def _example(self) -> str:
        """Two cells, as they are written, that are not both right."""
        return self.written(list(self.names)[:1] + list(self.names)[-1:])

    def grade(self, name: str, answer: object) -> Verdict:
        """Return the verdict on an answer; `name` is the exercise's, and no cells are no answer yet.

        Raises AnswerError, a TypeError, where the answer is neither text nor pairs.
        """
        try:
            cells = self.read(answer)
        except UnreadableError as error:
            return Verdict(name, WRONG, error.reason)
        return super().grade(name, cells) if cells else Verdict(name, NOT_ATTEMPTED, NoAnswer())

    def _read(self, answer: Cells) -> Cells:
        return answer

    def _reply(self, answer: Cells) -> Reason:
        """Return a known mistake's question, or how many cells of another one are wrong, without saying which."""
        if answer in self.mistakes:
            return Reply(self.mistakes[answer], answer)
        return CellsOff(len(answer - self.right), len(self.right - answer), self.advice)
