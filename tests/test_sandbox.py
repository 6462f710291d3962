"""A learner's text cannot hang, crash or starve the lesson: the worker has limits, and the next text is graded again.

Most tests here use a worker whose answers a small module makes. Only the hostile texts at the end go the whole way, and
no endless loop of theirs reaches an adapter.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import psutil
import pytest
from support.grading import only
from support.sample import sample

import helpers
from helpers.gpu import GpuError
from helpers.grading import sandbox
from helpers.grading.sandbox import Worker
from helpers.grading.verdict import RIGHT
from helpers.lessons.exercises import PUZZLES

MAP = f"\n{PUZZLES['map'].solution.text}\n"
MODULE = """
import os, signal, sys, time
from helpers.gpu import GpuError
from helpers.grading.sandbox import serve
from helpers.grading.reasons import Plain
from helpers.grading.verdict import RIGHT, Grades

def fail(text): raise GpuError(text)
def noise(): os.write(1, b"a warning\\n{}\\n"); os.write(2, b"\\xff and another" * 100_000); print('{"error": "no"}')

def one_by_one(source):
    for line in source.splitlines():
        exec(line)
        yield {"progress": line}
    yield {"done": True}

def grade(puzzle, source):
    if puzzle == "several answers": return one_by_one(source)
    exec(source)
    return Grades.alike(["a", "b"], RIGHT, Plain(puzzle))

def prepare():
    noise()
    PREPARE
    return Grades.alike(["a"], RIGHT)

serve(grade, prepare)
noise()
os._exit(3)  # a driver that crashes when it is closed
"""


def module(folder: Path, prepare: str = "pass") -> str:
    """A module that runs the Python that it is given as a text, and finds all of it right."""
    (folder / "pretended.py").write_text(MODULE.replace("PREPARE", prepare), encoding="utf-8")
    return "pretended"


@pytest.fixture
def worker(tmp_path, monkeypatch) -> Iterator[Worker]:
    """A worker that runs Python, in little memory."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sandbox, "MEMORY", 50_000_000)  # a slow machine hands out a gigabyte in seconds
    made = Worker(module(tmp_path))
    yield made
    made.close()


def reply(worker: Worker, source: str) -> str:
    """The worker's one outcome, and the reason for it."""
    grades = worker.grade("a puzzle", source, ["a", "b"])
    assert not grades[1].detail
    return f"{only(grades)}: {grades[0].detail}"


GOOD = "right: a puzzle"

# --- A worker -----------------------------------------------------------------------------------------------


DONE = [  # what a text does, and words of the sentence in which it ends
    ("time.sleep(60)", "wrong: the compiler or the GPU driver was stopped after 2 s; are its "),
    ("held = b'x' * 100_000_000; time.sleep(60)", "took more than 0.05 GB of memory; how long are its arrays?"),
    ("held = bytearray(2 ** 62)", "took more than 0.05 GB of memory; how long are its arrays?"),  # refused at once
    ("os.abort()", "it made the compiler or the GPU driver crash; look at "),
    ("os._exit(0)", "it made the compiler or the GPU driver crash; look at "),
    ("noise(); os.abort()", "it made the compiler or the GPU driver crash; look at "),
    ("noise()", GOOD),
    ("x" * 30_001, "does not compile: it has 30,001 characters; a kernel has at most 30,000 here"),
]


@pytest.mark.parametrize(("source", "words"), sample(DONE, 4))
def test_whatever_a_text_does_it_ends_in_a_sentence_and_the_next_one_is_graded(worker, source, words, monkeypatch):
    with monkeypatch.context() as limits:
        if "after 2 s" in words:
            limits.setattr(sandbox, "SECONDS", 2)
        assert words in reply(worker, source)
    assert reply(worker, "") == GOOD


def test_a_worker_that_holds_much_is_replaced_before_it_is_too_much(worker):
    held = "import builtins; builtins.held = getattr(builtins, 'held', b'') + b'x' * 30_000_000"
    assert [reply(worker, held) for _ in range(3)] == [GOOD] * 3


