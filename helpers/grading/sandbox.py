"""A learner's kernel in a separate process, where it cannot hang, crash or starve the notebook.

    the notebook: Worker.grade                       the worker: serve
      starts it, if none is alive            ->      loads what it needs, opens the adapter
      waits, up to START seconds             <-      {"verdicts": [...]} on a known kernel, or {"error": "..."}
      {"puzzle": "map", "source": "..."}     ->      grades the text
      waits, up to SECONDS                   <-      {"verdicts": [...]}
      the next request                       ->      ...

One line of JSON is one message. A request that takes long, as to train, is answered by several: those before the last
are ``{"progress": ...}``, and each may take SECONDS, or as many as `Worker.ask` is given. The worker is kept for the
next text, and ends by itself when its input ends. It is killed where it is late, takes more than MEMORY, or the cell is
interrupted. The next text then gets a new one, which is started at once, so that nobody waits for it.
"""

import atexit
import faulthandler
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from math import inf
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import TextIO

from helpers.gpu import GpuError
from helpers.gpu.adapter import NATIVE
from helpers.grading.drawn import Seed
from helpers.grading.reasons import LongText, Stopped
from helpers.grading.transport import as_data, from_data
from helpers.grading.verdict import NO_COMPILE, WRONG, Grades
from helpers.operations.kernels import ROOT

START = 60  # seconds that a worker may take until it can grade; a slow disk is not the learner's fault
SECONDS = 300  # for a compiler or driver that hangs; what is simulated is limited by its work, about 4 s
MEMORY = 1_000_000_000  # bytes that a text may take; a right kernel takes less than a tenth
PAUSE = 0.05  # seconds between two looks at the worker's memory
LONGEST = 30_000  # characters of a text, about ten times what an official kernel has


class Worker:
    """A process that grades texts: ``python -m module``, where the module calls `serve` with its function `work`.

    A browser starts no process: there, the work is done in this one. The simulator sees each loop end before.
    """

    def __init__(self, module: str) -> None:
        self._module = module
        self._lock = Lock()  # one text at a time
        self._process: subprocess.Popen | None = None
        self._ready = False  # whether it has said so,
        self._held = 0  # and how much memory it held then
        atexit.register(self.close)

    def grade(self, puzzle: str, source: str, tests: Sequence[str], seed: Seed = None) -> Grades:
        """Return the worker's verdicts on a text, or why it was stopped; `tests` are the names of the puzzle's tests.

        The text is not kept as an attempt. A `seed` draws other problems.

        Raises GpuError where this machine cannot run any kernel; that says nothing about the learner's.
        """
        if len(source) > LONGEST:
            return Grades.alike(tests, NO_COMPILE, LongText(len(source), LONGEST))
        source = source.encode("utf-8", "replace").decode("utf-8")  # half a letter is none
        request = {"puzzle": puzzle, "source": source}
        if seed is not None:
            request["seed"] = seed
        try:
            answer = self.ask(request)
        except (TimeoutError, MemoryError, EOFError) as stopped:
            return Grades.alike(tests, WRONG, why(stopped))
        return from_data(answer["verdicts"])

    def ask(
        self, request: dict, seconds: float | None = None, heard: Callable[[object], object] = lambda progress: None
    ) -> dict:
        """The worker's last answer to a request; `heard` is given the progress in each answer before it.

        Between two answers it may take `seconds`, by default SECONDS.

        Raises
        ------
        TimeoutError, MemoryError, EOFError
            It was late, took too much memory, or crashed; `why` has the reason.
        GpuError
            This machine cannot run any kernel.
        """
        if not NATIVE:
            return self._asked_here(request, heard)
        with self._lock:
            try:
                self._wait_until_ready()
                return self._asked(request, seconds or SECONDS, heard)
            except (TimeoutError, MemoryError, EOFError):
                self.close()
                self._start()
                raise
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
        _require(answer)  # raises what kept it from starting
        self._ready, self._held = True, self._memory()

    def _asked_here(self, request: dict, heard: Callable[[object], object]) -> dict:
        """The last answer to a request, by this process."""
        for answer in _answers(import_module(self._module).work(**request)):
            if "progress" in answer:
                heard(answer["progress"])
        return answer

    def _asked(self, request: dict, seconds: float, heard: Callable[[object], object]) -> dict:
        """The last answer to a request."""
        try:
            _write(self._process.stdin, request)
        except OSError:
            raise EOFError from None
        while "progress" in (answer := self._answer(seconds, self._held + MEMORY)):
            heard(answer["progress"])
        _require(answer)
        if self._memory() > self._held + MEMORY / 2:  # what is left of this text may not count against the next one
            self.close()
        return answer

    def _answer(self, seconds: float, memory: float) -> dict:
        """The worker's next answer.

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
        """The number of bytes that it holds; 0 where it has ended."""
        import psutil  # here, as a browser has none

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


def _require(answer: dict) -> None:
    """Raise the error in an answer of `serve`, if there is one."""
    if "error" in answer:
        raise GpuError(f"your kernel could not be run: {answer['error']}")
    if "memory" in answer:
        raise MemoryError


def why(stopped: Exception, seconds: float | None = None) -> Stopped:
    """Return why a text was stopped; `seconds` as for `Worker.ask`."""
    if isinstance(stopped, TimeoutError):
        return Stopped("time", seconds or SECONDS)
    if isinstance(stopped, MemoryError):
        return Stopped("memory", MEMORY)
    return Stopped("crash")


def serve(
    work: Callable[..., Grades | Iterable[dict]], prepare: Callable[[], Grades], seconds: float | None = None
) -> None:
    """Work as the worker: prepare, then do the work that is asked for, each time, to the end of its input.

    The work's arguments are those of the request, as a puzzle's name and a text. It gives the verdicts, or answers of
    its own, and is given `seconds` for each of them. Nothing but the answers reaches the standard output, whatever a
    driver prints there.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts a cell interrupts all processes of the notebook
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answers:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        _say(answers, START, prepare)
        for line in sys.stdin:
            _say(answers, seconds or SECONDS, partial(work, **json.loads(line)))


def _say(answers: TextIO, seconds: float, work: Callable[[], Grades | Iterable[dict]]) -> None:
    """Write a line for each answer that comes of some work, or what went wrong."""
    faulthandler.dump_traceback_later(seconds + 5, exit=True)  # ends also where the notebook is gone
    try:
        for answer in _answers(work()):
            _write(answers, answer)
            faulthandler.dump_traceback_later(seconds + 5, exit=True)
    except MemoryError:
        _write(answers, {"memory": "refused"})
    except Exception as error:
        _write(answers, {"error": str(error) if isinstance(error, GpuError) else f"{type(error).__name__}: {error}"})
    faulthandler.cancel_dump_traceback_later()


def _answers(done: Grades | Iterable[dict]) -> Iterable[dict]:
    """The answers to a request: the verdicts, or the answers themselves."""
    return [{"verdicts": as_data(done)}] if isinstance(done, Grades) else done


def _write(stream: TextIO, message: dict) -> None:
    print(json.dumps(message), file=stream, flush=True)
