"""The learner's own files in notebooks/my: the text of each puzzle, which any editor can open, attempts and answers.

An attempt is a text that was graded, in ``attempts/<puzzle>_<number>.wgsl`` or ``.py``. Each answer has a file of its
own, too, in ``answers/<exercise>.txt``: two notebooks that write at once lose nothing. The environment variable
CONVGRAD_MY names another folder than notebooks/my. What cannot be written there is kept as long as Python runs. `pack`
makes one file of all this, for the teacher.
"""

import base64
import hashlib
import html
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from threading import Lock
from typing import NamedTuple
from unicodedata import combining, normalize

from helpers.data.files import write_whole
from helpers.grading.verdict import MessageAlone
from helpers.operations.kernels import ROOT

NOTEBOOKS = ROOT / "notebooks"
FORMAT = "convgrad hand-in 1"
ANSWERS = "answers.json"  # where older copies of the project kept all answers
ANSWERS_FOLDER = "answers"
NOBODY = "your name"  # what stands in the cell that hands in, until a learner writes theirs
OUTCOMES = "outcomes.txt"  # a line for each puzzle that was graded
IN_A_BROWSER = sys.platform == "emscripten"
TOPS = (ROOT, Path("/drive")) if IN_A_BROWSER else (ROOT,)  # a browser shows its storage from /drive on
# What no file holds, and when it was written: a file's text by its path, and a puzzle's last attempt by its name.
_unwritten: dict[Path | str, tuple[int, str]] = {}
_unwritten_answers: dict[str, object] = {}
_writing_answers = Lock()  # else a thread may write an older answer after a newer one


class StudentFileError(MessageAlone, ValueError):
    """The reason why a learner's file cannot be read or written."""


class NoAttemptError(MessageAlone, LookupError):
    """A puzzle of which the learner has graded no text yet."""


def my_folder() -> Path:
    """The folder of the learner's own files."""
    return Path(os.environ.get("CONVGRAD_MY") or NOTEBOOKS / "my")


def shown(path: Path) -> str:
    """The path of a file as a reader finds it: from the project's folder on, or whole where the file is elsewhere."""
    path = path.absolute()
    for top in TOPS:
        if path.is_relative_to(top):
            return path.relative_to(top).as_posix()
    return str(path)


@cache
def suffix(puzzle: str) -> str:
    """The end of the names of a puzzle's files, as in that of its official text."""
    return ".py" if any(ROOT.glob(f"helpers/lessons/*/puzzles/{puzzle}.py")) else ".wgsl"


def write(path: Path, source: str) -> None:
    """Write a text whole, in a folder that may be new. Raises OSError where it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, source.encode("utf-8", "surrogatepass"))


# --- The text of a puzzle --------------------------------------------------------------------------------------


def folder_id() -> str:
    """A short name for the folder: a page keeps texts by it, so that two copies of the project do not share them."""
    return hashlib.sha256(str(my_folder().resolve()).encode()).hexdigest()[:8]


def path_of(puzzle: str) -> Path:
    """The file of a puzzle's text."""
    return my_folder() / f"{puzzle}{suffix(puzzle)}"


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
        _unwritten.pop(path, None)
    except OSError as error:
        _unwritten[path] = time.time_ns(), text
        return f"{path} cannot be written ({error.strerror or error}): copy your text to keep it"
    return ""


def stamp(puzzle: str) -> int | None:
    """The time at which the file was last changed, to notice a change by another program; None where there is none."""
    with suppress(OSError):
        return path_of(puzzle).stat().st_mtime_ns
    return None


# --- Attempts --------------------------------------------------------------------------------------------------


def attempts_folder() -> Path:
    """The folder of the attempts."""
    return my_folder() / "attempts"


def keep_attempt(puzzle: str, source: str) -> None:
    """Keep a text, unless it is the same as the puzzle's last one."""
    if source == last_attempt(puzzle):
        return
    try:
        attempts_folder().mkdir(parents=True, exist_ok=True)
        path = _next(puzzle)
        try:
            write(path, source)
        except BaseException:
            path.unlink()
            raise
        _unwritten.pop(puzzle, None)
    except OSError:  # the grade does not depend on a full disk or a read-only folder
        _unwritten[puzzle] = time.time_ns(), source


