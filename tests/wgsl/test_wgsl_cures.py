"""A cure is tried before it is shown: applied in its place, it takes the error away."""

from functools import cache

import pytest
from support.messages import stored
from support.mistakes import HEAD, MAIN
from support.sample import sample
from support.speakers import mistaken

from helpers.gpu import compiled
from wgsl import check
from wgsl.diagnostics import NotWgsl, Unsupported
from wgsl.facts import Edit, Suggestion
from wgsl.suggestions import diagnostic, suggested, trial
from wgsl.suggestions.context import Context
from wgsl.syntax.parser import parse
from wgsl.types.declarations import Declarations


def refusal(source: str) -> NotWgsl | None:
    """The first fault of a text that is not WGSL; None where it is, or is not read."""
    try:
        faults = [*Declarations(parse(source), {}).faults()]
    except (NotWgsl, Unsupported) as fault:
        faults = [fault]
    return next((fault for fault in faults if isinstance(fault, NotWgsl)), None)


@cache
def cured() -> tuple[tuple[str, NotWgsl, Suggestion], ...]:
    """The stored mistakes whose suggestions have edits."""
    rows = []
    for _, place, text, _ in sample([*stored("compile_errors")], 70):
        source = mistaken(place, text)
        fault = refusal(source)
        suggestion = suggested(Context(source, fault)) if fault else None
        if suggestion and suggestion.edits:
            rows.append((source, fault, suggestion))
    return tuple(rows)


def test_each_cure_takes_its_error_away_and_nothing_new_stands_in_its_place():
    assert len(cured()) > 25
    for source, fault, suggestion in cured():
        text = trial.edited(source, suggestion.edits)
        after = refusal(text)
        assert after is None or (after.kind, after.at) != (fault.kind, fault.at), text


def test_a_text_that_is_right_after_its_cure_is_right_for_the_adapter_too():
    right = []
    for source, _, suggestion in cured():
        text = trial.edited(source, suggestion.edits)
        if not check(text):
            compiled.module(text)
            right.append(text)
    assert len(right) > 20


IN_OTHER_WORDS = ("builtin", "members")  # "here it is `global`", "separated by `,` and not by `;`"


def test_what_is_tried_is_what_is_shown():
    for _, _, suggestion in cured():
        shown = "".join(diagnostic(Suggestion(suggestion.kind, suggestion.facts, Edit(0, 0, ""))).reason.split())
        for edit in suggestion.edits:
            text = "".join(edit.text.split()).strip(";,")
            assert text in shown or suggestion.kind in IN_OTHER_WORDS, suggestion


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("let h = float[2](3.0, 1.0)[0];", "array<f32, 2>(3.0, 1.0)"), ("let h = 3.0;;", "h")],
)
def test_a_cure_that_does_not_compile_in_its_place_is_not_given(wrong, right):
    source = f"{HEAD}{MAIN}  let k = 3.0 {wrong}\n}}\n"
    fault = refusal(source)
    false_cure = Suggestion("written", {"name": "k", "cure": right}, edits=(Edit(fault.at, fault.at, ") ("),))
    context = Context(source, fault)
    assert trial.first_that_holds(context, [false_cure]) is None
    assert trial.first_that_holds(context, [false_cure, Suggestion("=>")]) == Suggestion("=>")


def test_a_text_is_tried_a_few_times_only_and_a_long_one_never(monkeypatch):
    tried = []
    monkeypatch.setattr(trial, "cures", lambda *arguments: tried.append(arguments))
    source = f"{HEAD}{MAIN}  let h = 1.0 2.0;\n}}\n"
    candidates = [Suggestion("written", {}, edits=(Edit(i, i, "x"),)) for i in range(9)]
    assert trial.first_that_holds(Context(source, refusal(source)), candidates) is None
    assert len(tried) == trial.MOST
    long = source + " " * trial.LONGEST
    assert trial.first_that_holds(Context(long, refusal(long)), candidates) is None
    assert len(tried) == trial.MOST
