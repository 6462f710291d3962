"""A compiler's message, as a learner reads it: the line, the cause and the cure, and nothing of the compiler's own."""

import re
from itertools import product

import pytest
from support.mistakes import HABITS, HEAD, KNOWN, LONGER, MAIN, PLACES, mutants
from support.sample import ALL, sample

from helpers.exercises import PUZZLES
from helpers.gpu import passes
from helpers.grading.grader import grade
from wgsl import Kernel, WgslError, suggestions
from wgsl.suggestions import names
from wgsl.types.declarations import INPUTS

INTERNALS = re.compile(
    r"wgpu|naga|Validation|Caused by|Shader|Scalar|Vector|Some\(|\bNone\b|Handle|Abstract|Type::|::|concretiz|"
    r"Capabilit|Expression|StorageAccess|\[\d+\]|\{\w|see msg|Sint|Uint|Bool|Tri\b|Logical|identifier|ResourceBinding"
)


def message(source: str, entry_point: str = "main", **known) -> str:
    with pytest.raises(WgslError) as caught:
        passes.pipeline(Kernel(source, **known), entry_point)
    return str(caught.value)


def refusal(source: str) -> str:
    """The message, or nothing where the text compiles."""
    try:
        passes.pipeline(Kernel(source), "main")
    except WgslError as error:
        return str(error)
    return ""


def placed(text: str) -> tuple[int, int, str]:
    """Line, column and reason of a message."""
    found = re.fullmatch(r"your kernel does not compile, line (\d+), column (\d+): (.*)", text.split("\n")[0])
    assert found, text
    return int(found[1]), int(found[2]), found[3]


def without_code(reason: str) -> str:
    """A reason without the learner's own text, which stands between backquotes."""
    return re.sub(r"`[^`]*`", "", reason)


# --- Habits -------------------------------------------------------------------------------------------------

LINES = [line for line, _, _ in HABITS]
TRIED = [(*habit, place) for habit in HABITS for place in PLACES]


@pytest.mark.parametrize(("line", "pointed_at", "cure", "place"), TRIED)
def test_a_habit_gets_its_cure_in_the_headline_with_the_right_line_and_column(line, pointed_at, cure, place):
    above, indent, below = PLACES[place]
    text = message(above + indent + line + below)
    number, column, reason = placed(text)
    assert cure in reason
    assert number == above.count("\n") + 1
    at = line.index(pointed_at) if pointed_at else len(line)
    if cure == "as in `idx != 0u`" and "&&" in line:
        at = line.index("idx >")
    assert column == len(indent) + at + 1
    assert not INTERNALS.search(without_code(reason))
    assert "\n" not in reason
    assert len(without_code(reason)) < 150


def test_there_are_many_habits_and_each_has_a_place_of_its_own():
    assert len(set(LINES)) == len(LINES) >= 60
    assert len(HABITS) * len(PLACES) >= 300


@pytest.mark.parametrize(("place", "line"), [("in a loop", "  x = 1;"), ("in a function", "\tlet h = idx / F;")])
def test_the_excerpt_is_the_line_with_its_number_and_a_caret_below_the_column(place, line):
    above, _, below = PLACES[place]
    text = message(above + line + below)
    number, column, _ = placed(text)
    _, excerpt, caret = text.split("\n")
    assert excerpt == f"{number} │ {line}"
    before = caret.removeprefix(f"{'':>{len(str(number))}} │ ")
    assert before == re.sub(r"[^\t]", " ", line[: column - 1]) + "^"


def test_a_constant_is_shown_with_the_line_that_declares_it():
    text = message(HEAD + MAIN + "  idx = 3u;\n}\n")
    assert [row[:4] for row in text.split("\n")[1:]] == ["10 │", "11 │", "   │"]


@pytest.mark.parametrize(("below", "line", "cure"), LONGER)
def test_a_mistake_of_several_lines_is_explained_where_it_is(below, line, cure):
    number, _, reason = placed(message(HEAD + below))
    assert cure in reason
    assert number == line
    assert not INTERNALS.search(without_code(reason))


@pytest.mark.parametrize(
    "word", [*names.OTHER_LANGUAGES, *names.BUILTINS, "float", "uint", "double", "float3", "uint2"]
)
def test_a_word_of_another_language_is_translated(word):
    _, _, reason = placed(message(HEAD + MAIN + f"  let h = {word}.x;\n}}\n"))
    assert "declare it before" not in reason
    assert "do you mean" not in reason
    assert re.search("WGSL|CUDA|cannot print", reason)


