"""The checker: it accepts and refuses what a WGSL compiler does, at the same line, and settles every type and name."""

import ast
import re
from ast import literal_eval
from pathlib import Path

import pytest
from support.wgsl_programs import in_lines, programs, source

from helpers.gpu import compiled
from wgsl import Kernel, WgslError, without_comments
from wgsl.diagnostics import Refused, Unsupported
from wgsl.suggestions import CURES, wgsl_error
from wgsl.syntax.parser import parse
from wgsl.types import program
from wgsl.types.declarations import Declarations, check
from wgsl.types.kinds import F32, I32, Struct
from wgsl.words import refusals

WGSL = Path(program.__file__).parents[1]
ROOT = WGSL.parent
FILES = sorted(
    [
        *ROOT.glob("kernels/*/[0-9]*.wgsl"),
        *ROOT.glob("helpers/lessons/*/puzzles/*.wgsl"),
        *ROOT.glob("helpers/gpu/*.wgsl"),
    ]
)
RECORDS = ("NotWgsl", "Limited", "Undefined", "Unset", "Unsupported", "undefined", "Fault")
BUFFER = "@group(0) @binding(0) var<storage, read_write> output: array<f32>;\n"


def checked(text: str, entry_point: str = "main", **constants: float) -> program.Program:
    return check(Declarations(parse(text), constants), entry_point)


def here(text: str) -> tuple[int | None, str] | None:
    """Line and message of the refusal, or None."""
    try:
        checked(text)
    except (Refused, Unsupported) as error:
        refusal = wgsl_error(Kernel(text), error)
        return refusal.line, str(refusal)
    return None


def on_the_adapter(text: str) -> tuple[set[int], str] | None:
    """The lines that the compiler's message shows, and what is told of it, or None."""
    try:
        compiled.pipeline(Kernel(text), "main")
    except WgslError as error:
        drawn = re.findall(r"^ *(\d+) │", str(error.__context__), re.MULTILINE)  # the compiler's own message
        return set(map(int, drawn)), str(error)
    return None


# --- Our own kernels ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_kernel_in_the_repository_is_checked_for_every_entry_point(path):
    text = path.read_text(encoding="utf-8")
    kernel, module = Kernel(text), parse(text)
    names = re.findall(r"@workgroup_size\s*\([^)]*\)\s*fn\s+(\w+)", without_comments(text))
    assert names
    for name in names:
        made = check(Declarations(module, {}), name)
        assert made.entry.name == name
        assert made.workgroup_size == kernel.workgroup_size(name)
        assert [each.name for each in made.bindings] == [each.name for each in kernel.bindings]
        outputs = {each.name for each in made.written if each.space == "storage"}
        assert outputs or "atomicAdd" in text
        assert outputs <= {each.name for each in kernel.bindings if each.space == "storage,read_write"}


# --- Agreement with the adapter ---------------------------------------------------------------------------------


def test_right_programs_are_right_here_and_on_the_adapter():
    right = programs("right")
    refused = {taken: here(source(*taken)) for taken in right}
    assert not any(refused.values()), refused
    blocks = "\n".join(f"{{{in_lines(taken.main)}\n}}" for taken in right if not taken.module)
    assert on_the_adapter(source(blocks)) is None
    refused = {taken: on_the_adapter(source(*taken)) for taken in right if taken.module}
    assert not any(refused.values()), refused


def test_wrong_programs_are_refused_here_and_on_the_adapter_in_the_same_line():
    differing = {}
    for small_program in programs("wrong"):
        ours, theirs = here(source(*small_program)), on_the_adapter(source(*small_program))
        if not ours or not theirs or (theirs[0] and ours[0] not in theirs[0]):
            differing[small_program] = ours, theirs
    assert not differing


def test_where_the_adapter_differs_we_keep_to_the_specification():
    for small_program in programs("the adapter is laxer"):
        assert here(source(*small_program)), small_program
        assert not on_the_adapter(source(*small_program)), small_program
    for small_program in programs("the adapter is stricter"):
        assert not here(source(*small_program)), small_program
        assert on_the_adapter(source(*small_program)), small_program


