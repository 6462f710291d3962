"""Grade a learner's kernel: it is tried on the cases of a puzzle, in this process."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np

from helpers.gpu import GpuError, adapter_info
from helpers.gpu.passes import pipeline
from helpers.grading import text_checks
from helpers.grading.drawing import drawing, legend, number
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import Case, Puzzle, declarations, same_code
from helpers.grading.race import Race, race
from helpers.grading.read_sets import ReadSets, read_sets
from helpers.grading.test_run import MOST_ITERATIONS, TestRun, launched, passes_to_blame, simulated, traced
from helpers.grading.verdict import NO_COMPILE, NOT_YET, OURS, RIGHT, UNSAFE, WRONG, Grades, Verdict, capitalized
from wgsl import Kernel, UnsupportedWgsl, WgslError
from wgsl.simulator.findings import Finding, causes
from wgsl.simulator.run import compiled
from wgsl.simulator.settled import remark
from wgsl.simulator.work import Work

MOST_WORK = 500_000_000  # of `Work`: about 4 s, 5 times our largest; all tests together, and each that is repeated
WORK = 30_000  # statements that may be simulated while a known mistake is looked for: about 2 s
DETAIL, LINE = 700, 150  # letters of a reason, and of a line below the verdicts
ORDER = {"non-uniform barrier", "data race"}  # they make the numbers wrong, and not the other way round
LUCK = "the numbers of this run are right only by luck"
SAYS_ALL = {"not portable", "uninitialized read"}  # their words say why right numbers are not enough
NOT_RUN = "it is not judged yet, as each kernel must run in our simulator before it runs on a GPU: "
ENDLESS = "your kernel was not run, as a loop may never end: "
BEFORE = "what was in the output before, which is 0 only in a new buffer"
SCRATCH_BEFORE = BEFORE.replace("the output", "a buffer")  # where there are several
OWN_SUM = "add up in a variable of your own, such as `var sum = 0.0;`, and store it once, after the loops"
WORDS = {  # of the counts that a puzzle may limit
    "steps": "statements of the busiest thread",
    "integer": "operations on integers",
    "loads_storage": "loads",
    "loads_workgroup": "loads of workgroup memory",
    "stores_workgroup": "stores to workgroup memory",
    "sectors": "sectors of 32 bytes",
    "thread_loads": "loads of the busiest thread",
    "thread_loads_workgroup": "loads of workgroup memory of the busiest thread",
    "results": "results of the busiest thread",
    "threads_at_a_word": "threads that store to one element of workgroup memory",
}
TURN = "its loop over the tiles makes a turn too many, which adds only zeros"
TELLING = "loads_storage", "loads_workgroup", "sectors"  # what is the same in two texts that do the same work
_official: dict[tuple[str, str], TestRun] = {}  # the official kernel in a case, each simulated once


def grade(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts on a text, with the mistake's name if it is a known one, and a drawing of the smallest wrong output.

    Raises GpuError where this machine cannot run any kernel.
    """
    return Grades(map(_cut, _grades(puzzle, source)))


def _cut(verdict: Verdict) -> Verdict:
    """The verdict without the ends of what is too long to read, as where a name has a thousand letters."""
    drawing = re.sub(f"(.{{{LINE}}}).+", r"\1...", verdict.drawing)
    detail = re.sub(f"(.{{{DETAIL}}}).+", r"\1...", verdict.detail, flags=re.DOTALL)
    return replace(verdict, detail=detail, drawing=drawing)