BUILTIN_TYPES = dict.fromkeys(INPUTS, "vec3u") | {"local_invocation_index": "u32"}


AFTER = ["", ", @builtin(num_workgroups) groups: vec3u", "\n"]


@pytest.mark.parametrize(("builtin", "after"), sample([*product(BUILTIN_TYPES, AFTER)], 8))
def test_an_id_without_a_type_is_told_its_own(builtin, after):
    text = HEAD + MAIN.replace("global_invocation_id) global: vec3u", f"{builtin}) id{after}") + "}\n"
    assert placed(message(text))[2] == f"every parameter has a type: write `id: {BUILTIN_TYPES[builtin]}`"


def test_subgroups_are_not_offered_in_any_notation():
    kernel = HEAD + MAIN + "}\n"
    parameter = kernel.replace("vec3u", "vec3u, @builtin(subgroup_size) size: u32")
    for text in ("enable subgroups;\n" + kernel, parameter):
        assert "not every adapter offers subgroup functions" in message(text)
        assert not INTERNALS.search(without_code(message(text)))


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("let i = i32(idx) - 1; var at = 0u; at = params.C * i - 1u;", "write `u32(i)`"),
        ("let i: i32 = i32(idx) * params.C;", "`params.C` is a u32, and `i32(idx)` is an i32: write `i32(params.C)`"),
        ("let h: f32 = total * step;", "and `total` is an f32: write `f32(step)`"),
        ("output[idx] = total * step;", "by `let step = 2u`, and `total` is an f32: write `f32(step)`"),
        ("let h: u32 = 5000000000;", "a u32 cannot hold `5000000000`"),
        ("let h: f16 = 1.0;", "not every adapter has `f16`"),
    ],
)
def test_a_value_that_cannot_be_stored_is_explained_by_what_is_wrong_in_it(line, cure):
    above, indent, below = PLACES["in a kernel"]
    assert cure in placed(message(above + indent + line + below))[2]


# --- Signed positions ---------------------------------------------------------------------------------------

SIGNED = [  # what a learner writes who counts positions from the padding on, from -P
    (f"let i{x} = o{x} * params.S + k{x} - params.P;", f"let i{x} = i32(o{x} * params.S + k{x}) - i32(params.P);")
    for x in "hw"
]
POSITION = "((n * params.Ci + ci) * params.H + ih) * params.W + iw"
GUARD = "if (ih >= params.H || iw >= params.W) { continue; }"


def advised(source: str) -> str:
    """A source after its advice is followed: each ``u32(x)`` or ``i32(x)`` in the place of x."""
    number, _, reason = placed(message(source))
    lines = source.split("\n")
    for cure, value in re.findall(r"`([ui]32\((.*?)\))`", reason.rpartition("write ")[2]):
        lines[number - 1] = re.sub(rf"(?<![\w.]){re.escape(value)}(?![\w.(])", cure, lines[number - 1], count=1)
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("guard", "steps"),
    [
        ("if (ih < 0 || iw < 0 || ih >= i32(params.H) || iw >= i32(params.W)) { continue; }", 1),
        ("if (ih < 0 || ih >= params.H || iw < 0 || iw >= params.W) { continue; }", 2),
        ("if (!(ih >= 0 && ih < params.H && iw >= 0 && iw < params.W)) { continue; }", 2),
    ],
)
@pytest.mark.parametrize(
    "index",
    [
        POSITION,
        "iw + params.W * (ih + params.H * (n * params.Ci + ci))",
        "(n * params.Ci + ci) * size + ih * width + iw",
    ],
)
@pytest.mark.parametrize("inside", [False, True])
def test_signed_positions_are_right_after_a_step_for_each(guard, steps, index, inside):
    names = "let width = params.W; let size = params.W * params.H;"
    edits = [*SIGNED, (GUARD, f"{names}\n{guard}"), (POSITION, index)]
    if inside:
        edits += [(f"let input_at = {index};", ""), ("input[input_at]", f"input[{index}]")]
    source = PUZZLES["conv2d"].solution.text
    for old, new in edits:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    for _ in range(steps):
        source = advised(source)
    grades = grade(PUZZLES["conv2d"], source)
    assert grades.passed == len(grades), str(grades)


