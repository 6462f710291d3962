"""The learner's own files: the text of each puzzle, in notebooks/my, where any editor can open it."""

import json
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


def answers() -> dict[str, str]:
    """The learner's last answer to each question, as it was typed."""
    with suppress(OSError, ValueError):
        kept = json.loads(_answers().read_text(encoding="utf-8"))
        return kept if isinstance(kept, dict) else {}
    return {}


def keep_answer(question: str, text: str) -> None:
    """Keep an answer, if there is room for a file."""
    with suppress(OSError):
        _answers().parent.mkdir(parents=True, exist_ok=True)
        write(_answers(), json.dumps(answers() | {question: text}, indent=1, ensure_ascii=False))


def _answers() -> Path:
    return path_of("answers").with_suffix(".json")


def stamp(puzzle: str) -> int | None:
    """When the file was last changed, to notice a change by another program; None where there is none."""
    with suppress(OSError):
        return path_of(puzzle).stat().st_mtime_ns
    return None