def _next(puzzle: str) -> Path:
    """The file of a puzzle's next attempt, which is there now, empty: no other process takes its number."""
    for number in count(max(_attempts(puzzle), default=0) + 1):
        path = attempts_folder() / f"{puzzle}_{number}{suffix(puzzle)}"
        with suppress(FileExistsError):
            path.touch(exist_ok=False)
            return path


def last_attempt(puzzle: str) -> str | None:
    """The text of a puzzle's last attempt, or None."""
    return dated(puzzle)[1]


def dated(puzzle: str) -> tuple[int, str | None]:
    """The time at which the last attempt of a puzzle was kept, in nanoseconds, and its text; 0 and None without one."""
    with suppress(OSError):
        written = {number: path for number, path in _attempts(puzzle).items() if path.stat().st_size}
        if puzzle not in _unwritten and written:  # an empty one is just being written
            path = written[max(written)]
            return path.stat().st_mtime_ns, path.read_bytes().decode("utf-8", "surrogatepass")
    return _unwritten.get(puzzle, (0, None))


def attempts(puzzle: str) -> Iterator[str]:
    """The texts of a puzzle's attempts, the last one first."""
    last = last_attempt(puzzle)
    if last is not None:
        yield last
    paths = _attempts(puzzle)
    for number in sorted(paths, reverse=True):
        with suppress(OSError):
            text = paths[number].read_bytes().decode("utf-8", "surrogatepass")
            if text and text != last:
                yield text


def _attempts(puzzle: str) -> dict[int, Path]:
    """The files of a puzzle's attempts by their numbers."""
    paths, name = attempts_folder().glob(f"{puzzle}_*{suffix(puzzle)}"), re.compile(rf"{puzzle}_(\d+)")
    matches = ((name.fullmatch(path.stem), path) for path in paths)
    return {int(match[1]): path for match, path in matches if match}


class Outcome(NamedTuple):
    """The number of tests that a text passed when it was graded, and of all."""

    passed: int
    tests: int

    @property
    def right(self) -> bool:
        """True where it passed all."""
        return self.passed == self.tests


def keep_outcome(puzzle: str, source: str, passed: int, tests: int) -> None:
    """Keep how many tests a puzzle's graded text passes: the map and the editor need not grade it again."""
    with suppress(OSError):
        others = [line for line in _outcomes() if not line.startswith(f"{puzzle} ")]
        write(my_folder() / OUTCOMES, "\n".join([*others, f"{_graded(puzzle, source)} {passed} of {tests}"]))


def outcome(puzzle: str, source: str) -> Outcome | None:
    """Return how many tests this text of a puzzle passed when it was graded; None where that is not kept."""
    with suppress(OSError):
        for line in _outcomes():
            match = re.fullmatch(rf"{_graded(puzzle, source)} (\d+) of (\d+)", line)
            if match:
                return Outcome(int(match[1]), int(match[2]))
    return None


def _outcomes() -> list[str]:
    path = my_folder() / OUTCOMES
    return path.read_text("utf-8", "replace").splitlines() if path.exists() else []


def _graded(puzzle: str, source: str) -> str:
    """The beginning of a line of the file: the text is a hash, so that another text has no outcome."""
    digest = hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{puzzle} {digest}"


# --- Answers ---------------------------------------------------------------------------------------------------


def answers() -> dict[str, object]:
    """The learner's last answer to each question, matrix and fault, by its name."""
    kept, unwritten = _older_answers(), dict(_unwritten_answers)  # first: it may be written while files are read
    for path in sorted((my_folder() / ANSWERS_FOLDER).glob("*.txt")):
        with suppress(OSError, ValueError):  # it cannot be read, or it is spoiled
            kept[path.stem] = json.loads(path.read_bytes())
    return kept | unwritten


def typed(exercise: str) -> str:
    """The learner's last answer as text, as it is typed; nothing where there is none."""
    answer = _answer(exercise)
    if answer is None:
        return ""
    return answer if isinstance(answer, str) else json.dumps(answer).strip("[]")


def keep_answer(exercise: str, answer: object) -> None:
    """Keep an answer: text as it is typed, or a value of Python or NumPy.

    Where no file can be written, it is kept as long as Python runs, and written with the next answer.
    """
    with _writing_answers:
        _unwritten_answers[exercise] = json.loads(json.dumps(answer, default=_plain))
        for name, value in [*_unwritten_answers.items()]:
            with suppress(OSError):
                write(_answer_file(name), json.dumps(value))
                del _unwritten_answers[name]


