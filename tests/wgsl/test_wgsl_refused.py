"""Texts that mean nothing: they are refused at the place at which the adapter refuses them."""

import random
import re
import time

import pytest
from support import mistakes
from support.messages import stored
from support.mistakes import PLACES
from support.sample import ALL
from support.speakers import mistaken
from support.wgsl_programs import RICH
from support.wgsl_texts import (
    adapter_error,
    assert_same_error,
    compiler_says,
    compilers_place,
    expression,
    refused,
)

from wgsl import Kernel, without_comments
from wgsl.diagnostics import Lines, Refused
from wgsl.suggestions import wgsl_error
from wgsl.suggestions.context import TOKEN

SYNTAX = re.compile(
    r"expected (?!variable|function)|invalid numeric|numeric literal|name `|Identifier|unknown attribute|"
    r"repeated attribute|A break if|brace nesting|invalid `diagnostic"
)

# --- Operators ----------------------------------------------------------------------------------------------------


AMBIGUOUS = [
    ("a & b == c", "== &"),
    ("a == b & c", "== &"),
    ("a << b + c", "+ <<"),
    ("a + b << c", "+ <<"),
    ("a << b << c", "<< <<"),
    ("a && b || c", "&& ||"),
    ("a || b && c", "&& ||"),
    ("a | b & c", "& |"),
    ("a ^ b | c", "^ |"),
    ("a & b + c", "+ &"),
    ("a && b & c", "& &&"),
    ("a < b == c", "< =="),
    ("1 < b < c", "< <"),
    ("a == b != c", "== !="),
    ("a * b ^ 2", "* ^"),
]


@pytest.mark.parametrize(("text", "signs"), AMBIGUOUS)
def test_operators_that_need_parentheses_are_refused_by_name(text, signs):
    error = refused(f"const x = 1;\nconst y = ({text}) + 1;")
    assert isinstance(error, Refused)
    assert re.findall(r"`[^`]* (\S+) b && b (\S+) c`|`(\S+)` and `(\S+)`", error.reason)
    assert all(sign in error.reason for sign in signs.split())
    raised = wgsl_error(Kernel("const x = 1;\nconst y = (" + text + ") + 1;"), error)
    assert (raised.line, raised.column) == (2, 12)
    assert str(raised).endswith("^" * len(text))


# --- Names, numbers, attributes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["if", "fn", "let", "true", "var", "partition", "target", "_", "__x", "override"])
@pytest.mark.parametrize("text", ["const {} = 1;", "fn {}() {{ }}", "struct S {{ {}: u32 }}", "fn f() {{ a.{} = 1; }}"])
def test_a_word_of_wgsl_is_no_name_as_on_the_adapter(word, text):
    assert_same_error(text.format(word))


@pytest.mark.parametrize("text", ["let x = {};", "let x: {} = 1;", "{} = 3;", "f({}, {});", "var<{}> x = 1;"])
@pytest.mark.parametrize("word", ["enable", "struct", "self"])
def test_a_word_of_wgsl_is_no_value(word, text):
    error = refused(f"fn f() {{ {text.format(word, word)} }}")
    assert error.reason == f"nothing is called `{word}` here"


NUMBERS = "0 7u 12i 0x1fu 0XAi 1.5 .5 1. 1.e3 1e3f 2.5E-3f 0f 12f 0x1p4 0x.8 0xA.8p-2f 4294967295u"
NO_NUMBERS = (
    "4294967296u 2147483648i 9223372036854775808 012 0x 1e 0x. 1e400 3.0e99f 0x1p128f 0x1.000001p0f 1.5u 2U 3.0i 1_0 "
    "0xg 5x"
)


@pytest.mark.parametrize("number", NUMBERS.split())
def test_a_number_is_kept_as_it_is_written(number):
    assert expression(number).text == number
    assert compiler_says(f"const x = {number};") is None


@pytest.mark.parametrize("number", NO_NUMBERS.split())
def test_what_is_no_number_is_refused_as_on_the_adapter(number):
    assert_same_error(f"const x = {number};")


MISTAKES = """
@foo fn f() { }
@compute(3) fn f() { }
@workgroup_size fn f() { }
@workgroup_size(1 2) fn f() { }
@workgroup_size() fn f() { }
@workgroup_size(1, 2, 3, 4) fn f() { }
@group(0, 1) @binding(0) var<uniform> x: f32;
fn f(a: f32 b: f32) { }
struct S { a: f32 b: f32 }
@compute @compute fn f() { }
@align(4) fn f() { }
fn f(@compute x: u32) { }
fn f(@builtin(3) x: u32) { }
struct S { @size(4) @size(8) a: f32 }
fn f() { @compute { } }
@ fn
enable foo;
requires foo;
diagnostic(warn, derivative_uniformity);
fn f() { loop { continuing { break; } } }
fn f() { break if true; }
fn f() { switch 1 { foo } }
fn f() { for (3;;) { } }
fn f() { for (;;3) { } }
fn f() { * 3 = 4; }
fn f() { let x: array<f32, 4 5> = 1; }
fn f() { /* never /* nested */ }
fn f() { let x = 1
fn f(
}
let x = 3;
"""


