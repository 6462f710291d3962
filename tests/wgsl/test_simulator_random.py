"""Random WGSL: small programs, with expressions of every type, give the same on the adapter and in the simulator."""

import re
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.halves import has_halves, launch_halves
from support.random_wgsl import INPUTS, Writer
from support.sample import ALL, at_night

from helpers.gpu import launch
from wgsl import simulate

LANES, FUNCTIONS = 64, 4
MAIN = f"""
@group(0) @binding(0) var<storage, read> ints: array<i32>;      // (2, {LANES})
@group(0) @binding(1) var<storage, read> uints: array<u32>;     // (2, {LANES})
@group(0) @binding(2) var<storage, read> floats: array<f32>;    // (1, {LANES})
@group(0) @binding(3) var<storage, read_write> results: array<u32>;
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) lane: u32) {{
  let i0 = ints[lane]; let i1 = ints[lane + {LANES}]; let u0 = uints[lane]; let u1 = uints[lane + {LANES}];
  let f0 = floats[lane]; let b0 = (u0 & 1) == 1;
"""


def inputs(random: Random) -> list[np.ndarray]:
    """Whole numbers, small ones and those at the ends of the ranges."""
    edges = (0, 1, 2, 3, 31, 32, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32 - 2)
    words = [
        random.choice((random.choice(edges), random.randrange(64), random.randrange(2**32))) for _ in range(4 * LANES)
    ]
    ints, uints = np.array(words, np.uint32).reshape(2, -1)
    floats = np.array([random.randint(-64, 64) for _ in range(LANES)], np.float32)
    return [ints.view(np.int32), uints, floats, np.zeros(FUNCTIONS * LANES, np.uint32)]


def program(random: Random) -> tuple[str, list[str]]:
    """A kernel that calls some functions, and the texts of those functions."""
    writer = Writer(random)
    kinds = {"revised": "reviser", "one": "helper", "two": "helper"}
    helpers = [writer.function(*pair) for pair in kinds.items()]
    functions = [writer.function(f"program{k}") for k in range(FUNCTIONS)]
    inputs = ", ".join(variable.name for variable in INPUTS)
    calls = [f"results[{k * LANES} + lane] = program{k}({inputs});" for k in range(FUNCTIONS)]
    return "\n".join((writer.write("head"), *helpers, *functions, MAIN, *calls, "}")), functions


@settings(max_examples=8 if ALL else 2, phases=[Phase.generate])  # nothing is gained by shrinking: see the text
@given(st.integers(0, 2**32 - 1))
def test_the_adapter_and_the_simulator_give_the_same(seed):
    source, functions = program(Random(seed))
    assert_the_same(source, functions, inputs(Random(seed)), lambda arrays: launch(source, arrays, 1))


HALVES = [(r"\bf32\b", "f16"), (r"\b(vec\d)f\b", r"\1h"), (r"\b(\d+\.?)f\b", r"\1h")]  # of the same program


@at_night
@pytest.mark.parametrize("seed", range(4))
def test_they_give_the_same_with_numbers_of_16_bits(seed):
    if not has_halves():
        pytest.skip("this adapter has no numbers of 16 bits")
    source, functions = program(Random(seed))
    for pattern, replacement in HALVES:
        source = re.sub(pattern, replacement, source)
    source = f"enable f16;\n{source}"
    arrays = inputs(Random(seed))
    arrays[2] = arrays[2].astype(np.float16)
    assert_the_same(source, functions, arrays, lambda arrays: launch_halves(source, arrays)[-1])


def assert_the_same(source: str, functions: list[str], arrays: list[np.ndarray], launched: Callable) -> None:
    """Assert that each function of a program gives the same on the adapter and in the simulator."""
    trace = simulate(source, arrays, (1, 1, 1))
    assert {finding.kind for finding in trace.findings} <= {"index overflow"}, source
    results = zip(functions, trace.buffers[3].reshape(-1, LANES), launched(arrays).reshape(-1, LANES), strict=True)
    for text, ours, theirs in results:
        for lane in np.flatnonzero(ours != theirs)[:1]:
            numbers = [array.reshape(-1, LANES)[:, lane].tolist() for array in arrays[:3]]
            raise AssertionError(f"{text}\nadapter {theirs[lane]}, simulator {ours[lane]}, where {numbers}")