def _answer(exercise: str) -> object:
    """Return the learner's last answer to one exercise, or None."""
    if (unwritten := _unwritten_answers.get(exercise)) is not None:
        return unwritten
    with suppress(OSError, ValueError):
        return json.loads(_answer_file(exercise).read_bytes())
    return _older_answers().get(exercise)


def _answer_file(exercise: str) -> Path:
    return my_folder() / ANSWERS_FOLDER / f"{exercise}.txt"


def _older_answers() -> dict[str, object]:
    """Return what the file of an older copy holds; nothing where there is none, or it is spoiled."""
    with suppress(OSError, ValueError):
        kept = json.loads((my_folder() / ANSWERS).read_bytes())
        if isinstance(kept, dict):
            return kept
    return {}


def _plain(number: object) -> object:
    """A number of NumPy, or a fraction, as one of JSON."""
    return number.tolist() if hasattr(number, "tolist") else float(number)


# --- For the teacher ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Packed:
    """A file for the teacher, and how much is in it."""

    file: Path | None  # None: nothing was written yet, or nobody is named
    kernels: int
    python: int
    answers: int
    text: str = field(repr=False)  # what the file holds

    @property
    def _counted(self) -> str:
        counts = {"kernel": self.kernels} | ({"Python text": self.python} if self.python else {})
        texts = ", ".join(f"{count} {word}{'s' if count != 1 else ''}" for word, count in counts.items())
        return f"{texts} and {self.answers} answer{'s' if self.answers != 1 else ''} are in"

    def __repr__(self) -> str:
        if not self.file and self.kernels + self.python + self.answers:
            return f'Nothing is handed in yet: write your own name in the place of "{NOBODY}", and run the cell again.'
        if not self.file:
            return "There is nothing to hand in yet: grade a kernel or answer a question first."
        return f"{self._counted} {shown(self.file)}: send this file to your teacher"

    def _repr_html_(self) -> str | None:
        """In a browser, which has no folder to take it from: a link that downloads the file."""
        if not IN_A_BROWSER or not self.file:
            return None
        data = f"data:application/json;base64,{base64.b64encode(self.text.encode()).decode()}"
        name = html.escape(self.file.name)
        link = f'<a download="{name}" href="{data}">Download {name}</a>'
        return f"<p>{self._counted} one file. <b>{link}</b>, and send it to your teacher.</p>"


def pack(student: str, puzzles: Iterable[str]) -> Packed:
    """Write the learner's last text of each puzzle and their answers into one file, named after the student.

    Raises StudentFileError where a text is not UTF-8, and where the file cannot be written.
    """
    kernels = {puzzle: text for puzzle in puzzles if (text := latest(puzzle)) is not None}
    python = sum(suffix(puzzle) == ".py" for puzzle in kernels)
    counts = len(kernels) - python, python, len(answers())
    if not any(counts) or student.strip().casefold() == NOBODY:
        return Packed(None, *counts, "")
    file = my_folder() / f"hand_in_{_in_a_file_name(student)}.json"
    content = {"format": FORMAT, "student": student, "kernels": kernels, "answers": answers()}
    text = json.dumps(content, indent=1)
    try:
        write(file, text)
    except OSError as error:
        if not IN_A_BROWSER:  # there, it is downloaded
            raise StudentFileError(f"{file} cannot be written ({error.strerror or error})") from None
    return Packed(file, *counts, text)


def _in_a_file_name(student: str) -> str:
    """A student's name as a part of a file's name.

    Where the locale lacks a letter, as C lacks all beyond ASCII, the letter loses its accent or becomes its number.
    """
    name = re.sub(r"[^\w-]+", "_", student).strip("_")[:60]
    encoding = sys.getfilesystemencoding()
    try:
        name.encode(encoding)
    except UnicodeEncodeError:
        plain = "".join(letter for letter in normalize("NFKD", name) if not combining(letter))
        return plain.encode(encoding, "backslashreplace").decode(encoding).replace("\\", "")
    return name


def latest(puzzle: str) -> str | None:
    """The text that the learner wrote last: in the editor or in the file, or an attempt from a cell."""
    written = _unwritten.get(path_of(puzzle)) or (stamp(puzzle) or 0, read(puzzle))
    return max(written, dated(puzzle), key=lambda kept: (kept[1] is not None, kept[0]))[1]
