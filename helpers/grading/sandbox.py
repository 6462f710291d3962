"""A learner's kernel in a process of its own, where it cannot hang, crash or starve the notebook.

    the notebook: Worker.grade                       the worker: serve
      starts it, if none is alive            ->      loads what it needs, opens the adapter
      waits, up to START seconds             <-      {"verdicts": [...]} on a known kernel, or {"error": "..."}
      {"puzzle": "map", "source": "..."}     ->      grades the text
      waits, up to SECONDS                   <-      {"verdicts": [...]}
      the next request                       ->      ...

One line of JSON is one message. The worker is kept for the next text, and ends by itself when its input ends. It is
killed where it is late, takes more than MEMORY, or the cell is interrupted. The next text then gets a new one, which is
started at once, so that nobody waits for it.
"""

import atexit
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from math import inf
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TextIO

import psutil

from helpers.gpu import GpuError
from helpers.grading.verdict import NO_COMPILE, WRONG, Grades, Verdict

START = 60  # seconds that a worker may take until it can grade; a slow disk is not the learner's fault
SECONDS = 6  # for one text in all; with the start of a worker, about 2 s, a learner waits for less than 10
MEMORY = 1_000_000_000  # bytes that a text may take; a right kernel takes less than a tenth
PAUSE = 0.05  # seconds between two looks at the worker's memory
LONGEST = 30_000  # characters of a text, about ten times what an official kernel has

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A process that grades texts: ``python -m module``, where the module calls `serve`."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()  # one text at a time
        self._process: subprocess.Popen | None = None
        self._ready = False  # whether it has said so,
        self._held = 0  # and how much memory it held then
        atexit.register(self.close)

    def grade(self, puzzle: str, source: str, tests: Sequence[str]) -> Grades:
        """What the worker says about a text, or why it was stopped; `tests` are the names of the puzzle's tests.

        The text is not kept as an attempt.

        Raises GpuError where this machine cannot run any kernel; that says nothing about the learner's.
        """
        if len(source) > LONGEST:
            reason = f"it has {len(source):,} characters; a kernel has at most {LONGEST:,} here"
            return Grades.alike(tests, NO_COMPILE, reason)
        source = source.encode("utf-8", "replace").decode("utf-8")  # half a letter is none
        with self._lock:
            try:
                self._wait_until_ready()
                return _understood(self._asked({"puzzle": puzzle, "source": source}), tests)
            except (TimeoutError, MemoryError, EOFError) as stopped:
                self.close()
                self._start()
                return Grades.alike(tests, WRONG, _why(stopped))
            except BaseException:  # an interrupted cell too
                self.close()
                raise

    def close(self) -> None:
        """End the worker, whatever it does."""
        process, self._process = self._process, None
        if process:
            process.kill()
            with suppress(subprocess.TimeoutExpired):  # a driver may keep it for a moment
                process.wait(1)
            with suppress(OSError):  # it did not read all
                process.stdin.close()
            self._complaints.close()

    def _start(self) -> None:
        """Start a worker, which then is not ready yet."""
        self._lines, self._ready = SimpleQueue(), False
        self._complaints = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self._complaints}
        command = [sys.executable, "-m", self._module]
        self._process = subprocess.Popen(command, cwd=ROOT, env=_environment(), encoding="utf-8", **pipes)
        Thread(target=_read, args=(self._process.stdout, self._lines), daemon=True).start()

    def _wait_until_ready(self) -> None:
        """Start a worker unless one is alive, and wait until it can grade."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._start()
        if self._ready:
            return
        try:
            answer = self._answer(START, inf)
        except TimeoutError:
            advice = "close other programs, or run `python3 start.py doctor`"
            raise GpuError(f"the process that grades did not start within {START} s; {advice}") from None
        except EOFError:
            self._complaints.seek(0)
            answer = {"error": (self._complaints.read().strip() or "no message").splitlines()[-1]}
        _understood(answer, ())  # raises what kept it from starting
        self._ready, self._held = True, self._memory()

    def _asked(self, request: dict) -> dict:
        """The answer to a request."""
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise EOFError from None
        answer = self._answer(SECONDS, self._held + MEMORY)
        if self._memory() > self._held + MEMORY / 2:  # what is left of this text may not count against the next one
            self.close()
        return answer

    def _answer(self, seconds: float, memory: float) -> dict:
        """What the worker says next.

        Raises TimeoutError where it says nothing in time, MemoryError where it takes too much, EOFError at its end.
        """
        end = monotonic() + seconds
        while monotonic() < end:
            with suppress(Empty):
                if line := self._lines.get(timeout=min(PAUSE, seconds)):
                    return json.loads(line)
                raise EOFError
            if self._memory() > memory:
                raise MemoryError
        raise TimeoutError

    def _memory(self) -> int:
        """How many bytes it holds; 0 where it has ended."""
        try:
            return psutil.Process(self._process.pid).memory_info().rss
        except psutil.Error:
            return 0


def _environment() -> dict[str, str]:
    """The environment of a worker, which finds `helpers` from any folder and speaks UTF-8."""
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}


def _read(stream: TextIO, lines: SimpleQueue) -> None:
    """Hand on each line as it comes, and None at the end."""
    for line in stream:
        lines.put(line)
    lines.put(None)


def _understood(answer: dict, tests: Sequence[str]) -> Grades:
    """The verdicts in an answer of `serve`, or its error."""
    if "error" in answer:
        raise GpuError(f"your kernel could not be run: {answer['error']}")
    if "memory" in answer:
        return Grades.alike(tests, WRONG, _why(MemoryError()))
    return Grades(Verdict(**verdict) for verdict in answer["verdicts"])


def _why(stopped: Exception) -> str:
    """Why a text got no verdicts, and what to look at."""
    if isinstance(stopped, TimeoutError):
        return f"it was stopped after {SECONDS} s; does every loop end, and are its arrays short?"
    if isinstance(stopped, MemoryError):
        return f"it was stopped, because it took more than {MEMORY / 1e9:g} GB of memory; how long are its arrays?"
    return "it made the compiler or the GPU driver crash; look at its arrays, its indices and how deep its brackets are"


def serve(grade: Callable[[str, str], Grades], prepare: Callable[[], Grades]) -> None:
    """What the worker does: prepare, then grade texts, each with the name of its puzzle, to the end of its input.

    Nothing but the answers reaches its standard output, whatever a driver prints there.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts a cell interrupts all processes of the notebook
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _say(answers, START, prepare)
        for line in sys.stdin:
            _say(answers, SECONDS, partial(grade, **json.loads(line)))


def _say(answers: TextIO, seconds: float, work: Callable[[], Grades]) -> None:
    """Write a line with the verdicts that come of some work, or what went wrong."""
    faulthandler.dump_traceback_later(seconds + 5, exit=True)  # ends also where the notebook is gone
    try:
        answer = {"verdicts": [asdict(verdict) for verdict in work()]}
    except MemoryError:
        answer = {"memory": "refused"}
    except Exception as error:
        answer = {"error": str(error) if isinstance(error, GpuError) else f"{type(error).__name__}: {error}"}
    answers.write(json.dumps(answer) + "\n")
    answers.flush()
    faulthandler.cancel_dump_traceback_later()
