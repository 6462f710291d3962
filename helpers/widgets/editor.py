"""An editor for a puzzle's kernel: the text is a file, and the verdict stands beside it."""

import html
import os
from collections.abc import Callable

import anywidget
from traitlets import Bool, Dict, Unicode

from helpers.data.turns import in_turn
from helpers.grading import student_files, words
from helpers.grading.puzzle import OfficialText
from helpers.grading.race import Race
from helpers.grading.read_sets import ReadSets
from helpers.grading.sandbox import LONGEST
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, Grades, Verdict
from helpers.pictures.canvas import Picture
from helpers.widgets import HERE, as_html, displayed, script, synced, wake
from helpers.widgets.race_picture import RacePicture
from helpers.widgets.read_sets_picture import ReadSetsPicture

ELSEWHERE = "the file was changed elsewhere: which text should stay?"
SKELETON = "This is still the text that you began with: write what its comments ask for, then run the tests again."
AGAIN = "this is the first text again; Ctrl+Z brings yours back, and it is kept as an attempt"
ALIKE = "Its loads, stores and barriers are those of our kernel."
OTHERWISE = "It does not load, store and wait as our kernel does: each test below has both counts."
MOST_NAMES = 5  # of tests in a headline
TRIES = 3  # attempts that compile, after which ours is shown
FOUND = "this page kept this text, and the file has another: which should stay?"


class Editor(anywidget.AnyWidget):
    """The learner's text for one puzzle.

    Parameters
    ----------
    chosen : OfficialText
        The puzzle: its name names the file, and its official text is shown when the learner's is right, or after three
        attempts that compile.
    grade : callable
        Takes the text and returns its verdicts.

    The text is written to its file as it is typed. A file that another program has changed is never overwritten: the
    reader is asked which of the two texts stays, and the other one is kept as an attempt.
    """

    _esm = script("editor")
    _css = HERE / "editor.css"
    puzzle = synced(Unicode)
    text = synced(Unicode)
    mark = synced(Dict)
    verdict = synced(Dict)
    state = synced(Unicode)
    running = synced(Bool, False)
    conflict = synced(Bool, False)
    heard = synced(Dict)
    ours = synced(Unicode)
    folder = synced(Unicode)
    noun = synced(Unicode)  # what is written here, in English
    limits = synced(Unicode)
    begun = synced(Unicode)
    judged = synced(Unicode)  # the learner's text, when its tests ran last
    named = synced(Unicode)  # this widget, in the outputs of a notebook

    def __init__(self, chosen: OfficialText, grade: Callable[[str], Grades]) -> None:
        self._chosen, self._grade = chosen, grade
        self._kept, file = student_files.stamp(chosen.name), student_files.path_of(chosen.name)
        super().__init__(
            puzzle=chosen.name,
            text=self._in_the_file(),
            state=file.name,
            limits=chosen.limits,
            begun=chosen.skeleton,
            folder=student_files.folder_id(),
            noun="kernel" if file.suffix == ".wgsl" else "lines of Python",
        )
        self.named = self.model_id
        self._show_last_outcome()
        self.on_msg(self._told)

    def _show_last_outcome(self) -> None:
        """Show what the text in the file was judged when its tests ran last, and ours to who has earned it."""
        outcome = student_files.outcome(self.puzzle, self.text)
        if outcome is not None:
            self.judged = words.last_outcome(outcome.passed, outcome.tests)
            self.verdict = {"kind": "right" if outcome.right else "wrong", "headline": self.judged}
        self._show_ours(outcome is not None and outcome.right)

    def _show_ours(self, is_right: bool) -> None:
        """Show the official text to a learner whose text is right, or who has tried three that compile."""
        if is_right or self._tried() >= TRIES:
            self.ours = self._chosen.solution.text

    def _tried(self) -> int:
        """The number of the learner's attempts that compile, as far as it matters."""
        count = 0
        for text in student_files.attempts(self.puzzle):
            if len(text) <= LONGEST and not self._chosen.first_error(text):
                count += 1
            if count == TRIES:
                break
        return count

    @in_turn
    def _told(self, _: object, message: dict, __: object) -> None:
        """Do what the reader asks for: typed (`keep`), asked for the tests (`run`), or chose a text.

        `mine` and `theirs` say which of two texts stays; `over` begins again, with the old text kept as an attempt.
        Text that the page kept while Python did not run is `found`, and is asked about where the file has another. Each
        message is `heard` by its number; the page keeps its text until it is written, too.
        """
        kind, text = message["kind"], message["text"]
        self.text = text
        if kind == "found" and student_files.read(self.puzzle) not in (None, self._chosen.skeleton):
            self.conflict, self.state = True, FOUND
        if kind == "theirs":
            student_files.keep_attempt(self.puzzle, text)
            text = self._in_the_file()
        if kind in ("mine", "theirs"):
            if kind == "mine" and student_files.read(self.puzzle):
                student_files.keep_attempt(self.puzzle, student_files.read(self.puzzle))
            self.conflict, self._kept = False, student_files.stamp(self.puzzle)
            self.text = text
        if kind == "over" and text != self._chosen.skeleton:
            student_files.keep_attempt(self.puzzle, text)
            self.text = text = self._chosen.skeleton
        written = not self.conflict and self.keep(text)
        if kind == "over" and written:
            self.state = AGAIN
        self.heard = {"number": message["number"], "written": written}
        if kind == "run" and not self.conflict:
            self.run(text)

    def _in_the_file(self) -> str:
        """The learner's text, or what they begin with."""
        text = student_files.read(self._chosen.name)
        return self._chosen.skeleton if text is None else text

    def keep(self, text: str) -> bool:
        """Write the text to its file, unless another program has changed that; returns whether it is written."""
        if student_files.stamp(self.puzzle) != self._kept and student_files.read(self.puzzle) not in (None, text):
            self.conflict, self.state = True, ELSEWHERE
            return False
        problem = student_files.keep(self.puzzle, text)
        self._kept = student_files.stamp(self.puzzle)
        place = f"kept in {student_files.shown(student_files.path_of(self.puzzle))}"
        self.state = problem or os.environ.get("CONVGRAD_KEPT", place)  # a browser may store nothing
        return not problem

    def run(self, text: str) -> Grades:
        """Try the text, and show the verdicts."""
        self.running, self.state = True, "running the tests ..."
        try:
            grades = self._grade(text)
        except Exception as error:  # a click shows no traceback
            self.state = str(error)
            raise
        finally:
            self.running = False
        place = self._chosen.first_error(text) or _line(text, _worst(grades).line)
        self.mark = dict(zip(("line", "column", "length"), place, strict=True)) if place else {}
        self.verdict = _shown(grades)
        attempted = _worst(grades).outcome != NOT_ATTEMPTED
        self.judged = words.last_outcome(grades.passed, len(grades)) if attempted else ""
        self._show_ours(grades.passed == len(grades))
        self.state = f"{words.passed_of(grades)} tests pass"
        return grades

    def __repr__(self) -> str:
        file = student_files.shown(student_files.path_of(self.puzzle))
        return f"{self.puzzle}: write the {self.noun} here, or in {file} with any editor"

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = super()._repr_mimebundle_(**kwargs)
        begun = html.escape(self._chosen.skeleton, quote=False)
        fold = f"<details><summary>What you begin with</summary><pre>{begun}</pre></details>"
        sentences = [repr(self), *filter(None, [self.limits])]
        above = "".join(f"<p>{as_html(sentence)}</p>" for sentence in sentences)
        plain = {"text/plain": "\n\n".join([*sentences, self._chosen.skeleton])}
        page = {"text/html": f"{above}<p><i>{wake()}</i></p>{fold}"}
        return displayed(data | plain | page), metadata


