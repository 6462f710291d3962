"""WGSL's operators, conversions and built-in functions: what the simulator computes is what the adapter computes."""

import operator
from collections.abc import Callable
from functools import cache, partial, reduce
from itertools import product

import numpy as np
import pytest
from support import accuracy
from support.halves import has_halves, launch_halves
from support.wgsl_cases import CASES, HALVES, TYPES, Case, is_subnormal

from helpers import adapter_info, simulate
from helpers.gpu import launch
from wgsl.arithmetic.operators import DTYPES, binary, wrapped
from wgsl.simulator.trace import Trace

BY_TYPES: dict[str, list[Case]] = {}
for _case in sorted([*CASES, *HALVES], key=lambda case: case.types):
    BY_TYPES.setdefault(_case.types, []).append(_case)

# --- Values ---------------------------------------------------------------------------------------------------------

MAX, TINY, NORMAL = 3.4028234663852886e38, 1e-45, 1.1754943508222875e-38
HALVES_OF_WORDS = [0.0, 6e-8, 1.8e-7, 6.1e-5, 6.104e-5, 0.1, 0.5, 1.0, 1.5, 2.5, 3.0, 3.9, 127.5, 1023.5, 2047.0]
HALVES_OF_WORDS += [2048.0, 2050.0, 30000.0, 32768.0, 65472.0, 65504.0, np.inf]
ROUNDED = [1e-8, 5.9e-8, 2049.0, 2051.0, 65519.0, 65520.0]  # as f16: to 0, up, to an even number, and to an infinity
FLOATS = [0.0, 0.49999997, 0.5, 1.0, 1.5, 2.5, 3.0, 3.9, 127.5, 2.0**23 + 1, 2.0**24 + 2, 1e10, 1e20, MAX, np.inf]
FLOATS += [0.1, 2.0**-24, 1e-20, NORMAL, NORMAL - 2 * TINY, TINY, 2.0**31 - 128, 2.0**31, 2.0**32 - 256, 2.0**32]
INTEGERS = [0, 1, 2, 3, 7, 31, 32, 33, 255, 2**16, 2**24 + 1, 2**24 + 3, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]
INTEGERS += [2**32 - 2, 2**32 - 3, 2**32 - 7, 0x80000040, 0x80000080, 0x800000C0, 0x7FFFFFC0, 0x12345678, 0xAAAAAAAA]
INTEGERS += [2049, 2051, 65504, 65519, 65520]
FLOATS += ROUNDED
WORDS = {
    "f": np.array([*FLOATS, *(-number for number in FLOATS), np.nan], np.float32).view(np.uint32),
    "h": np.array([*HALVES_OF_WORDS, *(-number for number in HALVES_OF_WORDS), np.nan], np.float16).view(np.uint16),
    "i": np.array(INTEGERS, np.uint32),
    "u": np.array(INTEGERS, np.uint32),
}


def edges(types: str) -> np.ndarray:
    """Edge values in all combinations, or a few thousand of them; one row of words for each argument."""
    sizes = [len(WORDS[letter]) for letter in types]
    if np.prod(sizes) <= 5000:
        chosen = np.array(list(product(*map(range, sizes)))).T
    else:
        chosen = np.random.default_rng(0).integers(0, np.array(sizes)[:, None], (len(types), 4000))
    return np.stack([WORDS[letter][numbers] for letter, numbers in zip(types, chosen, strict=True)])


def drawn(types: str, count: int) -> np.ndarray:
    """Random numbers of every size; one row of words for each argument."""
    random = np.random.default_rng(count)
    rows = []
    for letter in types:
        words = random.integers(2**32, size=count, dtype=np.uint32) >> random.integers(32, size=count, dtype=np.uint32)
        if letter == "i":
            words[::2] = -words[::2]
        elif letter == "f":  # of them a half between -100 and 100, a quarter whole
            words[::2] = random.uniform(-100, 100, count)[::2].astype(np.float32).view(np.uint32)
            words[1::4] = random.integers(-(2**24), 2**24, count)[1::4].astype(np.float32).view(np.uint32)
            words[3::8] |= 1 << 31
            words[np.isnan(words.view(np.float32))] = WORDS["f"][-1]
        elif letter == "h":  # of them a half between -10 and 10
            words = random.integers(2**16, size=count, dtype=np.uint32)
            words[::2] = random.uniform(-10, 10, count)[::2].astype(np.float16).view(np.uint16)
            words[np.isnan(read_as(words, "f16"))] = WORDS["h"][-1]
        rows.append(random.permutation(words))
    return np.stack(rows)


