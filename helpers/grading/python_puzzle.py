"""A puzzle whose text is a few lines of Python: they are interpreted, and judged on many values of their names."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import filter as filter_names
from functools import cache, cached_property
from typing import ClassVar

import numpy as np

from helpers.grading.change import Repair
from helpers.grading.drawing import Drawn, ValuesDrawn, aligned, excerpt_of
from helpers.grading.drawn import NAME, Seed, random_numbers
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import OfficialText, Skill
from helpers.grading.python_lines import Program, Result, functions_in, without_comments
from helpers.grading.python_places import terms_of
from helpers.grading.python_repair import reach_of, repair
from helpers.grading.reasons import NamedMistake, Reason
from helpers.grading.replies import LinesRefused, NoValue, OfTheExercise, TooManyCalls, WrongValue
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, WRONG, Grades, Verdict
from helpers.grading.words import python_lines as words
from helpers.grading.words.values import shown
from wgsl import WgslError

ROUNDING = 1e-9  # relative: what another order of the same arithmetic may change
MOST_COLUMNS, WIDEST = 8, 80  # of a drawing
LIKE_A_MISTAKE = 8  # drawn cases in which a known mistake must do the same as the text
DRAWS = 20  # cases beyond the tests
Values = Mapping[str, object]


@dataclass(frozen=True)
class PythonCase:
    """One test: values of the names that are given, several times, and each time the right answer.

    What is judged is ``of(answer)``: where the answer alone is neither right nor wrong, a sentence that says what is
    wrong with it, and none where nothing is. (An answer is never text, of which these lines have none.)
    """

    name: str
    given: tuple[Values, ...]
    right: tuple[object, ...]
    of: Callable[[object], object] = lambda answer: answer

    def results(self, program: Program) -> tuple[Result | WgslError, ...]:
        """Return for each of the values what is judged of the lines, or what keeps it from being computed."""
        results: list[Result | WgslError] = []
        for values in self.given:
            try:
                result = program.run(values)
                results.append(replace(result, value=self.of(result.value)))
            except WgslError as error:
                results.append(error)
        return tuple(results)


@dataclass(frozen=True)
class PythonPuzzle(OfficialText):
    """A few official lines of Python, of which the learner writes the marked ones.

    `answer` is the name to which they give the value that is judged. A function among the values that are given may be
    called; `skill` may limit how often: its counts are patterns of names, such as "create_*". Lines that pass
    the `cases` are tried on cases that are `drawn`, too, of which the first with wrong values is one more verdict. The
    arguments of the function `free` are the learner's to find: no message tells a place in them.
    """

    suffix: ClassVar[str] = ".py"
    mark: ClassVar[str] = "# *"
    language: ClassVar[str] = "python"

    answer: str
    cases: Callable[[], Sequence[PythonCase]]
    skill: Skill | None = None
    drawn: Callable[[np.random.Generator], PythonCase] | None = None
    free: str = ""

    @property
    def limits(self) -> str:
        """The parts of Python that the learner may use, in a sentence."""
        return words.may_write(functions_in(self.cases()[0].given[0]))

    def code(self, source: str) -> str:
        """A text without its comments."""
        return without_comments(source)

    def read(self, source: str) -> Program:
        """The lines, which can be interpreted. Raises WgslError where one is not allowed."""
        return Program(source, self.cases()[0].given[0], self.answer)

    @cached_property
    def mistaken(self) -> "Callable[[Mistake, int], _Run]":
        """The results of the lines with a known mistake in a test, by its number: each is computed once."""
        made = cache(lambda mistake: self.read(self.with_mistake(mistake).source))
        return cache(lambda mistake, test: _tried(made(mistake), self.cases()[test]))

    def grade(self, source: str, seed: Seed = None) -> Grades:
        """The verdicts on a text, with the mistake's name if it is a known one, and the smallest test that fails."""
        try:
            program = self.read(source)
        except WgslError as error:
            return Grades.alike(self.tests, NO_COMPILE, _lines_refused(error), excerpt_of(error))
        return _Grader(self, program, random_numbers(self.name, self.code(source), seed)).grades()


@dataclass(frozen=True)
class _Run:
    """The results of lines in a test: for each of its values a result, or what keeps it from being computed."""

    case: PythonCase
    results: tuple[Result | WgslError, ...]

    @property
    def values(self) -> tuple[object, ...]:
        """The values, each None where it cannot be computed."""
        return tuple(getattr(result, "value", None) for result in self.results)

    @property
    def wrong(self) -> list[int]:
        """The numbers of the values that are wrong."""
        pairs = zip(self.values, self.case.right, strict=True)
        return [i for i, pair in enumerate(pairs) if not _same(*pair)]

    def first_wrong(self) -> PythonCase:
        """The test of the first wrong value alone; all of it, where the values are not tried one by one."""
        if type(self.case) is not PythonCase:
            return self.case
        i = self.wrong[0]
        return replace(self.case, given=(self.case.given[i],), right=(self.case.right[i],))

    @property
    def calls(self) -> list[str]:
        """The names of the functions that the busiest of the results called, in the order of the alphabet."""
        calls = max((getattr(result, "calls", ()) for result in self.results), key=len)
        return sorted(call.name for call in calls)


