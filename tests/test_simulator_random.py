"""Random WGSL: expressions and small programs give the same on the adapter and in the simulator."""

from random import Random

import numpy as np
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.random_wgsl import HEAD as DECLARATIONS
from support.random_wgsl import INPUTS as PARAMETERS
from support.random_wgsl import SCALARS, Expression, Programmer, Writer
from support.sample import ALL

from helpers import simulate
from helpers.gpu import launch

LANES = 64
SEEDS = st.integers(0, 2**32 - 1)
QUICK = settings(
    max_examples=6 if ALL else 3, phases=[Phase.generate]
)  # a failure names its text: nothing is gained by shrinking
HEAD = f"""\
@group(0) @binding(0) var<storage, read> ints: array<i32>;      // (3, {LANES})
@group(0) @binding(1) var<storage, read> uints: array<u32>;     // (3, {LANES})
@group(0) @binding(2) var<storage, read> floats: array<f32>;    // (3, {LANES})
@group(0) @binding(3) var<storage, read_write> results: array<u32>;
"""
MAIN = f"""
@compute @workgroup_size({LANES})
fn main(@builtin(local_invocation_index) lane: u32) {{"""
INPUTS = f"""
  let i0 = ints[lane]; let i1 = ints[lane + {LANES}]; let i2 = ints[lane + 2 * {LANES}];
  let u0 = uints[lane]; let u1 = uints[lane + {LANES}]; let u2 = uints[lane + 2 * {LANES}];
  let f0 = floats[lane]; let f1 = floats[lane + {LANES}]; let f2 = floats[lane + 2 * {LANES}];
  let b0 = (u0 & 1) == 1; let b1 = i0 < i1; let b2 = f0 >= f1;
"""
VECTORS = "".join(
    f"  let v{t}{n} = vec{n}({', '.join(f'{t}{k % 3}' for k in range(n))});\n" for t in "iufb" for n in (2, 3, 4)
)
NAMES = {(type, 1): [f"{type[0]}{k}" for k in range(3)] for type in SCALARS}
VECTOR_NAMES = {(type, n): [f"v{type[0]}{n}"] for type in SCALARS for n in (2, 3, 4)}


def inputs(random: Random) -> list[np.ndarray]:
    """Whole numbers, small ones and those at the ends of the ranges."""
    edges = (0, 1, 2, 3, 31, 32, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, 2**32 - 2)
    words = [
        random.choice((random.choice(edges), random.randrange(64), random.randrange(2**32))) for _ in range(6 * LANES)
    ]
    floats = [random.randint(-64, 64) for _ in range(3 * LANES)]
    ints, uints = np.array(words, np.uint32).reshape(2, -1)
    return [ints.view(np.int32), uints, np.array(floats, np.float32)]


def both(source: str, arrays: list[np.ndarray], results: int) -> tuple[np.ndarray, np.ndarray]:
    """What the adapter and the simulator write: a row of words for each result."""
    empty = np.zeros(results * LANES, np.uint32)
    theirs = launch(source, [*arrays, empty], 1)
    trace = simulate(source, [*arrays, empty], (1, 1, 1))
    unexpected = {finding.kind for finding in trace.findings} - {"index overflow"}
    assert not unexpected, (unexpected, trace.findings, source)
    return theirs.reshape(results, LANES), trace.buffers[3].reshape(results, LANES)


def differences(theirs: np.ndarray, ours: np.ndarray, arrays: list[np.ndarray]) -> str:
    """The first lane in which two rows differ: both values and the inputs."""
    lane = int(np.flatnonzero(theirs != ours)[0])
    given = {f"{n}{k}": each[lane + k * LANES].item() for n, each in zip("iuf", arrays, strict=True) for k in range(3)}
    return f"adapter {theirs[lane]}, simulator {ours[lane]}, where {given}"


# --- Expressions ----------------------------------------------------------------------------------------------------


def words_of(expression: Expression, slot: int) -> list[str]:
    """Statements that write an expression's value from a slot of the results on."""
    wanted = "u32" if expression.size == 1 else f"vec{expression.size}<u32>"
    cast = wanted if expression.type == "bool" else f"bitcast<{wanted}>"
    parts = [""] if expression.size == 1 else ["." + "xyzw"[k] for k in range(expression.size)]
    stores = [f"results[{(slot + k) * LANES} + lane] = {cast}(value{slot}){part};" for k, part in enumerate(parts)]
    return [f"let value{slot} = {expression.text};", *stores]


def expressions(seed: int) -> tuple[str, list[Expression], list[np.ndarray]]:
    """A kernel that computes 24 expressions, those expressions once for each component, and inputs for it."""
    random, body, written = Random(seed), [], []
    writer = Writer(random, {**NAMES, **VECTOR_NAMES})
    for _ in range(24):
        one = writer.concrete(writer.expression(random.choice(SCALARS), random.choice((1, 1, 1, 2, 3, 4)), 4))
        body += words_of(one, len(written))
        written += [one] * one.size
    return HEAD + MAIN + INPUTS + VECTORS + "".join(f"  {line}\n" for line in body) + "}\n", written, inputs(random)


@QUICK
@given(SEEDS)
def test_expressions(seed):
    source, written, arrays = expressions(seed)
    for one, theirs, ours in zip(written, *both(source, arrays, len(written)), strict=True):
        if one.type == "f32":
            theirs, ours = theirs.view(np.float32), ours.view(np.float32)  # as floats: the sign of a zero is open
        assert np.array_equal(theirs, ours), f"{one.text}: {differences(theirs, ours, arrays)}"


# --- Programs -------------------------------------------------------------------------------------------------------


def programs(seed: int) -> tuple[str, list[str], list[np.ndarray]]:
    """A kernel that calls four functions, the texts of those functions, and inputs for it."""
    random = Random(seed)
    programmer = Programmer(random)
    helpers = [programmer.reviser(), programmer.helper("first"), programmer.helper("second")]
    written = [programmer.function(f"program{k}", 8) for k in range(4)]
    names = ", ".join(name for names in PARAMETERS.values() for name in names)
    calls = "".join(f"  results[{k * LANES} + lane] = program{k}({names});\n" for k in range(4))
    source = "\n".join((DECLARATIONS, *helpers, *written, HEAD)) + MAIN + INPUTS + calls + "}\n"
    return source, written, inputs(random)


@QUICK
@given(SEEDS)
def test_programs(seed):
    source, written, arrays = programs(seed)
    for text, theirs, ours in zip(written, *both(source, arrays, 4), strict=True):
        assert np.array_equal(theirs, ours), f"{text}\n{differences(theirs, ours, arrays)}"
