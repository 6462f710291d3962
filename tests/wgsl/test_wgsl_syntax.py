"""The simulator's grammar: what a text means as a tree, and the errors of one that means nothing."""

import logging
import random
import re
import time
from pathlib import Path

import pytest
import wgpu
from lark import Lark, logger
from support import mistakes
from support.messages import stored
from support.mistakes import PLACES
from support.sample import ALL, sample
from support.speakers import mistaken
from support.wgsl_programs import RICH

from helpers.gpu import compiled
from helpers.operations.kernels import KERNELS
from wgsl import Kernel, WgslError, without_comments
from wgsl.diagnostics import Lines, Refused, Unsupported
from wgsl.suggestions import wgsl_error
from wgsl.suggestions.context import TOKEN
from wgsl.syntax import parser, tree
from wgsl.syntax.parser import parse
from wgsl.syntax.tokens import CLOSE, OPEN, Tokens, marked

ROOT = KERNELS.parent
FILES = sorted([*KERNELS.glob("*/*.wgsl"), *ROOT.glob("helpers/lessons/*/puzzles/*.wgsl")])


def expression(text: str) -> tree.Expression:
    """The tree of an expression."""
    return parse(f"const x = {text};").declarations[0].value


def statements(text: str) -> tuple[tree.Statement, ...]:
    """The trees of statements."""
    return parse(f"fn f() {{\n{text}\n}}").declarations[0].body.body


def refused(source: str) -> Refused | Unsupported | None:
    """Why a text is refused; None where it is not."""
    try:
        parse(source)
    except (Refused, Unsupported) as error:
        return error
    return None


def told(node) -> str:
    """An expression with parentheses around everything."""
    match node:
        case tree.Binary(left=left, right=right):
            return f"({told(left)} {node.operator} {told(right)})"
        case tree.Unary(operand=operand):
            return f"({node.operator}{told(operand)})"
        case tree.Call(callee=callee):
            return f"{told(callee)}({', '.join(map(told, node.arguments))})"
        case tree.Index(base=base, index=index):
            return f"{told(base)}[{told(index)}]"
        case tree.Member(base=base):
            return f"{told(base)}.{node.name}"
        case tree.Name(name=name, arguments=arguments):
            return f"{name}<{', '.join(map(told, arguments))}>" if arguments else name
    return node.text


def compiler_says(source: str) -> str | None:
    """What the adapter's compiler says of a text, nothing where it is no error of parsing; None where it compiles."""
    try:
        compiled.module(source)
    except wgpu.GPUError as error:
        return "".join(re.findall("parsing error: (.*)", str(error)))
    return None


def adapter_error(source: str) -> WgslError:
    """The adapter's error about a text."""
    with pytest.raises(WgslError) as caught:
        compiled.pipeline(Kernel(source), "main")
    return caught.value


SYNTAX = re.compile(
    r"expected (?!variable|function)|invalid numeric|numeric literal|name `|Identifier|unknown attribute|"
    r"repeated attribute|A break if|brace nesting|invalid `diagnostic"
)

# --- Whole texts --------------------------------------------------------------------------------------------------


def test_the_grammar_has_one_reading(caplog):
    logger.setLevel(logging.DEBUG)
    with caplog.at_level(logging.DEBUG, logger=logger.name):
        grammar = Path(parser.__file__).with_name("wgsl.lark").read_text(encoding="utf-8")
        Lark(grammar, parser="lalr", lexer=Tokens, start="module", debug=True)
    logger.setLevel(logging.CRITICAL)
    assert "onflict" not in caplog.text
    assert "ollision" not in caplog.text


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_kernel_has_a_tree_with_all_that_it_declares(path):
    source = path.read_text(encoding="utf-8")
    declared = re.findall(r"^(?:.*?\) ?)?(?:var<.*?>|fn|const|override|struct) *(\w+)", without_comments(source), re.M)
    named = [each.name for each in parse(source).declarations]
    assert named
    assert [name for name in declared if name in named] == named


def test_a_rich_text_is_read_here_and_on_the_adapter():
    assert compiler_says(RICH) is None
    assert len(parse(RICH).declarations) == 11