def test_what_the_simulator_does_not_run_is_named_with_its_line():
    for small_program in programs("unsupported"):
        with pytest.raises(Unsupported) as caught:
            checked(source(*small_program))
        assert caught.value.feature
    text = BUFFER + "@compute @workgroup_size(1) fn main() {\n let a = dpdx(1.5);\n}"
    assert here(text)[0] == 3
    assert "built-in function `dpdx`" in here(text)[1]


def test_every_kind_of_refusal_has_its_sentence_and_every_sentence_its_refusal():
    """A sentence of a kind that is refused nowhere would stay, and nobody would notice; so would a cure of one."""
    paths = [path for room in ("types", "syntax") for path in (WGSL / room).glob("*.py")]
    nodes = [node for path in paths for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant)}
    assert {*refusals.REASONS} - texts == set()
    assert {*refusals.FEATURES} - texts == set()
    assert {*CURES} - {*refusals.REASONS} == set()
    assert len(CURES) > 25
    calls = [node for node in nodes if isinstance(node, ast.Call) and getattr(node.func, "id", "") in RECORDS]
    kinds = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert len(kinds) > 100
    assert kinds - {*refusals.REASONS, *refusals.FEATURES} == set()


# --- Layout -------------------------------------------------------------------------------------------------------

# Members; their offsets, the size and the alignment, in words.
LAYOUTS = [
    ("a: f32, b: vec3f, c: f32", "0 4 7", "8 4"),
    ("a: vec3f, b: vec3f", "0 4", "8 4"),
    ("a: f32, b: vec2u, c: f32", "0 2 4", "6 2"),
    ("a: u32, b: array<vec3f, 2>, c: i32", "0 4 12", "16 4"),
    ("a: array<f32, 3>, b: vec4f", "0 4", "8 4"),
    ("a: Inner, b: f32", "0 8", "12 4"),
    ("a: f32, b: Inner", "0 4", "12 4"),
    ("@size(16) a: f32, b: f32", "0 4", "5 1"),
    ("a: f32, @align(16) b: f32", "0 4", "8 4"),
    ("a: f32, @size(32) @align(8) b: f32, c: u32", "0 2 10", "12 2"),
    ("n: u32, rest: array<vec2f>", "0 2", "4 2"),
    ("a: atomic<u32>, b: array<atomic<i32>, 3>", "0 1", "4 1"),
]


@pytest.mark.parametrize(("members", "offsets", "size"), LAYOUTS)
def test_members_lie_where_the_specification_puts_them(members, offsets, size):
    text = "struct Inner { x: vec3f, y: vec2f }\nstruct S { " + members + " }\n"
    text += "@group(0) @binding(0) var<storage, read_write> s: S;\n@compute @workgroup_size(1) fn main() {}"
    struct = checked(text).bindings[0].type
    assert isinstance(struct, Struct)
    assert [field.offset for field in struct.fields] == [int(offset) for offset in offsets.split()]
    assert f"{struct.words} {struct.alignment}" == size


# --- The types of expressions, and the values that are known before a run --------------------------------------------


def value_of(expression: str) -> program.Expression:
    """What `let x = expression` binds."""
    return checked(source(f"let x = {expression};")).entry.body[-1].value


