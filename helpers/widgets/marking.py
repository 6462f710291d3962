"""The cells of a picture, to mark by clicking, by dragging or by their letters, and the verdict on what is marked."""

from contextlib import suppress

from traitlets import List

from helpers.grading.marking_question import Marking, UnreadableError
from helpers.grading.verdict import NOT_ATTEMPTED
from helpers.widgets import synced
from helpers.widgets.question import TRIES, OnPicture


class MarkCells(OnPicture):
    """The cells over their picture, a box that says what is marked, and the reply, drawn over the right cells.

    Parameters
    ----------
    name : str
        The exercise's name, which begins the verdict.
    marking : Marking
        The exercise.
    cells : str or pairs
        What is marked at the start, if anything; otherwise it is what was marked in an earlier run.

    What is stored is the picture and, below it, the task or the verdict on `cells`.
    """

    cells = synced(List)
    _noun = "cells"

    def __init__(self, name: str, marking: Marking, cells: object = "") -> None:
        self.verdict = marking.grade(name, cells)
        super().__init__(name, marking)
        self.cells = [{"name": name, "row": row, "column": column} for (row, column), name in marking.names.items()]
        if self.verdict.outcome != NOT_ATTEMPTED:
            try:
                self.give(marking.written(marking.read(cells)))
            except UnreadableError:
                self.give(str(cells))

    @property
    def marked(self) -> frozenset:
        """The cells that are marked now; none where the text names none."""
        with suppress(UnreadableError):
            return self._question.read(self.answer)
        return frozenset()

    def _details(self) -> dict:
        """The marked cells, right or wrong, and from the second wrong answer on those that are left out."""
        judged = {}
        for cell in self.marked:
            judged[self._question.names[cell]] = "right" if cell in self._question.right else "wrong"
        if self.marked and self._wrong >= TRIES:
            for cell in self._question.right - self.marked:
                judged[self._question.names[cell]] = "missed"
        return {"cells": judged}

    def __repr__(self) -> str:
        return self.asked if self.verdict.outcome == NOT_ATTEMPTED else repr(self.verdict)
