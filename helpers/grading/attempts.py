"""What a learner has graded is kept: one file for each attempt, ``<puzzle>_<number>.wgsl`` or ``.py``.

The files are in notebooks/my/attempts; the environment variable CONVGRAD_MY names another folder than notebooks/my. A
text that cannot be written there is kept as long as Python runs.
"""

import os
import re
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

HELPERS = Path(__file__).resolve().parents[1]
NOTEBOOKS = HELPERS.parent / "notebooks"
_unwritten: dict[str, tuple[int, str]] = {}  # the last text of a puzzle that no file holds, and when it was graded


class NoAttemptError(LookupError):
    """A puzzle of which the learner has graded no text yet."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message alone, as nothing went wrong."""
        return [str(self)]


def my_folder() -> Path:
    """The folder of the learner's own files."""
    return Path(os.environ.get("CONVGRAD_MY") or NOTEBOOKS / "my")


@cache
def suffix(puzzle: str) -> str:
    """How the names of a puzzle's files end: as that of its official text."""
    return ".py" if any(HELPERS.glob(f"*/puzzles/{puzzle}.py")) else ".wgsl"


def folder() -> Path:
    """Where the attempts are; those of an older copy of the project, in notebooks/attempts, are moved there."""
    new, old = my_folder() / "attempts", NOTEBOOKS / "attempts"
    if new.parent.parent == NOTEBOOKS and old.is_dir() and not new.exists():
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            old.rename(new)
        except OSError:
            return old
    return new


def keep(puzzle: str, source: str) -> None:
    """Keep a text, unless it is the same as the puzzle's last one."""
    if source == last(puzzle):
        return
    try:
        folder().mkdir(parents=True, exist_ok=True)
        path = _next(puzzle)
        try:
            write(path, source)
        except OSError:
            path.unlink()
            raise
        _unwritten.pop(puzzle, None)
    except OSError:  # the grade does not depend on a full disk or a read-only folder
        _unwritten[puzzle] = time.time_ns(), source


def _next(puzzle: str) -> Path:
    """The file of a puzzle's next attempt, which is there now, empty: no other process takes its number."""
    number = max(_files(puzzle), default=0) + 1
    while True:
        path = folder() / f"{puzzle}_{number}{suffix(puzzle)}"
        try:
            path.touch(exist_ok=False)
            return path
        except FileExistsError:
            number += 1


def last(puzzle: str) -> str | None:
    """The text of a puzzle's last attempt, or None."""
    return dated(puzzle)[1]


def dated(puzzle: str) -> tuple[int, str | None]:
    """When the last attempt of a puzzle was kept, in nanoseconds, and its text; 0 and None without one."""
    with suppress(OSError):
        if puzzle not in _unwritten and (files := _files(puzzle)):
            path = files[max(files)]
            return path.stat().st_mtime_ns, path.read_bytes().decode("utf-8", "surrogatepass")
    return _unwritten.get(puzzle, (0, None))


def _files(puzzle: str) -> dict[int, Path]:
    """The files of a puzzle's attempts by their numbers."""
    paths, name = folder().glob(f"{puzzle}_*{suffix(puzzle)}"), re.compile(rf"{puzzle}_(\d+)")
    matches = ((name.fullmatch(path.stem), path) for path in paths)
    return {int(match[1]): path for match, path in matches if match}


def write(path: Path, source: str) -> None:
    """Write a file at one stroke, in a folder that may be new: it is whole, or it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(source.encode("utf-8", "surrogatepass"))
        os.replace(unfinished, path)
    except OSError:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
