"""Numbers of 16 bits: where they lie in memory, their bits, what is counted and found, and who takes such a text."""

import numpy as np
import pytest
from support.halves import has_halves, launch_halves
from support.wgsl_texts import checked

import wgsl
from wgsl import Kernel, WgslError, adapter
from wgsl.command import main
from wgsl.simulator.run import execute, size_of
from wgsl.suggestions import compile_error
from wgsl.types.kinds import Array, Struct, alignment, byte_count, leaves

BUFFER = "@group(0) @binding({}) var<storage, read_write> {}: {};\n"
MAIN = "@compute @workgroup_size({}) fn main(@builtin(local_invocation_index) i: u32) {{ {} }}"


def kernel(body: str, *types: str, threads: int = 4, declared: str = "") -> str:
    """A kernel with buffers of these types, which are called a, b, ..."""
    buffers = [
        BUFFER.format(number, name, type) for number, (name, type) in enumerate(zip("abcd", types, strict=False))
    ]
    return f"enable f16;\n{declared}\n{''.join(buffers)}{MAIN.format(threads, body)}"


def halves(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float16)


def after(body: str, *buffers: np.ndarray, types: tuple[str, ...] = ("array<f16>",), **options) -> list[np.ndarray]:
    """The buffers of a kernel after a run that finds nothing."""
    trace = wgsl.simulate(kernel(body, *types, **options), buffers, (1, 1, 1), outputs=())
    assert trace.findings == ()
    return list(trace.buffers)


# --- Layout ---------------------------------------------------------------------------------------------------------

SIZES = [  # of the specification's table "Alignment and size": size, alignment and the offset of the last number
    ("f16", 2, 2, 0),
    ("vec2h", 4, 4, 2),
    ("vec3h", 6, 8, 4),
    ("vec4h", 8, 8, 6),
    ("array<f16, 3>", 6, 2, 4),
    ("array<vec2h, 3>", 12, 4, 10),
    ("array<vec3h, 2>", 16, 8, 12),
    ("mat2x2h", 8, 4, 6),
    ("mat3x2h", 12, 4, 10),
    ("mat2x3h", 16, 8, 12),
    ("mat4x4h", 32, 8, 30),
    ("S", 24, 8, 20),
    ("array<S, 2>", 48, 8, 44),
    ("T", 16, 4, 12),
]
STRUCTS = """struct S { a: f16, b: f32, c: vec3h, d: f16, e: array<f16, 3> }
struct T { @size(5) a: f16, @align(4) b: f16, @align(4) c: f16 }
"""


@pytest.mark.parametrize(("name", "size", "align", "last"), SIZES)
def test_sizes_and_offsets_are_the_specifications(name, size, align, last):
    program = checked(kernel("a = a;", name, declared=STRUCTS))
    type = program.bindings[0].type
    offsets = [4 * offset for offset, _ in leaves(type)]
    assert (byte_count(type), 4 * alignment(type), offsets[-1]) == (size, align, last)
    assert size_of(type) == (size / 4, 0)
    if isinstance(type, Struct | Array):
        assert offsets == sorted({*offsets})


COPIES = """
  let p = &b[i];
  (*p).a = a[i].e[2] + 1; (*p).b = a[i].b * 2; (*p).c = a[i].c.zxy; (*p).d = a[i].d;
  for (var k = 0u; k < 3; k++) { b[i].e[k] = a[i].e[2 - k] + own[k]; }
  rows[i] = vec3h(a[i].c); columns[i] = mat2x3h(a[i].c, a[i].c.yzx);
  workgroupBarrier();
  b[i].c[i % 3] += rows[3 - i].y;
  c[i] = columns[3 - i] * vec2h(2, 1) + columns[i][1];
"""
DECLARED = f"""{STRUCTS}
var<workgroup> rows: array<vec3h, 4>;
var<workgroup> columns: array<mat2x3h, 4>;
var<private> own = array<f16, 3>(0.5, 0.25, 0.125);
"""


def test_memory_is_what_it_is_on_the_adapter():
    if not has_halves():
        pytest.skip("this adapter has no numbers of 16 bits")
    types = ("array<S>", "array<S, 4>", "array<vec3h>")
    numbers = np.random.default_rng(5).integers(-64, 64, (4, 12)).astype(np.float16) / 8
    buffers = [numbers.ravel().view(np.uint32), np.zeros(24, np.uint32), np.zeros(16, np.float16)]
    ours = after(COPIES, *buffers, types=types, declared=DECLARED)
    theirs = launch_halves(kernel(COPIES, *types, declared=DECLARED), buffers)
    used = [
        4 * offset // 2 for offset, _ in leaves(checked(kernel(COPIES, *types, declared=DECLARED)).bindings[1].type)
    ]
    assert len(used) > 30
    ours_of_structs, theirs_of_structs = (
        array.view(np.float16)[list(map(int, used))] for array in (ours[1], theirs[0])
    )
    np.testing.assert_array_equal(ours_of_structs, theirs_of_structs)
    np.testing.assert_array_equal(*(array.reshape(4, 4)[:, :3] for array in (ours[2], theirs[1])))
    assert np.count_nonzero(ours[2]) > 8


