"""The checker: it accepts and refuses what a WGSL compiler does, at the same line, and settles every name."""

import ast
import re
from pathlib import Path

import pytest
from support.wgsl_programs import in_lines, programs, source
from support.wgsl_texts import checked

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


def here(text: str) -> tuple[int | None, str] | None:
    """The line and the message of the refusal; None where there is none."""
    try:
        checked(text)
    except (Refused, Unsupported) as error:
        refusal = wgsl_error(Kernel(text), error)
        return refusal.line, str(refusal)
    return None


def on_the_adapter(text: str) -> tuple[set[int], str] | None:
    """The lines that the compiler's message shows, and our message about it; None where the text compiles."""
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
        assert [variable.name for variable in made.bindings] == [binding.name for binding in kernel.bindings]
        outputs = {variable.name for variable in made.written if variable.space == "storage"}
        assert outputs or "atomicAdd" in text
        assert outputs <= {binding.name for binding in kernel.bindings if binding.space == "storage,read_write"}


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
    text = BUFFER + "@compute @workgroup_size(1) fn main() {\n subgroupBarrier();\n}"
    assert here(text)[0] == 3
    assert "built-in function `subgroupBarrier`" in here(text)[1]


def test_every_kind_of_refusal_has_its_sentence_and_every_sentence_its_refusal():
    """A sentence of a kind that is refused nowhere would stay, and nobody would notice; so would a cure of one."""
    nodes = []
    for path in (*WGSL.glob("*.py"), *WGSL.glob("[st]y*/*.py"), WGSL / "simulator/textures.py"):
        nodes += ast.walk(ast.parse(path.read_text(encoding="utf-8")))
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
    written = sorted(variable.name for variable in made.written if variable.space != "function")
    assert (", ".join(written) or "nothing") == names


def test_only_variables_that_are_used_take_memory():
    made = checked(source("tile[i] = total;"))
    assert [variable.name for variable in made.workgroup] == ["tile"]
    assert [variable.name for variable in made.private] == ["total"]


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
    assert [statement.value.leaves for statement in made.entry.body] == [(0.10000000149011612,), (0.0,)]
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
    our_line, message = here(text)
    assert words in message
    assert our_line == line
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
