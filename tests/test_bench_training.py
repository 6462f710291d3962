"""The commands that time and judge a training, on the smallest work. No time is asserted."""

import json
from dataclasses import replace

import pytest
from support.sample import at_night

from helpers.bench import accuracy, training
from helpers.bench.candidates import Row
from helpers.gpu import timing


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few samples, and ours alone."""
    monkeypatch.setattr(timing, "AWAKE", 0.0)
    monkeypatch.setattr(training, "SECONDS", 0.0)
    monkeypatch.setattr(training, "EVERY", 1)
    for module in training, accuracy:
        monkeypatch.setattr(module, "torch_devices", list)


@at_night
def test_the_speed_and_the_timeline_are_printed_and_written(tmp_path, capsys) -> None:
    assert training.main(["--batch", "1", "--rounds", "1", "--output", str(tmp_path / "training.json")]) == 0
    printed = capsys.readouterr().out
    written = json.loads((tmp_path / "training.json").read_text())
    assert {*written["speed"]["1"]} == {"ours", "ours, new batches, recorded"}
    (line,) = written["timelines"]
    assert sum(step["dispatches"] for step in line["steps"]) >= 21
    assert [line["steps"][0]["name"], line["steps"][-1]["name"]] == ["conv1: conv2d", "update: sgd"]
    assert all(f"| {step['name']} |" in printed for step in line["steps"])
    assert "in passes" in printed or "has no timestamps" in printed


@at_night
def test_without_timestamps_a_sentence_says_so(monkeypatch) -> None:
    monkeypatch.setattr(timing, "timeline", lambda *groups: None)
    lines = training.timeline_table(training.timeline(1))
    assert "This adapter has no timestamps: times are by the wall clock, and there are no begins and ends." in lines


def test_a_side_that_loses_something_else_is_named() -> None:
    ours, theirs = (training.Side(Row("", "", name, ""), print, 1.0, loss=2.3) for name in ("ours", "theirs"))
    assert training.wrong([ours, replace(theirs, loss=2.3001)]) == []
    for loss in 2.301, float("nan"):
        (fault,) = training.wrong([ours, replace(theirs, loss=loss)])
        assert fault.startswith("theirs: the loss of the second step is ")


def test_a_side_that_fails_is_named_and_the_others_go_on(monkeypatch, tmp_path, capsys) -> None:
    def fails(batch: int) -> None:
        raise RuntimeError("no such stream")

    monkeypatch.setattr(training, "_training", fails)
    monkeypatch.setattr(training, "timeline", lambda batch: {})
    monkeypatch.setattr(training, "timeline_table", lambda line: [])
    assert training.main(["--batch", "1", "--rounds", "1", "--output", str(tmp_path / "training.json")]) == 1
    printed = capsys.readouterr().out
    assert "| ours |" in printed
    assert "not measured: no such stream" in printed


def test_the_accuracy_is_printed_for_each_seed(monkeypatch, capsys) -> None:
    def share(seed: int, epochs: int, rate: float) -> float:
        """Below 0 with the options, so that a lost one shows."""
        right = {0: 0.97, 1: 0.98}[seed]
        if (epochs, rate) == (2, 0.01):
            return right - 1
        return right

    monkeypatch.setattr(accuracy, "ours", share)
    assert accuracy.main(["--seeds", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[1:] == ["seed 0: ours 97.0 %", "seed 1: ours 98.0 %", "mean:   ours 97.50 %"]
    accuracy.main(["--seeds", "1", "--epochs", "2", "--rate", "0.01"])
    assert "seed 0: ours -3.0 %" in capsys.readouterr().out


@at_night
def test_a_training_by_the_schedule_learns(monkeypatch) -> None:
    """The whole way, on 64 digits that it is asked again: twice as well as by chance, at least."""
    seen, labels, *_ = accuracy.seen_and_unseen()
    monkeypatch.setattr(accuracy, "seen_and_unseen", lambda: (seen[:64], labels[:64], seen[:64], labels[:64]))
    assert accuracy.ours(0, epochs=20, rate=0.05) > 0.2
