"""Sentences are made last: no code of the package reads one, and without them it finds the same."""

import ast
import pickle
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from support.keys import instead_of_sentences, key, sentence_makers
from support.messages import stored
from support.sample import sample
from support.sentences import readings
from support.speakers import found, mistaken

import wgsl
from helpers.gpu import passes
from wgsl import Kernel, WgslError
from wgsl.simulator.findings import Finding
from wgsl.suggestions.habits import HABITS
from wgsl.suggestions.tongues import TONGUES
from wgsl.suggestions.unknown_names import KEYWORDS, OTHER_LANGUAGES
from wgsl.types.kinds import limit_passed
from wgsl.words import refusals, suggestions

ROOT = Path(wgsl.__file__).parents[1]


def test_nothing_reads_a_sentence():
    assert readings(ROOT, ["wgsl"], besides=["wgsl/words"]) == []


def facts(finding: Finding) -> tuple:
    """Return all that a finding has beside its sentences."""
    place = finding.line, finding.column, finding.other_line, finding.source_line
    about = finding.variable, finding.access, finding.index, finding.size, finding.threads, finding.barrier
    return finding.kind, *place, *about, finding.invocations, finding.count, finding.may_end


def run(groups: str, body: str) -> list[tuple]:
    return [facts(finding) for finding in found(groups, body).findings]


def compiled(place: str, text: str) -> tuple:
    """Return all that a compile error has beside its sentences, and the problems of the same text with their places."""
    kernel = Kernel(mistaken(place, text))
    problems = [(problem.line, problem.column, problem.kind) for problem in wgsl.check(kernel)]
    try:
        passes.pipeline(kernel, "main")
    except WgslError as error:
        return type(error), error.kind, error.line, error.column, error.length, error.excerpt, error.says, problems
    return (problems,)


@pytest.mark.parametrize(("family", "tried", "count"), [("findings", run, 60), ("compile_errors", compiled, 120)])
def test_with_keys_for_sentences_the_same_is_found_at_the_same_places(family, tried, count):
    rows = sample([row[1:3] for row in stored(family)], count)
    with_sentences = [tried(*row) for row in rows]
    with instead_of_sentences():
        assert [tried(*row) for row in rows] == with_sentences


# --- What stands in a sentence is an attribute, too ---------------------------------------------------------------


def refusal(place: str, text: str) -> WgslError:
    """The error of a kernel with a mistake."""
    with pytest.raises(WgslError) as caught:
        passes.pipeline(Kernel(mistaken(place, text)), "main")
    return caught.value


def test_an_error_has_all_of_its_message_in_attributes():
    for _, place, text, message in sample(stored("compile_errors"), 60):
        error = refusal(place, text)
        assert str(error) == message == f"{error.name} {error.says}, {error.explanation}\n{error.excerpt}"
        assert error.explanation == f"{error.place}: {error.reason}"
        (caret,) = re.findall(r"^ *│[ \t]*(\^+)$", error.excerpt, re.MULTILINE)
        assert error.length == len(caret)
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), repr(again), vars(again)) == (message, repr(error), vars(error))


def test_an_error_without_a_place_has_none():
    error = WgslError("its text is too long", "a kernel")
    assert str(error) == "a kernel: its text is too long"
    assert repr(error) == "WgslError('a kernel: its text is too long')"
    assert (error.line, error.column, error.length, error.place, error.excerpt) == (None, None, 0, None, "")
    assert error.explanation == str(WgslError(error.reason)) == error.reason


NAMED = {"data race", "overlapping writes", "out-of-range read", "out-of-range write", "uninitialized read"}


def test_a_finding_has_the_variable_and_the_access_of_its_message():
    compared = set()
    for _, groups, body, _ in stored("findings"):
        for finding in found(groups, body).findings:
            assert finding.message.startswith(finding.event)
            if finding.kind in NAMED and not finding.message.count("`(*"):  # what a pointer leads to has no name there
                (access, variable), *_ = re.findall(r"(?:(reads|writes) )?`(\w+)", finding.message)
                assert (finding.access or "", finding.variable) == (access, variable)
                compared.add(finding.kind)
    assert compared == NAMED


def test_a_finding_in_several_passes_says_so_last():
    finding = next(iter(found("1", "  numbers[t / 2u] = t;").findings))
    assert replace(finding, passes=("main", "sum")).message == f"{finding.message} (in `main` and `sum`)"


def test_keys_do_take_the_place_of_sentences():
    assert len(sentence_makers()) > 50
    (_, heading, text, message), *_ = stored("findings")
    (_, place, line, error), *_ = stored("compile_errors")
    with instead_of_sentences():
        finding, *_ = found(heading, text).findings
        assert (finding.message, finding.quoted) == ("Race", "int")
        with pytest.raises(WgslError) as caught:
            passes.pipeline(Kernel(mistaken(place, line)), "main")
        assert (str(caught.value), caught.value.reason) == ("WgslError", "division")
        assert caught.value.kind == "expected"
        assert limit_passed((512, 1, 1), 0) == key("too many threads")
    assert str(found(heading, text)) == message
    assert error.startswith("your kernel does not compile, line 13")


# --- Suggestions are records ----------------------------------------------------------------------------------------

SUGGESTIONS = ROOT / "wgsl" / "suggestions"
OF_A_COMPILER = SUGGESTIONS / "compiler_log.py"  # which has patterns for what an adapter's compiler says
ENGLISH = re.compile(r"`|[a-z]+(?: [a-z]+){2}", re.IGNORECASE)  # code in backquotes, or three words in a row


def texts(module: str) -> Iterator[str]:
    """The texts in a module of Python, or pieces of one, that are no docstrings."""
    nodes = [*ast.walk(ast.parse(module))]
    alone = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def sentences(module: str) -> list[str]:
    """The texts in a module that are English for a reader, and neither a kind nor words of WGSL."""
    kinds = suggestions.SENTENCES.keys() | refusals.FEATURES.keys()
    return [text for text in texts(module) if ENGLISH.search(text) and text not in kinds and text.split() != KEYWORDS]


def test_no_suggestion_is_a_sentence():
    paths = {*SUGGESTIONS.glob("*.py")} - {OF_A_COMPILER}
    assert len(paths) > 5
    for path in paths:
        assert sentences(path.read_text(encoding="utf-8")) == [], path
    words = [r"`(\w+)` extension is not|extension '(\w+)' is not", "Not implemented as constant expression"]
    assert sentences(OF_A_COMPILER.read_text(encoding="utf-8")) == words


@pytest.mark.parametrize(
    "planted",
    [
        'return f"`{name}` has none"',
        'return f"{value}, and an index must be whole"',
        'reason = "a value is missing"',
        'return Suggestion("condition", {"value": "compare it with zero"})',
    ],
)
def test_a_sentence_in_a_suggestion_is_seen(planted):
    assert sentences(f'def index():\n    """A docstring may have words."""\n    {planted}\n')


def test_every_kind_of_suggestion_has_its_sentence_and_every_sentence_its_suggestion():
    modules = [path.read_text(encoding="utf-8") for path in SUGGESTIONS.glob("*.py")]
    assert {*suggestions.SENTENCES} - {text for module in modules for text in texts(module)} == set()
    nodes = [node for module in modules for node in ast.walk(ast.parse(module))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Suggestion"]
    kinds = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert len(kinds) > 80
    kinds |= {kind for _, kind, *_ in (*TONGUES, *HABITS) if isinstance(kind, str)} | {*OTHER_LANGUAGES.values()}
    assert kinds - {*suggestions.SENTENCES} == set()
