"""A question whose answer is laid: words on cards, which are parts of a picture or, without one, stand in a row."""

from traitlets import List

from helpers.grading.matching import Matching
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NOT_ATTEMPTED
from helpers.widgets import synced
from helpers.widgets.question import LONGEST, OnPicture


class Match(OnPicture):
    """One question, the words and the cards, and where the reader has laid them; those of an earlier run lie there."""

    words = synced(List)
    cards = synced(List)

    def __init__(self, name: str, question: Matching) -> None:
        super().__init__(name, question, None, question.picture, question.cards)
        self.words, self.cards = [*question.words], [*question.cards]
        try:
            question.laid(self.answer or "," * (len(question.cards) - 1))
        except AnswerError:  # of another version of the question, or spoiled
            words = f"Your earlier answer, `{self.answer[:LONGEST]}`, does not fit these cards: lay the words again."
            self.answer, self.reply = "", {"outcome": NOT_ATTEMPTED, "text": words}
