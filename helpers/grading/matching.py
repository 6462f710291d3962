"""Questions in which words are laid on cards, such as the parts of a picture, and the whole gets one reply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from helpers.grading.prediction import LONGEST_ANSWER, AnswerError, Question, questions

if TYPE_CHECKING:
    from helpers.pictures.canvas import Picture  # which takes as long to import as all the rest

Words = tuple[str, ...]


@dataclass(frozen=True)
class Matching(Question):
    """Which word belongs on which card; the cards are named, and may lie on a picture, which has them in `cards`.

    `right` has a word for each card. A likely mistake is a word for each card, too, or None where any word will do:
    the first one that fits an arrangement says what it is. An answer that is typed or kept is the words in the order
    of the cards, with commas; a card without a word has nothing before its comma.
    """

    cards: Words = ()
    picture: "Callable[[], Picture] | None" = None

    @property
    def words(self) -> Words:
        """All that can be laid, in an order that says nothing."""
        known = [self.right, *self.mistakes]
        return tuple(sorted({word for arrangement in known for word in arrangement if word}))

    def laid(self, text: str) -> Words:
        """The word on each card, "" where there is none.

        Raises AnswerError for a text that is no arrangement: too long, too few cards, unknown words, or one twice.
        """
        if len(text) > LONGEST_ANSWER:
            raise AnswerError(f"your answer has {len(text):,} characters: {self._rule}")
        words = tuple(word.strip() for word in text.lower().split(","))
        given = [word for word in words if word]
        if len(words) != len(self.cards) or not {*given} <= {*self.words} or len({*given}) < len(given):
            raise AnswerError(f"{text!r:.100} lays no words on {len(self.cards)} cards: {self._rule}")
        return words

    def typed(self, text: str) -> Words:
        """A whole arrangement. Raises AnswerError as `laid` does, and where a card has no word yet."""
        words = self.laid(text) if text.strip() else ("",) * len(self.cards)
        if "" in words:
            raise AnswerError(f"lay a word on {self.cards[words.index('')]} first")
        return words

    def _read(self, answer: object) -> Words:
        """A whole arrangement, of its text or of its words."""
        words = [answer] if isinstance(answer, str) else answer
        if not (isinstance(words, Sequence) and all(isinstance(word, str) for word in words)):
            raise AnswerError(f"answer is a {type(answer).__name__}: {self._rule}")
        return self.typed(", ".join(words))

    def _reply(self, given: Words) -> str:
        """What is said of the first likely mistake that fits."""
        for pattern, words in self.mistakes.items():
            if all(wanted in (None, word) for wanted, word in zip(pattern, given, strict=True)):
                return words
        return self.advice

    hint = _asked_for = "lay a word on each card"

    @property
    def _rule(self) -> str:
        return f"write {len(self.cards)} of the words {', '.join(self.words)}, with commas"


def matchings(module: str | Path, **shown: "tuple[Sequence[str], Callable[[], Picture] | None]") -> dict[str, Matching]:
    """The matching questions of a module, given its ``__file__``, by name, from the file that ends in ``.matchings``.

    It is written as a file of `questions`. `shown` has the cards of each, and the picture that they lie on, if any.
    """
    asked = questions(module, ".matchings")
    return {
        name: Matching(**vars(question), cards=(*shown[name][0],), picture=shown[name][1])
        for name, question in asked.items()
    }
