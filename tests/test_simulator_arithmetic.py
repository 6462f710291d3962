"""WGSL's operators, conversions and built-in functions: what the simulator computes is what the adapter computes."""

from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wgsl_cases import CASES, TYPES, Case

from helpers.gpu import launch
from helpers.simulator.arithmetic.builtins import BUILTINS
from helpers.simulator.arithmetic.conversions import DTYPES, convert
from helpers.simulator.arithmetic.operators import binary, unary, wrapped

SIGNATURES = sorted({case.types for case in CASES})

# --- Values ---------------------------------------------------------------------------------------------------------

MAX, TINY, NORMAL = 3.4028234663852886e38, 1e-45, 1.1754943508222875e-38
FLOATS = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 3.9, 127.5, 2.0**23 + 1, 2.0**24 + 2, 2.0**31 - 128, 2.0**31, 2.0**32 - 256, 2.0**32]
FLOATS += [0.49999997, 0.1, 2.0**-24, 1e10, 1e20, 1e-20, TINY, NORMAL, NORMAL - 2 * TINY, MAX, np.inf]
INTEGERS = [0, 1, 2, 3, 7, 31, 32, 33, 255, 2**16, 2**24 + 1, 2**24 + 3, 2**30, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1]
INTEGERS += [2**32 - 2, 2**32 - 3, 2**32 - 7, 0x80000040, 0x80000080, 0x800000C0, 0x7FFFFFC0, 0x12345678, 0xAAAAAAAA]
WORDS = {
    "f": np.array([*FLOATS, *(-each for each in FLOATS), np.nan], np.float32).view(np.uint32),
    "i": np.array(INTEGERS, np.uint32),
    "u": np.array(INTEGERS, np.uint32),
}


def edges(types: str) -> np.ndarray:
    """Edge values in all combinations, or a few thousand of them; one row of words for each argument."""
    sizes = [len(WORDS[each]) for each in types]
    if np.prod(sizes) <= 5000:
        chosen = np.array(list(product(*map(range, sizes)))).T
    else:
        chosen = np.random.default_rng(0).integers(0, np.array(sizes)[:, None], (len(types), 4000))
    return np.stack([WORDS[each][numbers] for each, numbers in zip(types, chosen, strict=True)])


def bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


NUMBERS = {
    "f": st.one_of(
        st.floats(-4, 4, width=32), st.floats(-100, 100, width=32), st.integers(-(2**24), 2**24), st.floats(width=32)
    ).map(bits),
    "u": st.one_of(st.integers(0, 40), st.integers(0, 2**32 - 1), st.sampled_from(INTEGERS)),
}
NUMBERS["i"] = st.one_of(NUMBERS["u"], st.integers(1, 100).map(lambda each: 2**32 - each))


def rows(types: str) -> st.SearchStrategy[np.ndarray]:
    """48 times the arguments of a function."""
    row = st.tuples(*(NUMBERS[each] for each in types))
    return st.lists(row, min_size=48, max_size=48).map(lambda drawn: np.array(drawn, np.uint32).T)


# --- Both sides -----------------------------------------------------------------------------------------------------


@cache
def kernel(types: str) -> str:
    """One kernel for all functions with arguments of these types: each invocation applies all of them to one row."""
    lines = [f"let {name} = bitcast<{TYPES[each]}>(words[{i}u * n + i]);" for i, (name, each) in enumerate(zip("abcd", types, strict=False))]
    for i, case in enumerate(each for each in CASES if each.types == types):
        word = f"u32({case.expression})" if case.result == "bool" else f"bitcast<u32>({case.expression})"
        lines.append(f"results[{i}u * n + i] = {word};")
    return f"""
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
  let i = id.x;
  let n = arrayLength(&words) / {len(types)}u;
  if (i >= n) {{ return; }}
  {chr(10).join(lines)}
}}"""


def on_adapter(types: str, words: np.ndarray) -> list[np.ndarray]:
    """What the adapter computes, one array for each function with arguments of these types."""
    cases, n = [case for case in CASES if case.types == types], words.shape[1]
    results = launch(kernel(types), [words.ravel(), np.zeros(len(cases) * n, np.uint32)], -(-n // 64))
    return [read_as(row, case.result) for row, case in zip(results.reshape(len(cases), n), cases, strict=True)]


def read_as(words: np.ndarray, name: str) -> np.ndarray:
    return words.astype(bool) if name == "bool" else words.view(DTYPES[name])


def arguments(types: str, words: np.ndarray) -> list[np.ndarray]:
    return [read_as(row, TYPES[each]) for row, each in zip(words, types, strict=True)]


def differing(case: Case, given: list[np.ndarray], theirs: np.ndarray) -> np.ndarray:
    """The rows in which the adapter's result is not allowed beside ours."""
    with np.errstate(all="ignore"):
        ours = case.ours(*given)
        assert ours.dtype == DTYPES[case.result], case
        different = too_far(case, given, ours, theirs) if case.bound else unequal(ours, theirs)
        return different & ~case.free.rows(*given) if case.free else different


def unequal(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Where the bits differ, and not both are a NaN."""
    if ours.dtype != np.float32:
        return ours != theirs
    return (ours.view(np.uint32) != theirs.view(np.uint32)) & ~(np.isnan(ours) & np.isnan(theirs))


def too_far(case: Case, given: list[np.ndarray], ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Where the results differ by more than the bound allows, half a unit for our own rounding added."""
    wide, exact = [each.astype(np.float64) for each in given], ours.astype(np.float64)
    defined = np.logical_and.reduce([ordinary(each) for each in (*given, ours)]) & case.domain(*wide)
    allowed = case.bound(*wide, exact) + 0.5 * np.spacing(np.abs(ours)).astype(np.float64)
    return defined & ~(np.abs(theirs.astype(np.float64) - exact) <= allowed)


def ordinary(values: np.ndarray) -> np.ndarray:
    """Where a float is finite and not subnormal."""
    return np.isfinite(values) & ((values == 0) | (np.abs(values) >= NORMAL)) if values.dtype == np.float32 else np.True_


def compare(types: str, words: np.ndarray) -> None:
    given, wrong = arguments(types, words), []
    cases = [case for case in CASES if case.types == types]
    for case, theirs in zip(cases, on_adapter(types, words), strict=True):
        found = np.flatnonzero(differing(case, given, theirs))
        with np.errstate(all="ignore"):
            ours = case.ours(*given)
        wrong += [f"{case}: {[each[i] for each in given]} -> {ours[i]}, adapter {theirs[i]}" for i in found[:3]]
    assert not wrong, "\n" + "\n".join(wrong)


# --- Tests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("types", SIGNATURES)
def test_edge_values_give_what_the_adapter_gives(types):
    compare(types, edges(types))


@pytest.mark.parametrize("types", SIGNATURES)
def test_any_values_give_what_the_adapter_gives(types):
    @settings(max_examples=15)
    @given(rows(types))
    def check(words):
        compare(types, words)

    check()
