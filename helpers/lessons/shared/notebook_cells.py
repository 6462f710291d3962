"""The exercises of a lesson's notebook: the exercises that are called in its cells."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

EXERCISE = re.compile(r"""\b(grade|write|ask|match|mark|find_fault|plant_fault)\(\s*(?:\w+\s*=\s*)?["']([^"']+)["']""")


def code_cells(path: Path) -> list[str]:
    """Return the texts of a notebook's code cells.

    Raises ValueError where the file is not a notebook, and OSError where it cannot be read.
    """
    try:
        cells = json.loads(path.read_bytes())["cells"]
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError, RecursionError):
        raise ValueError(f"{path.name} has no cells") from None


def exercises(cells: Iterable[str]) -> list[tuple[str, str]]:
    """Return which exercises some cells have: the function that is called for each, and its name."""
    called = []
    for cell in cells:
        called += EXERCISE.findall(cell)
    return called
