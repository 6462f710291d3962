"""The simulator's grammar: what a text means as a tree; `test_wgsl_refused.py` has the texts that mean nothing."""

import re

import pytest
from support.sample import sample
from support.wgsl_programs import RICH
from support.wgsl_texts import compiler_says, expression, statements

from helpers.operations.kernels import KERNELS
from wgsl import without_comments
from wgsl.syntax import tree
from wgsl.syntax.parser import parse
from wgsl.syntax.tokens import CLOSE, OPEN, marked

ROOT = KERNELS.parent
FILES = sorted([*KERNELS.glob("*/*.wgsl"), *ROOT.glob("helpers/lessons/*/puzzles/*.wgsl")])


def in_parentheses(node) -> str:
    """An expression with parentheses around everything."""
    match node:
        case tree.Binary(left=left, right=right):
            return f"({in_parentheses(left)} {node.operator} {in_parentheses(right)})"
        case tree.Unary(operand=operand):
            return f"({node.operator}{in_parentheses(operand)})"
        case tree.Call(callee=callee):
            return f"{in_parentheses(callee)}({', '.join(map(in_parentheses, node.arguments))})"
        case tree.Index(base=base, index=index):
            return f"{in_parentheses(base)}[{in_parentheses(index)}]"
        case tree.Member(base=base):
            return f"{in_parentheses(base)}.{node.name}"
        case tree.Name(name=name, arguments=arguments):
            return f"{name}<{', '.join(map(in_parentheses, arguments))}>" if arguments else name
    return node.text


# --- Whole texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_kernel_has_a_tree_with_all_that_it_declares(path):
    source = path.read_text(encoding="utf-8")
    declared = re.findall(r"^(?:.*?\) ?)?(?:var<.*?>|fn|const|override|struct) *(\w+)", without_comments(source), re.M)
    named = [declaration.name for declaration in parse(source).declarations]
    assert named
    assert [name for name in declared if name in named] == named


def test_a_rich_text_is_read_here_and_on_the_adapter():
    assert compiler_says(RICH) is None
    assert len(parse(RICH).declarations) == 11


def walk(node):
    """A node and all below it, except the blocks of a `loop`, whose text is more than statements."""
    nodes = [*tree.walk(node)]
    loops = [node for node in nodes if isinstance(node, tree.Loop)]
    blocks = [*(loop.body for loop in loops), *(loop.continuing for loop in loops)]
    return [node for node in nodes if node not in blocks]


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
    assert [source[statement.at : statement.end] for statement in body] == [text.rstrip("; ") for text in texts]


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


@pytest.mark.parametrize(("code", "expected"), [*LISTS, ("array <  f32 > ", "array [  f32 ] "), (f"a{OPEN}b", "a\0b")])
def test_a_sign_opens_a_list_or_compares(code, expected):
    assert marked(code).translate({ord(OPEN): "[", ord(CLOSE): "]"}) == expected


def test_a_list_has_expressions_and_lists():
    kind = expression("array<vec4<f32>, (N + 1) / 2,>()").callee
    assert in_parentheses(kind) == "array<vec4<f32>, ((N + 1) / 2)>"


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
    assert in_parentheses(expression(text)) == meaning
