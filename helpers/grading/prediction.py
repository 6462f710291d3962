"""Questions that a lesson asks before it shows the answer, and the verdict on an answer."""

import math
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from numbers import Real
from pathlib import Path

import numpy as np

from helpers.data import tables
from helpers.grading.reasons import Reason
from helpers.grading.replies import PartlyRight, Reply
from helpers.grading.verdict import RIGHT, WRONG, MessageAlone, Verdict

Answer = float | str | tuple[float, ...]
MOST_ROUNDED = 0.05  # of a number: 0.1 is another number than 0.125
LONGEST_ANSWER = 2_000  # characters that are read of an answer
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,2})?( ?/ ?\d+)?")  # a larger exponent takes for ever to read
POWER = re.compile(r"([-+]?) ?(\d{1,4}) ?\^ ?(\d{1,2})")  # as long as that, a product of them is quickly computed
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")


class AnswerError(MessageAlone, TypeError):
    """An answer of another kind than its question asks for."""


@dataclass(frozen=True)
class Question:
    """The right answer, the likely wrong ones with what each of them is, and advice for all others.

    An answer is a number, a word in small letters (then the advice lists the words to choose from), or a tuple of
    numbers. NumPy's numbers and arrays are read as Python's. `asked` is the question in words, and `why` explains the
    answer. Where the right number is a rounded one, `exact` has more of its places: any of them may be given;
    `also` has what is right with other rounding.
    """

    right: Answer
    mistakes: Mapping[Answer, str] = field(default_factory=dict)
    advice: str = ""
    asked: str = ""
    why: str = ""
    exact: float | None = None
    also: tuple[float, ...] = ()

    def grade(self, name: str, answer: object) -> Verdict:
        """Return the verdict on an answer; `name` is the question's.

        Raises AnswerError, a TypeError, where the answer is of another kind than the right one.
        """
        value = self._read(answer)
        if _equal(value, self.right) or _rounds_to(self.exact, value) or value in self.also:
            return Verdict(name, RIGHT)
        return Verdict(name, WRONG, self._reply(value))

    def _reply(self, answer: Answer) -> Reason:
        """Return the reply to a wrong answer."""
        for mistake, reply in self.mistakes.items():
            if mistake == answer or _rounds_to(mistake, answer):
                return Reply(reply, mistake)
        if isinstance(answer, tuple):
            right = tuple(number == wanted for number, wanted in zip(answer, self.right, strict=True))
            if any(right):
                return PartlyRight(right, self.advice)
        return Reply(self.advice)

    def typed(self, text: str) -> Answer:
        """An answer that was typed as text: a word, or numbers with commas; a number may be a sum, as 2 * 3 + 2^4.

        Raises AnswerError, with the cure, for one that is empty, no number, or too long to be read.
        """
        if not text.strip():
            raise AnswerError(f"write {self.hint} first")
        if len(text) > LONGEST_ANSWER:
            raise AnswerError(f"your answer has {len(text):,} characters: write {self.hint}")
        match self.right:
            case str():
                return self._chosen(text)
            case tuple():
                return self._several(text)
        return _number(text)

    def _several(self, text: str) -> tuple[float, ...]:
        """The numbers that were typed, as many as the right answer has."""
        numbers = tuple(map(_number, re.split(r",|;|\band\b|(?<=\d) +(?=\d)", text.strip("()[] "))))
        if len(numbers) != len(self.right):
            count = "1 number" if len(numbers) == 1 else f"{len(numbers)} numbers"
            raise AnswerError(f"your answer has {count}: write {self.hint}")
        return numbers

    def _chosen(self, text: str) -> str:
        """The word to choose that a text has, alone or with words of the question; else the text as it is."""
        words = set(re.findall(r"\w+", text.lower()))
        known = {self.right, *self.mistakes}
        around = {"it", "is", "to", "the", *re.findall(r"\w+", self.asked.lower())} - {"not"}
        chosen = words & known
        return chosen.pop() if len(chosen) == 1 and words <= known | around else text

    @property
    def hint(self) -> str:
        """The kind of answer to type."""
        return self._words[0]

    @property
    def _words(self) -> tuple[str, str]:
        """An answer as it is typed, and as it is written in Python."""
        match self.right:
            case str():
                return "a word", "text, in quotes"
            case tuple():
                numbers = f"{len(self.right)} numbers"
                return f"{numbers}, with commas", f"{numbers}, in parentheses"
        return "a number", "a number"

    def _read(self, answer: object) -> Answer:
        """The answer in the form of the right one."""
        if isinstance(answer, np.ndarray | np.generic):
            answer = answer.tolist()
        match self.right:
            case str() if isinstance(answer, str):
                return answer.strip().lower()
            case tuple() if isinstance(answer, list | tuple) and len(answer) == len(self.right):
                if all(map(_is_number, answer)):
                    return tuple(answer)
            case Real() if _is_number(answer):
                return answer
        if isinstance(self.right, Real) and isinstance(answer, str) and (written := number_in(answer)):
            raise AnswerError(f"answer = {answer!r:.100} is text: write it without quotes, as {written:.100}")
        raise AnswerError(f"answer = {answer!r:.100} is a {type(answer).__name__}: it must be {self._words[1]}")