def test_an_adapter_without_a_gpu_changes_the_buffers_it_is_given():
    program = checked(kernel("a[i] += f16(b[3 - i].b); b[i].d = a[i];", "array<f16>", "array<S, 4>", declared=STRUCTS))
    buffers = [halves(1, 2, 3, 4).view(np.uint32), np.zeros(24, np.uint32)]
    buffers[1].view(np.float32)[1::6] = [10, 20, 30, 40]
    execute(program, buffers, (1, 1, 1))
    assert buffers[0].view(np.float16).tolist() == [41, 32, 23, 14]
    assert buffers[1].view(np.float16)[7::12].tolist() == [41, 32, 23, 14]
    assert buffers[1].view(np.float32)[1::6].tolist() == [10, 20, 30, 40]


@pytest.mark.parametrize(
    ("type", "numbers", "message"),
    [
        ("array<f16, 3>", halves(1, 2), "has 2 numbers: `array<f16, 3>` needs 3 float16$"),
        ("array<vec3h>", halves(1, 2), "has 2 numbers: `array<vec3h>` needs 4 float16, or 4 more for each"),
        ("array<f16>", np.zeros(2, np.float32), "has dtype float32: `array<f16>` needs float16"),
        ("array<f32>", halves(1, 2), "has dtype float16: `array<f32>` needs float32"),
    ],
)
def test_a_buffer_that_does_not_fit_is_refused(type, numbers, message):
    with pytest.raises(ValueError, match=message):
        wgsl.simulate(kernel("_ = a[i];", type), [numbers], (1, 1, 1))


# --- Values ---------------------------------------------------------------------------------------------------------


def test_bits_are_those_of_two_halves_in_a_word():
    words = np.array([0x3C004000, 0xC500B800, 0x7BFF0001, 0x12345678], np.uint32)
    body = """
      let h = bitcast<vec2h>(a[i]); b[2 * i] = h.x; b[2 * i + 1] = h.y; c[i] = bitcast<u32>(h.yx);
      let two = bitcast<vec4h>(vec2f(bitcast<f32>(a[i]), 1)); d[i] = bitcast<vec2i>(two).x + i32(two.w != 0);"""
    types = ("array<u32>", "array<f16>", "array<u32>", "array<i32>")
    empty = [np.zeros(8, np.float16), np.zeros(4, np.uint32), np.zeros(4, np.int32)]
    _, numbers, swapped, joined = after(body, words, *empty, types=types)
    assert numbers.view(np.uint32).tolist() == words.tolist()
    assert swapped.tolist() == ((words >> 16) | (words << 16)).tolist()
    assert joined.tolist() == (words.view(np.int32) + 1).tolist()


def test_a_fraction_and_an_exponent_are_those_of_numpy():
    numbers = halves(0, 1, -2.5, 65504, 6e-8, 0.1, 1024.5, -0.0004)
    body = "let f = frexp(a[i]); b[i] = f.fract; c[i] = f.exp; b[i + 8] = frexp(vec3h(a[i])).fract.y;"
    empty = [np.zeros(16, np.float16), np.zeros(8, np.int32)]
    _, fractions, exponents = after(body, numbers, *empty, types=("array<f16>", "array<f16>", "array<i32>"), threads=8)
    expected = np.frexp(numbers)
    assert fractions.tolist() == [*expected[0], *expected[0]]
    assert exponents.tolist() == expected[1].tolist()


