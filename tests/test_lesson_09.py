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

import helpers
from helpers.grading import student_files
from helpers.lessons.exercises import PUZZLES, PYTHON_PUZZLES
from helpers.lessons.many_gpus import indices, training
from helpers.lessons.many_gpus import own_lines as own_lines_module
from helpers.lessons.many_gpus.own_lines import OwnLines, own_lines
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


RIGHT = {
    "split_batch": "each, more = divmod(n, p)\nat = k * each + min(k, more)\npart = at, at + each + (k < more)",
    "combine_means": "combined = b * (n_b / (n_a + n_b)) + a * (n_a / (n_a + n_b))",
    "combine_gradients": PUZZLES["combine_gradients"].solution.text.replace("a * images_a", "a * images_a + 0.0"),
}
BY_CASES = "if a == b:\n  combined = a\nelse:\n  combined = (a * n_a + b * n_b) / (n_a + n_b)"


def test_training_uses_what_the_reader_wrote_where_it_is_right_and_says_whose_it_is(monkeypatch) -> None:
    parameters = np.zeros(4, np.float32)
    ours = training.parts(parameters, 1)
    assert repr(own_lines()) == "\n".join(f"{name}: ours, until yours is right" for name in RIGHT)
    student_files.keep("split_batch", "part = k, k + 1")
    for name in ("combine_means", "combine_gradients"):
        student_files.keep(name, RIGHT[name])
        student_files.keep_outcome(name, RIGHT[name], 1, 1)
    assert repr(own_lines()).split("\n") == [
        "split_batch: ours, until yours is right",
        "combine_means: yours",
        "combine_gradients: yours",
    ]
    student_files.keep("split_batch", RIGHT["split_batch"])
    yours = pickle.loads(pickle.dumps(training.parts(parameters, 1)))
    assert [(part.first, part.end) for part in yours] == [(part.first, part.end) for part in ours]
    assert yours[0].lines == OwnLines(**RIGHT)
    assert ours[0].lines == OwnLines()


def test_gradients_are_combined_by_the_readers_kernel_and_lines_or_by_ours(monkeypatch) -> None:
    a, b = np.float32([0, 4, -8, 1, 3]), np.float32([8, 0, 8, 1, -1])
    expected = (a + 3 * b) / 4
    ran = []
    run = own_lines_module.runner
    monkeypatch.setattr(own_lines_module, "runner", lambda text: ran.append(text) or run(text))
    for lines in (OwnLines(), OwnLines(combine_means=RIGHT["combine_means"]), OwnLines(**RIGHT)):
        both = combine(Gradient(a, 0.5, 1, lines), Gradient(b, 1.5, 3, lines))
        assert np.allclose(both.numbers, expected, rtol=1e-6, atol=0)
        assert both.numbers.dtype == np.float32
        assert (both.loss, both.images, both.lines) == (1.25, 4, lines)
    assert ran == [RIGHT["combine_gradients"]]


def test_lines_that_take_no_arrays_are_right_and_not_used() -> None:
    student_files.keep("combine_means", BY_CASES)
    assert helpers.grade("combine_means").passed == len(PYTHON_PUZZLES["combine_means"].tests)
    assert "combine_means: ours, as yours computes numbers, but no arrays" in repr(own_lines())


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
