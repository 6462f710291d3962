"""`wgsl.check`: nothing for a right text, whatever the simulator runs of it; see `messages/checked.txt`, too."""

import random

import pytest
from support.mistakes import mutants
from support.wgsl_programs import RICH, judged, judged_halves, programs, source

import wgsl
from helpers.operations.kernels import load
from wgsl.suggestions.context import TOKEN
from wgsl.syntax.tokens import OPEN


def test_right_and_wrong_programs_are_judged_as_by_a_run():
    for heading, right in (("right", True), ("wrong", False), ("unsupported", False)):
        for small_program in programs(heading):
            text = source(*small_program)
            right_here = right or "TILE - 9" in text or "> u: S" in text  # right, but not everywhere
            assert ({problem.kind for problem in wgsl.check(text)} <= {"not portable"}) == right_here, small_program


@pytest.mark.parametrize("texts", [judged, judged_halves])
@pytest.mark.parametrize("heading", ["right", "refused"])
def test_texts_are_judged_as_browsers_judge_them(texts, heading):
    """`test_tint.py` asks a browser."""
    checked = {line: wgsl.check(text) for line, text in texts(heading).items()}
    assert len(checked) > 100
    assert {line: problems for line, problems in checked.items() if bool(problems) != (heading == "refused")} == {}


def test_no_text_raises_an_exception():
    dice, text = random.Random(3), load("gemm_bias_act", "2_tiled").source
    assert wgsl.check(text) == ()
    texts = [text[: dice.randrange(len(text))] + dice.choice("{}()<>@;\0é1 ") + text[dice.randrange(len(text)) :]
             for _ in range(60)]  # fmt: skip
    texts += [mutant for mutant, _ in mutants(40)]
    texts += ["{" * 500, "fn f() { let x = " + "-" * 900 + "1; }", "\ud800"]
    tokens = [*TOKEN.findall(RICH), *"<>²\0\n'é", OPEN, "/*", "//", "0x"]
    for _ in range(300):
        head = dice.choice(["", "fn f() { "])
        texts.append(head + " ".join(dice.choices(tokens, k=dice.randrange(40))))
    for broken in texts:
        lines = broken.split("\n")
        for problem in wgsl.check(broken):
            assert 1 <= problem.column <= len(lines[problem.line - 1]) + 1, broken
