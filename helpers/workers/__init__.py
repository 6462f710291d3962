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
    keys = [hashlib.sha256(f"{versions()} {function} {text}".encode()).hexdigest()[:16] for text in texts]
    own = ROOT / "measurements" / f"{function.replace(':', '.')}.jsonl" if workers and not ledger else None
    kept, file = _ledger(ledger or own)
    todo = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept}
    total, names, times = len({*keys}), [*todo], []
    with file, closing(_computed(function, [*todo.values()], workers, here)) as computed:
        try:
            for key in keys:
                while key not in kept:
                    i, result = next(computed)
                    kept[names[i]] = json.loads(result)
                    file.write(json.dumps({"key": names[i], "result": kept[names[i]]}) + "\n")
                    file.flush()
                    times.append(time.monotonic())
                    _show(times, total - len(todo), total)
                yield kept[key]
        except KeyboardInterrupt:
            done = f"stopped: {total - len(todo) + len(times):,} of {total:,} pieces are done"
            goes_on = f" and kept in {file.name}: the same command goes on there"
            raise WorkersError(f"{done}{goes_on * bool(ledger or own)}") from None
        finally:
            print(end="\n" * bool(times), file=sys.stderr)  # below the bar
    if own:
        with suppress(OSError):  # the same command runs twice: the other one has removed it, or still writes to it
            own.unlink()


def _ledger(path: Path | None) -> tuple[dict[str, Plain], TextIO]:
    """The results that a file has, by the keys of their pieces, and the file, for those that come; it may be none."""
    kept = {}
    try:
        (path or Path(os.devnull)).parent.mkdir(parents=True, exist_ok=True)
        begun = path.read_bytes() if path and path.exists() else b""
        file = (path or Path(os.devnull)).open("a", encoding="utf-8")
    except OSError as error:
        raise WorkersError(f"the ledger {path} cannot be written: {error.strerror}") from None
    for line in begun.splitlines():
        with suppress(ValueError, TypeError, KeyError):  # the last line may have been cut
            entry = json.loads(line)
            kept[entry["key"]] = entry["result"]
    file.write("\n" * (begun[-1:] not in (b"", b"\n")))
    return kept, file


def _show(times: Sequence[float], before: int, total: int) -> None:
    """Draw a bar: how many pieces are done (by the times of those that this run computed), how long the rest takes."""
    done = before + len(times)
    each = (times[-1] - times[0]) / max(1, len(times) - 1)  # before the first, workers were started
    marks = 30 * done // total
    if sys.stderr.isatty() or marks > 30 * (done - 1) // total:  # a log need not have each
        said = f"\r{'#' * marks:.<30} {done:,} of {total:,}, {each * (total - done):,.0f} s left   "
        print(said, end="", file=sys.stderr, flush=True)


def _computed(function: str, texts: Sequence[str], workers: str | None, here: Here) -> Iterator[tuple[int, str]]:
    """Each piece's number with its result, as they come."""
    if not workers or not texts:
        yield from enumerate(here(partial(called, function), texts))
        return
    from helpers.workers import cluster  # which imports Dask: it takes a second to import

    yield from cluster.computed(workers, function, texts)
