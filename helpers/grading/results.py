"""Students' notebooks in, a table of outcomes out: the notebooks are read (`helpers.grading.reading`), never run."""

import csv
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from helpers.gpu import GpuError
from helpers.grading.prediction import AnswerError
from helpers.grading.reading import Call, NotebookError, calls, code_cells
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG, Grades, Verdict

NOT_READABLE, NOT_GRADED = "not readable", "not graded"
LONGEST_NOTE = 100  # characters of a message in a table
FORMULA = re.compile(r"^(?=[=+\-@\t\r])")  # how a cell begins that a spreadsheet would calculate

Grader = Callable[..., Grades | Verdict]  # takes the arguments
Graders = Mapping[str, Mapping[str, Grader]]  # by the function and the name of an exercise
Lesson = frozenset[tuple[str, str]]  # the function and the name of each of its exercises


# --- What it is worth ---------------------------------------------------------------------------------------


@dataclass
class Row:
    """One notebook: the outcome of each exercise, how many questions are answered right of all, and its problem."""

    notebook: str
    outcomes: dict[str, str] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    problem: str = ""

    def add_problem(self, problem: str) -> None:
        """Add a message to those of the row: in one line, and cut where it is long."""
        line = " ".join(problem.split())
        short = line if len(line) <= LONGEST_NOTE else f"{line[:LONGEST_NOTE]}..."
        self.problem += f"{'; ' * bool(self.problem)}{short}"

    @property
    def questions(self) -> str:
        """How many answers are right of how many questions."""
        return f"{sum(self.answers.values())}/{len(self.answers)}" if self.answers else ""


def lesson(path: Path) -> Lesson:
    """The exercises in a notebook. Raises NotebookError where it is not one."""
    return frozenset(call[:2] for call in calls(code_cells(path)))


def notebook_row(notebook: str, path: Path, graders: Graders, lessons: Iterable[Lesson] = ()) -> Row:
    """The outcomes in one notebook; of an exercise's calls, the last one counts.

    A question counts also where the student took it out. It is known from the lesson that shares most exercises with
    the notebook. Raises GpuError where a grader does: this machine runs no kernel.
    """
    try:
        last_calls = {call[:2]: call for call in calls(code_cells(path))}
    except NotebookError as error:
        return Row(notebook, problem=str(error))
    made = Row(notebook)
    unknown = []
    for call in last_calls.values():
        if grader := graders[call.function].get(call.exercise):
            _add(made, call, grader)
        else:
            unknown.append(repr(call.exercise))
    if unknown:
        made.add_problem(f"no exercise is named {', '.join(unknown)}")
    shared = max(lessons, key=lambda exercises: len(exercises & last_calls.keys()), default=frozenset())
    if shared & last_calls.keys():
        made.answers = {name: False for function, name in sorted(shared) if function == "predict"} | made.answers
    return made


def _add(row: Row, call: Call, grader: Grader) -> None:
    """Enter the outcome of one exercise."""
    try:
        said = outcome(call, grader)
    except GpuError:
        raise
    except Exception as error:  # one student's text may not cost the others their table
        said = NOT_GRADED
        row.add_problem(f"{call.exercise} was not graded: {type(error).__name__}: {error}")
    if call.function == "predict":
        row.answers[call.exercise] = said == RIGHT
    else:
        row.outcomes[call.exercise] = said


def outcome(call: Call, grader: Grader) -> str:
    """What a cell of the table says of an exercise. Raises what the grader does."""
    if call.arguments is None:
        return NOT_READABLE
    try:
        verdict = grader(*call.arguments)
    except AnswerError:  # such as a number in the place of a kernel
        return NOT_READABLE
    return summary(verdict) if isinstance(verdict, Grades) else verdict.outcome


def summary(grades: Grades) -> str:
    """All verdicts in one word, or how many tests pass; "unsafe" where no number is wrong."""
    outcomes = {verdict.outcome for verdict in grades}
    if len(outcomes) == 1 and outcomes.isdisjoint({WRONG, UNSAFE}):
        return grades[0].outcome
    passed = f"{grades.passed}/{len(grades)}"
    return passed if WRONG in outcomes else f"{passed} {UNSAFE}"


# --- The table ----------------------------------------------------------------------------------------------


def notebooks(folder: Path) -> list[Path]:
    """All notebooks in a folder and the folders in it, without Jupyter's checkpoints."""
    return sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def tables(rows: Sequence[Row]) -> str:
    """A table for the notebooks that share exercises, as those of one lesson do; the problems come last."""
    groups: list[list[Row]] = []
    for row in rows:
        if row.outcomes or row.answers or not row.problem:
            related = [group for group in groups if any(_related(row, other) for other in group)]
            groups = [group for group in groups if group not in related] + [[*chain(*related), row]]
    parts = [aligned(lines(group)) for group in groups]
    parts += ["\n".join(f"{row.notebook}: {row.problem}" for row in rows if row.problem)]
    return "\n\n".join(filter(None, parts))


def _related(one: Row, other: Row) -> bool:
    """Whether two notebooks share an exercise or a question, or both have none."""
    these, those = ({*row.outcomes, *row.answers} for row in (one, other))
    return bool(these & those) or these == those


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The table's head, and a line for each notebook; the exercises are in the order in which they first appear."""
    exercises = list(dict.fromkeys(name for row in rows for name in row.outcomes))
    head = ["notebook", *exercises, "questions"]
    return [head] + [[row.notebook, *(row.outcomes.get(n, "") for n in exercises), row.questions] for row in rows]


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as text, in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def as_csv(rows: Sequence[Row]) -> str:
    """One table of all notebooks as comma-separated values, with a column for problems.

    What a spreadsheet would take for a formula, such as the name of a file that begins with =, follows an apostrophe.
    """
    head, *body = lines(rows)
    body = [[*line, row.problem] for line, row in zip(body, rows, strict=True)]
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerows([FORMULA.sub("'", cell) for cell in line] for line in [[*head, "problem"], *body])
    return file.getvalue()
