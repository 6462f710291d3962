"""A puzzle: what the learner writes of a text, the cases on which it is tried, and the mistakes that can be named."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from helpers.grading import mistakes
from helpers.grading.drawing import excerpt_of
from helpers.grading.drawn_choice import numbers_of_facts
from helpers.grading.mistakes import Mistake
from helpers.grading.reasons import not_compiled
from helpers.grading.verdict import NOT_ATTEMPTED, Grades
from wgsl import Kernel, Listing, WgslError
from wgsl.simulator.run import compiled
from wgsl.simulator.subgroups import USUAL

Array = np.ndarray

LEARNERS_LINE = "// *"  # ends the lines of an official kernel that the learner is to write
BROKEN = "  // ~ "  # comes before a line that is in the skeleton alone, where it waits to be repaired

STEPS = 8  # times the statements or loads of our busiest thread: enough for any style, but not for many threads' work
SHARE = 4  # times its threads at work: enough where some of them have less to do
TWICE = 2  # times its loads or results: enough for loading something again, or for two results at once


class Dispatch(NamedTuple):
    """One pass of a case: its workgroups in x, y and z, and the function that they run."""

    workgroups: tuple[int, int, int] = (1, 1, 1)
    entry_point: str = "main"


@dataclass(frozen=True)
class Case:
    """One test: what the kernel is given, and the exact answer.

    `inputs` are float32 or u32 arrays at bindings 0, 1, ...; the output follows, in the shape of `expected`; then a
    buffer of each length in `scratch`, where a dispatch leaves numbers for those after it; then `params`, the u32 words
    of the uniform, if there are any. The answer may be off by `tolerance`. `start` is what is in the output and in
    scratch before, for a kernel that changes them in place. `padding` is how many rows and
    columns a picture draws around the last input. `subgroup_size` is how many threads a subgroup has in the simulator;
    the adapter chooses its own.
    """

    name: str
    inputs: tuple[Array, ...]
    expected: Array
    params: tuple[int, ...] = ()
    dispatches: tuple[Dispatch, ...] = (Dispatch(),)
    tolerance: float | Array = 0.0
    scratch: tuple[int, ...] = ()
    start: tuple[Array, ...] = ()
    padding: tuple[int, int] = (0, 0)
    subgroup_size: int = USUAL

    def differ(self, output: Array, other: Array | None = None) -> Array:
        """The places where an output differs from another one, by default from the exact answer."""
        other = self.expected if other is None else other
        with np.errstate(invalid="ignore"):
            same = (output == other) | (abs(output - other) <= self.tolerance) | (np.isnan(output) & np.isnan(other))
        return ~same


@dataclass(frozen=True)
class Drawn:
    """Problems for a puzzle beyond its tests, drawn at random: the sizes of one, and the case that has them.

    `sizes` draws the sizes of a problem by their names, as the learner knows them (H, kW, S, n), in the order in which
    they are shown; a word may stand among them for a kind of numbers. `case` makes, with the name that the case is to
    have, the problem of such sizes, and raises ValueError where they do not fit together, or where one is 0 that may
    not be: a problem that fails is made smaller, size by size. `facts` are numbers that a text may confuse or limit:
    the sizes, and what follows from them, such as the sizes of an output.
    """

    sizes: Callable[[np.random.Generator], Mapping[str, int | str]]
    case: Callable[[str, Mapping[str, int | str], np.random.Generator], Case]
    facts: Callable[[Mapping[str, int | str]], Mapping[str, int]] = numbers_of_facts


@dataclass(frozen=True)
class Skill:
    """The subject of a puzzle, beyond right numbers: a kernel that does not do it is not there yet.

    In the test `test`, no count of a kernel may be larger than a multiple of the official kernel's: `limits` has the
    factors by the keys of `TestRun.counts`. Nor may the official kernel's be larger than a multiple, in `least`, of the
    kernel's. Where the tests are too small to show how many workgroups share the work, it is counted in a `larger`
    problem, too, in which each result takes little. `asked` completes "this exercise asks for ...".
    """

    asked: str
    test: str
    limits: Mapping[str, float]
    least: Mapping[str, float] = field(default_factory=dict)
    larger: Callable[[], Case] | None = None

    @classmethod
    def one_thread_for(cls, result: str, test: str, larger: Callable[[], Case]) -> "Skill":
        """The results are shared out among the threads of all workgroups: none of them does the work of many."""
        limits = {"results": TWICE, "thread_loads": STEPS}
        return cls(f"one thread for each {result}", test, limits, {"busy_threads": SHARE}, larger)

    @cached_property
    def larger_case(self) -> Case | None:
        """The larger problem, named as it is shown."""
        if self.larger is None:
            return None
        case = self.larger()
        return replace(case, name=f"a larger problem of {case.expected.size} numbers")


@dataclass(frozen=True)
class OfficialText:
    """A text of ours, of which the learner writes the marked lines, and the mistakes that are known in it.

    It is in `folder`, named ``<name>`` with the suffix of its language, and the mistakes are beside it, in
    ``<name>.mistakes.toml``. Where all lines of code are marked, the learner begins with a blank page: comments that
    state the task. A subclass has `cases`, which makes the tests, the smallest first, and `read`, which makes of a text
    what is run, and raises WgslError, with the place, where it does not compile.
    """

    suffix: ClassVar[str] = ".wgsl"
    mark: ClassVar[str] = LEARNERS_LINE  # ends the lines that the learner is to write
    language: ClassVar[str] = Listing.language
    limits: ClassVar[str] = ""  # what may be written, where that is not the whole language

    name: str
    folder: Path

    @cached_property
    def tests(self) -> tuple[str, ...]:
        """The names of the tests."""
        return tuple(case.name for case in self.cases())

    @cached_property
    def official(self) -> Kernel:
        """The official text, with its header and its marks."""
        return Kernel(self._file.with_suffix(self.suffix).read_text(encoding="utf-8"), self.name)

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """The mistakes that can be named; of two that do the same, the first is."""
        return tuple(mistakes.read(self._file.with_suffix(".mistakes.toml")))

    def with_mistake(self, mistake: Mistake) -> Kernel:
        """The official text, without its header and its marks, with a known mistake."""
        return mistake.made_in(Kernel(self.solution.text, self.name))

    @property
    def _file(self) -> Path:
        return self.folder / self.name

    @cached_property
    def _lines(self) -> list[str]:
        """The official text without its header, which ends at the first blank line."""
        return self.official.source.rstrip().partition("\n\n")[2].split("\n")

    @property
    def skeleton(self) -> str:
        """The text from which the learner starts."""
        kept = (line for line in self._lines if not line.endswith(self.mark))
        return "\n".join(line.partition(BROKEN)[2] or line for line in kept)

    @property
    def solution(self) -> Listing:
        """The official text as it is shown, numbered as in a cell, below its first line, ``my_kernel = ...``."""
        lines = (line.removesuffix(self.mark).rstrip() for line in self._lines if BROKEN not in line)
        return Listing("\n".join(lines), 2, self.language)

    def code(self, source: str) -> str:
        """A text without its comments."""
        return Kernel(source).code

    def unchanged(self, source: str) -> bool:
        """Return True where a text differs from the skeleton in nothing but comments and blanks."""
        return without_blanks(self.code(source)) == without_blanks(self.code(self.skeleton))

    def first_error(self, source: str) -> tuple[int, int, int] | None:
        """Return line, column and length of what keeps a text from compiling; None where nothing does."""
        error = self._refusal(source)
        return (error.line, error.column, error.length) if error and error.line else None

    def _refusal(self, source: str) -> WgslError | None:
        try:
            self.read(source)
        except WgslError as error:
            return error
        return None

    def not_attempted(self) -> Grades:
        """Return the verdicts on the skeleton; one that is to be repaired gets its first reply."""
        error = self._refusal(self.skeleton) if BROKEN in self.official.source else None
        if error is None:
            return Grades.alike(self.tests, NOT_ATTEMPTED)
        return Grades.alike(self.tests, NOT_ATTEMPTED, not_compiled(error), excerpt_of(error))


@dataclass(frozen=True)
class Puzzle(OfficialText):
    """An official kernel, of which the learner writes the marked lines, and how their text is graded.

    `axes` are the letters of the output's axes, with blanks between them; of a table, the last one is the names of its
    columns, with commas. A puzzle without a `skill` asks for right
    numbers alone. A text that passes the `cases` is tried on `drawn` problems, too.
    """

    tells_place: ClassVar[bool] = True  # of the change that makes a wrong text right

    axes: str
    cases: Callable[[], Sequence[Case]]
    skill: Skill | None = None
    drawn: Drawn | None = None

    @cached_property
    def entry_points(self) -> tuple[str, ...]:
        """The functions that are run, in their order."""
        dispatches = chain.from_iterable(case.dispatches for case in self.cases())
        return tuple(dict.fromkeys(dispatch.entry_point for dispatch in dispatches))

    def read(self, source: str) -> object:
        """A program for each entry point. Raises WgslError, with its place, where the text does not compile."""
        return [compiled(Kernel(source), entry_point) for entry_point in self.entry_points]


def declarations(kernel: Kernel) -> list[tuple[str, object]]:
    """Address space and type of what a kernel binds, in the order of the bindings; a struct is its members' types."""
    types = [(binding.space, kernel.find(binding.name).type) for binding in kernel.bindings]
    return [(space, _members(type) or type) for space, type in types]


def _members(type: object) -> list[tuple[int, object]]:
    """The offset and the type of each member of a struct; none of another type."""
    return [(member.offset, member.type) for member in getattr(type, "fields", ())]


def same_code(one: Kernel, other: Kernel) -> bool:
    """Return True where two texts differ in nothing but comments and blanks."""
    return without_blanks(one.code) == without_blanks(other.code)


def without_blanks(text: str) -> str:
    """Return a text without its blanks."""
    return "".join(text.split())
