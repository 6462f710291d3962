"""The learner's own files in notebooks/my: the text of each puzzle, which any editor can open, and the answers.

`pack` makes one file of them, for the teacher.
"""

import base64
import html
import json
import re
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from helpers.grading import attempts
from helpers.grading.attempts import my_folder, write

FORMAT = "convgrad hand-in 1"
ANSWERS = "answers.json"
_unwritten: dict[str, object] = {}  # the answers that no file holds
_unwritten_texts: dict[Path, tuple[int, str]] = {}  # what a file could not take, and when it was typed
IN_A_BROWSER = sys.platform == "emscripten"


class StudentFileError(ValueError):
    """What keeps a learner's file from being read or written."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message alone."""
        return [str(self)]


def path_of(puzzle: str) -> Path:
    """The file of a puzzle's text."""
    return my_folder() / f"{puzzle}{attempts.suffix(puzzle)}"


def read(puzzle: str) -> str | None:
    """The text of a puzzle, or None where the learner has not begun. Raises StudentFileError where it is not UTF-8."""
    try:
        return path_of(puzzle).read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise StudentFileError(
            f"{path_of(puzzle)} is not UTF-8 (byte {error.start}): save it as UTF-8 in the editor that wrote it"
        ) from None


def keep(puzzle: str, text: str) -> str:
    """Write the text of a puzzle; returns what kept it from being written, or nothing.

    What cannot be written is kept as long as Python runs, for `latest`.
    """
    path = path_of(puzzle)
    try:
        write(path, text)
        _unwritten_texts.pop(path, None)
    except OSError as error:
        _unwritten_texts[path] = time.time_ns(), text
        return f"{path} cannot be written ({error.strerror or error}): copy your text to keep it"
    return ""


def stamp(puzzle: str) -> int | None:
    """When the file was last changed, to notice a change by another program; None where there is none."""
    with suppress(OSError):
        return path_of(puzzle).stat().st_mtime_ns
    return None


def answers() -> dict[str, object]:
    """The learner's last answer to each question, matrix and fault, by its name."""
    with suppress(OSError):
        return (_read_answers() or {}) | _unwritten
    return dict(_unwritten)


def keep_answer(exercise: str, answer: object) -> None:
    """Keep an answer: text as it is typed, or a value of Python or NumPy.

    Where no file can be written, it is kept as long as Python runs. A file of answers that something has spoiled is
    put aside, not written over.
    """
    _unwritten[exercise] = json.loads(json.dumps(answer, default=_plain))
    with suppress(OSError):
        if (kept := _read_answers()) is None:
            _answers().replace(_answers().with_name("answers_not_readable.json"))
        write(_answers(), json.dumps((kept or {}) | _unwritten, indent=1))
        _unwritten.clear()


def _read_answers() -> dict[str, object] | None:
    """What the file of answers holds, nothing where there is none, and None where it cannot be read."""
    try:
        kept = json.loads(_answers().read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        return None
    return kept if isinstance(kept, dict) else None


def _plain(number: object) -> object:
    """A number of NumPy, or a fraction, as one of JSON."""
    return number.tolist() if hasattr(number, "tolist") else float(number)


def _answers() -> Path:
    return my_folder() / ANSWERS


# --- For the teacher ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """A file for the teacher, and how much is in it."""

    file: Path
    kernels: int
    python: int
    answers: int
    text: str = field(repr=False)  # what the file holds

    @property
    def _counted(self) -> str:
        counts = {"kernel": self.kernels} | ({"Python text": self.python} if self.python else {})
        texts = ", ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
        return f"{texts} and {self.answers} answer{'s' * (self.answers != 1)} are in"

    def __repr__(self) -> str:
        return f"{self._counted} notebooks/my/{self.file.name}: send this file to your teacher"

    def _repr_html_(self) -> str | None:
        """In a browser, which has no folder to take it from: a link that downloads the file."""
        if not IN_A_BROWSER:
            return None
        data = f"data:application/json;base64,{base64.b64encode(self.text.encode()).decode()}"
        name = html.escape(self.file.name)
        link = f'<a download="{name}" href="{data}">Download {name}</a>'
        return f"<p>{self._counted} one file. <b>{link}</b>, and send it to your teacher.</p>"


def pack(student: str, puzzles: Iterable[str]) -> Packed:
    """Write the learner's last text of each puzzle and their answers into one file, named after the student.

    Raises StudentFileError where there is nothing to hand in, where a text is not UTF-8, and where the file cannot be
    written.
    """
    texts = {puzzle: latest(puzzle) for puzzle in puzzles}
    kernels = {puzzle: text for puzzle, text in texts.items() if text is not None}
    if not kernels and not answers():
        raise StudentFileError("there is nothing to hand in yet: grade a kernel or answer a question first")
    name = re.sub(r"[^\w-]+", "_", student).strip("_")
    file = my_folder() / f"hand_in_{name}.json"
    content = {"format": FORMAT, "student": student, "kernels": kernels, "answers": answers()}
    text = json.dumps(content, indent=1)
    try:
        write(file, text)
    except OSError as error:
        if not IN_A_BROWSER:  # there, it is downloaded
            raise StudentFileError(f"{file} cannot be written ({error.strerror or error})") from None
    python = sum(attempts.suffix(puzzle) == ".py" for puzzle in kernels)
    return Packed(file, len(kernels) - python, python, len(answers()), text)


def latest(puzzle: str) -> str | None:
    """What the learner wrote last: in the editor or in the file, or an attempt from a cell."""
    written = _unwritten_texts.get(path_of(puzzle)) or (stamp(puzzle) or 0, read(puzzle))
    return max(written, attempts.dated(puzzle), key=lambda kept: (kept[1] is not None, kept[0]))[1]