# --- Both sides -----------------------------------------------------------------------------------------------------


def kernel(types: str, row: int | None = None) -> str:
    """One kernel for all cases with arguments of these types: each invocation takes the arguments in its row, or one.

    Each case has a line, and writes to a row of `floats` or of `results`.
    """
    i = "id.x" if row is None else f"{row}u"
    pairs = zip("abcd", types, strict=False)  # the name of each argument and the letter of its type
    lines = [f"let {name} = {argument(type, f'{j}u * n + {i}')};" for j, (name, type) in enumerate(pairs)]
    forms = {"f32": "floats[{}u * n + id.x] = {};", "bool": "results[{}u * n + id.x] = u32({});"}
    forms["f16"] = "half_results[{}u * n + id.x] = {};"
    general = "results[{}u * n + id.x] = bitcast<u32>({});"
    lines += [forms.get(case.result, general).format(j, case.expression) for j, case in enumerate(BY_TYPES[types])]
    enabled, declared = WITH_HALVES if "h" in types else ("", "")
    return f"""{enabled}
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> floats: array<f32>;
@group(0) @binding(2) var<storage, read_write> results: array<u32>;
{declared}@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  let n = arrayLength(&words) / {len(types)}u;
  if (id.x >= n) {{ return; }}
  {chr(10).join(lines)}
}}"""


WITH_HALVES = (
    "enable f16;",
    "@group(0) @binding(3) var<storage, read> halves: array<f16>;\n"
    "@group(0) @binding(4) var<storage, read_write> half_results: array<f16>;\n",
)


def argument(type: str, place: str) -> str:
    """The argument of a type at a place of the buffers."""
    return f"halves[{place}]" if type == "h" else f"bitcast<{TYPES[type]}>(words[{place}])"


