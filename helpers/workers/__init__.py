"""A job of many pieces, computed here or by the workers of a cluster: the same results, in the same order.

    the command: mapped                              a worker: called
      "tests.random_problems:judged"         ->      imports the function by this name
      '[0, 8, 8]', a piece as JSON           ->      calls it
      writes it into the ledger              <-      '{"problems": 32, ...}', its result as JSON
      yields it when its turn comes

What is in a piece is data and stays data: nothing in it is ever unpickled or run as Python. A worker that is killed
costs only the pieces that it had. A run that is stopped goes on where it was, by the lines of its ledger.
"""

import hashlib
import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib import import_module, metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = "helpers", "kernels", "tests", "wgsl"  # what a result depends on,
PACKAGES = "distributed", "hypothesis", "lark", "numpy", "torch", "wgpu"  # and on which packages

Plain = dict | list | str | float | None  # what JSON has
Here = Callable[[Callable[[str], str], Iterable[str]], Iterable[str]]  # such as `map`
Versions = dict[str, str | None]


class WorkersError(RuntimeError):
    """Why the pieces were not all computed, and what to do about it."""


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
    keys = [hashlib.sha256(f"{versions()} {function} {text}".encode()).hexdigest() for text in texts]
    own = ROOT / "measurements" / f"{function.replace(':', '.')}.jsonl" if workers and not ledger else None
    kept = Ledger(ledger or own)
    todo = {key: text for key, text in zip(keys, texts, strict=True) if key not in kept.results}
    computed = _computed(function, [*todo.values()], workers, here)
    with Progress(len({*keys}), len(todo)) as progress:
        try:
            for key in keys:
                while key not in kept.results:
                    i, result = next(computed)
                    kept.add([*todo][i], json.loads(result))
                    progress.step()
                yield kept.results[key]
        except KeyboardInterrupt:
            where = f" and kept in {kept.path}: the same command goes on there" if kept.path else ""
            raise WorkersError(f"\nstopped: {progress.done:,} of {progress.total:,} pieces are done{where}") from None
        finally:
            computed.close()
    if own:
        own.unlink(missing_ok=True)


def _computed(function: str, texts: Sequence[str], workers: str | None, here: Here) -> Iterator[tuple[int, str]]:
    """Each piece's number with its result, as they come."""
    if not workers or not texts:
        yield from enumerate(here(partial(called, function), texts))
        return
    from helpers.workers import cluster  # Dask takes a second to import

    yield from cluster.computed(workers, function, texts)


def called(function: str, text: str) -> str:
    """The result of ``module:function`` for one piece; both are JSON."""
    module, name = function.split(":")
    return json.dumps(getattr(import_module(module), name)(json.loads(text)))


@cache
def versions() -> Versions:
    """What must be the same everywhere: a hash of this tree, and the versions of Python and of the packages."""
    tree = hashlib.sha256()
    for path in sorted(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".pyc"):
            tree.update(f"\n{path.relative_to(ROOT).as_posix()}\n".encode())
            tree.update(path.read_bytes().replace(b"\r\n", b"\n"))
    found = {"tree": tree.hexdigest()[:12], "Python": "{}.{}".format(*sys.version_info)}
    return found | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)


class Ledger:
    """Results by the keys of their pieces, each written to a file (if there is one) as soon as it is there."""

    def __init__(self, path: Path | None) -> None:
        self.path, self.results, begun = path, {}, b""
        if not path:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            begun = path.read_bytes() if path.exists() else b""
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise WorkersError(f"the ledger {path} cannot be written: {error.strerror}") from None
        for line in begun.splitlines():
            with suppress(ValueError, TypeError, KeyError):  # the last line may have been cut
                entry = json.loads(line)
                self.results[entry["key"]] = entry["result"]
        if begun and not begun.endswith(b"\n"):
            self._file.write("\n")

    def add(self, key: str, result: Plain) -> None:
        """Keep a result."""
        self.results[key] = result
        if self.path:
            self._file.write(json.dumps({"key": key, "result": result}) + "\n")
            self._file.flush()


class Progress:
    """A bar on the standard error: how many pieces are done, and how long the rest will take."""

    def __init__(self, total: int, todo: int) -> None:
        self.total, self.done, self._first = total, total - todo, 0.0

    def __enter__(self) -> "Progress":
        self._before = self.done
        return self

    def __exit__(self, *error: object) -> None:
        print(end="\n" * (self.done > self._before), file=sys.stderr)

    def step(self) -> None:
        """One more piece is done."""
        self.done += 1
        self._first = self._first or time.monotonic()  # before, workers were started
        each = (time.monotonic() - self._first) / max(1, self.done - self._before - 1)
        marks, left = 30 * self.done // self.total, each * (self.total - self.done)
        said = f"\r{'#' * marks:.<30} {self.done:,} of {self.total:,}, {left:,.0f} s left   "
        if sys.stderr.isatty() or marks > 30 * (self.done - 1) // self.total:  # a log need not have each
            print(said, end="", file=sys.stderr, flush=True)
