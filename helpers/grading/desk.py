"""The learner's own files: the text of each puzzle, in notebooks/my, where any editor can open it."""

import os
from contextlib import suppress
from pathlib import Path

from helpers.grading.attempts import NOTEBOOKS, write


def path_of(puzzle: str) -> Path:
    """The file of a puzzle's text."""
    return Path(os.environ.get("CONVGRAD_MY") or NOTEBOOKS / "my") / f"{puzzle}.wgsl"


def read(puzzle: str) -> str | None:
    """The text of a puzzle, or None where the learner has not begun. Raises UnreadableError where it is not UTF-8."""
    try:
        return path_of(puzzle).read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise UnreadableTextError(
            f"{path_of(puzzle)} is not UTF-8 (byte {error.start}): save it as UTF-8 in the editor that wrote it"
        ) from None


class UnreadableTextError(ValueError):
    """A learner's file that is no text."""


def keep(puzzle: str, text: str) -> str:
    """Write the text of a puzzle; returns what kept it from being written, or nothing."""
    path = path_of(puzzle)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text)
    except OSError as error:
        return f"{path} cannot be written ({error.strerror or error}): copy your text to keep it"
    return ""


def stamp(puzzle: str) -> int | None:
    """When the file was last changed, to notice a change by another program; None where there is none."""
    with suppress(OSError):
        return path_of(puzzle).stat().st_mtime_ns
    return None
