"""What students handed in: files that `helpers.hand_in` made, read without running anything; and what a lesson asks."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from helpers.grading.student_files import FORMAT, renewed

LARGEST_FILE = 20_000_000  # bytes; a lesson with its outputs takes half a million
EXERCISE = re.compile(
    r"""\b(grade|write|predict|ask|match|mark|find_fault|plant_fault)\(\s*(?:\w+\s*=\s*)?["']([^"']+)["']"""
)
NOTEBOOK = 'a notebook is no hand-in: ask for the file that helpers.hand_in("name") makes'


class Work(NamedTuple):
    """What one student wrote: the text of each puzzle, None where it cannot be read, and the answers by their names.

    `student` is the name that a hand-in has.
    """

    kernels: Mapping[str, str | None]
    answers: Mapping[str, object]
    student: str = ""


class FileError(Exception):
    """A file that cannot be read as what it should be, and why."""


def work(path: Path) -> Work:
    """What a hand-in holds. Raises FileError where it is none."""
    if path.suffix.lower() == ".ipynb":
        raise FileError(NOTEBOOK)
    match _content(path):
        case {"format": str(known), "kernels": dict(texts), "answers": dict(answers), **rest} if known == FORMAT:
            given = {puzzle: text if isinstance(text, str) else None for puzzle, text in texts.items()}
            return Work(given, renewed(answers), str(rest.get("student", "")))
    raise FileError("it is not a file that helpers.hand_in made")


def code_cells(path: Path) -> list[str]:
    """The texts of a notebook's code cells. Raises FileError where it is not one."""
    try:
        cells = _content(path)["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError):
        raise FileError("it has no cells") from None


def _content(path: Path) -> object:
    """What a file of JSON holds."""
    try:
        if not path.is_file():
            raise FileError("it is not a file")
        if path.stat().st_size > LARGEST_FILE:
            cure = "a hand-in has less than 1 MB: ask for a new one"
            raise FileError(f"it is larger than {LARGEST_FILE / 1e6:g} MB; {cure}")
        return json.loads(path.read_bytes())  # bytes, as they may be UTF-8 or UTF-16
    except OSError as error:
        raise FileError(f"it cannot be opened: {error.strerror}") from None
    except UnicodeDecodeError as error:
        cure = "ask for the file as helpers.hand_in made it"
        raise FileError(f"it is not UTF-8 (byte {error.start}): {cure}") from None
    except (ValueError, RecursionError):
        raise FileError("it is not JSON") from None


def exercises(cells: Iterable[str]) -> list[tuple[str, str]]:
    """Which exercises a lesson has: the function that is called for each, and its name."""
    return [match for cell in cells for match in EXERCISE.findall(cell)]