def test_a_worker_is_kept_for_the_next_text_and_replaced_where_it_has_died(worker):
    assert reply(worker, "") == GOOD
    first = worker._process
    if os.name != "nt":
        first.send_signal(signal.SIGINT)  # another cell is interrupted
    assert reply(worker, "") == GOOD
    assert worker._process is first
    first.kill()
    first.wait()
    assert reply(worker, "") == GOOD


def test_what_the_adapter_lacks_is_no_verdict_and_the_next_text_is_graded(worker):
    for source, words in {"fail('no memory')": "could not be run: no memory", "1 / 0": "ZeroDivisionError"}.items():
        with pytest.raises(GpuError, match=words):
            worker.grade("a puzzle", source, ["a"])
        assert reply(worker, "") == GOOD


def test_two_threads_take_turns(worker):
    with ThreadPoolExecutor() as pool:
        assert list(pool.map(lambda _: reply(worker, "time.sleep(0.1)"), range(4))) == [GOOD] * 4


@pytest.mark.skipif(os.name == "nt", reason="sends a signal to this process")
def test_an_interrupted_cell_ends_its_worker(worker):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what runs in its background without it
    assert reply(worker, "") == GOOD
    process = worker._process
    source = f"time.sleep(0.2); os.kill({os.getpid()}, signal.SIGINT); time.sleep(60)"
    with pytest.raises(KeyboardInterrupt):
        worker.grade("a puzzle", source, ["a"])
    assert process.poll() is not None
    assert reply(worker, "") == GOOD


def test_a_request_that_takes_long_is_answered_by_several_lines_and_each_must_come_in_time(worker, monkeypatch):
    """The clock goes on by what is heard or asked, so that nothing depends on how busy the machine is."""
    heard, ticks, request = [], count(), {"puzzle": "several answers", "source": "1\n1\n1"}
    monkeypatch.setattr(sandbox, "monotonic", lambda: 1.5 * len(heard))
    assert worker.ask(request, 2, heard.append) == {"done": True}  # in more time than a single answer may take
    assert heard == ["1"] * 3
    for source, stopped, clock in (
        ("time.sleep(60)", TimeoutError, lambda: next(ticks) if heard else 0),
        ("os.abort()", EOFError, lambda: 0),
        ("held = bytearray(2 ** 62)", MemoryError, lambda: 0),
    ):
        heard.clear()
        monkeypatch.setattr(sandbox, "monotonic", clock)
        with pytest.raises(stopped):
            worker.ask({**request, "source": f"1\n{source}"}, 2, heard.append)
        assert heard == ["1"]
    assert reply(worker, "") == GOOD


NOTEBOOK = """
import os, sys
from helpers.grading.sandbox import Worker
worker = Worker("pretended")
worker.grade("a puzzle", "", ["a"])
print(worker._process.pid, flush=True)
os._exit(0)  # no Python code runs at this end
"""


def test_a_worker_ends_when_the_notebook_is_gone(tmp_path):
    module(tmp_path)
    paths = os.pathsep.join([str(tmp_path), str(sandbox.ROOT)])
    command = [sys.executable, "-c", NOTEBOOK]
    done = subprocess.run(command, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, check=True)
    number = int(done.stdout)
    gone = lambda: not psutil.pid_exists(number) or psutil.Process(number).status() == psutil.STATUS_ZOMBIE  # noqa: E731
    assert any(gone() or time.sleep(0.05) for _ in range(400))


# --- A worker that does not start ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        ("", "No module named no_such_module"),
        ("import no_such_module", "could not be run: ModuleNotFoundError: No module named 'no_such_module'"),
        ("time.sleep(60)", "did not start within 1 s; close other programs, or run `python3 start.py doctor`"),
        ("os.abort()", "could not be run: "),
    ],
)
def test_a_python_that_cannot_start_is_no_wrong_kernel(tmp_path, monkeypatch, prepare, words):
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sandbox, "START", 1 if "sleep" in prepare else 60)
    worker = Worker(module(tmp_path, prepare) if prepare else "no_such_module")
    for _ in range(2):
        with pytest.raises(GpuError, match=words):
            worker.grade("a puzzle", "", ["a"])
        assert worker._process is None