TYPED = [
    ("1", "i32"),
    ("1u", "u32"),
    ("1.0", "f32"),
    ("1f", "f32"),
    ("0x1p-3", "f32"),
    ("i", "u32"),
    ("i + 1", "u32"),
    ("i < 1", "bool"),
    ("global", "vec3u"),
    ("global.xy", "vec2u"),
    ("global * 2", "vec3u"),
    ("2 * global", "vec3u"),
    ("global == vec3u()", "vec3<bool>"),
    ("vec3f(global)", "vec3f"),
    ("1 << i", "i32"),
    ("1u << i", "u32"),
    ("f32(i) * 2", "f32"),
    ("select(1, 2.5, i > 1)", "f32"),
    ("select(1, 2, i > 1)", "i32"),
    ("max(i, 2)", "u32"),
    ("dot(global, global)", "u32"),
    ("length(vec3f(global))", "f32"),
    ("params", "Params"),
    ("params.shift", "i32"),
    ("tile[i]", "f32"),
    ("tile", "array<f32, 64>"),
    ("&tile", "ptr<workgroup, array<f32, 64>>"),
    ("&output[i]", "ptr<storage, f32>"),
    ("array(1, 2, 3)[i]", "i32"),
    ("vec2(1, 2.5)[i]", "f32"),
    ("array(i, 1)", "array<u32, 2>"),
    ("arrayLength(&output)", "u32"),
    ("bitcast<f32>(i)", "f32"),
    ("any(global < vec3u(1))", "bool"),
    ("atomicLoad(&counter)", "u32"),
    ("half(1)", "f32"),
    ("all(vec2(i > 1, true))", "bool"),
    ("workgroupUniformLoad(&tile[0])", "f32"),
    ("pow(f32(i), 2)", "f32"),
    ("mix(vec2f(f32(i)), vec2f(), 0.5)", "vec2f"),
    ("unpack4x8unorm(i)", "vec4f"),
    ("pack2x16float(vec2f(f32(i)))", "u32"),
    ("extractBits(i, 1, 2)", "u32"),
]
# An expression, its type, and its numbers.
CONSTANTS = [
    ("1 / 2", "i32", "0"),
    ("-7 / 2", "i32", "-3"),
    ("-7 % 3", "i32", "-1"),
    ("7 % -3", "i32", "1"),
    ("1.0 / 4", "f32", "0.25"),
    ("7.5 % 2", "f32", "1.5"),
    ("0.1 + 0.2", "f32", "0.30000001192092896"),
    ("0.1f + 0.2f", "f32", "0.30000001192092896"),
    ("1.0 / 3.0 * 3.0", "f32", "1.0"),
    ("2147483647i + 1i", "i32", "-2147483648"),
    ("0u - 1u", "u32", "4294967295"),
    ("65536u * 65537u", "u32", "65536"),
    ("4294967295 - 4294967294", "i32", "1"),
    ("9007199254740993 - 9007199254740992", "i32", "1"),
    ("16777217 * 1.0f", "f32", "16777216.0"),
    ("f32(16777217)", "f32", "16777216.0"),
    ("u32(1.9)", "u32", "1"),
    ("i32(-1.9)", "i32", "-1"),
    ("u32(-1i)", "u32", "4294967295"),
    ("u32(3000000000)", "u32", "3000000000"),
    ("bool(0.5)", "bool", "True"),
    ("f32(true)", "f32", "1.0"),
    ("bitcast<u32>(1.0)", "u32", "1065353216"),
    ("bitcast<i32>(0xffffffffu)", "i32", "-1"),
    ("~5", "i32", "-6"),
    ("~5u", "u32", "4294967290"),
    ("!true", "bool", "False"),
    ("-(-3)", "i32", "3"),
    ("1 << 4", "i32", "16"),
    ("-8 >> 1", "i32", "-4"),
    ("0xffffffffu >> 28", "u32", "15"),
    ("0x1p-3", "f32", "0.125"),
    ("1e3f", "f32", "1000.0"),
    ("0x1f", "i32", "31"),
    ("0x1.8p1", "f32", "3.0"),
    ("true && (false || true)", "bool", "True"),
    ("1 < 2", "bool", "True"),
    ("6 & 3", "i32", "2"),
    ("vec3(1, 2, 3) * 2.5", "vec3f", "2.5 5.0 7.5"),
    ("vec3(1, 2, 3).zx", "vec2i", "3 1"),
    ("vec2(1, 2) == vec2(1, 3)", "vec2<bool>", "True False"),
    ("vec4(vec2(1), 2, 3.5)", "vec4f", "1 1 2 3.5"),
    ("vec3u(7)", "vec3u", "7 7 7"),
    ("vec3()", "vec3i", "0 0 0"),
    ("vec2() + 0.5", "vec2f", "0.5 0.5"),
    ("array(1, 2.5)[0]", "f32", "1.0"),
    ("array<vec2f, 2>()", "array<vec2f, 2>", "0.0 0.0 0.0 0.0"),
    ("Params(1, 2, 3, -4).shift", "i32", "-4"),
    ("array(vec2(1, 2), vec2(3, 4))[1]", "vec2i", "3 4"),
    ("max(1, 2)", "i32", "2"),
    ("abs(-1.5)", "f32", "1.5"),
    ("clamp(5, 0, 3)", "i32", "3"),
    ("dot(vec2(1, 2), vec2(3, 4))", "i32", "11"),
    ("sqrt(16)", "f32", "4.0"),
    ("select(1, 2.5, false)", "f32", "1.0"),
    ("countOneBits(7)", "i32", "3"),
    ("round(2.5)", "f32", "2.0"),
    ("sqrt(2.0) * sqrt(2.0) == 2.0", "bool", "False"),
    ("exp(1)", "f32", "2.7182817459106445"),
    ("exp(1) - 2.718281828459045", "f32", "0.0"),
    ("1e-46", "f32", "0.0"),
    ("0x80000000u", "u32", "2147483648"),
    ("normalize(vec2(3, 4)).x", "f32", "0.6000000238418579"),
]


