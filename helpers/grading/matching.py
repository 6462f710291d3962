"""Questions in which words are laid on cards, such as the parts of a picture, and the whole gets one reply."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from helpers.grading.prediction import LONGEST_ANSWER, AnswerError, Question, questions
from helpers.grading.replies import Reply

Words = tuple[str, ...]
ANY = "*"  # in a likely mistake, in place of a word


@dataclass(frozen=True)
class Matching(Question):
    """The word that belongs on each card; the cards are named, and may lie on a picture, which has them in `cards`.

    `right` has a word for each card. A likely mistake is a word for each card, too, or "*" where any word will do:
    the first one that fits an arrangement says what it is. An answer that is typed or kept is the words in the order
    of the cards, with commas; a card without a word has nothing before its comma.
    """

    cards: Words = ()
    picture: Callable[[], object] | None = None

    @property
    def words(self) -> Words:
        """All that can be laid, in an order that says nothing."""
        known = {*chain(self.right, *self.mistakes)}
        return tuple(sorted(known - {ANY}))

    def laid(self, text: str) -> Words:
        """The word on each card, "" where there is none.

        Raises AnswerError for a text that is no arrangement: too long, too few cards, unknown words, or one twice.
        """
        if len(text) > LONGEST_ANSWER:
            raise AnswerError(f"your answer has {len(text):,} characters: {self._rule}")
        words = tuple(word.strip() for word in text.lower().split(","))
        laid = [word for word in words if word]
        if len(words) != len(self.cards) or not {*laid} <= {*self.words} or len({*laid}) < len(laid):
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

    def _reply(self, answer: Words) -> Reply:
        """Return the reply to the first likely mistake that fits."""
        for pattern, reply in self.mistakes.items():
            if all(wanted in (ANY, word) for wanted, word in zip(pattern, answer, strict=True)):
                return Reply(reply, pattern)
        return Reply(self.advice)

    hint = "lay a word on each card"

    @property
    def _rule(self) -> str:
        return f"write {len(self.cards)} of the words {', '.join(self.words)}, with commas"


def matchings(file: Path, **shown: tuple[Sequence[str], Callable[[], object] | None]) -> dict[str, Matching]:
    """Return the matching questions of a file in TOML by their names, in their order.

    It is written as a file of `questions`: an answer is a list of words, in which "*" stands for any word. `shown` has
    the cards of each question, and the picture that they lie on, if any.
    """
    known = {}
    for name, question in questions(file).items():
        cards, picture = shown[name]
        known[name] = Matching(**vars(question), cards=tuple(cards), picture=picture)
    return known
