"""One test of a learner's kernel: simulated first, so that no mistake goes unnoticed, and then run on the adapter.

What a GPU does about a mistake is its driver's choice. Where an index is past an array, a read gives 0 or some other
element. Where threads race, the numbers may be right a thousand times. A loop that does not end may hang the GPU for
good. The simulator sees all of this, and in every test: so each loop of a kernel has been seen to end on the very
numbers with which the adapter runs it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod

import numpy as np

from helpers import gpu
from helpers.grading import stores
from helpers.grading.puzzle import Case, Dispatch, Skill
from wgsl import Kernel, UnsupportedWgsl, WgslError
from wgsl.facts import Line
from wgsl.simulator.findings import Finding
from wgsl.simulator.run import simulate, stored
from wgsl.simulator.trace import Trace
from wgsl.simulator.work import Work
from wgsl.types.kinds import Atomic, innermost, words
from wgsl.types.program import Program, Variable

Array = np.ndarray

GRAVEST_FIRST = (
    "endless loop",
    "non-uniform barrier",
    "index overflow",
    "out-of-range write",
    "out-of-range read",
    "data race",  # often what an index past the end of a row leads to
    "overlapping writes",
    "lost update",
    "undefined lane",
    "uninitialized read",
    "not-a-number",
    "unwritten output",
    "not portable",
)
TRAP = -99999.5  # in the output before the adapter's run; not a right answer
MOST_ITERATIONS = 6_000  # more than nine times what an official kernel needs in any test
MANY = 2**32  # more than any thread's number
MOST_TOGETHER = 15_000_000  # of all threads: a run that does not end is kept in less than 1 GB


@dataclass(frozen=True, eq=False)
class TestRun:
    """The results of a simulated run of a case, in all its passes, with the findings; zeros are in buffers before.

    `unwritten` is where no thread wrote; `uses_before` says whether NaN in the output before shows in what was written.
    """

    case: Case
    output: Array
    unwritten: Array
    findings: tuple[Finding, ...]
    counts: Mapping[str, float]  # of all threads, "statements" of the simulator, and what `_busiest` counts in a pass
    stores_in: tuple[Line, ...]  # the lines that store to the output
    stored_again: tuple[Line, ...]  # those that store an element more than once
    uses_before: bool

    @property
    def wrong(self) -> Array:
        """The places where the output is wrong."""
        return self.case.differ(self.output)

    @property
    def finding(self) -> Finding | None:
        """The gravest thing that was found, or None."""
        return min(self.findings, key=lambda finding: GRAVEST_FIRST.index(finding.kind), default=None)

    @property
    def endless(self) -> bool:
        """True where a loop did not end: the output means nothing."""
        return any(finding.kind == "endless loop" for finding in self.findings)

    @property
    def long(self) -> bool:
        """True where a thread was stopped, and no loop alone is to blame: all of them may end."""
        return any(finding.may_end for finding in self.findings)

    def lacking(self, skill: Skill, ours: "TestRun") -> dict[str, tuple[float, float]]:
        """The counts that are larger than a skill allows, or smaller, with those of the official kernel's run."""
        fewer = {key: (yours, official) for key, (official, yours) in ours.more(self, skill.least).items()}
        return self.more(ours, skill.limits) | fewer

    def more(self, other: "TestRun", limits: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """The counts that are larger than a multiple of another run's, with both numbers."""
        pairs = {key: (self.counts[key], other.counts[key]) for key in limits}
        return {key: pair for key, pair in pairs.items() if pair[0] > limits[key] * pair[1]}

    @property
    def workgroups(self) -> int:
        """The number of workgroups that run, in all passes together."""
        return sum(prod(dispatch.workgroups) for dispatch in self.case.dispatches)


def simulated(
    kernel: Kernel,
    case: Case,
    most: int | None = None,
    work: Work | None = None,
    programs: Mapping[str, Program] | None = None,
) -> TestRun:
    """A kernel on a case, without a GPU; a thread may make `most` loop iterations, or as many as `iterations` says.

    Where the work is used up, it ends as with an endless loop. `programs` are run in the place of the kernel's own, by
    their entry points.

    Raises WgslError where the simulator refuses the text, and UnsupportedWgsl where it cannot run it.
    """
    traces, at = traced(kernel, case, most=most, work=work, programs=programs), len(case.inputs)
    output, unwritten = traces[-1].buffers[at], _unwritten(traces, case)
    lines = kernel.source.split("\n")
    stores_in = stores.lines_of(traces, lines)
    stored_again = () if case.start else stores.lines_of(traces, lines, again=True)
    findings = _findings(traces, case)
    run = TestRun(case, output, unwritten, findings, _counts(traces, at), stores_in, stored_again, False)
    if not programs and _only_wrapped(run) and _wrapped_is_unused(kernel, run, most, work):
        run = replace(run, findings=())
    filled = range(at, at + 1 + len(case.scratch))
    if run.endless or case.start or not any(_touched(traces, binding, write=False).size for binding in filled):
        return run
    again = traced(kernel, case, np.nan, most, work, programs=programs)
    if work and work.left < 0:
        return replace(run, findings=_findings(again, case))
    same = np.array_equal(output, np.where(unwritten, output, again[-1].buffers[at]), equal_nan=True)
    return replace(run, uses_before=not same)


def _unwritten(traces: Sequence[Trace], case: Case) -> Array:
    """Return where no thread wrote to the output."""
    unwritten = np.zeros(case.expected.shape, bool)
    findings = chain.from_iterable(trace.findings for trace in traces)
    if any(finding.kind == "unwritten output" for finding in findings):
        touched = _touched(traces, len(case.inputs), write=True)
        unwritten.flat = ~np.isin(np.arange(unwritten.size), touched)
    return unwritten


def _only_wrapped(run: TestRun) -> bool:
    """Return whether the numbers are right, and nothing was found but indices that wrap around."""
    return {finding.kind for finding in run.findings} == {"index overflow"} and not run.wrong.any()


def _wrapped_is_unused(kernel: Kernel, run: TestRun, most: int | None, work: Work | None) -> bool:
    """Return whether the output is the same, whatever is loaded where an index has wrapped around."""
    for wrapped in (TRAP, -TRAP):
        traces = traced(kernel, run.case, most=most, work=work, wrapped=wrapped)
        output = traces[-1].buffers[len(run.case.inputs)]
        if _findings(traces, run.case) or not np.array_equal(output, run.output):
            return False
    return True


def _touched(traces: Sequence[Trace], binding: int, write: bool) -> Array:
    """The words of a binding that any pass stores, or loads."""
    words = [np.zeros(0, int)]
    for trace in traces:
        for variable in trace.log.variables:
            if variable.binding == binding:
                words.append(trace.log.touched(variable, write)[1])
    return np.unique(np.concatenate(words))


def _findings(traces: Sequence[Trace], case: Case) -> tuple[Finding, ...]:
    """Return the findings of all passes; where there are several, each has the passes that show it."""
    if len(case.dispatches) == 1:
        return traces[0].findings
    by_place: dict[tuple, list[tuple[str, Finding]]] = {}
    for trace in traces:
        for finding in trace.findings:
            if finding.kind != "unwritten output" or _is_missed(finding, traces, case):
                key = finding.kind, finding.line, finding.column
                by_place.setdefault(key, []).append((trace.entry_point, finding))
    return tuple(map(_in_passes, by_place.values()))


def _is_missed(finding: Finding, traces: Sequence[Trace], case: Case) -> bool:
    """Return whether no other pass stores the words either, and they are the output's; scratch may stay empty."""
    at, names = len(case.inputs), [binding.name for binding in traces[0].kernel.bindings]
    return finding.variable == names[at] and len(_touched(traces, at, write=True)) < case.expected.size


def _in_passes(findings: Sequence[tuple[str, Finding]]) -> Finding:
    """Return one finding for those at the same place, each with the entry point of its pass."""
    _, first = findings[0]
    entry_points = dict.fromkeys(entry_point for entry_point, _ in findings)
    count = sum(finding.count for _, finding in findings)
    return replace(first, passes=tuple(entry_points), count=count)


def _counts(traces: Sequence[Trace], output: int) -> dict[str, float]:
    """The counts of all passes together; of the busiest thread, in the pass in which it does most."""
    sums = ({**trace.counts.total, **trace.counts.further, "statements": len(trace.steps)} for trace in traces)
    return _over_passes(sums, sum) | _over_passes((_busiest(trace, output) for trace in traces), max)


def _over_passes(counts: Iterable[Mapping[str, float]], together: Callable) -> dict[str, float]:
    first, *others = counts
    joined = {}
    for key, count in first.items():
        joined[key] = together([count, *(other[key] for other in others)])
    return joined


def _busiest(trace: Trace, output: int) -> dict[str, int]:
    """The counts of the thread that does most of it; loads are in words of memory, `results` words of the output.

    `inputs` are different words of the bindings before the output. `busy_threads` would do all statements, if each did
    as many as the busiest one. `loads_at_once` are the loads of all threads that are stored to workgroup memory
    before the thread has read anything there: nothing hides their latency.
    """
    loading, inputs, results = [], [], []
    for variable in trace.log.variables:
        loads = trace.log.touched(variable, write=False)
        if variable.space == "storage":
            loading.append(loads[0])
            if variable.binding < output:
                inputs.append(_different(loads)[0])
        if variable.binding == output:
            results.append(_different(trace.log.touched(variable, write=True))[0])
    steps = [step.active for step in trace.steps]
    most = _most(steps)
    return {
        "steps": most,
        "busy_threads": round(sum(map(len, steps)) / max(most, 1)),
        "thread_loads": _most(loading),
        "inputs": _most(inputs),
        "results": _most(results),
        "loads_at_once": trace.log.loads_before_stores(prod(trace.workgroups) * prod(trace.workgroup_size)),
        **_in_workgroup_memory(trace),
    }


def _in_workgroup_memory(trace: Trace) -> dict[str, int]:
    """The counts of what threads have to do with each other in workgroup memory.

    `thread_elements` are the different elements of an array that the busiest thread loads. `threads_at_a_word` store to
    one word at once: only of an atomic several may. `exchanged` are the words that threads load where others have
    stored, each counted once a thread.
    """
    variables = [variable for variable in trace.log.variables if variable.space == "workgroup"]
    counts = [_shared(trace, variable) for variable in variables]
    elements, at_a_word, exchanged = zip((0, 1, 0), *counts, strict=True)
    return {
        "thread_elements": max(elements),
        "threads_at_a_word": max(at_a_word),
        "exchanged": sum(exchanged),
    }


def _shared(trace: Trace, variable: Variable) -> tuple[int, int, int]:
    """The three counts of one variable of workgroup memory, in their order."""
    element = innermost(variable.type)
    reader, word = _different(trace.log.touched(variable, write=False))
    writer, stored = _different(trace.log.touched(variable, write=True))
    elements = _different((reader, word // words(element)))
    of_all = _words_of_all(trace, variable, writer, stored)
    stores = np.bincount(of_all, minlength=prod(trace.workgroups) * words(variable.type))
    own = np.isin(_pairs(reader, word), _pairs(writer, stored))
    others = stores[_words_of_all(trace, variable, reader, word)] - own
    at_a_word = int(stores.max()) if isinstance(element, Atomic) else 1
    return _most([elements[0]]), at_a_word, int(np.count_nonzero(others))


def _words_of_all(trace: Trace, variable: Variable, thread: Array, word: Array) -> Array:
    """The words of a variable of workgroup memory, counted through the workgroups of these threads."""
    return thread // prod(trace.workgroup_size) * words(variable.type) + word


def _pairs(thread: Array, word: Array) -> Array:
    """One number for each thread with its word."""
    return word.astype(np.int64) * MANY + thread


def _different(accesses: tuple[Array, Array]) -> tuple[Array, Array]:
    """Accesses, each a thread and a word, of which those that are the same are kept once."""
    word, thread = np.divmod(np.unique(_pairs(*accesses)), MANY)
    return thread.astype(np.intp), word.astype(np.intp)  # of 32 bits in a browser


def _most(threads: list[Array]) -> int:
    """The number of times that the most frequent thread occurs."""
    all_threads = np.concatenate([np.zeros(0, int), *threads]).astype(np.intp)
    return int(np.bincount(all_threads).max(initial=0))


def traced(
    kernel: Kernel,
    case: Case,
    before: float = 0.0,
    most: int | None = None,
    work: Work | None = None,
    instead: Mapping[str, Kernel] | None = None,
    wrapped: float | None = None,
    programs: Mapping[str, Program] | None = None,
) -> list[Trace]:
    """The simulated passes of a kernel on a case, with all their accesses; raises as `simulated` does.

    `before` is in the output and in scratch at the start. The passes named in `instead` are those of other texts. A
    float is `wrapped` where its index has wrapped around. `programs` are run in the place of the kernel's own. Where a
    loop does not end, no further pass is run.
    """
    params, traces = [np.array(case.params, np.uint32)] if case.params else [], []
    buffers: Sequence[Array] = [*case.inputs, *_filled(case, before), *params]
    for dispatch in case.dispatches:
        text = (instead or {}).get(dispatch.entry_point, kernel)
        program = (programs or {}).get(dispatch.entry_point)
        traces.append(_pass(text, buffers, case, dispatch, most or iterations(case), work, wrapped, program))
        buffers = traces[-1].buffers
        if any(finding.kind == "endless loop" for finding in traces[-1].findings):
            break
    return traces


def _filled(case: Case, before: float) -> list[Array]:
    """The output and scratch, full of one number; or as a kernel finds them that changes them in place."""
    return [*case.start] or [np.full(shape, before, np.float32) for shape in (case.expected.shape, *case.scratch)]


def _pass(
    kernel: Kernel,
    buffers: Sequence[Array],
    case: Case,
    dispatch: Dispatch,
    most: int,
    work: Work | None,
    wrapped: float | None,
    program: Program | None,
) -> Trace:
    """One pass of a simulated run."""
    entry_point = dispatch.entry_point
    try:
        return simulate(
            kernel,
            buffers,
            dispatch.workgroups,
            entry_point=entry_point,
            outputs=stored(kernel, entry_point),
            max_steps=most,
            work=work,
            wrapped=wrapped,
            subgroup_size=case.subgroup_size,
            program=program,
        )
    except WgslError:
        raise
    except ValueError as error:  # it asks for more than the simulator holds
        too_large = getattr(error, "reason", None)
        raise UnsupportedWgsl(f"{too_large}; declare less" if too_large else str(error)) from None


def iterations(case: Case) -> int:
    """The number of loop iterations that a thread may make: enough for eight looks at every input, and 1,000 to spare.

    Where there are very many threads, they are fewer.
    """
    threads = 64 * max(prod(dispatch.workgroups) for dispatch in case.dispatches)
    enough = 1_000 + 8 * sum(array.size for array in case.inputs)
    return min(MOST_ITERATIONS, enough, int(MOST_TOGETHER // threads))


def passes_to_blame(kernel: Kernel, official: Kernel, case: Case) -> list[str]:
    """The passes of a kernel that make wrong numbers, each by itself, among the official kernel's passes."""
    names = [dispatch.entry_point for dispatch in case.dispatches]
    mixed = {name: traced(official, case, instead={name: kernel})[-1] for name in names}
    return [name for name in names if case.differ(mixed[name].buffers[len(case.inputs)]).any()]


def launched(kernel: Kernel, case: Case) -> Array:
    """The adapter's output in a case. A number is in the output before, as WGSL lets compilers forget about NaN."""
    params = [gpu.uniform(tuple(map(int, case.params)))] if case.params else []
    arrays = zip((*case.inputs, *_filled(case, TRAP)), kernel.bindings, strict=False)
    buffers = (*(gpu.upload(array, binding.name) for array, binding in arrays), *params)
    passes = [
        gpu.Pass(kernel, buffers, dispatch.workgroups, entry_point=dispatch.entry_point) for dispatch in case.dispatches
    ]
    gpu.run(*passes)
    return gpu.read(buffers[len(case.inputs)], case.expected.shape)
