"""The texts that a command line names: files, folders and the standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

STANDARD_INPUT = "-"


class Unreadable(ValueError):
    """A name on the command line that leads to no text."""


class Source(NamedTuple):
    """A text and its name in messages."""

    name: str
    text: str


def paths_of(names: Sequence[str], excluded: Sequence[str]) -> Iterator[str | Unreadable]:
    """Yield the files, those of a folder in order, each once; or why there is none.

    A file of a folder is left out where a pattern that is `excluded` fits its path, or the end of it.
    """
    seen: set[str] = set()
    for name in names:
        for path in _paths(name, excluded):
            if isinstance(path, Unreadable) or path not in seen:
                yield path
            if isinstance(path, str):
                seen.add(path)


def _paths(name: str, excluded: Sequence[str]) -> list[str] | list[Unreadable]:
    folder = Path(name)
    if name == STANDARD_INPUT or not folder.is_dir():
        return [name]
    files = sorted(path for path in folder.rglob("*.wgsl") if path.is_file())
    inside = [str(path) for path in files if not any(path.match(pattern) for pattern in excluded)]
    if inside:
        return inside
    if files:
        return [Unreadable(f"{name}: --exclude leaves out all {len(files)} of its files")]
    return [Unreadable(f"{name}: this folder has no file whose name ends with .wgsl")]


def read(path: str) -> Source:
    """Return the text of a file. Raises Unreadable where it has none."""
    try:
        if path == STANDARD_INPUT:
            return Source("<stdin>", sys.stdin.buffer.read().decode("utf-8"))
        return Source(path, Path(path).read_bytes().decode("utf-8"))
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise Unreadable(f"{path}: byte {error.start:,} is {byte:#04x}, which is not UTF-8, as WGSL must be") from None
