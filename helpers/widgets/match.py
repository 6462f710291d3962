"""A question whose answer is laid: words on cards, which are parts of a picture or, without one, stand in a row."""

from traitlets import Dict, List, Unicode

from helpers.grading.matching import Matching
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NOT_ATTEMPTED
from helpers.pictures.canvas import Picture
from helpers.widgets import WAKE, synced
from helpers.widgets.question import LONGEST, Ask


class Match(Ask):
    """One question, the words and the cards, and where the reader has laid them; those of an earlier run lie there.

    The stored output is the picture with the question below it, or the question alone.
    """

    words = synced(List)
    cards = synced(List)
    sheet = synced(Dict)
    lost = synced(Unicode)

    def __init__(self, name: str, question: Matching) -> None:
        super().__init__(name, question)
        self.words, self.cards = [*question.words], [*question.cards]
        try:
            question.laid(self.answer or "," * (len(question.cards) - 1))
        except AnswerError:  # of another version of the question, or spoiled
            words = f"Your earlier answer, `{self.answer[:LONGEST]}`, does not fit these cards: lay the words again."
            self.answer, self.reply = "", {"outcome": NOT_ATTEMPTED, "text": words}
        self._picture = self._drawn(question)

    def _drawn(self, question: Matching) -> Picture | None:
        """The picture with the cards; None where there is none, or it cannot be had: the cards have their names."""
        if question.picture is None:
            return None
        try:
            picture = question.picture()
            places = {card: picture.cards[card]._asdict() for card in question.cards}
        except Exception as error:  # whatever became of it, the question can be answered
            self.lost = f"The picture of these cards is not here ({type(error).__name__}: {error}). Their names are."
            return None
        size = {"width": picture.width, "height": picture.height}
        self.sheet = {**size, "layers": [*picture.svg()], "places": places, "sentence": picture.sentence}
        picture.sentence = f"{self.asked} {picture.sentence}"
        return picture

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        if self._picture is None:
            return data, metadata
        data.pop("text/html")  # a page without Python would show it in the place of the picture
        image, size = self._picture._repr_mimebundle_(WAKE)
        return data | image, metadata | size
