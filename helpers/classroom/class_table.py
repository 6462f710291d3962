"""What students handed in, as a table of outcomes: the files are read (`helpers.classroom.handed_in`), never run."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from helpers.classroom import handed_in
from helpers.classroom.handed_in import FileError
from helpers.gpu import GpuError
from helpers.grading.drawing import aligned
from helpers.grading.prediction import AnswerError
from helpers.grading.student_files import ANSWERS
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG, Grades, Verdict

NOT_READABLE, NOT_GRADED = "not readable", "not graded"
LONGEST_NOTE = 100  # characters of a message in a table
FORMULA = re.compile(r"^(?=[=+\-@\t\r])")  # how a cell begins that a spreadsheet would calculate

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
        self.problem += f"{'; ' * bool(self.problem)}{short(problem)}"

    @property
    def questions(self) -> str:
        """How many answers are right of how many questions."""
        return f"{sum(self.answers.values())}/{len(self.answers)}" if self.answers else ""


def short(text: str) -> str:
    """A text in one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_NOTE else f"{line[:LONGEST_NOTE]}..."


def lesson(path: Path) -> Lesson:
    """The exercises in one of our notebooks. Raises FileError where it is none."""
    called = handed_in.exercises(handed_in.code_cells(path))
    return {name: function in ("predict", "ask", "match") for function, name in called}


def row(file: str, path: Path, graders: Graders, lessons: Iterable[Lesson] = ()) -> Row:
    """The outcomes in one file.

    Every question counts of a lesson of which the student did some exercise. Raises GpuError where a
    grader does: this machine runs no kernel.
    """
    try:
        work = handed_in.work(path)
    except FileError as error:
        return Row(file, problem=str(error))
    made, lessons = Row(file, student=short(work.student)), list(lessons)
    given = work.kernels | work.answers
    begun = [lesson for lesson in lessons if lesson.keys() & given.keys()]
    made.answers = {name: False for lesson in begun for name, is_question in lesson.items() if is_question}
    for name in [name for name in graders if name in given]:  # in the order of the lessons
        said = _outcome(made, name, given[name], graders[name])
        if name in made.answers:
            made.answers[name] = said == RIGHT
        else:
            made.outcomes[name] = said
    if unknown := sorted(given.keys() - graders.keys()):
        made.add_problem(f"no exercise is named {', '.join(map(repr, unknown))}")
    return made


def _outcome(row: Row, name: str, given: object, grader: Grader) -> str:
    """What a cell of the table says of an exercise; one student's text may not cost the others their table."""
    if given is None:
        return NOT_READABLE
    try:
        verdict = grader(given)
    except GpuError:
        raise
    except AnswerError:  # such as a word in the place of a number
        return NOT_READABLE
    except Exception as error:
        row.add_problem(f"{name} was not graded: {type(error).__name__}: {error}")
        return NOT_GRADED
    row.verdicts[name] = given, verdict
    return summary(verdict) if isinstance(verdict, Grades) else verdict.outcome


def summary(grades: Grades) -> str:
    """All verdicts in one word, or how many tests pass; "unsafe" where no number is wrong."""
    outcomes = {verdict.outcome for verdict in grades}
    if len(outcomes) == 1 and outcomes.isdisjoint({WRONG, UNSAFE}):
        return grades[0].outcome
    passed = f"{grades.passed}/{len(grades)}"
    return passed if WRONG in outcomes else f"{passed} {UNSAFE}"


# --- The table ----------------------------------------------------------------------------------------------


def files(folder: Path) -> list[Path]:
    """All that may be hand-ins in a folder and the folders in it, and notebooks, which some hand in instead.

    Jupyter's checkpoints are left out, and the answers in a learner's own folder, which the hand-in has, too.
    """
    paths = (path for path in folder.rglob("*") if path.suffix.lower() in (".json", ".ipynb"))
    return sorted(path for path in paths if ".ipynb_checkpoints" not in path.parts and path.name != ANSWERS)


def tables(rows: Sequence[Row]) -> str:
    """A table for the files that share exercises; the problems come last."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.outcomes or row.answers or not row.problem:
            related = [group for group in groups if any(_related(row, other) for other in group)]
            groups = [group for group in groups if group not in related] + [[*chain(*related), row]]
    parts = ["\n".join(aligned(lines(group))) for group in groups]
    parts += ["\n".join(f"{row.file}: {row.problem}" for row in rows if row.problem)]
    return "\n\n".join(filter(None, parts))


def _related(one: Row, other: Row) -> bool:
    """Whether two files share an exercise or a question, or both have none."""
    these, those = ({*row.outcomes, *row.answers} for row in (one, other))
    return bool(these & those) or these == those


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The table's head, and a line for each file; the exercises are in the order in which they first appear."""
    exercises = list(dict.fromkeys(name for row in rows for name in row.outcomes))
    cells = [[row.file, row.student, *(row.outcomes.get(n, "") for n in exercises), row.questions] for row in rows]
    table = [["file", "student", *exercises, "questions"], *cells]
    return table if any(row.student for row in rows) else [[file, *rest] for file, _, *rest in table]


def as_csv(rows: Sequence[Row]) -> str:
    """One table of all files as comma-separated values, with a column for problems.

    What a spreadsheet would take for a formula, such as the name of a file that begins with =, follows an apostrophe.
    """
    head, *body = lines(rows)
    body = [[*line, row.problem] for line, row in zip(body, rows, strict=True)]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerows([FORMULA.sub("'", cell) for cell in line] for line in [[*head, "problem"], *body])
    return file.getvalue()