ANSWER = (int, float, str, list)
NEEDED = {"right": ANSWER, "advice": str}
OPTIONAL = {"asked": str, "why": str, "mistakes": list, "exact": float, "also": list}


def questions(file: Path) -> dict[str, Question]:
    """Return the questions of a file in TOML by their names, in their order.

    Each is a table::

        [two_minus_three]
        asked = "Which number is 2u - 3u?"
        right = 4294967295  # 2**32 - 1
        why = "Integers wrap around: one below 0 is the largest number of 32 bits."
        advice = "one below 0 is the largest number of 32 bits"
        mistakes = [
          { answer = -1, reply = "an unsigned integer cannot be negative" },
        ]

    A list is a tuple of numbers. A mistake that is no whole number is recognized where it is rounded, too: 1.78 is
    16 / 9. Raises ValueError for a table that is not of this form, with its name and the rule.
    """
    tables_by_name = tables.read(file, NEEDED, OPTIONAL)
    return {name: _question(f"{file.name}, [{name}]", table) for name, table in tables_by_name.items()}


def _question(place: str, table: Mapping[str, object]) -> Question:
    """Return the question that a table describes."""
    mistakes = {}
    for row in table.get("mistakes", []):
        if not isinstance(row, dict) or {*row} != {"answer", "reply"}:
            raise ValueError(f"{place}: mistakes has {row!r:.60}: a mistake has an answer and a reply")
        mistakes[_value(row["answer"])] = row["reply"]
    asked, why = table.get("asked", ""), table.get("why", "")
    also = tuple(table.get("also", ()))
    return Question(_value(table["right"]), mistakes, table["advice"], asked, why, table.get("exact"), also)


def _value(answer: float | str | list) -> Answer:
    """Return an answer as Python has it: a list of TOML is a tuple."""
    return tuple(answer) if isinstance(answer, list) else answer


def number_in(text: str) -> str:
    """The number or fraction that a text is, as Python wants it; nothing where it is neither."""
    text = text.strip()
    if re.fullmatch(r"[-+]?\d{1,3}(,\d{3})+", text):
        text = text.replace(",", "")
    return text if NUMBER.fullmatch(text) else ""


def _number(text: str) -> float:
    """A number as it is typed, also with commas between thousands, as a fraction, a power, a product, or their sum.

    What stands before an equals sign is how it was worked out.
    """
    plain = re.sub("[⁰¹²³⁴-⁹]+", lambda raised: "^" + raised[0].translate(RAISED), text.replace("**", "^"))
    plain = plain.translate({ord(dash): "-" for dash in "−–"}).rpartition("=")[2].strip()
    terms = [re.split("[*×·x]", term) for term in re.split(r"(?<=[\d.]) *(?=[-+])", plain)]
    try:
        value = sum(prod(map(_factor, term)) for term in terms)
        return int(value) if value.denominator == 1 else float(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        raise AnswerError(f"`{text.strip():.100}` is not a number{_cure(plain)}") from None


def _factor(text: str) -> Fraction:
    """A number, fraction or power. Raises ValueError where a text is none, ZeroDivisionError where it divides by 0."""
    if power := POWER.fullmatch(text.strip()):
        sign, base, exponent = power.groups()
        return Fraction(f"{sign}{int(base) ** int(exponent)}")
    return Fraction(number_in(re.sub(r"([-+]) +", r"\1", text)).replace(" ", ""))


def _cure(text: str) -> str:
    """The number to write in place of a decimal comma, or of a number with the name of what was counted."""
    likely = re.sub(r" +[^\W\d][^\d]*$", "", text)
    if likely == text:
        likely = text.replace(",", ".") if text.count(",") == 1 else ""
    return f": write `{likely}`" if number_in(likely) else ""


def _equal(answer: Answer, right: Answer) -> bool:
    with suppress(OverflowError):  # NumPy compares no whole number that a float cannot hold
        return bool(answer == right)
    return False


def _rounds_to(number: Answer | None, answer: Answer) -> bool:
    """Return True where an answer is this number, rounded to as many places after the point as the answer has."""
    if not (isinstance(number, float) and isinstance(answer, float)):
        return False
    if not math.isclose(number, answer, rel_tol=MOST_ROUNDED):
        return False
    places = len(repr(answer).partition(".")[2])
    return round(number, places) == answer


def _is_number(answer: object) -> bool:
    return isinstance(answer, Real) and not isinstance(answer, bool)