# --- No false cure ------------------------------------------------------------------------------------------

FALSE = [  # a line, and what must not be said of it
    ("let h = idx // see the picture;", "divides"),
    ("let h = idx  // params", "is not read"),
    ("for (var b = 3; b >= 0; b--) { total += input[idx + b]; }", "3u"),  # a u32 would never be below 0
    ("var b = i32(idx); b = 2; let h = b + idx;", "0u"),
    ("var b = 0; output[b] = b;", "0.0"),  # b is an index
    ("let h = 1.0f * idx;", "1u"),
    ("let h = i32(idx) - 1 + params.F;", "u32(i32"),  # it may be below 0
    ("var h = 3u if (idx > 2u) { return; }", "select"),
    ("let h = vec2(1.0, 2.0) * vec3(1.0, 2.0, 3.0);", "u32"),
    ("if (idx > 3u): return;", "->"),
    ("let h = abs(f32 idx);", "var"),
    ("let h = idx / Q;", "params"),
    ("let h = idx // (see the picture)", "divides"),
    ("let h = idx // (params.F)", "divides"),
    ("let h = idx // (params); see below", "divides"),
    ("let h = i32(idx) - 1; let b = h - 1; if (h < params.F) { }", "leave out"),  # it may be below 0
    ("let b = i32(idx); let h = b - 1; if (b < params.F) { }", "leave out"),
    ("for (var b = 0; b > -3; b--) { let h = idx + b; }", "0u"),
    ("var b = 0u; b += input[idx]; output[b] = 1.0;", "0.0"),  # b is an index
    ("let hh[3] = 1.0;", "leave it out"),  # nothing is called hh
    ("max(idx) = 1.0;", "brackets"),
    ("let i = global; let h = i.x + 1u; total = idx;", "vec3u"),
    ("if (idx > 1u) + 2u) { return; }", "braces"),
    ("var h: array<> = 1.0;", "compares"),
    ("let h = idx ? 1.0 + (2.0 : 3.0);", "1.0"),  # its brackets do not fit
    ("let i = i32(idx) - 1; let h = i / params.F;", "u32(i)"),  # an i32 that may be below 0 is divided
    ("let i = i32(idx) - 1; output[idx] = f32(i * params.F);", "u32(i)"),
    ("fh = idx % params.F;", "mean"),  # idx and fh are too short to be alike
]


@pytest.mark.parametrize(("line", "said"), FALSE)
def test_a_cure_that_is_not_surely_right_is_not_given(line, said):
    above, indent, below = PLACES["in a kernel"]
    number, _, reason = placed(message(above + indent + line + below))
    assert number == above.count("\n") + 1
    assert said not in reason.replace(f"`{line}`", "")


def test_a_token_changed_at_random_is_explained_in_plain_words_and_nearly_always_in_its_line():
    refused = [(source, line, text) for source, line in mutants(400 if ALL else 150) if (text := refusal(source))]
    for source, _, text in refused:
        number, column, reason = placed(text)
        lines = source.split("\n")
        assert 1 <= number <= len(lines)
        assert 1 <= column <= len(lines[number - 1]) + 1
        assert not INTERNALS.search(without_code(reason)), reason
        assert len(text.split("\n")) <= 4
    there = [placed(text)[0] == line for _, line, text in refused]
    assert len(there) > 100
    assert sum(there) > 0.9 * len(there)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_text_that_breaks_off_anywhere_is_explained_in_its_last_lines(ending):
    source = HEAD + MAIN + KNOWN + "  if (idx > 3u) { output[idx] = total * input[step]; }\n}\n"
    for end in sample(range(len(HEAD) + len(MAIN), len(source) - 2, 5), 10):
        text = source[:end].replace("\n", ending)
        number, column, reason = placed(message(text))
        assert number >= text.rstrip().count("\n")
        assert column <= len(text.split("\n")[number - 1]) + 1
        assert not INTERNALS.search(without_code(reason))


# --- Texts within a larger kernel -------------------------------------------------------------------------------


def pasted(expression: str) -> str:
    """What is said of an expression that stands within a kernel, as lesson 06 asks for it."""
    kernel = Kernel(HEAD + "fn work(x: f32) -> f32 { return HERE; }\n" + MAIN + "  output[idx] = work(1.0);\n}\n")
    with pytest.raises(WgslError) as caught:
        passes.pipeline(kernel.paste("HERE", expression), "main")
    return str(caught.value)