def _worst(grades: Grades) -> Verdict:
    """Return the verdict that is shown: the one that is drawn, or else the first that is not right."""
    return next((v for v in grades if v.drawn), next((v for v in grades if v.outcome != RIGHT), grades[0]))


def _line(text: str, number: int | None) -> tuple[int, int, int] | None:
    """Return line, column and length of the code in a line; None where the text has no such line."""
    lines = text.split("\n")
    if number is None or not 0 < number <= len(lines):
        return None
    line = lines[number - 1]
    return number, len(line) - len(line.lstrip()) + 1, len(line.strip())


def _shown(grades: Grades) -> dict:
    """Return the verdicts as the reader sees them: the diagnosis first, tests with the same reason folded."""
    worst = _worst(grades)
    picture = _picture(worst.evidence)
    same = [verdict.test for verdict in grades if verdict.outcome == worst.outcome]
    which = ", ".join(same) if len(same) <= MOST_NAMES else f"{len(same)} of {len(grades)} tests"
    return {
        "kind": {RIGHT: "right", NOT_ATTEMPTED: "none"}.get(worst.outcome, "wrong"),
        "headline": f"{worst.outcome} ({which if len(same) < len(grades) else 'all tests'})",
        "detail": _detail(grades, worst),
        "drawing": worst.drawing,
        "picture": picture.svg()[0] if picture else "",
        "caption": picture.sentence if picture else "",
        "tests": _alike(grades, worst),
        "count": f"{words.passed_of(grades)} tests pass",
    }


def _picture(evidence: object) -> Picture | None:
    """The picture of what was read for a wrong number, or of a race."""
    if isinstance(evidence, ReadSets):
        return ReadSetsPicture(evidence)
    if isinstance(evidence, Race):
        return RacePicture(evidence)
    return None


def _detail(grades: Grades, worst: Verdict) -> str:
    """Return the diagnosis in lines: what is wrong, where, and the question."""
    if worst.outcome == NOT_ATTEMPTED and worst.reason is None:
        return SKELETON
    if worst.outcome == RIGHT and worst.reason is not None:
        return ALIKE if grades.as_ours else OTHERWISE
    return "\n".join(words.lines(worst))


def _alike(grades: Grades, worst: Verdict) -> list[dict[str, str]]:
    """Return the tests with their outcomes, and each reason once.

    That of the worst verdict stands above them already. Nothing is left where that is all.
    """
    names: dict[tuple, list[str]] = {}
    texts: dict[tuple, str] = {}
    for verdict in grades:
        is_known = verdict.reason is None or (worst.outcome != RIGHT and worst.covers(verdict))
        alike = (verdict.outcome, None if is_known else verdict.reason)
        names.setdefault(alike, []).append(verdict.test)
        texts[alike] = verdict.outcome if is_known else verdict.sentence
    if len(names) == 1 and grades.passed == 0:
        return []
    return [{"names": ", ".join(names[alike]), "said": texts[alike]} for alike in names]
