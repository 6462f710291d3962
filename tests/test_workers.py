"""The same results whoever computes them, what a kill and an interruption cost, and workers that are refused.

One cluster of two processes on the adapter serves all tests.
"""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from support.sample import ALL

import helpers
from helpers.gpu import GpuError, adapter
from helpers.gpu.adapter import SETTINGS
from helpers.workers import WorkersError, cluster, mapped
from helpers.workers.pieces import ROOT, called, versions


def summed(piece: list) -> list[float]:
    """A piece that needs the adapter. With a file that is not there yet, it kills its process."""
    seed, file = piece
    if file and not Path(file).exists():
        Path(file).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    images = np.random.default_rng(seed).standard_normal((2, 3, 4, 5), np.float32)
    return helpers.conv2d_grad_bias(images).tolist()


def squared(x: int) -> int:
    return x * x


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with cluster._client("2") as client:
        yield client.scheduler.address


def test_two_workers_give_the_results_of_none_also_where_one_is_killed(address, tmp_path):
    pieces = [[seed, str(tmp_path / "killed") if seed == 3 else ""] for seed in range(8)]
    there = list(mapped("tests.test_workers:summed", pieces, address, tmp_path / "ledger"))
    assert (tmp_path / "killed").exists()
    assert there == [*map(summed, pieces)]
    kept = [json.loads(line)["result"] for line in (tmp_path / "ledger").read_text().splitlines()]
    assert sorted(kept) == sorted(there)


def test_a_run_that_was_stopped_goes_on_where_it_was(tmp_path, capsys):
    ledger = tmp_path / "made" / "ledger"
    tried = []

    def stopped(function, texts):
        yield from map(function, texts[:2])
        raise KeyboardInterrupt

    def noted(function, texts):
        tried.extend(texts)
        return map(function, texts)

    def squares(here):
        return [*mapped("tests.test_workers:squared", [3, 1, 2, 1], ledger=ledger, here=here)]

    with pytest.raises(WorkersError, match=r"stopped: 2 of 3 pieces are done and kept in .*: the same command goes on"):
        squares(stopped)
    with ledger.open("a") as file:
        file.write('{"key": "')  # of a process that was killed here
    assert squares(noted) == [9, 1, 4, 1]
    assert squares(noted) == [9, 1, 4, 1]
    assert tried == ["2"]
    full_bar = "#" * 30
    assert f"{full_bar} 3 of 3" in capsys.readouterr().err
    with pytest.raises(WorkersError, match=r"the ledger .*ledger/x cannot be written: "):
        next(mapped("math:sqrt", [4], ledger=ledger / "x"))


def test_the_same_command_may_run_twice_at_once(tmp_path, monkeypatch):
    """The one that ends first removes the ledger of both."""

    def here(function, texts, workers, _):
        yield from ((i, called(function, text)) for i, text in enumerate(texts))

    monkeypatch.setattr("helpers.workers.ROOT", tmp_path)
    monkeypatch.setattr("helpers.workers._computed", here)
    there = mapped("tests.test_workers:squared", [3, 1], "2")
    assert next(there) == 9
    assert [*mapped("tests.test_workers:squared", [3, 1], "2")] == [9, 1]
    assert [*there] == [1]
    assert not [*tmp_path.glob("measurements/*")]


def test_without_workers_nobody_needs_dask():
    code = "import sys, helpers.workers; print('dask' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT) == b"False\n"


def test_who_differs_is_refused(address, tmp_path, monkeypatch):
    (tree, hash_here), *_ = versions().items()
    assert cluster.different(versions()) == ""
    expected = {**versions(), tree: "another", "numpy": "9"}
    words = rf"it has tree {hash_here}, not another; numpy [\d.]+, not 9; start it .*"
    assert re.fullmatch(words, cluster.different(expected))
    monkeypatch.setattr(cluster, "versions", lambda: expected)
    with pytest.raises(WorkersError, match=r"^worker [01] at tcp://.* is refused: it has tree"):
        next(mapped("math:sqrt", [4], address, tmp_path / "ledger"))
    monkeypatch.setattr(cluster, "different", lambda expected: "it is old")  # also in the scheduler, which runs here
    with pytest.raises(WorkersError, match=rf"^the scheduler at {address} is refused: it is old"):
        next(mapped("math:sqrt", [4], address, tmp_path / "ledger"))


def test_workers_that_were_not_started_here_are_not_killed(address):
    workers = cluster.Workers(address)
    before = workers.names
    with pytest.raises(WorkersError, match=rf"^the workers of {address} were not started here: none is killed"):
        workers.kill([])
    assert workers.names == before
    there = workers.client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.worker_plugins])
    assert there.count(cluster.Prepared.name) == len(there) - 1  # one of its name, and Dask's own
    workers.close()


def test_a_gpu_is_chosen_by_its_number(monkeypatch):
    monkeypatch.setenv(SETTINGS[0], "0")
    assert adapter.__wrapped__().info["backend_type"] == "Vulkan"
    monkeypatch.setenv(SETTINGS[0], "9")
    with pytest.raises(GpuError, match=r"^CONVGRAD_GPU=9: no GPU has this number; this machine has 0: .+ via Vulkan"):
        adapter.__wrapped__()


@pytest.mark.skipif(not ALL, reason="takes a minute")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("random_problems", ["--count", "48"]),
        ("mutation", ["sum/1_one_thread"]),
        ("helpers.gradebook", ["FOLDER"]),
        ("helpers.gradebook", ["FOLDER", "--mistakes"]),
    ],
)
def test_commands_print_the_same_with_workers(command, words, address, tmp_path, capsys):
    from support.classes import MAP, hand_in  # which takes a worker long to import

    for i, text in enumerate((MAP, MAP.replace(";", "", 1), MAP.replace("+", "-", 1))):
        hand_in(tmp_path / f"{i}.json", {"map": text}, {"dW[0,1]": 17 + i})
    words = [str(tmp_path) if word == "FOLDER" else word for word in words]
    printed = []
    for workers in ([], ["--workers", address]):
        assert import_module(command).main([*words, *workers]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""
