"""The files that students handed in, as `helpers.hand_in` made them, read without running anything."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from helpers.grading.student_files import FORMAT

LARGEST_FILE = 20_000_000  # bytes; a lesson with its outputs takes half a million
ARCHIVES = frozenset({".zip", ".7z", ".rar", ".tar", ".tgz", ".gz", ".bz2", ".xz"})
ASK = 'ask for the file that helpers.hand_in("name") makes'
NOTEBOOK = f"it is a notebook: {ASK}"
NOT_JSON = f"it is not JSON: {ASK}"


class Work(NamedTuple):
    """The work of one student: the text of each puzzle, None where it cannot be read, and the answers by their names.

    `student` is the name that a hand-in has.
    """

    kernels: Mapping[str, str | None]
    answers: Mapping[str, object]
    student: str = ""


class FileError(Exception):
    """A file that cannot be read as what it should be, and why."""


def work(path: Path) -> Work:
    """The work in a hand-in, whatever its name, which a platform may change. Raises FileError where it is none."""
    if path.suffix.lower() == ".ipynb":
        raise FileError(NOTEBOOK)
    if path.suffix.lower() in ARCHIVES:
        raise FileError("it is an archive: unpack it, then run this command again")
    match _content(path):
        case {"format": str(known), "kernels": dict(texts), "answers": dict(answers), **rest} if known == FORMAT:
            kernels = {puzzle: text if isinstance(text, str) else None for puzzle, text in texts.items()}
            return Work(kernels, answers, str(rest.get("student", "")))
        case {"cells": list()}:
            raise FileError(NOTEBOOK)
    raise FileError(f"it is JSON of another kind: {ASK}")


def _content(path: Path) -> object:
    """The content of a file of JSON."""
    try:
        content = _bytes(path)
    except OSError as error:
        raise FileError(f"it cannot be opened: {error.strerror}") from None
    try:
        return json.loads(content)  # bytes, as they may be UTF-8 or UTF-16
    except UnicodeDecodeError as error:
        if not content.lstrip().startswith(b"{"):  # a picture, or a document of another program
            raise FileError(NOT_JSON) from None
        cure = "ask for the file as helpers.hand_in made it"
        raise FileError(f"it is not UTF-8 (byte {error.start}): {cure}") from None
    except (ValueError, RecursionError):
        raise FileError(NOT_JSON) from None


def _bytes(path: Path) -> bytes:
    """The bytes of a file. Raises FileError where there are none or too many, and OSError where it cannot be opened."""
    if path.is_dir():
        if any(path.iterdir()):
            raise FileError("it links to a folder, which was not searched: run this command on that folder, too")
        raise FileError("it is an empty folder")
    if not path.is_file():
        raise FileError("it is not a file")
    size = path.stat().st_size
    if size == 0:
        raise FileError("it is empty: ask for a new one")
    if size > LARGEST_FILE:
        cure = "a hand-in has less than 1 MB: ask for a new one"
        raise FileError(f"it is larger than {LARGEST_FILE / 1e6:g} MB; {cure}")
    return path.read_bytes()
