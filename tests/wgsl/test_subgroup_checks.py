"""`wgsl.check` of texts with subgroups: each is judged as Tint, the compiler of Chromium, has judged it."""

import pytest
from support.sample import sample
from support.subgroup_texts import judged

import wgsl


@pytest.mark.parametrize("heading", ["right", "refused"])
def test_texts_are_judged_as_tint_judges_them(heading):
    texts = judged(heading)
    assert len(texts) > 180
    problems = {name: wgsl.check(texts[name]) for name in sample(texts, 60)}
    wrong = {name: found for name, found in problems.items() if refused(found) != (heading == "refused")}
    assert wrong == {}


def refused(problems: tuple[wgsl.Problem, ...]) -> bool:
    """True where Chrome refuses a text, or where it cannot be checked."""
    return any("chrome" in problem.refused_by or problem.kind == "not supported" for problem in problems)


def only(text: str) -> wgsl.Problem:
    (problem,) = wgsl.check(text)
    return problem


HEAD = "enable subgroups;\n"
MAIN = "@compute @workgroup_size(64) fn main(@builtin(subgroup_invocation_id) lane: u32) {\n"


def test_a_text_must_enable_them():
    """The compiler of wgpu takes it without the line, and so it is not portable."""
    problem = only("@compute @workgroup_size(64) fn main() { _ = subgroupAdd(1); }")
    assert (problem.kind, problem.column) == ("not portable", 46)
    assert "does not begin with `enable subgroups;`" in problem.message
    assert only(MAIN + "}").kind == "not portable"


def test_a_text_may_have_a_function_of_its_own_of_such_a_name():
    own = "fn subgroupAdd(x: f32) -> u32 { return u32(x); }\n"
    assert wgsl.check(f"{own}@compute @workgroup_size(1) fn main() {{ _ = subgroupAdd(1); }}") == ()


def test_a_subgroup_must_come_together():
    problem = only(f"{HEAD}{MAIN}  if lane < 3u {{ _ = subgroupAdd(lane); }}\n}}")
    assert (problem.line, problem.kind) == (3, "not portable")
    assert "all threads of a subgroup come to this `subgroupAdd`" in problem.message
    assert "`lane` holds the subgroup_invocation_id, which each thread has for itself" in problem.message


def test_an_argument_must_be_the_same_for_a_subgroup():
    problem = only(f"{HEAD}{MAIN}  _ = subgroupShuffleXor(1u, lane);\n}}")
    assert (problem.line, problem.column, problem.kind) == (3, 30, "not portable")
    assert (
        "the second argument of `subgroupShuffleXor` must be the same for all threads of a subgroup" in problem.message
    )


def test_the_number_of_a_thread_has_a_range():
    problem = only(f"{HEAD}{MAIN}  _ = subgroupBroadcast(lane, 128);\n}}")
    assert problem.kind == "does not compile"
    assert "a number from 0 to 127, and here it is 128" in problem.message


def test_a_filter_in_a_comment_or_beside_the_call_changes_nothing():
    call = "if lane < 3u { _ = subgroupAdd(lane); }\n"
    off = "@diagnostic(off, subgroup_uniformity)"
    assert wgsl.check(f"{HEAD}{MAIN}{off} {call}}}") == ()
    assert len(wgsl.check(f"{HEAD}{MAIN}// {off}\n{call}}}")) == 1
    assert [problem.line for problem in wgsl.check(f"{HEAD}{MAIN}{off} {{ }}\n{call}{off} {call}}}")] == [4]
