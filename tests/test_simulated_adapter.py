"""The simulator as an adapter, as in a browser without a GPU: found in `browser/wgpu` by a process outside of one."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.launcher import ROOT, python
from support.sample import at_night

Run = Callable[[str], str]

BEGIN = """
import numpy as np
import helpers
from helpers import gpu
from wgsl.simulator import run

run.MAX_STEPS, run.AT_ONCE = 2_000, 300  # so that an endless loop ends soon, and few threads take several turns

def kernel(statements):
    return '''@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) { ''' + statements + ''' }'''

def launched(statements, count=64, workgroups=1):
    numbers = np.arange(1, count + 1, dtype=np.float32)
    try:
        print(gpu.launch(kernel(statements), [numbers, np.zeros(count, np.float32)], workgroups).tolist())
    except (gpu.GpuError, helpers.WgslError) as error:
        print(f"{type(error).__name__}: {error}")
"""
RIGHT = """
from support.problems import GENERAL_VERSIONS, fitted, kind_of, require_close
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.summation.shapes import SumShape

shapes = [ConvShape(2, 2, 5, 7, 3, 3, 2, 1, 1), GemmShape(17, 5, 18, 2, "relu"), SumShape(300), ElementShape(300)]
shapes += [PoolShape(2, 3, 9, 8, 3, 2, 1), LossShape(3, 10), UpdateShape(300, 0.5, 0.25), StartShape(300, 0.25)]
for kernel in GENERAL_VERSIONS:
    shape = next(shape for shape in shapes if type(shape) is kind_of(kernel))
    require_close(kernel, fitted(kernel, shape))
print(len(GENERAL_VERSIONS))
"""


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A function that runs code where `import wgpu` finds the browser's stand-in, and returns what it prints."""
    folder = tmp_path_factory.mktemp("stand_in")
    shutil.copytree(ROOT / "browser" / "wgpu", folder / "wgpu")
    paths = os.pathsep.join(map(str, (folder, ROOT, Path(__file__).parent)))
    return lambda code: python(BEGIN + code, PYTHONPATH=paths)


def test_it_is_named_and_says_why_it_is_used(simulated: Run):
    whole = simulated("print(helpers.adapter_info())")
    for words in ("the simulator", "software: its results are right", "in no browser", "same, but take long"):
        assert words in whole
    assert whole.splitlines()[-1] in simulated("print(helpers.adapter_info().summary)")


@at_night
def test_every_version_gives_what_the_reference_gives(simulated: Run):
    assert int(simulated(RIGHT)) > 20


BROKEN = """
for statement in ("a[0] = 1u;", "a[0] = 1.0", "a[0] = b;"):
    text = "@group(0) @binding(0) var<storage, read_write> a: array<f32>; @compute @workgroup_size(1) fn main() {"
    try:
        gpu.launch(text + statement + "}", [])
    except helpers.WgslError as error:
        print(error)
"""


@at_night
def test_a_text_that_does_not_compile_gets_the_usual_message(simulated: Run):
    printed = simulated(BROKEN)
    assert printed.count("does not compile, line 1, column") == 3
    assert printed == python(BEGIN + BROKEN)  # on the adapter of this machine


CONSTANTS = """
total = helpers.Kernel("override N: f32 = 1.0; override M: f32;" + kernel("output[id.x] = N + M;"))
print(gpu.launch(total.with_constants(N=5, M=7), [np.ones(1, np.float32)] * 2)[0])
"""


def test_constants_reach_the_kernel(simulated: Run):
    assert float(simulated(CONSTANTS)) == 12


PARTS = """
from helpers.gpu.buffers import Slice, read_together, write
whole = gpu.upload(np.arange(100, dtype=np.float32), "whole")
write(Slice(whole, 256, 8), np.array([7, 8], np.float32))
print(*(part.tolist() for part in read_together([(whole, (2,)), (Slice(whole, 252, 16), (4,))])))
"""


def test_parts_of_buffers_are_written_and_copied(simulated: Run):
    assert simulated(PARTS) == "[0.0, 1.0] [63.0, 7.0, 8.0, 66.0]\n"


SUBGROUPS = """
text = "enable subgroups;" + kernel("let sum = subgroupAdd(input[id.x]); output[id.x] = sum;")
print(gpu.launch(text, [np.ones(64, np.float32), np.zeros(64, np.float32)])[0])
"""


def test_it_has_subgroups(simulated: Run):
    assert simulated(SUBGROUPS) == "32.0\n"


TURNS = """
from itertools import accumulate
from wgsl.simulator import access
access.turns = None  # all name one word, which takes a quicker way
random = np.random.default_rng(0)
for _ in range(99):
    expected, new = random.integers(0, 3, (2, 20)).astype(np.uint32)
    word = np.array([9, 1], np.uint32)
    before, after = access.exchanged("atomicCompareExchangeWeak", word, np.ones(20, int), [expected, new], new == new)
    words = [*accumulate(range(20), lambda old, i: new[i] if old == expected[i] else old, initial=1)]
    assert (before.tolist(), after.tolist(), word.tolist()) == (words[:-1], words[1:], [9, words[-1]])
"""


def test_threads_that_exchange_one_word_take_turns(simulated: Run):
    simulated(TURNS)


def test_an_access_out_of_range_raises_nothing(simulated: Run):
    ahead = "output[id.x] = input[id.x + 60u]; output[id.x + 1000u] = 9.0;"
    assert simulated(f"launched({ahead!r})") == f"{[61.0, 62.0, 63.0, 64.0] + 60 * [0.0]}\n"


def test_a_data_race_loses_updates(simulated: Run):
    assert simulated("launched('output[0] += 1.0;')") == f"{[1.0] + 63 * [0.0]}\n"


def test_what_the_simulator_refuses_is_an_error_with_advice(simulated: Run):
    code = """
launched("loop { output[0] += 1.0; if output[0] < 0.0 { break; } }")
launched("output[0] = 1.0;", workgroups=60_000)
kernel = lambda statements, old=kernel: old(statements).replace("array<f32>", "array<f32, 99>")
launched("output[0] = 1.0;")
"""
    lines = simulated(code).splitlines()
    for line, words in zip(lines, ("does every loop end?", "3,840,000 invocations", "has 256 bytes"), strict=True):
        assert line.startswith("GpuError: your kernel: ")
        assert words in line


LONG = """
from helpers.operations.summation import operations as sums
try:
    sums.total(np.ones(70_000, np.float32), kernel="1_one_thread")
except gpu.GpuError as error:
    print(error)
"""


def test_a_thread_with_too_many_rounds_is_refused_before_a_launch(simulated: Run):
    printed = simulated(LONG)
    assert "may loop 70,0" in printed
    assert "stops it after 65,535" in printed


@at_night
def test_it_keeps_what_wgpu_promises(simulated: Run, capsys: pytest.CaptureFixture):
    promises = (ROOT / "browser" / "promises.py").read_text(encoding="utf-8")
    exec(promises, {})
    assert simulated(promises) == capsys.readouterr().out
