"""Files as students hand them in."""

import json
from pathlib import Path

from helpers.classroom import handed_in
from helpers.lessons.exercises import PUZZLES

MAP = PUZZLES["map"].solution.text


def hand_in(path: Path, kernels: dict[str, str], answers: dict[str, object]) -> Path:
    """A file as `helpers.hand_in` makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"format": handed_in.FORMAT, "student": path.stem, "kernels": kernels, "answers": answers}
    path.write_text(json.dumps(content))
    return path
