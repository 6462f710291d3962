"""A table of the outcomes of what students handed in: the files are read (`helpers.classroom.handed_in`), never run."""

import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from helpers.classroom import handed_in
from helpers.classroom.handed_in import FileError
from helpers.gpu import GpuError
from helpers.grading.drawing import aligned
from helpers.grading.prediction import AnswerError
from helpers.grading.student_files import ANSWERS, ANSWERS_FOLDER, OUTCOMES
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.lessons.shared.notebook_cells import code_cells, exercises
from wgsl.output import visible

NOT_READABLE, NOT_GRADED = "not readable", "not graded"
LONGEST_NOTE = 100  # characters of a message in a table
FORMULA = re.compile(r"^(?=\s*[=+\-@＝＋－＠])")  # how a cell begins that a spreadsheet would calculate
OF_A_SYSTEM = frozenset({"__MACOSX", "Thumbs.db", "desktop.ini"})  # what no student made; their names begin with no dot

Grader = Callable[[object], Grades | Verdict]  # takes what was handed in
Graders = Mapping[str, Grader]  # by the name of an exercise
Lesson = Mapping[str, bool]  # the names of its exercises, and whether each is a question


# --- What it is worth ---------------------------------------------------------------------------------------


@dataclass
class Row:
    """One file: the outcome of each exercise, how many questions are answered right of all, and its problem.

    `student` is the name in the file, and `verdicts` has what was handed in, with the verdict, of what was graded.
    """

    file: str
    outcomes: dict[str, str] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    problem: str = ""
    student: str = ""
    verdicts: dict[str, tuple[object, Grades | Verdict]] = field(default_factory=dict)

    def add_problem(self, problem: str) -> None:
        """Add a message to those of the row: in one line, and cut where it is long."""
        self.problem += f"{'; ' if self.problem else ''}{short(problem)}"

    @property
    def questions(self) -> str:
        """The number of right answers, and that of questions."""
        return f"{sum(self.answers.values())}/{len(self.answers)}" if self.answers else ""


def short(text: str) -> str:
    """A text in one line, cut where it is long. Letters in it that command a terminal, or are not seen, are escapes."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= LONGEST_NOTE else f"{line[:LONGEST_NOTE]}..."


def name_shown(text: str) -> str:
    """A student's name in one line: what is no letter in it, such as the end of a line, is shown as an escape."""
    name = visible(re.sub(" +", " ", text.strip(" ")))
    return name if len(name) <= LONGEST_NOTE else f"{name[:LONGEST_NOTE]}..."


def lesson(path: Path) -> Lesson:
    """The exercises in one of our notebooks. Raises ValueError where it is none."""
    called = exercises(code_cells(path))
    return {name: function in ("ask", "match") for function, name in called}


def row(file: str, path: Path, graders: Graders, lessons: Iterable[Lesson] = ()) -> Row:
    """The outcomes in one file.

    Every question counts of a lesson of which the student did some exercise. Raises GpuError where a
    grader does: this machine runs no kernel.
    """
    try:
        work = handed_in.work(path)
    except FileError as error:
        return Row(file, problem=str(error))
    made = Row(file, student=name_shown(work.student))
    texts = work.kernels | work.answers
    for begun in lessons:
        if begun.keys() & texts.keys():
            made.answers |= {name: False for name, is_question in begun.items() if is_question}
    for name in [name for name in graders if name in texts]:  # in the order of the lessons
        outcome = _outcome(made, name, texts[name], graders[name])
        if name in made.answers:
            made.answers[name] = outcome == RIGHT
        else:
            made.outcomes[name] = outcome
    unknown = sorted(texts.keys() - graders.keys())
    if unknown:
        made.add_problem(f"no exercise is named {', '.join(map(repr, unknown))}")
    return made


def _outcome(row: Row, name: str, text: object, grader: Grader) -> str:
    """The text of a cell for an exercise; one student's text may not cost the others their table."""
    if text is None:
        return NOT_READABLE
    try:
        verdict = grader(text)
    except GpuError:
        raise
    except AnswerError:  # such as a word in the place of a number
        return NOT_READABLE
    except Exception as error:
        row.add_problem(f"{name} was not graded: {type(error).__name__}: {error}")
        return NOT_GRADED
    row.verdicts[name] = text, verdict
    return summary(verdict) if isinstance(verdict, Grades) else verdict.outcome


def summary(grades: Grades) -> str:
    """All verdicts in one word, or how many tests pass; "unsafe" where no number is wrong."""
    outcomes = {verdict.outcome for verdict in grades}
    if len(outcomes) == 1 and outcomes.isdisjoint({WRONG, UNSAFE}):
        return grades[0].outcome
    passed = f"{grades.passed}/{len(grades)}"
    return passed if WRONG in outcomes else f"{passed} {UNSAFE}"


# --- The files ----------------------------------------------------------------------------------------------