CONSTANTS = [
    ("2049.0h", "f16", 2048.0),
    ("2051", "f16", 2052.0),
    ("0.1", "f16", 0.0999755859375),
    ("2048h + 1", "f16", 2048.0),
    ("65504h - 0.5", "f16", 65504.0),
    ("1h / 3", "f16", 0.333251953125),
    ("0x1p-24h", "f16", 2.0**-24),
    ("0x1p-24h / 2", "f16", 0.0),
    ("f32(0.1h)", "f32", 0.0999755859375),
    ("f16(2051u)", "f16", 2052.0),
    ("i32(-2.9h)", "i32", -2),
    ("u32(-2.9h)", "u32", 0),
    ("fma(2049.0h, 3h, -6144h)", "f16", 0.0),
    ("exp(1h)", "f16", 2.71875),
    ("bitcast<u32>(vec2h(1, 2))", "u32", 0x40003C00),
    ("bitcast<vec2h>(0x40003c00u).y", "f16", 2.0),
    ("determinant(mat2x2h(3, 1, 2, 4))", "f16", 10.0),
    ("(mat2x2h(1, 2, 3, 4) * vec2(1h, 2)).y", "f16", 10.0),
    ("f32(mat2x2f(mat2x2h(0.1, 2, 3, 4))[0].x)", "f32", 0.0999755859375),
]


@pytest.mark.parametrize(("expression", "type", "number"), CONSTANTS)
def test_a_constant_is_rounded_to_16_bits_at_each_operation(expression, type, number):
    declared = f"const x: {type} = {expression};"
    program = checked(kernel("a = x;", type, declared=declared))
    assert program.entry.body[-1].value.leaves == (number,)


def test_an_override_is_a_number_of_16_bits():
    text = kernel("a[i] = X;", "array<f16>", declared="override X: f16 = 1;")
    for given, number in ((None, 1), (0.1, 0.0999755859375), (2049, 2048)):
        constants = {} if given is None else {"X": given}
        trace = wgsl.simulate(text, [halves(0, 0, 0, 0)], (1, 1, 1), constants=constants)
        assert trace.buffers[0].tolist() == [number] * 4
    with pytest.raises(ValueError, match="X = 70000: it is too large for an f16, whose largest number is 65504"):
        wgsl.simulate(text, [halves(0, 0, 0, 0)], (1, 1, 1), constants={"X": 70000})


# --- What is found, and counted -------------------------------------------------------------------------------------


def test_a_nan_is_named_where_it_is_born_also_behind_a_conversion():
    body = "let x = a[i] - a[i];\nlet n = x / x;\nlet wide = f32(n) + 1;\na[i] = f16(wide) * 2;"
    (finding,) = wgsl.simulate(kernel(body, "array<f16>"), [halves(1, 2, 3, 4)], (1, 1, 1)).findings
    assert (finding.kind, finding.source_line, finding.count) == ("not-a-number", "let n = x / x;", 4)


@pytest.mark.parametrize(
    ("statements", "born"),
    [
        ("let n = b[i] / b[i];\na[i] = f16(n);", "let n = b[i] / b[i];"),  # NaN of f32, stored as f16
        ("let n = a[i] % a[i];\nb[i] = f32(n);", "let n = a[i] % a[i];"),
        ("let n = sqrt(a[i] - 1);\nb[i] = vec2f(vec2h(1, n)).y;", "let n = sqrt(a[i] - 1);"),
    ],
)
def test_a_conversion_keeps_where_a_nan_was_born(statements, born):
    text = kernel(f"\n{statements}", "array<f16>", "array<f32>")
    buffers = [halves(0, 0, 0, 0), np.zeros(4, np.float32)]
    (finding,) = wgsl.simulate(text, buffers, (1, 1, 1)).findings
    assert (finding.kind, finding.source_line, finding.count) == ("not-a-number", born, 4)


def test_an_infinity_alone_is_no_finding_and_the_rest_of_a_mark_is_not_stored():
    trace = wgsl.simulate(kernel("a[i] = a[i] * 2 - a[i] * 2;", "array<f16>"), [halves(1, 2, 60000, 4)], (1, 1, 1))
    assert [finding.count for finding in trace.findings] == [1]
    assert trace.buffers[0].view(np.uint16).tolist() == [0, 0, 0x7E00, 0]
    assert after("a[i] *= 2;", halves(1, 2, 60000, 4))[0].tolist() == [2, 4, np.inf, 8]


def test_two_halves_of_a_word_do_not_race_and_one_half_does():
    declared = "var<workgroup> w: array<f16, 4>;"
    assert after("w[i] = a[i]; a[i] = w[i];", halves(1, 2, 3, 4), declared=declared)[0].tolist() == [1, 2, 3, 4]
    text = kernel("w[i] = a[i]; a[i] = w[i ^ 1];", "array<f16>", declared=declared)
    kinds = {finding.kind for finding in wgsl.simulate(text, [halves(1, 2, 3, 4)], (1, 1, 1)).findings}
    assert "data race" in kinds
    vectors = kernel("if i < 2 { w[0][i] = a[i]; }", "array<f16>", declared="var<workgroup> w: array<vec3h, 4>;")
    kinds = {finding.kind for finding in wgsl.simulate(vectors, [halves(1, 2, 3, 4)], (1, 1, 1), outputs=()).findings}
    assert kinds == {"data race"}  # an access to a component may be one to the whole vector