@pytest.mark.parametrize(
    "source",
    [
        *MISTAKES.strip().split("\n"),
        "fn f() { }\nenable f16;",
        "fn f() /* never\n { }",
        "fn f() { let x² = 1; }",
        "fn f() { let x = a\uf8feb\uf8ff; }",
        "fn f() {\r\n\tlet é = 1\r\n}\r\n",
        "fn f() {" + "{" * 127 + "}" * 128,
    ],
)
def test_other_mistakes_are_refused_as_on_the_adapter(source):
    assert_same_error(source)


# --- The same errors as the adapter's -----------------------------------------------------------------------------


def test_the_known_mistakes_are_refused_in_the_line_that_the_adapter_gives():
    texts = []
    for _, heading, text, _ in stored("compile_errors"):
        places = ["in a loop", "after a comment", "in a function"] if heading in PLACES else [heading]
        texts += [mistaken(place, text) for place in places]
    texts += [source for source, _ in mistakes.mutants(60 if ALL else 30)]
    refusals = [source for source in texts if SYNTAX.match(compiler_says(source) or "")]
    assert len(refusals) > 200
    for source in refusals:
        assert Lines(source).place(refused(source).at)[0] == compilers_place(source)[0], source


def test_a_text_that_breaks_off_anywhere_has_the_same_error_as_on_the_adapter():
    source = without_comments(mistakes.HEAD) + mistakes.MAIN + "  if (idx > 3u) { output[idx] = input[idx]; }\n}\n"
    for end in range(source.index("vec3u)"), len(source) - 2, 3):
        assert_same_error(source[:end])


def test_the_adapters_errors_have_a_line_and_a_column():
    error = adapter_error("const x = 1;\nconst y = ;")
    assert (error.line, error.column) == (2, 11)


# --- Any text -----------------------------------------------------------------------------------------------------

# Where the compiler and the specification differ; the grammar follows the specification.
LENIENT = r"stand side by side|form no chain|need parentheses"  # the compiler mixes operators as C does
STRICT = (  # the compiler refuses what the specification allows
    "const_assert (1) < 2;",
    "fn f() { @diagnostic(off, derivative_uniformity) if true { } }",
    "fn f() @diagnostic(off, derivative_uniformity) { }",
)


@pytest.mark.parametrize("source", STRICT)
def test_what_only_the_adapter_refuses_is_read(source):
    assert compiler_says(source)
    assert refused(source) is None


def test_a_changed_text_is_refused_here_where_the_adapter_refuses_its_syntax():
    chance, tokens, refusals = random.Random(8), list(TOKEN.finditer(RICH)), 0
    for _ in range(200 if ALL else 100):
        i = chance.randrange(len(tokens) - 1)
        first, second, other = tokens[i], tokens[i + 1], chance.choice(tokens)[0]
        new = chance.choice([second[0], f"{first[0]} {first[0]} {second[0]}", f"{second[0]} {first[0]}", other])
        source = RICH[: first.start()] + new + RICH[second.end() :]
        theirs = compiler_says(source)
        error = refused(source)
        assert not error or 0 <= error.at <= len(source)
        if theirs and SYNTAX.match(theirs):
            assert error, source[first.start() - 20 :][:60]
            refusals += 1
        elif error and theirs is None:
            assert re.search(LENIENT, error.reason), error.reason
    assert refusals > (120 if ALL else 60)


@pytest.mark.parametrize(
    "text",
    [
        "x" * 10_000,
        "fn f() { " + "x " * 10_000,
        "fn f() { let x = " + "(" * 10_000,
        "fn f() { let x = " + "(" * 10_000 + "1" + ")" * 10_000 + "; }",
        "fn f() { let x = " + "- " * 10_000 + "1; }",
        "fn f() { let x = " + "a[" * 10_000 + "1" + "]" * 10_000 + "; }",
        "fn f() { if a { } " + "else if a { } " * 5_000 + "}",
        "fn f() { f(" + "if, " * 50_000 + "1); }",
        "fn f() { let x = " + "a<(" * 5_000 + ")" * 5_000 + "; }",
        "fn f() " + "{" * 10_000,
        "/*" * 10_000,
    ],
    ids=["letters", "words", "open", "parentheses", "signs", "indices", "else if", "if", "lists", "blocks", "comments"],
)
def test_a_long_or_deep_text_is_read_or_refused_soon(text):
    begun = time.process_time()
    refused(text)
    assert time.process_time() - begun < 5
