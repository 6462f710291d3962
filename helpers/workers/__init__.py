"""A job of many pieces, computed here or by the workers of a cluster: the same results, in the same order.

    the command: mapped                              a worker: called
      "tests.random_problems:judged"         ->      imports the function by this name
      '[0, 8, 4]', a piece as JSON           ->      calls it
      writes it into the ledger              <-      '{"problems": 16, ...}', its result as JSON
      yields it when its turn comes

What is in a piece is data and stays data: nothing in it is ever unpickled or run as Python. A worker that is killed
costs only the pieces that it had. A run that is stopped goes on where it was, by the lines of its ledger.
"""

import hashlib
import json
import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TextIO

from helpers.operations.kernels import ROOT
from helpers.workers.pieces import Plain, WorkersError, called, versions

__all__ = ["WorkersError", "add_options", "mapped"]

Here = Callable[[Callable[[str], str], Iterable[str]], Iterable[str]]  # such as `map`


def add_options(parser: ArgumentParser) -> None:
    """Let a command take --workers and --ledger."""
    parser.add_argument(
        "--workers", metavar="N", help="compute with N processes, or with the workers of the Dask scheduler at ADDRESS"
    )
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="keep the results in FILE, and do not repeat them")


def mapped(
    function: str, pieces: Sequence[Plain], workers: str | None = None, ledger: Path | None = None, here: Here = map
) -> Iterator[Plain]:
    """The results of ``module:function`` for all pieces, in their order; without workers, `here` computes them.

    With workers there is always a ledger, which is removed at the end unless it was asked for.

    Raises WorkersError where the workers cannot be used, or the run is interrupted.
    """
    texts = [json.dumps(piece) for piece in pieces]
    keys = [_key(function, text) for text in texts]
    temporary = _temporary_ledger(function) if workers and not ledger else None
    kept = ledger or temporary
    results, file = _ledger(kept)
    todo = {key: text for key, text in zip(keys, texts, strict=True) if key not in results}
    todo_keys = list(todo)
    progress = _Progress(total=len(set(keys)), left=len(todo))
    with file, closing(_computed(function, list(todo.values()), workers, here)) as computed:
        try:
            for key in keys:
                while key not in results:
                    _keep_next(computed, todo_keys, results, file)
                    progress.advance()
                yield results[key]
        except KeyboardInterrupt:
            raise WorkersError(_stopped(progress, kept)) from None
        finally:
            progress.end()
    if temporary:
        with suppress(OSError):  # the same command runs twice: the other one has removed it, or still writes to it
            temporary.unlink()


def _temporary_ledger(function: str) -> Path:
    """The file of a function's results where none is asked for."""
    return ROOT / "measurements" / f"{function.replace(':', '.')}.jsonl"


def _stopped(progress: "_Progress", ledger: Path | None) -> str:
    """The message that a run was interrupted, and may go on."""
    message = f"stopped: {progress.done:,} of {progress.total:,} pieces are done"
    if ledger:
        message += f" and kept in {ledger}: the same command goes on there"
    return message


def _key(function: str, text: str) -> str:
    """The name of a piece in a ledger: another one for another tree, function or piece."""
    return hashlib.sha256(f"{versions()} {function} {text}".encode()).hexdigest()[:16]


def _keep_next(
    computed: Iterator[tuple[int, str]], keys: Sequence[str], results: dict[str, Plain], file: TextIO
) -> None:
    """Take the next result that comes, and write it into the ledger."""
    i, text = next(computed)
    key = keys[i]
    results[key] = json.loads(text)
    file.write(json.dumps({"key": key, "result": results[key]}) + "\n")
    file.flush()


def _ledger(path: Path | None) -> tuple[dict[str, Plain], TextIO]:
    """The results that a file has, by the keys of their pieces, and the file, for those that come; it may be none."""
    written = b""
    target = path or Path(os.devnull)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if path and path.exists():
            written = path.read_bytes()
        file = target.open("a", encoding="utf-8")
    except OSError as error:
        raise WorkersError(f"the ledger {path} cannot be written: {error.strerror}") from None
    results = {}
    for line in written.splitlines():
        with suppress(ValueError, TypeError, KeyError):  # the last line may have been cut
            entry = json.loads(line)
            results[entry["key"]] = entry["result"]
    if written and not written.endswith(b"\n"):
        file.write("\n")
    return results, file


class _Progress:
    """A bar on the error output: the pieces that are done, and the seconds that the rest takes."""

    def __init__(self, total: int, left: int) -> None:
        self.total = total
        self._before = total - left  # pieces that were done when this run began
        self._times: list[float] = []  # at which this run had each of its pieces

    @property
    def done(self) -> int:
        """The number of pieces that are done."""
        return self._before + len(self._times)

    def advance(self) -> None:
        """Count one more piece, and draw the bar."""
        self._times.append(time.monotonic())
        seconds = (self._times[-1] - self._times[0]) / max(1, len(self._times) - 1)  # after the workers were started
        marks = 30 * self.done // self.total
        marks_before = 30 * (self.done - 1) // self.total
        if sys.stderr.isatty() or marks > marks_before:  # a log need not have each piece
            bar = f"{'#' * marks:.<30}"
            left = seconds * (self.total - self.done)
            line = f"\r{bar} {self.done:,} of {self.total:,}, {left:,.0f} s left   "
            print(line, end="", file=sys.stderr, flush=True)

    def end(self) -> None:
        """Begin a line below the bar."""
        if self._times:
            print(file=sys.stderr)


def _computed(function: str, texts: Sequence[str], workers: str | None, here: Here) -> Iterator[tuple[int, str]]:
    """Each piece's number with its result, as they come."""
    if not workers or not texts:
        yield from enumerate(here(partial(called, function), texts))
        return
    from helpers.workers import cluster  # which imports Dask: it takes a second to import

    yield from cluster.computed(workers, function, texts)
