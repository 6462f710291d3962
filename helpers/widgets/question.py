"""A question that the page answers: right, or the mistake by its name, and only then the explanation."""

import anywidget
from traitlets import Dict, Int, List, Unicode

from helpers.data.turns import in_turn
from helpers.grading import student_files
from helpers.grading.marking_question import Marking
from helpers.grading.matching import Matching
from helpers.grading.prediction import AnswerError, Question
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT
from helpers.pictures.canvas import Box, Picture
from helpers.widgets import HERE, as_html, displayed, script, synced, wake

LONGEST = 100  # characters of an older answer in a reply
TRIES = 2  # wrong ones, after which the explanation can be opened, and cells that are left out are shown


class Ask(anywidget.AnyWidget):
    """One question, and what the reader answers; the last answer of an earlier run is filled in, and not yet graded.

    The stored output is the question, with the explanation folded below it where a page can fold.
    """

    _esm = script("question")
    _css = HERE / "question.css"
    name = synced(Unicode)
    folder = synced(Unicode)
    asked = synced(Unicode)
    hint = synced(Unicode)
    answer = synced(Unicode)
    reply = synced(Dict)
    why = synced(Unicode)
    heard = synced(Int, 0)  # the number of the last message; the page keeps an answer until it is heard

    def __init__(self, name: str, question: Question) -> None:
        self._question, self._wrong, self._kept = question, 0, student_files.typed(name)
        words = {"asked": question.asked, "hint": question.hint, "answer": self._kept}
        super().__init__(name=name, folder=student_files.folder_id(), **words)
        self.on_msg(self._told)

    @in_turn
    def _told(self, _: object, message: dict, __: object) -> None:
        """Take an answer, for good or, of words that are laid one by one, not yet."""
        try:
            (self.give if message["whole"] else self.keep)(message["answer"])
        finally:
            self.heard = message["number"]

    def keep(self, text: str) -> str:
        """Keep an answer that is not to be graded yet; returns what is said to that, mostly nothing."""
        other = student_files.typed(self.name)
        student_files.keep_answer(self.name, text)
        replaced = f"Elsewhere you had answered `{other[:LONGEST]}`; this answer takes its place."
        words = replaced if other not in ("", text, self._kept) else ""
        self.answer = self._kept = text
        self.reply = {"outcome": NOT_ATTEMPTED, "text": words} if words else {}
        return words

    def give(self, text: str) -> str:
        """Grade an answer as it is typed, and keep it; returns the reply."""
        before = self.keep(text)
        try:
            verdict = self._question.grade(self.name, self._question.typed(text))
            outcome, words = verdict.outcome, verdict.sentence
        except AnswerError as error:
            outcome, words = NOT_ATTEMPTED, str(error)
        self._wrong += outcome not in (RIGHT, NOT_ATTEMPTED)
        if outcome == RIGHT or self._wrong >= TRIES:
            self.why = self._question.why
        words = " ".join(filter(None, [words, before]))
        self.reply = {"outcome": outcome, "text": words, **self._details()}
        return words

    def _details(self) -> dict:
        """The parts of a reply that a page draws, beside its words."""
        return {}

    def __repr__(self) -> str:
        return self.asked

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return displayed(data | {"text/plain": repr(self), "text/html": self._folded()}), metadata

    def _folded(self) -> str:
        """The question for a page without Python, such as GitHub's, which keeps only the plainest HTML."""
        html = f"<p>{as_html(self.asked)}</p><p><i>{wake()}</i></p>"
        if self._question.why:
            html += f"<details><summary>Explanation</summary><p>{as_html(self._question.why)}</p></details>"
        return html


class OnPicture(Ask):
    """A question about the parts of a picture, which has each in its `cards`, by name.

    The stored output is the picture with the question below it, or the question alone.
    """

    sheet = synced(Dict)
    lost = synced(Unicode)
    _noun = "cards"

    def __init__(self, name: str, question: Matching | Marking) -> None:
        super().__init__(name, question)
        self._picture = self._drawn() if question.picture else None

    def _drawn(self) -> Picture | None:
        """The picture with the parts; None where it cannot be had: the parts have their names."""
        try:
            picture = self._question.picture()
            places = {part: _sides(picture.cards[part]) for part in self._question.cards}
        except Exception as error:  # whatever became of it, the question can be answered
            self.lost = (
                f"The picture of these {self._noun} is not here ({type(error).__name__}: {error}). Their names are."
            )
            return None
        size = {"width": picture.width, "height": picture.height}
        self.sheet = {**size, "layers": [*picture.svg()], "places": places, "sentence": picture.sentence}
        return picture

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if self._picture is None:
            return data, metadata
        data.pop("text/html")  # a page without Python would show it in the place of the picture
        self._picture.sentence = f"{self!r} {self.sheet['sentence']}"
        image, size = self._picture._repr_mimebundle_(wake())
        return data | image, metadata | size


class Match(OnPicture):
    """Words to lay on cards, which are parts of a picture or stand in a row; those of an earlier run lie there."""

    words = synced(List)
    cards = synced(List)

    def __init__(self, name: str, question: Matching) -> None:
        super().__init__(name, question)
        self.words, self.cards = [*question.words], [*question.cards]
        try:
            if self.answer:
                question.laid(self.answer)
        except AnswerError:  # of another version of the question, or spoiled
            words = f"Your earlier answer, `{self.answer[:LONGEST]}`, does not fit these cards: lay the words again."
            self.answer, self.reply = "", {"outcome": NOT_ATTEMPTED, "text": words}


def _sides(box: Box) -> dict[str, float]:
    """The place and the size of a part, for the page."""
    return {side: float(value) for side, value in box._asdict().items()}
