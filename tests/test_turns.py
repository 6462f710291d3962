"""Threads: what a process makes once is made once, and nobody reads what another thread is about to change."""

import time
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from support.launcher import python
from support.sample import at_night

from helpers.data.digits import seen_and_unseen
from helpers.data.turns import turn
from helpers.gpu import run
from helpers.gpu.adapter import made_once
from helpers.gpu.compiled import Cache
from helpers.grading import student_files
from helpers.lessons.many_gpus import training as data_parallel
from helpers.network.check_layers import check_step
from helpers.network.layers import Conv2d, Linear
from helpers.network.network import Network
from helpers.network.training import Training
from wgsl import Kernel
from wgsl.types.declarations import Declarations

MIXED = "conv2d", "gradients", "products", "max_pool2d", "simulate", "refused"
FIRST_CALLS = {
    "conv2d": ("conv2d",),
    "mixed": MIXED,
    "adapters": ("list_adapters",),
    "all": (*MIXED, "learn", "report", "grade"),
}


@pytest.mark.parametrize("calls", ["conv2d", "mixed", "adapters", pytest.param("all", marks=at_night)])
def test_the_first_calls_of_eight_threads_at_once_are_right(calls):
    code = f"from support.first_calls import faults_of; print(faults_of(*{FIRST_CALLS[calls]!r}))"
    assert python(code, PYTHONPATH="tests") == "\n"


KEPT = Cache()


@pytest.mark.parametrize("once", [made_once, lambda make: lambda: KEPT.made("key", make)], ids=["device", "module"])
def test_what_a_process_needs_once_is_made_once(once):
    together, made = Barrier(4), []

    def make():
        time.sleep(0.05)  # the others come while it is made
        made.append(np.zeros(1))
        return made[-1]

    def get():
        together.wait()
        return made_or_kept()

    made_or_kept = once(make)
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(get) for _ in range(4)]
        got = [future.result() for future in futures]
    assert len(made) == 1
    assert all(value is made[0] for value in got)


def test_a_constant_that_two_threads_read_is_read_once_and_does_not_use_itself(monkeypatch):
    read, together, names = Declarations._read, Barrier(2), []

    def slowly(declarations, node):
        names.append(node.name)
        time.sleep(0.05)
        return read(declarations, node)

    def get(_):
        together.wait()
        return kernel.value("N")

    monkeypatch.setattr(Declarations, "_read", slowly)
    kernel = Kernel("const M = 2u; const N = M + 1u;")
    with ThreadPoolExecutor() as pool:
        assert [*pool.map(get, range(2))] == [3, 3]
    assert names == ["N", "M"]


# --- One network in two threads -----------------------------------------------------------------------------

SMALL = Conv2d("conv", 2, 3, stride=5), Linear("fc", 10, activation="none")
IMAGES, LABELS, *_ = seen_and_unseen()
MINE, OTHERS = slice(4), slice(4, 8)  # one size of batch, and so the same buffers


def gradient(network, some):
    recipe = data_parallel.Part(network.state()[0], some.start or 0, some.stop)
    return data_parallel.gradient_in(network, IMAGES, LABELS, recipe).numbers


def losses(network, some):
    space = network.workspace(4)
    with turn(network):
        space.compute(IMAGES[some], LABELS[some])
        return space.tensor("losses")


USES = {  # all leave the parameters as they were, but for the last three
    "logits": lambda network, some: network.logits(IMAGES[some]),
    "step": lambda network, some: network.step(IMAGES[some], LABELS[some], learning_rate=0),
    "losses": losses,
    "check": lambda network, some: bool(check_step(network, IMAGES[some], LABELS[some]).wrong),
    "gradient": gradient,
    "train": lambda network, some: Training(network, IMAGES[some], LABELS[some], batch=4).advance(1),
    "load": lambda network, some: network.load_parameters(Network(SMALL, seed=2).parameters()),
    "begin": lambda network, some: network.initialize(seed=3),
}


def used_in_the_midst(monkeypatch, network, first, second, before):
    """Return the result of the first use where a second thread comes before, or after, what it submits."""
    there, done = Event(), Event()

    def wait():
        if not there.is_set():
            there.set()
            done.wait(0.3)  # the other thread is done by then, unless it waits for this one

    def run_and_wait(*passes):
        if before:
            wait()
        run(*passes)
        wait()

    with ThreadPoolExecutor() as pool:
        network.workspace(4)
        monkeypatch.setattr("helpers.network.network.run", run_and_wait)
        returned = pool.submit(USES[first], network, MINE)
        there.wait()
        pool.submit(USES[second], network, OTHERS).add_done_callback(lambda _: done.set())
        return returned.result()


CHANGE_NOTHING = "logits", "step", "losses", "check", "gradient"


@pytest.mark.parametrize(
    ("first", "second", "before"),
    [
        *((first, "logits", True) for first in CHANGE_NOTHING if first != "check"),
        *((first, "step", False) for first in CHANGE_NOTHING),
        *(("logits", second, True) for second in USES if second != "logits"),
    ],
)
def test_two_threads_use_one_network_and_each_gets_its_own_numbers(monkeypatch, first, second, before):
    network = Network(SMALL)
    alone = USES[first](network, MINE)
    assert np.array_equal(used_in_the_midst(monkeypatch, network, first, second, before), alone)


# --- Several processes and threads, one folder ----------------------------------------------------------------

WRITER = """
import time
from concurrent.futures import ThreadPoolExecutor
from helpers.grading import student_files
my = student_files.my_folder()
(my / "{mine}").touch()
while not (my / "{other}").exists(): time.sleep(0.001)
with ThreadPoolExecutor(2) as pool:
    list(pool.map(lambda i: student_files.keep_answer(f"{mine}_{{i}}", i), range(100)))
"""


def test_two_processes_that_answer_at_once_lose_no_answer(tmp_path, monkeypatch):
    codes = WRITER.format(mine="first", other="second"), WRITER.format(mine="second", other="first")
    with ThreadPoolExecutor() as pool:
        done = [pool.submit(python, code, CONVGRAD_MY=str(tmp_path)) for code in codes]
        assert [future.result() for future in done] == ["", ""]
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    wanted = {f"first_{i}": i for i in range(100)} | {f"second_{i}": i for i in range(100)}
    assert student_files.answers() == wanted