def test_an_index_past_the_end_and_numbers_that_nobody_writes_are_found_by_their_numbers():
    trace = wgsl.simulate(kernel("a[i * 2] = 1;", "array<f16>"), [halves(0, 0, 0, 0, 0)], (1, 1, 1))
    assert [(finding.kind, finding.count) for finding in trace.findings] == [
        ("unwritten output", 2),
        ("out-of-range write", 1),
    ]
    assert "2 of the 5 numbers of `a` are never written, first number 1" in trace.findings[0].message
    assert trace.buffers[0].tolist() == [1, 0, 1, 0, 1]


def test_bytes_sectors_and_banks_are_counted_by_the_true_size():
    text = kernel(
        "w[i] = a[i]; workgroupBarrier(); a[i] = w[63 - i] * 2 + 1;",
        "array<f16>",
        threads=64,
        declared="var<workgroup> w: array<f16, 64>;",
    )
    wide = text.replace("enable f16;", "").replace("f16", "f32")
    numbers = np.arange(64)
    of_halves, of_words = (
        wgsl.simulate(source, [numbers.astype(dtype)], (1, 1, 1)).counts.total
        for source, dtype in ((text, np.float16), (wide, np.float32))
    )
    for key in ("bytes_storage", "bytes_workgroup", "sectors"):
        assert 2 * of_halves[key] == of_words[key] > 0, key
    for key in ("multiply_adds", "other_float", "loads_storage", "bank_conflicts"):
        assert of_halves[key] == of_words[key], key
    assert Kernel(text).workgroup_bytes == 128


def test_accesses_and_watched_values_have_the_halves():
    body = "let x = a[i] * 2; b[i] = vec2h(x, f16(i));"
    text = kernel(body, "array<f16>", "array<vec2h>")
    buffers = [halves(1, 2, 3, 4), np.zeros(8, np.float16)]
    trace = wgsl.simulate(text, buffers, (1, 1, 1), watch=["x"])
    assert trace.watched["x"]["value"].astype(np.uint16).view(np.float16).tolist() == [2, 4, 6, 8]
    stores = trace.accesses[trace.accesses["write"]]
    assert sorted(stores["index"]) == [*range(8)]
    assert stores["value"].astype(np.uint16).view(np.float16).tolist() == [2, 4, 6, 8, 0, 1, 2, 3]


# --- Who takes such a text ------------------------------------------------------------------------------------------


def test_a_device_without_halves_refuses_the_text_with_its_place():
    device = adapter.gpu.request_adapter_sync().request_device_sync()
    with pytest.raises(adapter.GPUValidationError, match="`f16` extension is not supported") as refused:
        device.create_shader_module(code="\nenable f16;")
    assert "wgsl:2:8" in str(refused.value)


def test_a_text_that_enables_nothing_is_refused_in_words():
    with pytest.raises(WgslError, match=r"`vec2h` needs `enable f16;` at the top of the text") as refused:
        wgsl.simulate(kernel("let x = vec2h(1);", "array<f32>").removeprefix("enable f16;"), [], (1, 1, 1))
    assert refused.value.line == 4


@pytest.mark.parametrize(
    "reason",
    [
        "the `f16` extension is not supported in the current environment",
        "extension 'f16' is not allowed in the current",
    ],
)
def test_a_compilers_refusal_is_explained(reason):
    error = compile_error(Kernel(kernel("a[i] = 1;", "array<f16>")), {}, "main", adapter.refused_text(reason, 1, 8))
    assert "line 1, column 8: the device here has no `f16`: take `enable f16;` out" in str(error)


def test_a_command_line_takes_and_gives_halves(capsys, tmp_path):
    file = tmp_path / "halves.wgsl"
    saved = tmp_path / "c.npy"
    types = ("array<f16>", "array<T, 2>", "array<f16>")
    file.write_text(kernel("c[i] = a[i] + b[i / 2].b;", *types, declared=STRUCTS))
    assert main(["run", str(file), "a=1,2,0.1,4", "b=0,8,0,0,16,0", "c=4", "--save", f"c={saved}"]) == 0
    assert np.load(saved).tolist() == halves(9, 10, 16.1, 20).tolist()
    assert main(["run", str(file), "a=70000,1,1,1", "c=4"]) == 2
    assert "70000 is no f16, which goes from -65504.0 to 65504.0" in capsys.readouterr().err
