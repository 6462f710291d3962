"""Known mistakes: each is refused and named, also in a learner's own text, and the teachers' pages say so."""

import re
from functools import cache, reduce

import pytest
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of
from support.sample import sample
from support.teaching_pages import Page, puzzles_of, row, table
from support.trials import MISTAKES, outcomes, simulate_once, with_mistake  # noqa: F401

from helpers.exercises import PUZZLES
from helpers.grading import grader, mistakes
from helpers.grading.grader import grade
from helpers.grading.puzzle import LEARNERS_LINE, same_code
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, UNSAFE, WRONG
from helpers.wgsl import Kernel

# --- As edits of the official kernel --------------------------------------------------------------------------

TRIED = sample(MISTAKES, 90)
every_mistake = pytest.mark.parametrize(("name", "mistake"), TRIED, ids=[f"{name}-{each.name}" for name, each in TRIED])


@cache
def rows() -> dict[str, list[list[str]]]:
    """What the teachers' pages say of the mistakes in each puzzle."""
    lessons = [Lesson.read(path) for path in lessons_of(NOTEBOOKS)]
    return {name: table(Page.of(lesson.path).text) for lesson in lessons for name in puzzles_of(lesson)}


@every_mistake
def test_a_known_mistake_is_rejected_and_named_and_its_verdicts_are_on_the_page_for_teachers(name, mistake):
    grades = with_mistake(name, mistake)
    assert set(outcomes(grades)) <= {RIGHT, WRONG, UNSAFE} or set(outcomes(grades)) == {NOT_YET}
    assert grades.passed < len(grades)
    named = [verdict.detail for verdict in grades if verdict.detail.startswith("this is what ")]
    assert len(named) == 1
    comes_out = {WRONG, NOT_YET} & set(outcomes(grades))
    said = f"this is what {'comes out' if comes_out else 'happens'} when {mistake.name}"
    assert named[0].startswith(f"{said}: {mistake.question} ")  # an earlier mistake would be named if it did the same
    assert row(mistake, grades) in rows()[name], "run python tests/support/teaching_pages.py"


def test_a_known_mistake_comes_with_one_short_question():
    for _, mistake in MISTAKES:
        assert re.fullmatch(r"[a-z+][^?]{10,110}\?", mistake.question), mistake.question  # it goes on after a colon
        assert not re.search("[;:?]", mistake.name), mistake.name  # no cure after the mistake


@every_mistake
def test_a_drawing_is_legible(name, mistake):
    grades = with_mistake(name, mistake)
    drawings = [verdict.drawing for verdict in grades if verdict.drawing]
    assert len(drawings) == (WRONG in outcomes(grades))
    wrong = [case for case, verdict in zip(PUZZLES[name].cases(), grades, strict=True) if verdict.outcome == WRONG]
    for text in drawings:
        lines = text.split("\n")
        assert min(wrong, key=lambda case: case.expected.size).name in lines[0]
        assert len(lines) <= 20
        assert max(map(len, lines)) <= 80
        assert re.search(r"\d\*|nan\*| \.", text)
    assert not re.search(r"99999|99,999|Scalar|Some\(|None|e\+\d|naga|wgpu|array\(", str(grades))


@every_mistake
def test_no_reason_of_an_unsafe_kernel_begins_with_right_and_each_line_is_quoted(name, mistake):
    lines = PUZZLES[name].with_mistake(mistake).source.split("\n")
    for verdict in with_mistake(name, mistake):
        assert not (verdict.outcome == UNSAFE and re.match("(each number is |its numbers are )?right", verdict.detail))
        for number, quoted in re.findall(r"\b[Ll]ine (\d+), `([^`]*)`", verdict.detail):
            code = " ".join(lines[int(number) - 1].partition("//")[0].split())
            assert code.startswith(quoted.removesuffix("..."))
        assert not re.search(r"\b[Ll]ine \d+(?!, `|\d)", verdict.detail)


# --- The tests of a puzzle ------------------------------------------------------------------------------------

# Tests that see no mistake of their own: the classroom's, and shapes that a reader should have seen work.
CLASSROOM = ["conv_bw_tiny_3x3", "conv_bw_numerical_gradient_check", "conv_bw_lenet_conv1", "conv_bw_lenet_conv2"]
WELCOME = {*CLASSROOM, "300_columns"}


def seen(name: str, text: str) -> list[tuple[str, bool]]:
    """For each test its outcome, and whether it shows the mistake itself: a race makes all tests unsafe."""
    grades, kernel = grade(PUZZLES[name], text), Kernel(text)
    if grades[0].outcome == NO_COMPILE:
        return []
    findings = [bool(grader.simulated(kernel, case).findings) for case in PUZZLES[name].cases()]
    return list(zip(outcomes(grades), findings, strict=True))


