"""`helpers.difference`: what differs is shown, and nothing else."""

import pytest

import helpers

OLD = "const A: u32 = 1u;\nfn f() {\n  let x = A;  // a remark\n  for (;;) {  // unroll\n    break;\n  }\n}\n"


def changed(old: str, new: str) -> tuple[str, ...]:
    """The lines that begin with + or - for a text and an edit of it."""
    lines = helpers.difference("a text", OLD, OLD.replace(old, new)).lines
    return tuple(line for line in lines if line[0] in "+-")


def test_a_version_is_compared_with_the_one_before():
    shown = helpers.difference("gemm_bias_act", "4", "5")
    text = repr(shown)
    assert text.startswith("--- gemm_bias_act/4_vec4_tiles\n+++ gemm_bias_act/5_prefetch\n@@ fetch @@\n+fn fetch(")
    assert "-    load_tiles(thread, item, m0, n0, k0);\n+    place(thread);\n     workgroupBarrier();\n" in text
    assert [line for line in shown.lines if "sigmoid" in line or "fn multiply" in line] == []  # these are the same
    assert shown._repr_markdown_() == f"```diff\n{text}\n```"


@pytest.mark.parametrize("given", ["2_tiled", "2", 2, helpers.load("gemm_bias_act", "2_tiled").source])
def test_a_version_is_given_by_its_stem_its_number_or_its_text(given):
    assert helpers.difference("gemm_bias_act", given, "2_tiled").lines == ()
    assert "(no line of code differs)" in repr(helpers.difference("gemm_bias_act", "2", given))


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("a remark", "another", ()),
        ("x = A", "x = A + A", ("-  let x = A;", "+  let x = A + A;")),
        ("  // unroll", "", ("-  for (;;) {  // unroll", "+  for (;;) {")),
        ("const A: u32 = 1u;\n", "const B = 2u; const A: u32 = 1u;\n", ("+const B = 2u;",)),
        ("const A: u32 = 1u;\n", "", ("-const A: u32 = 1u;",)),
    ],
)
def test_of_two_texts_only_code_that_differs_is_shown(old, new, lines):
    assert changed(old, new) == lines


def test_a_declaration_that_only_moved_is_the_same():
    const, function = OLD.split("\n", 1)
    assert helpers.difference("a text", OLD, f"{function}{const}\n").lines == ()