def walk(node):
    """A node and all below it, except the blocks of a `loop`, whose text is more than statements."""
    nodes = [*tree.walk(node)]
    blocks = [block for each in nodes if isinstance(each, tree.Loop) for block in (each.body, each.continuing)]
    return [each for each in nodes if each not in blocks]


def shape(node):
    """A tree without its offsets."""
    if isinstance(node, tuple):
        return tuple(map(shape, node))
    if not isinstance(node, tree.Node):
        return node
    return type(node).__name__, *(shape(getattr(node, name)) for name in node.__slots__)


def again(node, text: str):
    """The tree of a piece of a text alone."""
    if isinstance(node, tree.Expression):
        return expression(text)
    if isinstance(node, tree.Function | tree.Struct):
        return parse(text).declarations[0]
    declared = isinstance(node, tree.Declaration) and (node.attributes or node.templates or node.kind == "override")
    if declared or isinstance(node, tree.Alias):
        return parse(f"{text};").declarations[0]
    if isinstance(node, tree.Result):
        return parse(f"fn f() -> {text} {{ }}").declarations[0].result
    if isinstance(node, tree.Parameter):
        return parse(f"struct S {{ {text} }}").declarations[0].members[0]
    if isinstance(node, tree.Attribute):
        member = node.name in ("align", "size", "builtin")
        host = {"group": "var x: u32;", "binding": "var x: u32;", "id": "override x = 1;"}.get(node.name, "fn f() { }")
        source = f"struct S {{ {text} x: u32 }}" if member else f"{text} {host}"
        declared = parse(source).declarations[0]
        return (declared.members[0] if member else declared).attributes[0]
    if isinstance(node, tree.Case):
        return statements(f"switch 0 {{ {text} }}")[0].cases[0]
    return statements(f"{text};")[0]


@pytest.mark.parametrize("source", [RICH, *(path.read_text(encoding="utf-8") for path in sample(FILES[::3], 5))])
def test_the_text_of_every_node_means_the_same_alone(source):
    for declared in parse(source).declarations:
        for node in walk(declared):
            text = source[node.at : node.end]
            assert text == text.strip()
            assert shape(again(node, text)) == shape(node), text
            if hasattr(node, "name"):
                assert source.startswith(node.name, node.name.at)


def test_parentheses_belong_to_what_is_around_an_expression():
    source = "const x = ((a + b)) * c;"
    product = parse(source).declarations[0].value
    assert source[product.at : product.end] == "((a + b)) * c"
    assert source[product.left.at : product.left.end] == "a + b"


def test_a_statement_ends_before_its_semicolon():
    texts = ["var x = (1);", "x = (2) ;", "x++;", "f(1);", "return (x);", "break;", "const_assert (true);"]
    source = f"fn f() {{ {' '.join(texts)} }}"
    body = parse(source).declarations[0].body.body
    assert [source[each.at : each.end] for each in body] == [text.rstrip("; ") for text in texts]


# --- Template lists -----------------------------------------------------------------------------------------------


LISTS = [
    ("a < b", "a < b"),
    ("array<f32, 4>", "array[f32, 4]"),
    ("if (a < b && c > d) {", "if (a < b && c > d) {"),
    ("if (a < b || c > d) {", "if (a < b || c > d) {"),
    ("array<vec4<f32>, 1 << 2>", "array[vec4[f32], 1 << 2]"),
    ("array<array<f32, 2>>= 3", "array[array[f32, 2]]= 3"),
    ("array<array<array<f32,2>,2>,2>", "array[array[array[f32,2],2],2]"),
    ("vec2<f32>(a, b) < vec2<f32>(c, d)", "vec2[f32](a, b) < vec2[f32](c, d)"),
    ("x = a < (b >> 1)", "x = a < (b >> 1)"),
    ("let x: vec4<f32>= y;", "let x: vec4[f32]= y;"),
    ("f(a < b, c > d)", "f(a [ b, c ] d)"),
    ("f(2u < b, c > d)", "f(2u < b, c > d)"),
    ("a < b; c > d", "a < b; c > d"),
    ("a < b == c > d", "a [ b == c ] d"),
    ("a < b = c > d", "a < b = c > d"),
    ("a<b<c>=d>e", "a<b[c]=d>e"),
    ("a <= b, c >= d", "a <= b, c >= d"),
    ("a << b, c >> d", "a << b, c >> d"),
    ("a[b < c] > d", "a[b < c] > d"),
    ("(a < b) > c", "(a < b) > c"),
    ("array<f32, (2 > 1)>", "array[f32, (2 > 1)]"),
    ("fn f() -> array<f32, 2> {", "fn f() -> array[f32, 2] {"),
]


