"""Questions that a lesson asks before it shows the answer, and the verdict on an answer."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import prod
from numbers import Real
from pathlib import Path

import numpy as np

from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG, MessageAlone, Verdict

Answer = float | str | tuple[float, ...]
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
    answer.
    """

    right: Answer
    mistakes: Mapping[Answer, str] = field(default_factory=dict)
    advice: str = ""
    asked: str = ""
    why: str = ""

    def grade(self, name: str, answer: object) -> Verdict:
        """What to say to an answer; `name` is the question's, and None is no answer yet.

        Raises AnswerError, a TypeError, where the answer is of another kind than the right one.
        """
        if answer is None:
            return Verdict(name, NOT_ATTEMPTED, self._asked_for)
        given = self._read(answer)
        if _equal(given, self.right):
            return Verdict(name, RIGHT)
        return Verdict(name, WRONG, self._reply(given))

    def _reply(self, given: Answer) -> str:
        """What to say to a wrong answer."""
        return self.mistakes.get(given, self.advice)

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
                return tuple(map(_number, re.split(r",|;|\band\b|(?<=\d) +(?=\d)", text.strip("()[] "))))
        return _number(text)

    def _chosen(self, text: str) -> str:
        """The word to choose that a text has, alone or with words of the question; else the text as it is."""
        words, known = set(re.findall(r"\w+", text.lower())), {self.right, *self.mistakes}
        around = {"it", "is", "to", "the", *re.findall(r"\w+", self.asked.lower())} - {"not"}
        chosen = words & known
        return chosen.pop() if len(chosen) == 1 and words <= known | around else text

    @property
    def hint(self) -> str:
        """What to type."""
        return self._words[0]

    @property
    def _asked_for(self) -> str:
        """What to do where there is no answer yet."""
        return f"write your {self._words[1]} in place of None"

    @property
    def _words(self) -> tuple[str, str, str]:
        """An answer as it is typed, in place of None, and in Python."""
        match self.right:
            case str():
                return "a word", "answer, in quotes,", "text, in quotes"
            case tuple():
                numbers = f"{len(self.right)} numbers"
                return f"{numbers}, with commas", f"{numbers}, in parentheses,", f"{numbers}, in parentheses"
        return "a number", "number", "a number"

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
        raise AnswerError(f"answer = {answer!r:.100} is a {type(answer).__name__}: it must be {self._words[2]}")


def questions(module: str | Path, suffix: str = ".questions") -> dict[str, Question]:
    """The questions of a module, given its ``__file__``, by name, from the file beside it that ends in `suffix`.

    In it, each is a block of lines, and a blank line separates it from the next::

        two_minus_three: 2**32 - 1
        one below 0 is the largest number of 32 bits
        -1: an unsigned integer cannot be negative
        2**32: the largest u32 is one less than that
        ? Which number is 2u - 3u?
        = Integers wrap around: one below 0 is the largest number of 32 bits.

    These are the name with the right answer, the advice, the likely wrong answers, the question, and the explanation.
    Answers are written in Python.
    """
    by_name = {}
    for block in Path(module).with_suffix(suffix).read_text(encoding="utf-8").strip().split("\n\n"):
        first, advice, *lines = block.split("\n")
        name, right = _pair(first)
        words = {sign: " ".join(line[2:] for line in lines if line.startswith(sign)) for sign in ("? ", "= ")}
        mistakes = [line for line in lines if line[:2] not in words]
        likely = {_value(answer): words for answer, words in map(_pair, mistakes)}
        by_name[name] = Question(_value(right), likely, advice, *words.values())
    return by_name


def _pair(line: str) -> list[str]:
    """What stands before the first colon of a line, and what follows it."""
    pair = line.split(": ", 1)
    if len(pair) < 2:
        raise ValueError(f"{line!r}: a line of questions must be a name or an answer, a colon, and what belongs to it")
    return pair


def _value(answer: str) -> Answer:
    """An answer as it is written in a file of questions, such as 24 * 24, (2, 3) or "left"."""
    return eval(answer, {"__builtins__": {}})


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
    """What to write in place of a decimal comma, or of a number with the name of what was counted."""
    likely = re.sub(r" +[^\W\d][^\d]*$", "", text)
    if likely == text:
        likely = text.replace(",", ".") if text.count(",") == 1 else ""
    return f": write `{likely}`" if number_in(likely) else ""


def _equal(given: Answer, right: Answer) -> bool:
    with suppress(OverflowError):  # NumPy compares no whole number that a float cannot hold
        return bool(given == right)
    return False


def _is_number(answer: object) -> bool:
    return isinstance(answer, Real) and not isinstance(answer, bool)