class Found(NamedTuple):
    """The contents of a folder and of the folders in it: the files that get a row, and those that are only counted."""

    files: list[Path]
    hidden: list[Path]  # of a system or a program, such as .DS_Store
    of_learners: list[Path]  # in a learner's own folder: the hand-in there has the same texts and answers

    def left_out(self, folder: Path) -> str:
        """A line for the hidden files and one for the learners' own, if there are any."""
        lines = []
        if self.hidden:
            lines.append(f"{_first_of(self.hidden, folder)} not read: hidden files are left out")
        if self.of_learners:
            there = "a hand-in in the same folder has the same texts and answers"
            lines.append(f"{_first_of(self.of_learners, folder)} not read: {there}")
        return "\n".join(lines)


def find(folder: Path) -> Found:
    """All files in a folder and the folders in it, in the order of their names."""
    contents = Found([], [], [])
    for path in sorted(_everything(folder)):
        if any(part.startswith(".") or part in OF_A_SYSTEM for part in path.relative_to(folder).parts):
            contents.hidden.append(path)
        elif _is_in_hand_in(path):
            contents.of_learners.append(path)
        else:
            contents.files.append(path)
    return contents


def _everything(folder: Path) -> Iterator[Path]:
    """All files, and the folders that are empty, that cannot be opened, and that are links, which are not followed."""
    closed: list[str] = []
    for place, folders, names in os.walk(folder, onerror=lambda error: closed.append(error.filename)):
        here = Path(place)
        yield from (here / name for name in names)
        yield from (here / name for name in folders if (here / name).is_symlink())
        if not folders and not names and here != folder:
            yield here
    yield from map(Path, closed)


def _is_in_hand_in(path: Path) -> bool:
    """Return True for a text or the answers in a learner's own folder that has a hand-in."""
    folder = path.parent.parent if path.parent.name in ("attempts", ANSWERS_FOLDER) else path.parent
    is_answer = path.name == ANSWERS or path.parent.name == ANSWERS_FOLDER
    if not is_answer and path.name != OUTCOMES and path.suffix not in (".wgsl", ".py"):
        return False
    is_own_folder = any((folder / name).exists() for name in (ANSWERS, ANSWERS_FOLDER, OUTCOMES))
    return is_own_folder and any(folder.glob("hand_in_*"))


def _first_of(paths: Sequence[Path], folder: Path) -> str:
    """The first of some files, how many more there are, and the verb."""
    first = name_in(folder, paths[0])
    return f"{first} was" if len(paths) == 1 else f"{first} and {len(paths) - 1} more were"


def name_in(folder: Path, path: Path) -> str:
    """The name of a file in a folder, as it is shown."""
    return visible(path.relative_to(folder).as_posix())


def note_same_names(rows: Sequence[Row]) -> None:
    """Add to each row which other files have the same student's name."""
    named: dict[str, list[Row]] = {}
    for row in rows:
        named.setdefault(row.student.casefold(), []).append(row)
    for student, same in named.items():
        for row in same:
            others = [other.file for other in same if other is not row]
            if student and others:
                row.add_problem(f"ask which file counts: the same name is in {', '.join(others)}")


# --- The table ----------------------------------------------------------------------------------------------


def tables(rows: Sequence[Row]) -> str:
    """A table for the files that share exercises; the problems come last."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.outcomes or row.answers or not row.problem:
            related = [group for group in groups if _related_to_one(row, group)]
            groups = [group for group in groups if group not in related] + [[*chain(*related), row]]
    parts = ["\n".join(aligned(lines(group))) for group in groups]
    parts += ["\n".join(f"{row.file}: {row.problem}" for row in rows if row.problem)]
    return "\n\n".join(filter(None, parts))


def _related_to_one(row: Row, group: Sequence[Row]) -> bool:
    """Return True where a file is related to one of a group."""
    return any(_related(row, other) for other in group)


def _related(one: Row, other: Row) -> bool:
    """Return True where two files share an exercise or a question, or both have none."""
    these = {*one.outcomes, *one.answers}
    those = {*other.outcomes, *other.answers}
    return bool(these & those) or these == those


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The table's head, and a line for each file; the exercises are in the order in which they first appear."""
    exercises = list(dict.fromkeys(chain.from_iterable(row.outcomes for row in rows)))
    table = [["file", "student", *exercises, "questions"]]
    for row in rows:
        outcomes = [row.outcomes.get(name, "") for name in exercises]
        table.append([row.file, row.student, *outcomes, row.questions])
    return table if any(row.student for row in rows) else [[file, *rest] for file, _, *rest in table]


def as_csv(rows: Sequence[Row]) -> str:
    """One table of all files as comma-separated values, with a column for problems.

    What a spreadsheet would take for a formula, such as the name of a file that begins with =, follows an apostrophe.
    """
    head, *body = lines(rows)
    body = [[*line, row.problem] for line, row in zip(body, rows, strict=True)]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for line in [[*head, "problem"], *body]:
        table.writerow([FORMULA.sub("'", cell) for cell in line])
    return file.getvalue()