@pytest.mark.parametrize(
    ("expression", "line", "column", "reason"),
    [
        ("x > 0.0 ? 1.0 : exp(x)", 1, 9, "select("),
        ("exp(x", 1, 6, "is never closed"),
        ("exp(y)", 1, 5, "nothing is called `y`"),
        ("select(exp(x),\n  1.0, x >)", 2, 11, "a value is missing after `>`"),
        ("select(exp(x),\n  1u, x > 0.0)", 1, 1, "one type"),
        ("x >", 1, 4, "a value is missing after `>`"),
        ("x > 0.0", 1, 1, "`work` returns an f32"),
        ("pow(2u, x)", 1, 1, "write `pow(f32(2u), x)`"),
    ],
)
def test_a_pasted_text_has_lines_and_columns_of_its_own(expression, line, column, reason):
    text = pasted(expression)
    number, at, said = placed(text)
    assert (number, at) == (line, column)
    assert reason in said
    assert text.split("\n")[1] == f"{line} │ {expression.split(chr(10))[line - 1]}"


def test_a_pasted_text_is_not_told_the_lines_of_the_kernel_around_it():
    assert "`x` is an f32, declared outside of your text by `x: f32`" in pasted("select(1.0, 2.0, x)")


def test_a_text_is_pasted_where_its_mark_stands_once():
    kernel = Kernel("a\nb HERE c\n").paste("HERE", "x\ny")
    assert (kernel.source, kernel.pasted) == ("a\nb \nx\ny\n c\n", range(3, 5))


# --- Without a place --------------------------------------------------------------------------------------------


def test_a_mistake_without_a_place_is_explained_in_one_line():
    kernel = HEAD + MAIN + "  output[idx] = 1.0;\n}\n"
    unknown = message(kernel, constants=(("WIDTH", 3),))
    assert re.fullmatch(r"your kernel does not compile: WIDTH = 3: .* no `override WIDTH`", unknown)
    missing = message(
        kernel.replace("@compute @workgroup_size(64)\nfn main(@builtin(global_invocation_id) ", "fn main(")
    )
    assert missing == "your kernel does not compile: no kernel is called `main`; is `@compute` or its `fn` missing?"
    assert not INTERNALS.search(unknown + missing)


@pytest.mark.parametrize("call", ["mix(1.0, 2.0, 0.5)", "ldexp(1.0, 2)", "pack2x16float(vec2(1.0, 2.0))"])
def test_a_constant_that_the_adapter_cannot_compute_is_no_fault_of_the_text(call):
    said = message(f"{HEAD}{MAIN}  const known = {call};\n}}\n")
    assert "WGSL can compute this before the run" in said
    assert f"give `{call.partition('(')[0]}` a `var`" in said


def test_a_kernel_of_another_name_is_named():
    text = message(HEAD + MAIN.replace("fn main", "fn mine") + "}\n")
    assert placed(text) == (9, 4, "the kernel must be called `main`, not `mine`")


def test_a_long_line_is_cut_in_the_excerpt():
    rows = message(HEAD + MAIN + "  et x = 1; //" + "x" * 5000 + "\n}\n").split("\n")
    assert max(map(len, rows)) < 220


def test_a_reason_in_the_compilers_own_terms_is_not_shown():
    raw = "Shader '' parsing error: Frobnicated Handle([3]) of Scalar { kind: Sint, width: 4 }\n  ┌─ wgsl:1:1\n"
    text = str(suggestions.compile_error(Kernel(HEAD + MAIN + "}"), {}, "main", raw))
    assert placed(text) == (1, 1, suggestions.UNCLEAR)


def test_the_compilers_own_messages_would_not_pass():
    for line in ("var b = 0; let h = idx + b;", "let h = 1.0 * idx;", "return 1u;", "let h = idx / Q;"):
        with pytest.raises(Exception, match=r"parsing error|validation error") as caught:
            passes.module(HEAD + MAIN + f"  {line}\n}}\n")
        assert INTERNALS.search(str(caught.value))


def test_a_notebook_shows_no_traceback():
    with pytest.raises(WgslError) as caught:
        passes.pipeline(Kernel(HEAD + MAIN + "  idx = 2u;\n}\n"), "main")
    assert caught.value.__suppress_context__
    assert caught.value._render_traceback_() == [f"WgslError: {caught.value}"]
