"""Verdicts are facts: what is decided of a learner's work is the same where every sentence is replaced by its key."""

import ast
import inspect
import json
from types import ModuleType

import pytest
from support import messages, sentences, speakers
from support.messages import every
from support.sample import sample
from support.speakers import handed_in
from support.tokens import ROOT

from helpers.grading import comparison, python_lines, python_run, reasons, replies, words
from helpers.grading.fault import FaultReport
from helpers.grading.grader import grade
from helpers.grading.transport import as_data, from_data, plain, record
from helpers.grading.verdict import RIGHT, Grades, Verdict
from helpers.grading.words import answers, drawings, letters, runs, texts
from helpers.grading.words import python_lines as lines
from helpers.lessons.exercises import PUZZLES
from helpers.widgets.editor import Editor

MODULES = words, texts, runs, answers, lines, drawings, letters
KERNELS = [*messages.stored("verdicts")]
ANSWERS = [*messages.stored("answers")]
LINES = [*messages.stored("python_lines")]
ROOMS = "helpers/grading", "helpers/classroom", "helpers/widgets", "helpers/lessons", "helpers/workers"


def key(record: object, *_: object, **__: object) -> str:
    """The plain name in the place of a sentence."""
    return type(record).__name__


@pytest.fixture
def without_words():
    """A context in which every function that makes sentences returns a key."""

    class Without(pytest.MonkeyPatch):
        def __enter__(self) -> None:
            for module in MODULES:
                for name in functions(module):
                    self.setattr(module, name, key)
                for kind in getattr(module, "SENTENCES", {}):
                    self.setitem(module.SENTENCES, kind, key)

        def __exit__(self, *_: object) -> None:
            self.undo()

    return Without()


def functions(module: ModuleType) -> list[str]:
    """The names of the functions that make sentences, which a module has or has imported."""
    members = inspect.getmembers(module, inspect.isfunction)
    return [name for name, function in members if function.__module__.startswith(words.__name__)]


# --- The same facts -------------------------------------------------------------------------------------------


def facts(verdict: Verdict) -> list[object]:
    """The parts of a verdict, and those of the verdicts that a report shows."""
    shown = verdict.grades or () if isinstance(verdict, FaultReport) else ()
    parts = [verdict.test, verdict.outcome, verdict.reason, verdict.line, verdict.mistake, verdict.drawn]
    return [*parts, type(verdict.evidence), *map(facts, shown)]


def shown_beside(editor: Editor) -> dict[str, object]:
    """The marks, drawings and folds that an editor shows."""
    verdict = editor.verdict
    folded = [test["names"] for test in verdict["tests"]]
    return {"mark": editor.mark, "folded": folded, **{name: verdict[name] for name in ("kind", "headline", "picture")}}


def tried(puzzle: str, source: str) -> tuple[list[object], list[object], dict[str, object]]:
    """The facts of a kernel's verdicts, which lines of the report say the same, and what the editor shows."""
    grades = grade(PUZZLES[puzzle], source)
    editor = Editor(PUZZLES[puzzle], lambda text: grades)
    editor.run(source)
    repeated = [grades.fail_alike, grades.as_ours, *map(grades.is_repeated, range(len(grades)))]
    return [*map(facts, grades)], repeated, shown_beside(editor)