@pytest.mark.parametrize(("code", "found"), [*LISTS, ("array <  f32 > ", "array [  f32 ] "), (f"a{OPEN}b", "a\0b")])
def test_a_sign_opens_a_list_or_compares(code, found):
    assert marked(code).translate({ord(OPEN): "[", ord(CLOSE): "]"}) == found


def test_a_list_has_expressions_and_lists():
    kind = expression("array<vec4<f32>, (N + 1) / 2,>()").callee
    assert told(kind) == "array<vec4<f32>, ((N + 1) / 2)>"


# --- Operators ----------------------------------------------------------------------------------------------------


MEANINGS = [
    ("a + b * c", "(a + (b * c))"),
    ("a - b - c", "((a - b) - c)"),
    ("a / b % c * d", "(((a / b) % c) * d)"),
    ("a + b < c * d", "((a + b) < (c * d))"),
    ("a << 1 < b", "((a << 1) < b)"),
    ("a == b && c < d && e", "(((a == b) && (c < d)) && e)"),
    ("a || b >= c + 1 || d", "((a || (b >= (c + 1))) || d)"),
    ("a & b & c", "((a & b) & c)"),
    ("a | ~b | c", "((a | (~b)) | c)"),
    ("a ^ b ^ c", "((a ^ b) ^ c)"),
    ("(a & b) == c", "((a & b) == c)"),
    ("a & (b == c)", "(a & (b == c))"),
    ("-a.b[c] * !d", "((-a.b[c]) * (!d))"),
    ("- - a", "(-(-a))"),
    ("a * *b", "(a * (*b))"),
    ("&a[0]", "(&a[0])"),
    ("f(a, b)[c].d", "f(a, b)[c].d"),
    ("(a)", "a"),
    ("((a) + (b))", "(a + b)"),
    ("a - -b", "(a - (-b))"),
    ("a && (b || c)", "(a && (b || c))"),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_operators_bind_as_the_specification_says(text, meaning):
    assert told(expression(text)) == meaning


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
    same_error(text.format(word))


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
    same_error(f"const x = {number};")


def same_error(source: str) -> None:
    """The adapter refuses a text at the same place."""
    error = refused(source)
    assert Lines(source).place(error.at) == compilers_place(source)
    ours = wgsl_error(Kernel(source), error)
    assert type(ours) is WgslError
    assert f"line {ours.line}, column {ours.column}:" in str(ours)


def compilers_place(source: str) -> tuple[int, int]:
    """The line and column that the adapter's compiler gives."""
    found = re.search(r"wgsl:(\d+):(\d+)", str(adapter_error(source).__context__))
    return int(found[1]), int(found[2])


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
    same_error(source)


# --- The same errors as the adapter's -----------------------------------------------------------------------------


def test_the_known_mistakes_are_refused_in_the_line_that_the_adapter_gives():
    rows = [row[1:3] for row in stored("compile_errors")]
    places = ("in a loop", "after a comment", "in a function")
    texts = [mistaken(place, text) for heading, text in rows for place in (places if heading in PLACES else [heading])]
    texts += [source for source, _ in mistakes.mutants(60 if ALL else 30)]
    refusals = [source for source in texts if SYNTAX.match(compiler_says(source) or "")]
    assert len(refusals) > 200
    for source in refusals:
        assert Lines(source).place(refused(source).at)[0] == compilers_place(source)[0], source


def test_a_text_that_breaks_off_anywhere_has_the_same_error_as_on_the_adapter():
    source = without_comments(mistakes.HEAD) + mistakes.MAIN + "  if (idx > 3u) { output[idx] = input[idx]; }\n}\n"
    for end in range(source.index("vec3u)"), len(source) - 2, 3):
        same_error(source[:end])


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
        said, error = compiler_says(source), refused(source)
        assert not error or 0 <= error.at <= len(source)
        if said and SYNTAX.match(said):
            assert error, source[first.start() - 20 :][:60]
            refusals += 1
        elif error and said is None:
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
