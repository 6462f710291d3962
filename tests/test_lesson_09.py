"""Lesson 09: parts of a gradient are what travels, their tree has one order, and its model is near what was measured.

That two workers get the bits of one, also after one was killed, is in the lesson itself, which nbval runs.
"""

import pickle
import sys
from contextlib import closing
from types import SimpleNamespace

import dask
import numpy as np
import pytest
from support.sample import at_night

from helpers.lessons.exercises import PYTHON_PUZZLES
from helpers.lessons.many_gpus import indices, training
from helpers.lessons.many_gpus.training import Gradient, Part, combine, gradient
from helpers.workers import WorkersError, cluster


def value(name: str, **arguments: object) -> object:
    """The result of our lines of a puzzle for some arguments."""
    puzzle = PYTHON_PUZZLES[name]
    case = puzzle.cases()[0]
    return puzzle.read(puzzle.solution.text).run({**case.given[0], **arguments}).value


def test_pictures_and_workers_do_what_the_official_lines_say() -> None:
    for workers in 2, 3, 4:
        assert indices.bounds(8, workers) == [value("split_batch", n=8, p=workers, k=k) for k in range(workers)]
    a, b = (Gradient(np.float32([3, -8]) * n, 0.5 * n, n) for n in (1, 3))
    both = combine(a, b)
    expected = [value("combine_means", a=x, b=y, n_a=1, n_b=3) for x, y in ((3.0, 9.0), (-8.0, -24.0), (0.5, 1.5))]
    assert ([*both.numbers.tolist(), both.loss], both.images) == (expected, 4)


def test_a_part_travels_and_says_its_size_and_the_mean_of_two_parts_is_that_of_all_images() -> None:
    parts = [Part(training.start_of_lenet(), *ends) for ends in ((0, 1), (1, 4), (0, 4))]
    assert len(pickle.dumps(parts[0])) > sys.getsizeof(parts[0]) - 200 > parts[0].parameters.nbytes - 200
    first, rest, whole = map(gradient, pickle.loads(pickle.dumps(parts)))
    assert sys.getsizeof(whole) >= whole.numbers.nbytes
    together = combine(first, rest)
    assert np.allclose(together.numbers, whole.numbers, rtol=0, atol=1e-6 * abs(whole.numbers).max() * 10)
    assert together.loss == pytest.approx(whole.loss, rel=1e-6)


def test_the_model_is_as_near_to_what_was_measured_as_the_lesson_says() -> None:
    errors = []
    for way, times in indices.MEASURED.items():
        errors += [abs(indices.handing_over(way, workers) / time - 1) for workers, time in times.items()]
    assert 0.12 < max(errors) <= 0.135


def pretended(started_here: bool) -> SimpleNamespace:
    """Two workers that compute nothing: `asked` has who was to compute each part, `killed` what was done before."""
    asked, killed = [], []

    def submit(function, part, *more, workers=None, **options):
        asked.extend(workers or [])
        return SimpleNamespace(result=lambda: part)

    return SimpleNamespace(
        names=["a", "b"],
        client=SimpleNamespace(submit=submit),
        own=started_here,
        asked=asked,
        killed=killed,
        wait=list,
        close=list,
        kill=killed.append,
    )


def mean(client: object, futures: list) -> SimpleNamespace:
    """A tree that is not computed."""
    return SimpleNamespace(result=lambda: Gradient(np.zeros(4, np.float32), 2.0, 8))


def test_workers_share_the_parts_and_one_is_killed_in_the_middle_of_its_own(monkeypatch, capsys) -> None:
    """The losses cannot show that: they are the same whoever computes, and if nobody is killed."""
    monkeypatch.setattr(training, "start_of_lenet", lambda: np.ones(4, np.float32))
    ours = pretended(started_here=True)
    training.train(ours, mean, alone=True)
    assert (ours.asked, ours.killed) == (["a"] * 12, [])
    ours.asked.clear()
    training.train(ours, mean, kill_in_step=1)
    assert (ours.asked, len(ours.killed)) == (["a", "a", "b", "b"] * 3, 1)
    assert [part.result().first for part in ours.killed[0]] == [12]  # the third part of the second batch of eight
    assert capsys.readouterr().out == ""


def test_no_worker_of_somebody_else_is_killed_but_one_of_two_that_start_for_it(monkeypatch, capsys) -> None:
    monkeypatch.setattr(training, "start_of_lenet", lambda: np.ones(4, np.float32))
    theirs = pretended(started_here=False)
    ours = pretended(started_here=True)
    monkeypatch.setattr(training, "start", lambda: ours)
    training.train(theirs, mean)
    assert (len(theirs.asked), capsys.readouterr().out) == (12, "")
    assert training.train(theirs, mean, kill_in_step=1) == [2.0] * 3
    assert (len(theirs.asked), theirs.killed, len(ours.asked), len(ours.killed)) == (12, [], 12, 1)
    assert capsys.readouterr().out == f"{training.NOT_OURS}\n"


@at_night
def test_a_killed_worker_is_gone_and_another_takes_its_place() -> None:
    with closing(cluster.Workers("2")) as workers:
        settings = ("scheduler.work-stealing", False), ("scheduler.rootish-taskgroup", 0)
        assert all(dask.config.get(f"distributed.{name}") == value for name, value in settings)
        before = workers.names
        workers.kill([])
        workers.wait()
        assert before[1] not in workers.names
        assert (len(workers.names), before[0] in workers.names) == (2, True)


NO_SCHEDULER = WorkersError("no scheduler answers there within 5 s", "tcp://127.0.0.1:9")
NO_WORKERS = WorkersError("the scheduler at tcp://127.0.0.1:9 has no workers")


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (NO_SCHEDULER, "tcp://127.0.0.1:9: no scheduler answers there within 5 s"),
        (NO_WORKERS, "the scheduler at tcp://127.0.0.1:9 has no workers"),
    ],
)
def test_who_has_no_cluster_is_told_and_goes_on_with_two_workers(error, message, capsys, monkeypatch) -> None:
    started = []

    def workers(address: str) -> str:
        if not started:
            started.append(address)
            raise error
        return address

    monkeypatch.setattr(cluster, "Workers", workers)
    assert (training.start("tcp://127.0.0.1:9"), started) == ("2", ["tcp://127.0.0.1:9"])
    assert capsys.readouterr().out == f"{message}\nThe lesson goes on with two workers on this machine.\n"


def test_in_a_browser_each_use_of_the_workers_says_why_there_are_none(monkeypatch) -> None:
    modules = {}
    monkeypatch.setattr(training, "sys", SimpleNamespace(platform="emscripten", modules=modules))
    nobody = training.start()
    assert modules == {"dask": nobody}
    assert repr(nobody) == training.IN_A_BROWSER
    with pytest.raises(training.NoWorkersError) as caught:
        training.train(nobody, lambda client, computed: computed[0])
    assert caught.value._render_traceback_() == [training.IN_A_BROWSER]
