"""A wrong kernel that no known mistake fits: the place of the change that makes it right, tried and never guessed."""

import re

import pytest
from support.grading import edited, graded

from helpers.grading import repair, words
from helpers.grading.change import Repair
from helpers.grading.drawn import way_to_fail
from helpers.grading.test_run import simulated
from helpers.grading.transport import as_data, from_data
from helpers.grading.verdict import Verdict
from helpers.grading.words import repairs
from helpers.lessons.exercises import FAULTS, PUZZLES
from wgsl import Kernel

# One change each: the puzzle, the old text and the new one, the kind that is told, and a piece that the quote has.
KINDS = [
    ("output_index", "params.out_w % params.out_h", "params.out_w % params.batch", "replaced", "params.batch"),
    ("output_index", "index / plane % params.out_channels", "index / plane", "missing", "index / plane"),
    ("output_index", "(plane * params.out_channels)", "plane * params.out_channels", "several", "index / plane"),
    ("combine_gradients", "(images_a + images_b);", "images_a + images_b;", "parentheses", "images_a + images_b"),
    ("add_bias", "= input[i] + bias[c];", "= input[i] * bias[c];", "operator", "input[i] * bias[c]"),
    ("add_bias", "+ bias[c];", "+ bias[c / params.P];", "extra", "c / params.P"),
    ("product", "+= a[m", "+= 0.5 * a[m", "several", "0.5 * a[m"),
    ("product", "sum += a", "sum -= a", "assignment", ""),
    ("product", "a[m * params.K + k]", "a[k * params.K + m]", "exchanged", ""),
    ("product", "var sum = 0.0", "var sum = 1.0", "replaced", "1.0"),
    ("combine_gradients", "a * images_a + b", "b * images_a + b", "replaced", "b"),
    ("pixel_window", "upstream(ih - kh, iw - kw)", "upstream(iw - kw, ih - kh)", "exchanged", ""),
    ("class_taps", "ow >= params.out_w) { continue; }", "ow >= params.out_w) { break; }", "jump", "break"),
    ("pixel_window", "kw < params.kernel_w", "kw < params.kernel_h", "replaced", "params.kernel_h"),
]


def search(name: str, *edits: tuple[str, str]) -> tuple[repair.KernelSearch, list[str]]:
    """The search for an official kernel with these edits, and the lines of its text."""
    kernel = Kernel(edited(name, *edits))
    runs = [simulated(kernel, case) for case in PUZZLES[name].cases()]
    return repair.KernelSearch(PUZZLES[name], kernel, runs), kernel.source.split("\n")


def found(name: str, *edits: tuple[str, str]) -> tuple[Repair | None, list[str]]:
    searching, lines = search(name, *edits)
    return searching.found(), lines


@pytest.mark.parametrize(("name", "old", "new", "kind", "quote"), KINDS)
def test_the_place_of_one_change_is_told_and_not_its_cure(name, old, new, kind, quote):
    result, lines = found(name, (old, new))
    (change,) = result.changes
    assert new in lines[change.line - 1]
    assert change.kind == kind
    assert quote in change.text
    sentences = repairs.sentences(result)
    assert f"line {change.line}" in sentences[0]
    assert sentences[1].endswith("?")
    assert old not in " ".join(sentences)


def with_a_name(gradient: str, step: str = "params.learning_rate * v") -> Repair | None:
    """The repair of a step with momentum that keeps the new velocity in `v`."""
    velocity = f"let v = params.momentum * velocity[i] + {gradient}; velocity[i] = v;"
    old = "velocity[i] = params.momentum * velocity[i] + grad[i];"
    result, _ = found("momentum_step", (old, velocity), ("params.learning_rate * velocity[i]", step))
    return result


@pytest.mark.parametrize(("gradient", "text"), [("grad[0]", "0"), ("abs(grad[i])", "abs(grad[i])")])
def test_a_change_of_several_lines_is_not_told_where_one_word_is_enough(gradient, text):
    (change,) = with_a_name(gradient).changes
    assert (change.text, change.others) == (text, ())


def test_a_line_that_stores_a_name_is_not_blamed_for_its_value():
    assert with_a_name("params.learning_rate * grad[i]", "v") is None


def test_a_line_that_uses_a_wrong_name_is_not_blamed_for_its_value():
    result, _ = found(
        "softmax_minus_truth",
        ("let softmax = exp(logits[first + c] - largest)", "let p = (logits[first + c] - largest)"),
        ("(softmax - truth)", "(p - truth)"),
    )
    assert result is None


TWO_PASSES = [
    ("let first = workgroup.x * SLICE;", "let g = workgroup.x;"),
    ("min(first + SLICE, ", "min((g + 1u) * SLICE, "),
    ("var i = first + thread", "var i = g * SLICE + thread"),
    ("params.G + workgroup.x]", "params.G + g]"),
    ("g += 64u", "g++"),
]