def test_a_machine_without_an_adapter_is_no_wrong_kernel(monkeypatch):
    monkeypatch.setenv("WGPUPY_WGPU_ADAPTER_NAME", "no such adapter")
    with pytest.raises(GpuError, match=r"could not be run.*no such adapter"):
        Worker("helpers.lessons.exercises").grade("map", MAP, ["a"])


# --- Hostile texts, all the way -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def warm():
    """The start of the worker is not counted against a learner."""
    assert only(helpers.grade("map", MAP)) == RIGHT


def within(text: str, module: str = "", source: str = MAP) -> str:
    """A kernel with a text at the beginning of its function, and another one before its bindings."""
    start = source.index("{", source.index("@compute")) + 1
    return f"{module}{source[:start]} {text} {source[start:]}"


LOOPED = "".join(f"fn f{i}() {{ f{i - 1}(); f{i - 1}(); }}" for i in range(1, 30))
DOUBLED = "".join(f"const X{i} = array(X{i - 1}, X{i - 1});" for i in range(1, 41))
HOSTILE = {  # each with words of the sentence in which it ends
    "while": (within("while (true) {}"), "this loop is still running"),
    "long loop": (within("for (var z = 0u; z < 4000000000u; z++) {}"), "this loop is still running"),
    "calls": (within("f29();", "fn f0() {}" + LOOPED), "stopped after 234,962 statements, with up to 64 threads each"),
    "busy thread": (
        within(f"for (var z = 0u; z < 1500u; z++) {{ {'output[global.x] += 1.0;' * 100} }}"),
        "does one thread do the work of many?",
    ),
    "workgroup memory": (within("w[0] = 1.0;", "var<workgroup> w: array<f32, 1000000000>;"), "limit here is 16,384"),
    "private memory": (within("p[0] = 1.0;", "var<private> p: array<f32, 10000000>;"), "arrays"),
    "local memory": (within("var p: array<f32, 1000000>; p[0] = 1.0;"), "arrays"),
    "constant": (within("let v = X40[0];", f"const X0 = array(1.0, 2.0);{DOUBLED}"), ""),  # the compiler crashes
    "digits": (within("let v = C;", f"const C = {'9' * 20_000};"), "does not compile"),
    "brackets": (within(f"let v = {'!' * 25_000}true;"), ""),  # here too
    "many words": (within("var q = 1.0;" + "q += sin(q);" * 2_000), RIGHT),
    "too many words": (within("var q = 1.0;" + "q += 1.0;" * 500_000), "it has 4,500,"),
    "NaN": (within("var n = 0.0; for (var z = 0u; z < 900u; z++) { n = n / n; } output[global.x] = n;"), "NaN"),
    "far writes": (within("for (var z = 0u; z < 900u; z++) { output[z * 7919u] = 1.0; }"), "writes `output[z * "),
    "threads": (MAP.replace("@workgroup_size(64)", "@workgroup_size(65535, 65535, 65535)"), "the limit here is 256"),
    "missed barrier": (within("if (global.x > 3u) { workgroupBarrier(); }"), "only 60 of the 64 threads"),
    "no text": ("\0" * 25_000, "does not compile"),
}


HOSTILE |= {
    name: (within("while (true) { var x = 1.0; x += 1.0; }", source=puzzle.solution.text), "loop is still running")
    for name, puzzle in PUZZLES.items()
}


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("name", sample(list(HOSTILE), 5))
def test_a_hostile_text_ends_in_a_sentence_and_the_next_one_is_right(name):
    source, words = HOSTILE[name]
    grades = helpers.grade(name if name in PUZZLES else "map", source)
    assert words in f"{grades[0].outcome}: {grades[0].detail}"
    assert len(grades[0].detail) <= 703
    assert max(map(len, str(grades).split("\n"))) <= 153
    assert only(helpers.grade("map", MAP)) == RIGHT


def test_letters_of_any_alphabet_reach_the_worker(monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("LC_ALL", "C")
    worker = Worker("helpers.lessons.exercises")
    assert only(worker.grade("map", f"// 写 × ≤ \ud800\n{MAP}", ["a", "b"])) == RIGHT
    worker.close()