def _tried(program: Program, case: PythonCase) -> _Run:
    """Lines on a test."""
    return _Run(case, case.results(program))


def _lines_refused(error: WgslError) -> LinesRefused:
    """Return the reason of lines that are refused, or that cannot be computed."""
    return LinesRefused(error.refusal, error.line, error.column)


def _same(one: object, other: object) -> bool:
    """Return True where two values are the same but for rounding."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, int | float) and isinstance(other, int | float):
        return math.isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return one == other


class _Grader:
    """The verdicts on lines that may be interpreted."""

    def __init__(self, puzzle: PythonPuzzle, program: Program, random: np.random.Generator) -> None:
        self.puzzle, self.program, self.random = puzzle, program, random
        self.runs = [_tried(program, case) for case in puzzle.cases()]
        self.right = not any(run.wrong for run in self.runs)

    def grades(self) -> Grades:
        """Return all verdicts; the first test that fails, which is the smallest, has the mistake and the drawing."""
        verdicts = [self._verdict(run) for run in self.runs]
        first = next((i for i, verdict in enumerate(verdicts) if verdict.outcome != RIGHT), None)
        if first is None:
            return Grades([*verdicts, *self._failed_when_drawn()])
        run = self.runs[first]
        if verdicts[first].outcome == WRONG:
            verdicts[first] = replace(verdicts[first], drawn=self._drawn(run))
        verdicts[first] = self._explained(verdicts[first], run)
        return Grades(verdicts)

    def _explained(self, verdict: Verdict, run: _Run) -> Verdict:
        """Return a verdict with the mistake's name, or else with the place of the change that makes the lines right."""
        mistake = self._recognized()
        if mistake is None and verdict.outcome == WRONG:
            verdict = replace(verdict, repair=self._repair(run))
        if mistake is None and verdict.repair is None:
            mistake = self._alike_in(run)
        if mistake is None:
            return verdict
        return replace(verdict, mistake=NamedMistake(mistake.name, mistake.question))

    def _repair(self, run: _Run) -> Repair | None:
        """Return the places where one change makes the lines right, which fail in a test."""
        puzzle = self.puzzle
        terms = terms_of(puzzle.solution.text, puzzle.answer)
        first = run.first_wrong()

        def is_right(program: Program) -> bool:
            if _tried(program, first).wrong:
                return False
            again = random_numbers(puzzle.name, puzzle.code(puzzle.solution.text), None)
            return _Grader(puzzle, program, again).is_right()

        return repair(self.program, reach_of(self.program, run.case.given[run.wrong[0]], terms, puzzle.free), is_right)

    def is_right(self) -> bool:
        """Return whether the lines pass all tests, with the skill, and drawn cases."""
        outcomes = {self._verdict(run).outcome for run in self.runs}
        return outcomes == {RIGHT} and not any(run.wrong for run in self._runs_when_drawn())

    def _failed_when_drawn(self) -> Iterator[Verdict]:
        """Yield the verdict on the first drawn case that fails, if there is one."""
        for run in self._runs_when_drawn():
            if run.wrong:
                reason = self._wrong(run, run.wrong[0])
                yield Verdict(NAME, WRONG, reason, self._drawn(run), repair=self._repair(run))
                return

    def _runs_when_drawn(self) -> Iterator[_Run]:
        """Yield the lines on drawn cases."""
        draws = DRAWS if self.puzzle.drawn else 0
        for _ in range(draws):
            yield _tried(self.program, replace(self.puzzle.drawn(self.random), name=""))

    def _verdict(self, run: _Run) -> Verdict:
        """Return the verdict of a test."""
        name, skill = run.case.name, self.puzzle.skill
        if run.wrong:
            return Verdict(name, WRONG, self._wrong(run, run.wrong[0]))
        if skill and self.right:
            ours = _tried(self.puzzle.read(self.puzzle.solution.text), run.case).calls
            for names, factor in skill.limits.items():
                calls = len(filter_names(run.calls, names))
                least = len(filter_names(ours, names))
                if calls > factor * least:
                    return Verdict(name, NOT_YET, TooManyCalls(skill.asked, names, calls, least))
        return Verdict(name, RIGHT)

    def _wrong(self, run: _Run, i: int) -> Reason:
        """Return a value that is wrong, or why there is none."""
        result, value = run.results[i], run.values[i]
        if isinstance(value, str):
            return OfTheExercise(value)
        names = tuple(_numbers(run.case.given[i]).items())
        wrong = len(run.wrong)
        size = len(run.results)
        if isinstance(result, WgslError):
            return NoValue(_lines_refused(result), names, wrong, size)
        return WrongValue(self.puzzle.answer, value, run.case.right[i], names, wrong, size)

    def _recognized(self) -> Mistake | None:
        """The known mistake that does the same in every test and in drawn cases, where no other one does; else None."""
        telling = sorted(range(len(self.runs)), key=lambda i: not self.runs[i].wrong)  # where most of them differ
        fitting = [mistake for mistake in self._fitting(telling) if self._is_alike_beyond(mistake)]
        return fitting[0] if len(fitting) == 1 else None

    def _alike_in(self, run: _Run) -> Mistake | None:
        """The only mistake that does the same in a test of which an exercise's own sentence says what is wrong."""
        if not isinstance(run.values[0], str):
            return None
        fitting = self._fitting([self.runs.index(run)])
        return fitting[0] if len(fitting) == 1 else None

    def _fitting(self, tests: Sequence[int]) -> list[Mistake]:
        """Return the known mistakes that do the same in these tests, one of each name."""
        alike = [mistake for mistake in self.puzzle.mistakes if self._alike(mistake, tests)]
        return list({(mistake.name, mistake.question): mistake for mistake in alike}.values())

    def _alike(self, mistake: Mistake, tests: Sequence[int]) -> bool:
        """Return True where a mistake gives the same values in these tests; where all are right, by as many calls."""
        for i in tests:
            run = self.runs[i]
            other = self.puzzle.mistaken(mistake, i)
            if not all(map(_same, run.values, other.values)):
                return False
            if not {*other.calls} <= {*run.calls, *self._official_calls(i)}:  # a question would be about that call
                return False
            if self.right and run.calls != other.calls:
                return False
        return True

    def _official_calls(self, test: int) -> list[str]:
        """Return the names of the functions that the official lines call in a test."""
        return _tried(self.puzzle.read(self.puzzle.solution.text), self.runs[test].case).calls

    def _is_alike_beyond(self, mistake: Mistake) -> bool:
        """Return True where a mistake gives the same values in drawn cases."""
        if self.puzzle.drawn is None:
            return True
        made = self.puzzle.read(self.puzzle.with_mistake(mistake).source)
        for _ in range(LIKE_A_MISTAKE):
            case = self.puzzle.drawn(self.random)
            if not all(map(_same, _tried(self.program, case).values, _tried(made, case).values)):
                return False
        return True

    def _drawn(self, run: _Run) -> Drawn | None:
        """Return the line that cannot be computed, or else what is given, and below it the answer and the right one.

        Each has a column, the wrong ones first. Where there is one column, the calls follow.
        """
        failed = run.results[run.wrong[0]]
        if isinstance(failed, WgslError):
            return excerpt_of(failed)
        if isinstance(failed.value, str):
            return None
        chosen = sorted(range(len(run.results)), key=lambda i: i not in run.wrong)[:MOST_COLUMNS]
        lines = self._table(run, chosen)
        while len(chosen) > 1 and max(map(len, lines)) > WIDEST:
            chosen.pop()
            lines = self._table(run, chosen)
        calls = run.results[0].calls if len(run.results) == 1 else ()
        lines += [f"your call: {call.text}" for call in calls]
        return ValuesDrawn(run.case.name, tuple(line[:WIDEST] for line in lines))

    def _table(self, run: _Run, chosen: Sequence[int]) -> list[str]:
        """Return a table with a column for each of the values that are chosen."""
        columns = [_numbers(run.case.given[i]) for i in chosen]
        rows = []
        for name in columns[0]:
            rows.append([name, *(shown(column[name]) for column in columns)])
        rows.append([f"{self.puzzle.answer}, yours", *(_marked(run, i) for i in chosen)])
        rows.append([f"{self.puzzle.answer}, right", *(shown(run.case.right[i]) for i in chosen)])
        return list(aligned(rows))


def _marked(run: _Run, i: int) -> str:
    """A value of the learner's, marked where it is wrong."""
    value = "none" if isinstance(run.results[i], WgslError) else shown(run.values[i])
    return f"{value}*" if i in run.wrong else value


def _numbers(values: Values) -> Values:
    """Those of the values that can be written down: no functions, and no objects that only functions take."""
    return {name: value for name, value in values.items() if isinstance(value, int | float | tuple)}