@pytest.mark.parametrize("name", sample(list(PUZZLES), 3))
def test_no_two_tests_say_the_same_about_all_mistakes(name, monkeypatch):
    """A mistake is a known one, or one of the learner's lines left out."""
    monkeypatch.setattr(grader, "WORK", -1)  # none needs a name
    puzzle, lines = PUZZLES[name], PUZZLES[name].official.source.split("\n")
    texts = [puzzle.with_mistake(mistake).source for mistake in puzzle.mistakes]
    texts += ["\n".join(lines[:i] + lines[i + 1 :]) for i, line in enumerate(lines) if line.endswith(LEARNERS_LINE)]
    said = {}
    columns = zip(*filter(None, (seen(name, text) for text in texts)), strict=True)
    for test, outcome in zip(puzzle.tests, columns, strict=True):
        assert test in WELCOME or outcome not in said, f"{test} and {said[outcome]}"
        said[outcome] = test


# --- The files ------------------------------------------------------------------------------------------------

FILE = """# A comment.
the last element is left out
which thread owns it?
- i >= n
+ i + 1u >= n

include more size=n element=i
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("which thread owns it?\n", "", "one.mistakes, line 1: .*'- i >= n'; the second line must be a question"),
        ("- i >= n\n", "", "line 1: .* each line must begin with `- ` or `\\+ `, first the old text"),
        ("- i", "i", "line 1: .* each line must begin with"),
        ("element=i", "", r"more.mistakes, line 1: \$element has no value"),
    ],
)
def test_a_file_of_mistakes_says_what_is_wrong_with_it(tmp_path, old, new, said):
    (tmp_path / "more.mistakes").write_text("$element is compared with 0\nwhy?\n- $size;\n- }\n+ 0u;\n- x\n")
    (tmp_path / "one.mistakes").write_text(FILE)
    one, two = mistakes.read(tmp_path / "one.mistakes")
    assert (one.name, one.edits) == ("the last element is left out", (("i >= n", "i + 1u >= n"),))
    assert (two.name, two.edits) == ("i is compared with 0", (("n;\n}", "0u;"), ("x", "")))
    assert two.made_in(Kernel("n;\n   } x")).source == "0u; "
    with pytest.raises(ValueError, match="contains it 2 times"):
        one.made_in(Kernel("i >= n, i >= n"))
    (tmp_path / "one.mistakes").write_text(FILE.replace(old, new))
    with pytest.raises(ValueError, match=said):
        list(mistakes.read(tmp_path / "one.mistakes"))


# --- In a learner's own text ----------------------------------------------------------------------------------

WEIGHT_AT = "((co * params.Ci + ci) * params.kH + kh) * params.kW + kw"
PRODUCT = "left[local.y * TILE + i] * right[i * TILE + local.x]"

FIRST_64, BELOW = "only elements 0 to 63", "threads below the last row go on"  # each is true of several texts
OWN_TEXTS = {  # by puzzle: edits of the official text, and words of the mistake or the question that it must be given
    "map": (
        (
            ("output[i] = 3.0", "for (var j = 0u; j < 64u; j++) { output[j] = 3.0"),
            ("input[i] + 1.0;", "input[j] + 1.0; }"),
            FIRST_64,
        ),
        (("let i = global.x;", "let i = global.x; if (i >= 64u) { return; }"), FIRST_64),
    ),
    "guard": ((("i >= sizes.n", "i >= 64u"), FIRST_64),),
    "neighbor_difference": ((("i + 1u >= sizes.n", "i >= 64u"), FIRST_64),),
    "index_2d": (
        (("if (row >= sizes.rows || column >= sizes.columns) { return; }", ""), BELOW),
        (("||", "&&"), BELOW),
        (("column >= sizes.columns", "column > sizes.columns"), "threads beyond the last column go on"),
    ),
    "conv2d": (
        (("sum = bias[co]", "sum = 0.0; let start = bias[co]"), "if all weights are 0, what is each output"),
        (
            (WEIGHT_AT, "co * params.kH * params.kW + kh * params.kW + kw"),
            "Ci and ci are left out in the weight's offset",
        ),
        (
            (WEIGHT_AT, "co * params.Ci * params.kH * params.kW + kh * params.kW + kw"),
            "ci is left out in the weight's offset",
        ),
        (("(co * params.Ci + ci)", "(ci + co)"), "co is not multiplied by Ci"),
        (
            (
                "if (ih >= params.H || iw >= params.W) { continue; }",
                "let inside = ih < params.W && iw < params.H; if (!inside) { continue; }",
            ),
            "H and W are exchanged in the test for the padding",
        ),
        (("if (index >= params.N", "if (index > params.N"), "lets threads without an output go on"),
        (("params.N * params.Co * oH", "params.Co * oH"), "the threads of the second image return"),
    ),
    "conv2d_grad_weight": (
        (
            (
                "out_h; oh++) {  // *\n      for (var ow = 0u; ow < out_w; ow++) {",
                "min(params.F, out_h); oh++) { for (var ow = 0u; ow < min(params.F, out_w); ow++) {",
            ),
            "the loops over oh and ow end at F",
        ),
        (
            ("oh = 0u; oh < out_h", "p = 0u; p < params.F"),
            ("oh++", "p++"),
            ("ow = 0u; ow < out_w", "q = 0u; q < params.F"),
            ("ow++", "q++"),
            ("out_h + oh) * out_w + ow;", "out_h + fh) * out_w + fw;"),
            ("params.H + oh + fh) * params.W + ow + fw;", "params.H + fh + p) * params.W + fw + q;"),
            "the loops run over the filter",
        ),
        (
            ("params.H + oh + fh) * params.W + ow + fw", "params.H + oh) * params.W + ow - fh * params.W - fw"),
            "fh and fw are subtracted from oh and ow",
        ),
        (("params.H + oh + fh)", "params.H - fh + oh)"), "fh is subtracted from oh"),
        (("params.W + ow + fw", "params.W - fw + ow"), "fw is subtracted from ow"),
        (
            ("let grad_at", "if (fh > oh || fw > ow) { continue; } let ih = oh - fh; let iw = ow - fw; let grad_at"),
            ("params.H + oh + fh) * params.W + ow + fw", "params.H + ih) * params.W + iw"),
            "and places outside of the input are skipped",
        ),
        (
            ("let grad_at = ((b * params.K + k)", "let grad_at = ((b * params.K + first)"),
            ("((b * params.C + c)", "((b * params.C + second)"),
            ("var sum = 0.0;", "let first = c; let second = k; var sum = 0.0;"),
            "c and k are exchanged in both offsets",
        ),
        (("sum +=", "sum += 1.0 / f32(params.batch) *"), "divided by the number of images"),
        (
            ("var sum = 0.0;", "var sum = 0.0; var count = 0.0;"),
            ("sum += grad", "count += 1.0; sum += grad"),
            ("= sum;", "= sum / count;"),
            "divided by the number of outputs",
        ),
        (
            ("k = idx / (params.F * params.F * params.C)", "k = idx / params.F / params.F"),
            "C is left out where k is decoded",
        ),
        (("if (idx >= params.K", "if (idx > params.K"), "lets threads without a weight go on"),
        (
            ("= sum;", "= sum; }"),
            ("  // 2.", "if (idx < params.F * params.F * params.K) {\n  // 2."),
            ("if (idx >= params.K * params.C * params.F * params.F) { return; }", ""),
            "C is left out in the guard",
        ),
    ),
    "conv2d_grad_input": (
        (("params.N * params.Ci * params.H * params.W) {", "params.N * 999u) {"), "threads without a pixel go on"),
        (
            ("if (row % params.S != 0u || column % params.S != 0u) { continue; }", ""),
            ("if (oh >= params.oH", "if (oh * params.S != row || ow * params.S != column || oh >= params.oH"),
            ("ow >= params.oW) { continue; }", "ow >= params.oW) { break; }"),
            "ends at the first weight that has no output",
        ),
        (
            ("column % params.S != 0u) { continue; }", "column % params.S != 0u) { break; }"),
            (
                "if (oh >= params.oH || ow >= params.oW) { continue; }",
                "if (oh >= params.oH) { break; } if (ow >= params.oW) { break; }",
            ),
            "ends at the first weight that has no output",
        ),
        ((WEIGHT_AT, "kw + params.kW * (kh + params.kH * co)"), "Ci and ci are left out in the weight's offset"),
        (("(co * params.Ci + ci)", "(params.Ci * co)"), "ci is left out in the weight's offset"),
        (("(co * params.Ci + ci)", "(ci + co)"), "co is not multiplied by Ci"),
        (("sum +=", "sum += 1.0 / f32(params.N) *"), "divided by the number of images"),
    ),
    "conv2d_grad_bias": (
        (("oh < params.H_out", "oh < params.W_out"), ("ow < params.W_out", "ow < params.H_out"), "in the loops"),
        (("k >= params.C_out", "k >= params.C_out * 8u"), "lets threads without a channel go on"),
    ),
    "tree_sum": (
        (
            ("var sum = 0.0;", "var sum = 0.0; if (thread < params.n) {"),
            ("partial[thread] = sum;", "partial[thread] = sum; }"),
            "the tree adds sums that no thread has put into partial",
        ),
    ),
    "tiled_product": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is transposed"),
        (
            ("right[slot] = b", "right[local.x * TILE + local.y] = b"),
            ("right[slot] = 0.0", "right[local.x * TILE + local.y] = 0.0"),
            "the tile of b is transposed",
        ),
        (("left[local.y * TILE + i]", "left[TILE * i + local.y]"), "the tile of a is transposed"),
        (
            (PRODUCT, "right[local.x * TILE + i] * left[i * TILE + local.y]"),
            "both tiles are transposed, in the loads or in the products",
        ),
        (("first < params.K; first", "first < params.M; first"), "runs up to M or N, and not to K"),
        (
            ("    left[slot] = 0.0;  // *\n    right[slot] = 0.0;  // *\n", ""),
            ("left[slot] = a[", "let place = local.y * TILE + local.x; left[place] = a["),
            "nothing writes 0 to the tiles past the edges",
        ),
    ),
    "gemm_bwd_grad_pre": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is transposed"),
        (("right[local.y * TILE + local.x]", "right[local.x * TILE + local.y]"), "the tile of b is transposed"),
        (("left[local.y * TILE + local.x]", "left[local.x * TILE + local.y]"), "the tile of a is transposed"),
        (("first < params.K; first", "first < params.M; first"), "runs up to M or N, and not to K"),
    ),
    "gemm_bwd_da": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is not transposed"),
        (("left[local.y * TILE + i]", "left[i * TILE + local.y]"), "the tile of grad_pre is transposed, too, in the"),
        (("first < params.N; first", "first < params.M; first"), "runs up to M or K, and not to N"),
    ),
    "gemm_bwd_db": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of grad_pre is transposed, too, in the"),
        (("left[local.y * TILE + i]", "left[i * TILE + local.y]"), "the tile of a is not transposed, in the loads or"),
        (("first < params.M; first", "first < params.K; first"), "runs up to K or N, and not to M"),
    ),
    "gemm_bwd_dbias": (
        (
            ("row = 0u; row < params.batch * params.M; row++", "column = 0u; column < params.N; column++"),
            ("grad_pre[row * params.N + n]", "grad_pre[n * params.N + column]"),
            "each thread adds up a whole row",
        ),
        (
            ("n >= params.N", "n >= params.M * params.batch"),
            ("row < params.batch * params.M", "row < params.N"),
            ("row * params.N + n", "n * params.N + row"),
            "each thread adds up a whole row",
        ),
        (
            ("n >= params.N", "n >= params.M"),
            ("row < params.batch * params.M", "row < params.N"),
            ("row * params.N + n", "n * params.N + row"),
            "each of the first M threads adds up a whole row",
        ),
    ),
    "register_tile": (
        (
            ("let m =", "let last = vec2u(column, row) + TILE * group.xy + 1u; let m ="),
            ("if (m < params.M && n < params.N)", "if (last.y < params.M && last.x < params.N)"),
            "only the lower right result of each square is tested",
        ),
        (
            ("sums[0] += left_0 * right_0;", "sums = array<f32, 4>(left_0 * right_0, left_0 * right_1, 0.0, 0.0);"),
            ("sums[1] += left_0 * right_1;", ""),
            ("sums[2] +=", "sums[2] ="),
            ("sums[3] +=", "sums[3] ="),
            "each product replaces the sum",
        ),
        (("k < TILE", "k < TILE / 2u"), "k runs up to SIDE in each turn"),
        (
            ("let m = group.y * TILE +", "let m = SIDE * group.y +"),
            ("let n = group.x * TILE +", "let n = SIDE * group.x +"),
            "SIDE stands in the place of TILE where the results are written",
        ),
    ),
}
TEXTS = sample([(name, edits, words) for name, texts in OWN_TEXTS.items() for *edits, words in texts], 26)


@pytest.mark.parametrize(("name", "edits", "words"), TEXTS, ids=[f"{name}-{words}" for name, _, words in TEXTS])
def test_a_learners_own_text_is_named_by_its_mistake(name, edits, words):
    puzzle = PUZZLES[name]
    own = reduce(lambda kernel, edit: kernel.edit(*edit), edits, puzzle.official)
    assert not any(same_code(own, puzzle.with_mistake(mistake)) for mistake in puzzle.mistakes)
    named = [verdict.detail for verdict in grade(puzzle, own.source) if verdict.detail.startswith("this is ")]
    assert len(named) == 1
    assert words in named[0].partition("?")[0]


def test_a_demonstration_is_named_on_any_machine(monkeypatch):
    """Also one that is too slow to try a known mistake, where the text is that of the mistake, word for word."""
    monkeypatch.setattr(grader, "WORK", -1)
    source = PUZZLES["conv2d_grad_weight"].official.edit("b < params.batch", "b < 1u").source
    named = ["this is" in str(grade(PUZZLES["conv2d_grad_weight"], text)) for text in (source, f"{source} ;")]
    assert named == [True, False]