def _grades(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts, however long they are."""
    kernel = Kernel(source)
    try:
        if problem := _problem(kernel, puzzle):
            return Grades.alike(puzzle.tests, NO_COMPILE, problem)
        if idle := _idle(kernel, puzzle):
            return Grades.alike(puzzle.tests, WRONG, idle)
        runs = _runs(puzzle, kernel)
    except WgslError as error:
        reason, _, excerpt = _reason(error).partition("\n")
        if isinstance(error, UnsupportedWgsl):
            return Grades.alike(puzzle.tests, NOT_YET, f"{NOT_RUN}{reason}", excerpt)
        return Grades.alike(puzzle.tests, NO_COMPILE, text_checks.missing(kernel, puzzle, error) or reason, excerpt)
    return _stopped(puzzle, kernel, runs) if runs[-1].endless else _Grader(puzzle, kernel, runs).grades()


def _stopped(puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun]) -> Grades:
    """The verdicts where a loop has used up its iterations, after the tests in which it has ended.

    It may be one that ends, where a thread does the work of many, or where the numbers are wrong, too.
    """
    ended, rest = runs[:-1], puzzle.tests[len(runs) - 1 :]
    if (seen := _seen(puzzle, kernel, runs)) and (grader := _Grader(puzzle, kernel, seen)).lacks:
        return grader.not_yet(None, runs[-1])
    if any(run.wrong.any() for run in ended):
        said = _Grader(puzzle, kernel, ended).grades()
    else:
        said, rest = [], puzzle.tests
    return Grades([*said, *(Verdict(test, WRONG, _endless(runs)) for test in rest)])


def _seen(puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun]) -> list[TestRun]:
    """The tests that show whether a thread does the work of many, where it was stopped in the last one of these.

    They are those that end, with the test of the skill. Where none does, the smallest one may take longer.
    """
    *ended, stopped = runs
    if puzzle.skill and puzzle.skill.test != stopped.case.name:
        asked = simulated(kernel, puzzle.cases()[puzzle.tests.index(puzzle.skill.test)], work=Work(MOST_WORK))
        if not asked.endless:
            return [*ended, asked]
    if not stopped.long:
        return []
    again = ended or [simulated(kernel, stopped.case, MOST_ITERATIONS, Work(MOST_WORK))]
    return [run for run in again if not run.endless]


def _runs(puzzle: Puzzle, kernel: Kernel) -> list[TestRun]:
    """The kernel on all cases, or up to the first one on which a loop does not end, or the work is used up."""
    runs, work = [], Work(MOST_WORK)
    for case in puzzle.cases():
        runs.append(simulated(kernel, case, work=work))
        if runs[-1].endless:
            break
    return runs


def _endless(runs: Sequence[TestRun]) -> str:
    """Which loop does not end."""
    where = f"in the test {runs[-1].case.name}, " if len(runs) > 1 else ""
    return f"{ENDLESS}{where}{_said(runs[-1].finding)}"


# --- May it run in the official kernel's place? -------------------------------------------------------------


def _problem(kernel: Kernel, puzzle: Puzzle) -> str:
    """Why it may not, although it compiles, or nothing.

    Raises WgslError where it does not compile.
    """
    official, given = puzzle.official, Kernel(puzzle.skeleton).code.count("@binding")
    if slip := text_checks.retyped(kernel, official) or text_checks.renamed(kernel, puzzle.entry_points):
        return slip
    for entry_point in puzzle.entry_points:
        pipeline(kernel, entry_point)
    for binding, (mine, wanted) in enumerate(zip_longest(declarations(kernel), declarations(official))):
        if mine == wanted:
            continue
        if slip := text_checks.exchanged(kernel, official):
            return slip
        if binding < given:
            return f"its binding {binding} is not the skeleton's; copy all bindings, and the struct, from there"
        if not wanted:
            return f"it has a binding {binding}, which the task does not name"
        return f"its binding {binding} must be {_declared(*wanted)}, as the task says"
    for entry_point in puzzle.entry_points:
        mine, wanted = (k.workgroup_size(entry_point) for k in (kernel, official))
        if mine != wanted:
            threads = f"{_times(mine)} thread{'s' * (mine != (1, 1, 1))}"
            whose = "its workgroups" if len(puzzle.entry_points) == 1 else f"the workgroups of `{entry_point}`"
            return f"{whose} have {threads}; write @workgroup_size({_times(wanted, ', ')})"
    return ""


def _idle(kernel: Kernel, puzzle: Puzzle) -> str:
    """What to say where no line that can run stores to the output, or nothing.

    Raises UnsupportedWgsl where the simulator cannot run it.
    """
    output, programs = len(puzzle.cases()[0].inputs), [compiled(kernel, each) for each in puzzle.entry_points]
    if any(variable.binding == output for program in programs for variable in program.written):
        return ""
    name, last = kernel.bindings[output].name, puzzle.entry_points[-1]
    return f"no line stores to `{name}`: which line of `{last}` should store your result there?"


def _declared(space: str, type: object) -> str:
    """What a binding is: its address space, and its type or how many words its struct has."""
    what = f"with a struct of {len(type)} u32" if isinstance(type, list) else f"of type `{type}`"
    return f"a `var<{space.replace(',', ', ')}>` {what}"


def _reason(error: WgslError) -> str:
    """Place, cause and cure, without what the verdict says already."""
    said = re.sub("^your kernel(?: does not compile| is not simulated)?[,:] ", "", str(error))
    return said.replace("an adapter may run this kernel", "write it in another way", 1)


def _times(size: Sequence[int], sign: str = " x ") -> str:
    """The size of a workgroup without the axes of 1 at its end."""
    return re.sub(f"({sign}1)+$", "", sign.join(map(str, size)))


# --- One test -----------------------------------------------------------------------------------------------


def _said(finding: Finding) -> str:
    """A finding, with its line before it."""
    if finding.kind == "unwritten output":  # its line is that of the declaration
        return finding.message
    return f"{finding.quoted}: {finding.message}"


def _place(finding: Finding) -> tuple[str, int, int]:
    """Where the mistake is; one mistake is found in many tests."""
    return finding.kind, finding.line, finding.column


def _about(finding: Finding) -> tuple[str, str, str]:
    """What kind of mistake it is, and what is done to which variable: two texts may do the same in other lines."""
    return finding.kind, *(re.findall(r"(?:(reads|writes) )?`(\w+)", finding.message) or [("", "")])[0]


def _found(run: TestRun) -> dict[tuple[str, str, str], int]:
    """What was found in a test, and how many threads did it; unwritten numbers and NaN are compared one by one."""
    others = (finding for finding in run.findings if finding.kind not in ("unwritten output", "not-a-number"))
    return {_about(finding): finding.count for finding in others}


def _first_mismatch(axes: str, case: Case, output: np.ndarray) -> str:
    """How many numbers are wrong, and where the first one is."""
    wrong = case.differ(output)
    *places, (last, i) = zip(axes.split(), np.argwhere(wrong)[0], strict=True)
    end = last.split(",")[i] if "," in last else f"{last} = {i}"  # a column of a table has a name
    place = "at " + ", ".join([*(f"{axis} = {at}" for axis, at in places), end])
    if "," in last and len(wrong) == 1:  # a table of one row
        place = f"in the column `{end}`"
    count = f"{wrong.sum():,} of {wrong.size:,} numbers" if wrong.size > 1 else "the only number"
    return f"{count} {'is wrong,' if wrong.sum() == 1 else 'are wrong, first'} {place}"


def _both(case: Case, output: np.ndarray, unwritten: np.ndarray) -> str:
    """The first wrong number, and the right one."""
    index = tuple(np.argwhere(case.differ(output))[0])
    yours = "nothing was written" if unwritten[index] else f"yours is {number(output[index])}"
    return f": {yours}, right is {number(case.expected[index])}"


def _passes(case: Case) -> list[str]:
    """The line that says which workgroups run which pass, where there are several."""
    passes = [f"{each.entry_point} in {_times(each.workgroups)}" for each in case.dispatches]
    return [f"Its workgroups: {', then '.join(passes)}."] * (len(passes) > 1)


def _uses_before(run: TestRun) -> str:
    """Which line makes the result of what is in a new buffer, and what to write instead."""
    adding = [line for line in run.stores_in if re.search(r"\] ?\+=", line)]
    before = SCRATCH_BEFORE if run.case.scratch else BEFORE
    if not adding:
        return f"{run.stores_in[0]}: it uses {before}; compute the result from the inputs alone"
    return f"{adding[0]}: it adds to {before}; {OWN_SUM if run.stores_again else 'write `=`, not `+=`'}"


class _Grader:
    """The verdicts on a kernel whose loops all end."""

    def __init__(self, puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun]) -> None:
        self.puzzle, self.kernel, self.runs, self.work = puzzle, kernel, runs, WORK
        self.wrong = [run for run in runs if run.wrong.any()]
        self.smallest = sorted(self.wrong, key=lambda run: run.case.expected.size)[:1]  # it is drawn
        self.first = {}  # the drawn test, or else the first that shows a mistake, describes it for all tests
        for finding in chain.from_iterable(run.findings for run in [*self.smallest, *runs]):
            self.first.setdefault(_place(finding), finding)
        for kind, *place in [*self.first]:
            if kind == "not portable" and ("non-uniform barrier", *place) in self.first:  # what a run shows says more
                self.first[kind, *place] = self.first["non-uniform barrier", *place]
        names = [run.case.name for run in runs]
        self.asked = runs[names.index(puzzle.skill.test) if puzzle.skill and puzzle.skill.test in names else -1]
        self.slip = self.wrong and (text_checks.exchanged(kernel, puzzle.official) or text_checks.hidden(kernel))
        self.remarks = set()  # what has been said of work for nothing
        self.everywhere = next(filter(self._concerns_all, self.first.values()), None)
        self.lacks = {} if self.wrong or self.first else self._more()

    def _more(self) -> dict[str, tuple[float, float]]:
        """What the kernel does more of than the puzzle allows, or less, with the official kernel's counts."""
        if not (skill := self.puzzle.skill):
            return {}
        ours = self._ours(self.asked.case)
        fewer = {key: (mine, official) for key, (official, mine) in ours.more(self.asked, skill.least).items()}
        return self.asked.more(ours, skill.limits) | fewer

    def _ours(self, case: Case) -> TestRun:
        """The official kernel in a case."""
        key = self.puzzle.name, case.name
        if key not in _official:
            _official[key] = simulated(self.puzzle.official, case)
        return _official[key]

    def _concerns_all(self, finding: Finding) -> bool:
        """Whether something found in one test makes a kernel unsafe in all tests: a barrier that is wrong or missing.

        WGSL wants all threads at a barrier, whatever the numbers are. And the tests that do not show a missing one are
        too small for it.
        """
        kind, _, name = _about(finding)
        shared = getattr(self.kernel.find(name), "space", "") == "workgroup"
        return kind == "non-uniform barrier" or (kind in ("data race", "uninitialized read") and shared)

    def grades(self) -> Grades:
        """All verdicts."""
        verdicts = {run: self._verdict(run) for run in self.runs}
        if self.lacks and {verdict.outcome for verdict in verdicts.values()} == {RIGHT}:
            return self.not_yet(self._recognized())
        suspects = self.smallest or [run for run in self.runs if run.findings]
        if suspects and (mistake := self._recognized()):
            tail = causes(self.kernel.source)
            verdicts = {run: replace(said, detail=said.detail.replace(tail, "")) for run, said in verdicts.items()}
            verdicts[suspects[0]] = verdicts[suspects[0]].named(mistake.name, mistake.question)
        for run in suspects[:1]:
            if self.smallest:
                verdicts[run] = replace(verdicts[run], drawing=self._drawn(run), evidence=self._reads(run))
            else:
                verdicts[run] = replace(verdicts[run], evidence=self._race(run))
        return Grades(verdicts.values())

    def _race(self, run: TestRun) -> Race | None:
        """The two accesses of a race, where that is what was found."""
        if not run.finding or run.finding.kind != "data race" or len(run.case.dispatches) > 1:
            return None
        return race(traced(self.kernel, run.case)[0], run.finding)

    def not_yet(self, mistake: Mistake | None, stopped: TestRun | None = None) -> Grades:
        """The verdicts where a right kernel does not do what the puzzle is about: with the counts that show it.

        It may be `stopped` in a test, as all that one thread does takes too long.
        """
        skill = self.puzzle.skill
        counts = ", ".join(f"{WORDS[key]}: {mine:,} (ours: {ours:,})" for key, (mine, ours) in self.lacks.items())
        detail = f"its numbers are right, but the exercise asks for {skill.asked}; in {self.asked.case.name}, {counts}"
        if stopped:
            detail += f"; in {stopped.case.name}, it is stopped: {stopped.finding.message.partition(', ')[0]}"
        first, *others = Grades.alike(self.puzzle.tests, NOT_YET, detail)
        return Grades([first.named(mistake.name, mistake.question) if mistake else first, *others])

    def _verdict(self, run: TestRun) -> Verdict:
        finding = run.finding or self.everywhere
        if run in self.wrong:
            return Verdict(run.case.name, WRONG, self._wrong(run))
        if finding:
            told = self.first[_place(finding)]
            wrong = next((each for each in self.wrong if told in each.findings and told not in run.findings), None)
            said = f"as in {wrong.case.name}, {_said(told)}" if wrong else _said(told)
            return Verdict(run.case.name, UNSAFE, said + ("" if told.kind in SAYS_ALL else f"; {LUCK}"))
        if run.uses_before:
            races = (finding for finding in self.first.values() if finding.kind == "data race")
            race = next((_said(race) for race in races if race.quoted in run.stores_in), None)
            return Verdict(run.case.name, UNSAFE, race or _uses_before(run))
        return self._on_the_adapter(run)

    def _wrong(self, run: TestRun) -> str:
        """The first wrong number, and what was found in this test first; both numbers only where they are drawn."""
        finding, mismatch = run.finding, _first_mismatch(self.puzzle.axes, run.case, run.output)
        if run in self.smallest:
            mismatch += _both(run.case, run.output, run.unwritten) + self._blamed(run.case)
        if run.stores_again and run in self.smallest and not self.first:
            mismatch += f"; {run.stores_in[0]} is run more than once for an element: {OWN_SUM}"
        if self.slip:
            return f"{self.slip} {capitalized(mismatch)}" if run in self.smallest else mismatch
        if finding is None or finding.kind == "unwritten output" or self.first[_place(finding)] is not finding:
            return mismatch
        return f"{_said(finding)}; {mismatch}" if finding.kind in ORDER else f"{mismatch}; also, {_said(finding)}"

    def _blamed(self, case: Case) -> str:
        """Which of several passes the wrong numbers come from."""
        if len(self.puzzle.entry_points) == 1:
            return ""
        blamed = [f"`{name}`" for name in passes_to_blame(self.kernel, self.puzzle.official, case)]
        if not blamed:
            return "; each of your passes is right among ours: where do two of them disagree on what a place holds?"
        others = "the other pass" if len(case.dispatches) == 2 else "all other passes"
        each = "each time " if len(blamed) > 1 else ""
        return f"; they come from {' and from '.join(blamed)}: {each}with ours as {others}, they are wrong, too"

    def _on_the_adapter(self, run: TestRun) -> Verdict:
        """The verdict where a simulated run is right, and nothing was found."""
        case = run.case
        try:
            # What lacks the skill is not yet there, whatever this adapter's compiler makes of it.
            output = run.output if self.lacks else launched(self.kernel, case)
        except GpuError as error:
            return Verdict(case.name, WRONG, f"it compiles, but it cannot be run: {error}")
        if not case.differ(output).any():
            return Verdict(case.name, RIGHT, self._compared(run))
        mismatch = _first_mismatch(self.puzzle.axes, case, output) + _both(case, output, np.zeros(output.shape, bool))
        return Verdict(case.name, WRONG, f"a simulated run is right, but on {adapter_info().name} {mismatch}")

    def _compared(self, run: TestRun) -> str:
        """What a right kernel does in a case, and what the official one does otherwise there."""
        ours = self._ours(run.case)
        others = [words for key, words in ours.work.items() if run.work.get(key) != words]
        said = ", ".join(run.work.values()) + (OURS + ", ".join(others)) * bool(others)
        names = () if self.remarks else self.puzzle.entry_points
        found = {remark(compiled(self.kernel, name), self.kernel.source) for name in names}
        found.add(TURN * self._has_turn_too_many(run, ours))
        new = found - self.remarks - {""}
        self.remarks |= found
        return "; ".join([said, *sorted(new)])

    @staticmethod
    def _has_turn_too_many(run: TestRun, ours: TestRun) -> bool:
        """Whether barriers and products are in the same proportion to the official kernel's, and more."""
        barriers, products = ((run.counts[key], ours.counts[key]) for key in ("barriers", "multiply_adds"))
        return barriers[0] > barriers[1] and barriers[0] * products[1] == barriers[1] * products[0] > 0

    def _recognized(self) -> Mistake | None:
        """The known mistake that does the same in every test, or None.

        One that is made word for word, as in a lesson's demonstration, is named however much there is to simulate.
        """
        mistakes = {mistake: self.puzzle.with_mistake(mistake) for mistake in self.puzzle.mistakes}
        same = (mistake for mistake, other in mistakes.items() if same_code(other, self.kernel))
        recognized = next(same, None) or self._most_alike(mistakes)
        if recognized and recognized.replaces_sum and any(run.stores_again for run in self.smallest):
            return None  # the sum is replaced in the output, for which the verdict has the cure
        return recognized

    def _most_alike(self, mistakes: Mapping[Mistake, Kernel]) -> Mistake | None:
        """The first mistake that does the same in every test, by as many threads and loads if there is one."""
        alike = None
        for mistake, other in mistakes.items():
            if (as_many := self._matches(other)) is not None:
                alike = alike or mistake
                if as_many:
                    return mistake
        return alike

    def _matches(self, other: Kernel) -> bool | None:
        """Whether as many threads do what is found, by as many loads, where a known mistake does the same; else None.

        The same is what is written, what is not, and what is found, in every test.
        """
        as_many = True
        for mine in sorted(self.runs, key=lambda run: run.counts["statements"]):  # the quick ones first
            if self.work < 0:
                return None
            theirs = simulated(other, mine.case)
            self.work -= theirs.counts["statements"]
            if theirs.endless or mine.case.differ(mine.output, theirs.output).any():
                return None
            found = _found(mine), _found(theirs)
            if (mine.unwritten != theirs.unwritten).any() or {*found[0]} != {*found[1]}:
                return None
            same_loads = all(mine.counts[key] == theirs.counts[key] for key in TELLING)
            if self.lacks and not same_loads:
                return None
            as_many &= same_loads and found[0] == found[1]
        return as_many

    def _drawn(self, run: TestRun) -> str:
        """The output beside the right one, in lines."""
        case = run.case
        marks = np.where(run.wrong, np.where(run.unwritten, ".", "*"), "")
        inputs = {
            binding.name: array
            for binding, array in zip(self.puzzle.official.bindings, (*case.inputs, *case.start), strict=False)
        }
        lines = drawing(case.expected, run.output, marks, self.puzzle.axes.split(), inputs)
        head = [f"The smallest test with wrong numbers is {case.name}.", *_passes(case), f"({legend(marks)})"]
        return "\n".join([*head, *lines])

    def _reads(self, run: TestRun) -> ReadSets | None:
        """What was read for the first wrong number; None where that takes long."""
        if run.counts["statements"] > WORK // 3:
            return None
        return read_sets(self.kernel, self.puzzle.official, run.case, run.wrong)