@pytest.mark.parametrize("row", [*TYPED, *CONSTANTS])
def test_the_type_of_an_expression_and_the_numbers_of_a_constant(row):
    expression, type, *numbers = row
    found = value_of(expression)
    assert str(found.type) == type
    for leaves in numbers:
        assert found.leaves == tuple(map(literal_eval, leaves.split()))


# --- The whole program ----------------------------------------------------------------------------------------------


def test_inputs_are_named_in_the_order_of_the_parameters_and_members():
    text = "struct In { @builtin(num_workgroups) n: vec3u, @builtin(local_invocation_index) l: u32 }\n" + BUFFER
    text += "@compute @workgroup_size(2, 3) fn main(@builtin(workgroup_id) w: vec3u, in: In) {}"
    made = checked(text)
    assert made.inputs == (("workgroup_id",), ("num_workgroups", "local_invocation_index"))
    assert made.workgroup_size == (2, 3, 1)


WRITTEN = [
    ("output[i] = 1;", "output"),
    ("let p = &output; (*p)[i] = 1;", "output"),
    ("let p = &output[i]; let q = p; *q = 1;", "output"),
    ("bump(&total);", "total"),
    ("if i > 1 {tile[i] += 1; }", "tile"),
    ("if false && i > 1 {tile[i] += 1; }", "nothing"),
    ("if true || i > 1 {tile[i] += 1; }", "tile"),
    ("for (;;) {switch i {case 1: {tile[i] = 1; return; } default: {break; } } }", "tile"),
    ("atomicAdd(&counts[i], 1);", "nothing"),
    ("atomicStore(&counts[i], 1);", "counts"),
    ("let x = output[i];", "nothing"),
    ("none();", "nothing"),
    ("fn work(n: u32) {deep(n); } ⏎ fn deep(n: u32) {output[n] = 1; } >>> work(i);", "output"),
    ("fn unused() {output[0] = 1; } >>>", "nothing"),
    ("fn one(p: ptr<private, f32>) {two(p); } ⏎ fn two(p: ptr<private, f32>) {*p = 1; } >>> one(&total);", "total"),
]


@pytest.mark.parametrize(("line", "names"), WRITTEN)
def test_what_an_entry_point_can_store_to(line, names):
    module, _, main = line.replace(" ⏎ ", "  ").rpartition(">>>")
    made = checked(source(main, module))
    found = sorted(each.name for each in made.written if each.space != "function")
    assert (", ".join(found) or "nothing") == names


def test_only_variables_that_are_used_take_memory():
    made = checked(source("tile[i] = total;"))
    assert [each.name for each in made.workgroup] == ["tile"]
    assert [each.name for each in made.private] == ["total"]