@pytest.mark.parametrize("row", sample(KERNELS, 12), ids=str)
def test_a_kernel_has_the_same_facts_without_words(row, without_words, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    _, puzzle, text, _ = row
    source = handed_in(puzzle, text)
    with_words = tried(puzzle, source)
    with without_words:
        assert words.detail(Verdict("", RIGHT)) == "Verdict"
        assert tried(puzzle, source) == with_words


def answered(heading: str, call: str) -> object:
    """The facts of the verdict on an answer or on lines of Python, or those of an error."""
    names = {**speakers.NAMES}
    exec(heading.replace("\n  ", "\n"), names)
    try:
        value = eval(call.removesuffix(".sentence"), names)
    except Exception as error:
        return type(error), getattr(error, "refusal", None), getattr(error, "line", None)
    if isinstance(value, Grades):
        return [*map(facts, value)]
    return facts(value) if isinstance(value, Verdict) else type(value)


@pytest.mark.parametrize("row", sample(ANSWERS, 25), ids=str)
def test_an_answer_has_the_same_facts_without_words(row, without_words, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    _, heading, call, _ = row
    with_words = answered(heading, call)
    with without_words:
        assert answered(heading, call) == with_words


@pytest.mark.parametrize("row", sample([row for row in LINES if "said" not in row[1]], 40), ids=str)
def test_lines_of_python_have_the_same_facts_without_words(row, without_words):
    _, heading, call, _ = row
    with_words = answered(heading, call)
    with without_words:
        assert answered(heading, call) == with_words


@every("hand_ins")
def test_a_teachers_table_is_the_same_without_words(family, heading, text, message, without_words):
    with without_words:
        assert messages.said(family, heading, text) == message


@every("verdict_beside_the_editor")
def test_an_editor_marks_and_folds_the_same_without_words(family, heading, text, message, without_words):
    made = []

    class Kept(Editor):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)
            made.append(self)

    names = {}
    exec(heading.replace("\n  ", "\n"), names)
    names["Editor"] = Kept
    eval(text, names)
    with without_words:
        eval(text, names)
    assert shown_beside(made[0]) == shown_beside(made[1])


# --- Records --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", sample(KERNELS, 12), ids=str)
def test_a_verdict_comes_from_another_process_as_it_was(row):
    _, puzzle, text, _ = row
    grades = grade(PUZZLES[puzzle], handed_in(puzzle, text))
    come = from_data(json.loads(json.dumps(as_data(grades))))
    assert (come, str(come)) == (grades, str(grades))
    assert {*come} == {*grades}
    assert str(grades) not in json.dumps(as_data(grades))


@pytest.mark.parametrize("kind", [comparison.TurnTooMany, replies.AllTestsPass])
def test_a_record_without_a_field_travels(kind):
    assert record(json.loads(json.dumps(plain(kind())))) == kind()


def test_a_number_that_is_none_equals_itself():
    again = [graded_nan(), from_data(json.loads(json.dumps(as_data(graded_nan()))))]
    assert again[0] == again[1]


def graded_nan() -> Grades:
    puzzle = PUZZLES["map"]
    return grade(puzzle, handed_in("map", "`+ 1.0` -> `+ 0.0 * input[i] / 0.0`"))


def test_every_kind_of_reason_has_its_sentence():
    values = [value for module in (reasons, comparison, replies) for value in vars(module).values()]
    kinds = {value for value in values if inspect.isclass(value) and issubclass(value, reasons.Reason)}
    assert kinds - {reasons.Reason} == {*words.SENTENCES}


def kinds_of_refusals(module: ModuleType) -> set[str]:
    """The kinds with which a module refuses lines: the first text in each such call."""
    kinds = set()
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("Refused", "self._refuse"):
            kinds |= {argument.value for argument in node.args if isinstance(getattr(argument, "value", 0), str)}
    return kinds


def test_every_kind_of_refusal_has_its_sentence():
    assert kinds_of_refusals(python_lines) | kinds_of_refusals(python_run) == {*lines.REASONS}
    assert {*python_lines.HABITS.values()} == {*lines.HABITS}
    assert all(hasattr(ast, node) for node in lines.CURES)


# --- Nothing reads a sentence ---------------------------------------------------------------------------------

PLANTED = {
    'def line(verdict):\n    return re.search(r"line (\\d+)", verdict.detail)\n': 1,
    'def known(grades):\n    return [v for v in grades if "ours" in v.detail and v.test]\n': 1,
    'def cut(error):\n    return str(error).removeprefix("your kernel does not compile, ")\n': 1,
    'def without_option(error):\n    return error.why.removeprefix("--workers ")\n': 1,
    "def shown(verdict):\n    return f'{verdict.test}: {verdict.detail}'\n": 0,
}


def test_nothing_but_words_reads_a_sentence():
    assert sentences.readings(ROOT, ROOMS, ["helpers/grading/words"]) == []


def test_what_reads_a_sentence_is_seen(tmp_path):
    for text, count in PLANTED.items():
        (tmp_path / "planted.py").write_text(text)
        assert len(sentences.readings(tmp_path, ["planted.py"])) == count, text