def test_of_several_passes_the_wrong_one_is_told_and_no_line_that_is_as_ours():
    """It is right, too, without the second tree of sums, or if the first slice has all numbers."""
    kernel = Kernel(edited("grad_bias_two_passes", *TWO_PASSES))
    puzzle = PUZZLES["grad_bias_two_passes"]
    runs = [simulated(kernel, case) for case in puzzle.cases()]
    (change,) = repair.repair(puzzle, kernel, runs, ("sum_parts",)).changes
    assert change.text == "g++"


def test_a_constant_in_the_place_of_a_member_that_is_no_size_is_told_as_one():
    result, _ = found("momentum_step", ("params.momentum *", "0.9 *"))
    assert "with a value of `params` in place of `0.9`" in repairs.sentences(result)[0]


def test_a_change_that_mends_the_tests_alone_is_not_told():
    result, _ = found("arg_max_tree", ("x > best", "abs(x) > abs(best)"))
    assert result is None or all(change.kind != "offset" for change in result.changes)


def test_one_slip_in_two_lines_is_told_of_both():
    result, lines = found("weight_padding", ("+ kh - params", "- kh - params"), ("+ kw - params", "- kw - params"))
    (change,) = result.changes
    named = [change.line, *change.others]
    assert [number for number, line in enumerate(lines, 1) if re.search("- k[hw] - params", line)] == named


def test_of_a_word_in_several_lines_those_are_told_that_must_change():
    decode = [
        ("iw = index % params.in_w", "iw = index % params.out_w"),
        ("ih = index / params.in_w", "ih = index / params.out_w"),
    ]
    result, lines = found("pixel_window", *decode)
    (change,) = result.changes
    assert [lines[number - 1].strip()[:6] for number in (change.line, *change.others)] == ["let iw", "let ih"]


def test_where_two_lines_mend_the_text_both_are_named():
    result, _ = found("product", ("sum += a", "sum += 2.0 * a"), ("+ n] = sum;", "+ n] = sum / 1.0;"))
    assert len(result.changes) > 1
    assert re.search(r"in line \d+ or in line \d+", repairs.sentences(result)[0])


def test_members_in_another_order_are_told_of_the_struct():
    result, lines = found("add_bias", ("struct Params { N: u32, C: u32", "struct Params { C: u32, N: u32"))
    assert any("struct Params" in lines[change.line - 1] for change in result.changes)


def test_where_two_mistakes_are_made_nothing_is_told():
    result, _ = found(
        "product", ("var sum = 0.0", "var sum = 1.0"), ("params.N + n] = sum", "params.N + n] = 2.0 * sum")
    )
    assert result is None


def test_the_work_is_bounded_and_the_result_always_the_same(monkeypatch):
    edit = ("var sum = 0.0", "var sum = 1.0")
    first, again = (search("product", edit)[0] for _ in range(2))
    assert first.found() == again.found()
    assert first.work.left == again.work.left > 0
    monkeypatch.setattr(repair, "MOST_WORK", 100_000)
    short, _ = search("product", edit)
    assert short.found() is None
    assert short.tried < first.tried


def test_what_is_told_was_seen():
    """The change that is told is one with which no test has any fault."""
    searching, _ = search("output_index", KINDS[0][1:3])
    edit = next(edit for tier in searching.candidates.tiers() for edit in tier if searching.mends(edit))
    edit.site.function.body = edit.body
    for case in PUZZLES["output_index"].cases():
        assert way_to_fail(simulated(searching.kernel, case)) is not None
        assert way_to_fail(simulated(searching.kernel, case, programs=searching.programs)) is None


def told(verdicts) -> Verdict:
    return next(verdict for verdict in verdicts if verdict.drawn)


def test_a_verdict_says_what_where_and_asks_and_travels():
    grades = graded("add_bias", KINDS[4][1:3])
    verdict = told(grades)
    assert verdict.repair
    what, where, question = words.lines(verdict)
    assert "numbers are wrong" in what
    assert where.endswith("all numbers are right.")
    assert question.endswith("?")
    assert where in verdict.detail
    assert from_data(as_data(grades)) == grades


def test_a_known_mistake_and_a_race_say_more():
    known = PUZZLES["add_bias"].mistakes[0]
    assert told(graded("add_bias", *known.edits)).mistake
    assert not any(verdict.repair for verdict in graded("add_bias", *known.edits))
    race = graded("tiled_product", ("    workgroupBarrier();\n    for", "    for"))
    assert not any(verdict.repair for verdict in race)


def test_where_the_exercise_is_to_find_the_line_it_is_not_told():
    assert not any(verdict.repair for fault in FAULTS.values() for verdict in fault.symptom)


def test_in_a_comparison_with_divisions_no_exchange_is_told():
    result, _ = found("guard", ("i >= sizes.n", "i / 64u >= sizes.n / 64u"))
    assert result is None or "exchanged" not in {change.kind for change in result.changes}