def inputs(types: str) -> np.ndarray:
    """The arguments, one row of words for each; of an f16, its bits are the lowest of a word."""
    rows = np.hstack([edges(types), drawn(types, 2000)])
    return rows[:, : rows.shape[1] // 2 * 2]  # so that the f16 of each row fill whole words


def launched_by(how: Callable, types: str, row: int | None = None):
    """Return what a function makes of the kernel for these types and its buffers, such as `launch` or `simulate`."""
    words = inputs(types)
    empty = [np.zeros(len(BY_TYPES[types]) * words.shape[1], dtype) for dtype in (np.float32, np.uint32)]
    if "h" in types:
        empty += [words.ravel().astype(np.uint16).view(np.float16), np.zeros(len(empty[0]), np.float16)]
    return how(kernel(types, row), [words.ravel(), *empty], (-(-words.shape[1] // 64), 1, 1))


def by_case(types: str, *buffers: np.ndarray) -> list[np.ndarray]:
    """The results of each case, of the buffers behind the first one."""
    cases = BY_TYPES[types]
    rows = [buffer.reshape(len(cases), -1) for i, buffer in enumerate(buffers) if i != 2]
    places = {"f32": 0, "f16": 2}
    return [read_as(rows[places.get(case.result, 1)][i], case.result) for i, case in enumerate(cases)]


@cache
def simulated(types: str, row: int | None = None) -> tuple[list[np.ndarray], Trace]:
    """Return the simulator's results for each case, and the trace."""
    trace = launched_by(partial(simulate, outputs=()), types, row)
    return by_case(types, *trace.buffers[1:]), trace


def read_as(words: np.ndarray, name: str) -> np.ndarray:
    if name == "f16" and words.dtype == np.uint32:
        words = words.astype(np.uint16)
    return words.astype(bool) if name == "bool" else words.view(DTYPES[name])


def arguments(types: str, words: np.ndarray) -> list[np.ndarray]:
    return [read_as(row, TYPES[letter]) for row, letter in zip(words, types, strict=True)]


def differing(case: Case, operands: list[np.ndarray], ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The rows in which the adapter's result is not allowed beside ours."""
    with np.errstate(all="ignore"), accuracy.of(accuracy.F16 if "h" in case.types else accuracy.F32):
        different = too_far(case, operands, ours, theirs) if case.bound else unequal(ours, theirs)
        if adapter_info().kind != "software":
            different &= ~differs_on_gpus(case, operands, ours)
        if case.result == "f16" and case.expression.startswith(CHOOSING):
            different &= (ours != 0) | (theirs != 0)  # WGSL leaves the sign of such a zero open
        return different & ~case.free.rows(*operands) if case.free else different


CHOOSING = ("min", "max", "clamp", "saturate")


def differs_on_gpus(case: Case, operands: list[np.ndarray], ours: np.ndarray) -> np.ndarray:
    """The rows in which a GPU was seen to differ from both the software driver and us (an NVIDIA H200, Vulkan).

    The specification allows it to take a subnormal number for 0, to give either of two zeros as `min` or `max`, and to
    round the quotient in `a % b` of floats differently. It does not allow what `a % b` gives there where one i32 is
    negative: Vulkan leaves that open, and wgpu relies on it.
    """
    if case.expression == "a % b" and case.types in ("ii", "ff"):
        return (operands[0] < 0) | (operands[1] < 0) if case.types == "ii" else np.ones(len(ours), bool)
    floats = [numbers for numbers in (*operands, ours) if numbers.dtype.kind == "f"]
    zeros = case.expression.startswith(("min", "max", "clamp")) & (ours == 0)
    return reduce(operator.or_, ((numbers != 0) & is_subnormal(numbers) for numbers in floats), zeros)


def unequal(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return a mask of the rows in which the bits differ, and not both are a NaN."""
    if ours.dtype.kind != "f":
        return ours != theirs
    bits = f"u{ours.itemsize}"
    return (ours.view(bits) != theirs.view(bits)) & ~(np.isnan(ours) & np.isnan(theirs))


def too_far(case: Case, operands: list[np.ndarray], ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return a mask of the rows whose results differ by more than the bound, half a unit for our rounding added."""
    wide = [numbers.astype(np.float64) for numbers in operands]
    exact = ours.astype(np.float64)
    defined = reduce(operator.and_, map(ordinary, (*operands, ours))) & case.domain(*wide)
    allowed = case.bound(*wide, exact) + 0.5 * accuracy.ulp(exact)
    defined &= np.abs(exact) + allowed <= accuracy.now().largest  # else an infinity is right too
    return defined & ~(np.abs(theirs.astype(np.float64) - exact) <= allowed)


def ordinary(values: np.ndarray) -> np.ndarray:
    """Return a mask of the floats that are finite and not subnormal; of integers, all."""
    if values.dtype.kind != "f":
        return np.True_
    return np.isfinite(values) & ((values == 0) | ~is_subnormal(values))


# --- Tests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("types", BY_TYPES)
def test_a_result_is_the_adapters(types):
    values = arguments(types, inputs(types))
    if "h" in types and not has_halves():
        pytest.skip("this adapter has no numbers of 16 bits")
    our_results, _ = simulated(types)
    their_results = by_case(types, *launched_by(launch_halves if "h" in types else launch, types))
    wrong = []
    for case, ours, theirs in zip(BY_TYPES[types], our_results, their_results, strict=True):
        for i in np.flatnonzero(differing(case, values, ours, theirs))[:3]:
            wrong.append(f"{case}: {[numbers[i] for numbers in values]} -> {ours[i]}, adapter {theirs[i]}")
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize("types", BY_TYPES)
def test_one_value_for_all_gives_what_an_array_gives(types):
    for row in (0, 7, edges(types).shape[1] - 2):
        for case, one, several in zip(BY_TYPES[types], simulated(types, row)[0], simulated(types)[0], strict=True):
            assert not unequal(one, np.full_like(one, several[row])).any(), (case, row)


@pytest.mark.parametrize("types", [types for types in BY_TYPES if {*types} & {*"fh"}])
def test_a_nan_is_reported_where_it_is_born_and_nowhere_else(types):
    values = arguments(types, inputs(types))
    results, trace = simulated(types)
    # The f16 are in a buffer of floats, and a NaN that comes of an infinite input is not born in the kernel.
    not_born = {np.float32: np.isnan, np.float16: lambda numbers: ~np.isfinite(numbers)}
    floats = [numbers for numbers in values if numbers.dtype.kind == "f"]
    inherited = reduce(operator.or_, (not_born[numbers.dtype.type](numbers) for numbers in floats))
    births = {finding.source_line: finding.count for finding in trace.findings}
    lines = [line for line in trace.kernel.source.split("\n") if "id.x] = " in line]
    for case, result, line in zip(BY_TYPES[types], results, lines, strict=True):
        if ")." not in case.expression:  # another component than the one that is looked at may be a NaN
            counted = result.dtype.kind == "f" and "bitcast" not in case.expression
            assert births.get(line, 0) == np.count_nonzero(np.isnan(result) & ~inherited) * counted, case
    assert {finding.kind for finding in trace.findings} <= {"not-a-number"}


PYTHON = {"+": operator.add, "-": operator.sub, "*": operator.mul}
RANGES = {"i": range(-(2**31), 2**31), "u": range(2**32)}


@pytest.mark.parametrize("letter", "iu")
@pytest.mark.parametrize("sign", PYTHON)
def test_wrap_around_is_noticed(sign, letter):
    left, right = arguments(letter * 2, np.hstack([edges(letter * 2)[:, ::7], drawn(letter * 2, 300)]))
    outside = [PYTHON[sign](int(a), int(b)) not in RANGES[letter] for a, b in zip(left, right, strict=True)]
    assert wrapped(sign, left, right, binary(sign, left, right)) == any(outside)
    for a, b, expected in zip(left, right, outside, strict=True):  # alone, and one value for all
        some, other = np.array([a, a]), np.asarray(b)
        assert wrapped(sign, some, other, binary(sign, some, other)) == expected, (a, b)
    small = arguments(letter * 2, np.array([[0, 5, 46340], [0, 5, 46340]], np.uint32))
    assert not wrapped(sign, *small, binary(sign, *small))


MATRICES = """struct Both { a: f32, m: mat3x3f, n: mat2x2<f32> }
@group(0) @binding(0) var<storage, read> u: Both;
@group(0) @binding(1) var<storage, read_write> s: array<mat2x3f, 2>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> w: mat2x2f;
fn squared(m: mat2x2f) -> mat2x2f { return m * m; }
@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {
  var m = u.n;
  m *= 2.0; m += mat2x2f(vec2f(1), vec2f(-1)); w = m; w[i + 1u].x -= 5.0;
  let p = squared(m);
  let q = &s[1];
  y[0] = p[0][0]; y[1] = p[1][i]; y[2] = determinant(u.m); y[3] = (u.m * vec3f(1, 2, 3)).y;
  y[4] = (vec3f(1, 2, 3) * u.m).z; y[5] = transpose(s[0])[2].y; y[6] = determinant(m - 3.0 * w);
  *q = s[0] * w; s[1][i].z += 1.0; s[0] = s[0] + s[0]; m *= m; y[7] = m[1].x; y[8] = (2 * u.n - m)[i][1];
  y[9] = mat3x2(1, 2, 3, 4, 5, 6.5)[2].y + u.m[2][i + 1u]; var v = vec2f(1, 2); v *= w; y[10] = v.x; y[11] = v.y;
  let four = mat4x4f(vec4f(2, 0, 1, 1), vec4f(u.m[0], 1), vec4f(1, u.m[1]), vec4f(m[0], m[1]));
  y[12] = determinant(four); y[13] = (four * transpose(four))[1].w; y[14] = (mat4x2f(p[0], p[1], p[0], p[1])[3] * m).x;
}
"""


def test_matrices_are_what_they_are_on_the_adapter():
    numbers = np.random.default_rng(3).integers(-4, 5, (20 + 16,)).astype(np.float32)
    arrays = [numbers[:20], numbers[20:], np.zeros(15, np.float32)]
    trace = simulate(MATRICES, [arrays[0].view(np.uint32), *arrays[1:]], (1, 1, 1))
    assert trace.findings == ()
    assert np.count_nonzero(trace.buffers[2]) > 10
    for ours, theirs in zip(trace.buffers[1:], launch(MATRICES, arrays), strict=True):
        np.testing.assert_array_equal(without_padding(ours), without_padding(theirs))
    assert trace.counts.total["multiply_adds"] == 8 + 9 + 9 + 12 + 8 + 4 + 64 + 4 + 2 * 4  # of products, and two sums


def without_padding(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1, 4)[:, :3] if array.size == 16 else array
