"""A compiler's message, as a learner reads it: the line, the cause and the cure, and nothing of the compiler's own."""

import re
from itertools import product

import pytest
from support.messages import every, said, stored
from support.mistakes import HEAD, KNOWN, MAIN, PLACES, mutants
from support.sample import ALL, sample
from support.speakers import mistaken

from helpers.gpu import compiled
from helpers.grading.grader import grade
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel, WgslError, check, suggestions
from wgsl.output import visible
from wgsl.suggestions import unknown_names
from wgsl.suggestions.foreign_names import BUILTINS
from wgsl.types.functions import INPUTS
from wgsl.words.suggestions import UNCLEAR

INTERNALS = re.compile(
    r"wgpu|naga|Validation|Caused by|Shader|Scalar|Vector|Some\(|\bNone\b|Handle|Abstract|Type::|::|concretiz|"
    r"Capabilit|Expression|StorageAccess|\[\d+\]|\{\w|see msg|Sint|Uint|Bool|Tri\b|Logical|identifier|ResourceBinding"
)


def message(source: str) -> str:
    """The message, or nothing where the text compiles."""
    try:
        compiled.pipeline(Kernel(source), "main")
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

OF_ITS_PLACE = re.compile(
    r"`let idx = global.x`|`idx: u32`|a (`let`, declared|parameter) .*|: (add|only) .*|\d+"
)  # in a reason


@every("compile_errors")
def test_a_mistake_is_explained_as_stored_at_the_line_and_column_of_its_mark(family, heading, text, message):
    """In the line above which a caret is drawn; and alike wherever a line stands."""
    assert said(family, heading, text) == message
    number, _, reason = placed(message)
    assert not INTERNALS.search(without_code(reason))
    before, mark, _ = text.replace("MAIN", MAIN).partition("▸")
    if heading not in PLACES:
        assert number == 8 + before.count("\n")
        return
    assert len(without_code(reason)) < 150
    for place, (above, indent, _) in PLACES.items() if mark else ():
        there = said(family, place, text)
        line, column, other = placed(there)
        assert (line, column) == (above.count("\n") + 1, len(indent) + len(before) + 1)
        assert OF_ITS_PLACE.sub("", other) == OF_ITS_PLACE.sub("", reason)
        excerpts = there.split("\n")[1:]
        assert f"{line} │ {visible(mistaken(place, text).split(chr(10))[line - 1], keep=chr(9))}" in excerpts


def test_there_are_many_mistakes_and_each_line_is_there_once():
    lines = [row[2] for row in stored("compile_errors")]
    assert len({*lines}) == len(lines) > 250


@pytest.mark.parametrize(
    "word", [*unknown_names.OTHER_LANGUAGES, *BUILTINS, "float", "uint", "double", "float3", "uint2"]
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
    sample(
        [
            POSITION,
            "iw + params.W * (ih + params.H * (n * params.Ci + ci))",
            "(n * params.Ci + ci) * size + ih * width + iw",
        ],
        1,
    ),
)
@pytest.mark.parametrize("inside", [False, True] if ALL else [True])
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


def test_a_token_changed_at_random_is_explained_in_plain_words_and_nearly_always_in_its_line():
    refused = [(source, line, text) for source, line in mutants(400 if ALL else 130) if (text := message(source))]
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


def test_a_name_of_a_function_above_is_not_taken_for_one_of_a_constant_below_it():
    text = "fn first() {\n  var total = 0.0;\n  total = nothing;\n}\nconst SIZE = totl;\n"
    messages = [(problem.line, problem.message) for problem in check(text)]
    where = "declare it before its first use, with"
    assert messages == [
        (3, f"nothing is called `nothing` here: {where} `let` or `var`"),
        (5, f"nothing is called `totl` here: {where} `const`"),
    ]


# --- In plain words, also what is stored of pasted texts and of mistakes without a place ------------------------------


def test_a_reason_in_the_compilers_own_terms_is_not_shown():
    raw = "Shader '' parsing error: Frobnicated Handle([3]) of Scalar { kind: Sint, width: 4 }\n  ┌─ wgsl:1:1\n"
    text = str(suggestions.compile_error(Kernel(HEAD + MAIN + "}"), {}, "main", raw))
    assert placed(text) == (1, 1, UNCLEAR)


def test_the_compilers_own_messages_would_not_pass():
    for line in ("var b = 0; let h = idx + b;", "let h = 1.0 * idx;", "return 1u;", "let h = idx / Q;"):
        with pytest.raises(Exception, match=r"parsing error|validation error") as caught:
            compiled.module(HEAD + MAIN + f"  {line}\n}}\n")
        assert INTERNALS.search(str(caught.value))
    assert not [row for *_, row in stored("pasted") if INTERNALS.search(without_code(row))]


def test_a_notebook_shows_no_traceback():
    with pytest.raises(WgslError) as caught:
        compiled.pipeline(Kernel(HEAD + MAIN + "  idx = 2u;\n}\n"), "main")
    assert caught.value.__suppress_context__
    assert caught.value._render_traceback_() == [f"WgslError: {caught.value}"]
