"""A question that the page answers: right, or the mistake by its name, and only then the explanation."""

import html
import json
import re
from pathlib import Path

import anywidget
from traitlets import Dict, Unicode

from helpers.grading import student_files
from helpers.grading.prediction import AnswerError, Question
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT
from helpers.widgets import synced

HERE = Path(__file__).parent
TRIES = 2  # wrong ones, after which the explanation can be opened


class Ask(anywidget.AnyWidget):
    """One question, and what the reader answers; the last answer of an earlier run is filled in, and not yet graded.

    The stored output is the question, with the explanation folded below it where a page can fold.
    """

    _esm = HERE / "question.js"
    _css = HERE / "question.css"
    asked = synced(Unicode)
    hint = synced(Unicode)
    answer = synced(Unicode)
    reply = synced(Dict)
    why = synced(Unicode)

    def __init__(self, name: str, question: Question) -> None:
        self._name, self._question, self._wrong = name, question, 0
        kept = student_files.answers().get(name, "")
        answer = kept if isinstance(kept, str) else json.dumps(kept).strip("[]")  # `helpers.predict` keeps values
        super().__init__(asked=question.asked, hint=question.hint, answer=answer)
        self.on_msg(lambda _, message, __: self.give(message["answer"]))

    def give(self, text: str) -> str:
        """Grade an answer as it is typed, and keep it; returns the reply."""
        student_files.keep_answer(self._name, text)
        self.answer = text
        try:
            verdict = self._question.grade(self._name, self._question.typed(text))
            outcome, words = verdict.outcome, verdict.said
        except AnswerError as error:
            outcome, words = NOT_ATTEMPTED, str(error)
        self._wrong += outcome not in (RIGHT, NOT_ATTEMPTED)
        if outcome == RIGHT or self._wrong >= TRIES:
            self.why = self._question.why
        self.reply = {"outcome": outcome, "text": words}
        return words

    def __repr__(self) -> str:
        return self.asked

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        return data | {"text/plain": repr(self), "text/html": self._folded()}, metadata

    def _folded(self) -> str:
        """The question for a page without Python, such as GitHub's, which keeps only the plainest HTML."""
        why = f"<details><summary>Explanation</summary><p>{_html(self._question.why)}</p></details>"
        return f"<p>{_html(self.asked)}</p>" + why * bool(self._question.why)


def _html(text: str) -> str:
    """Words as HTML; what stands between backquotes is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))