def test_overrides_have_the_values_that_are_given():
    text = "override A: u32 = 4;\noverride B = A * 2;\noverride C: f32;\noverride D = true;\n"
    text += (
        "var<workgroup> w: array<f32, A * B>;\n"
        + BUFFER
        + "@compute @workgroup_size(A, B) fn main() {\n output[0] = C;\n w[0] = f32(D);\n}"
    )
    made = checked(text, A=3, C=0.1, D=0)
    assert made.workgroup_size == (3, 6, 1)
    assert made.workgroup[0].type.count == 18
    assert [each.value.leaves for each in made.entry.body] == [(0.10000000149011612,), (0.0,)]
    with pytest.raises(Refused, match="`C` has no value"):
        checked(text)
    with pytest.raises(ValueError, match="E = 1: the kernel has no `override E`"):
        checked(text, C=1.0, E=1)
    with pytest.raises(ValueError, match=r"A = 2\.5: it must be a u32"):
        checked(text, C=1.0, A=2.5)
    with pytest.raises(ValueError, match="A = -1: it must be a u32"):
        checked(text, C=1.0, A=-1)


KERNELS = [
    (2, "@compute @workgroup_size(64) fn other() {}", "must be called `main`, not `other`"),
    (2, "@compute fn main() {}", "`@workgroup_size(...)` is missing"),
    (3, "⏎@compute @workgroup_size(0) fn main() {}", "each at least 1"),
    (3, "override T = 512u;⏎@compute @workgroup_size(T) fn main() {}", "512 threads in a workgroup"),
    (2, "@compute @workgroup_size(1, 1, 65) fn main() {}", "65 threads of a workgroup in z"),
    (3, "var<workgroup> a: array<f32, 4097>;⏎@compute @workgroup_size(1) fn main() { a[0] = 1; }", "16,388 bytes"),
    (4, "@compute @workgroup_size(1) fn main() {⏎ let n = 4u;⏎ var a: array<f32, n>;⏎}", "const context"),
    (2, "override T: u32;⏎@compute @workgroup_size(T) fn main() {}", "`T` has no value"),
    (
        2,
        "@group(0) @binding(2) var<storage> b: f32;⏎@compute @workgroup_size(1) fn main() {}",
        "none with the number 1",
    ),
    (2, "@group(1) @binding(1) var<storage> b: f32;⏎@compute @workgroup_size(1) fn main() {}", "write @group(0)"),
    (
        2,
        "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: u32) {}",
        "`workgroup_id` is a vec3u: write `g: vec3u`",
    ),
    (2, "@compute @workgroup_size(1) fn main(g: u32) {}", "needs a `@builtin(...)`"),
    (2, "struct S { g: u32 }⏎@compute @workgroup_size(1) fn main(s: S) {}", "each member of it: write"),
    (3, "@compute @workgroup_size(1) fn main() {⏎ other();⏎}⏎@compute @workgroup_size(1) fn other() {}", "called"),
]


@pytest.mark.parametrize(("line", "text", "words"), KERNELS)
def test_a_kernel_that_cannot_be_launched_is_refused(line, text, words):
    text = BUFFER + text.replace("⏎", "\n")
    found, message = here(text)
    assert words in message
    assert found == line
    theirs = on_the_adapter(text)
    assert theirs
    assert line in (theirs[0] or {line})


def test_a_name_means_what_the_innermost_block_says():
    text = source(
        "var k = 1; {var k = 2.5; output[0] = k; } output[1] = f32(k); {let f32 = 2; output[2] = half(f32(f32)); }"
    )
    assert "f32" in here(text)[1]  # the inner f32 is a number, and no conversion any more
    body = checked(source("var k = 1; {var k = 2.5; output[0] = k; } output[1] = f32(k);")).entry.body
    inner, outer = body[-2].body, body[-1]
    assert inner[0].variable is inner[1].value.reference.variable
    assert outer.value.operand.reference.variable is body[-3].variable
    assert (inner[0].variable.type, body[-3].variable.type) == (F32, I32)
