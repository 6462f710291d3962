"""One description for all operations: their tensors, their versions, how each is dispatched, and what is right.

A call walks one way: check the arguments, plan once, upload, run, read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain
from math import ceil, prod
from typing import NamedTuple, Protocol

import numpy as np

from helpers.checks.report import Array, Report
from helpers.checks.tolerance import compare_sums
from helpers.gpu.adapter import MAX_WORKGROUPS, AdapterInfo, GpuError, adapter_info
from helpers.gpu.buffers import Buffer, empty, read_together, too_large, uniform, upload
from helpers.gpu.passes import Pass, run
from helpers.operations.kernels import load
from wgsl import Kernel
from wgsl.specialize import specialize, with_sizes

CACHED = 256  # plans, each with the text of a kernel
LAST_RESORT = "it is the first version that can run"
Workgroups = tuple[int, int, int]
Answer = Callable[..., Array | tuple[Array, ...]]
Judge = Callable[..., Report | Sequence[Report]]


class Shape(Protocol):
    """The sizes of one problem, checked; hashable."""

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name."""

    def params(self) -> tuple[int, ...]:
        """The u32 of the kernels' uniform struct, in its order."""


class Step(NamedTuple):
    """One dispatch of a version, without its buffers.

    `iterations` is an upper bound on the loop iterations of one thread (see `nested_loops`).
    """

    workgroups: Workgroups
    iterations: int
    entry_point: str = "main"
    label: str = ""


class Schedule(NamedTuple):
    """The steps of a version in their order, and the bytes of each scratch buffer that they share.

    Scratch buffers are bound after the operation's tensors, in this order, and before the parameters.
    `constants` are written into the text, where a version is specialized for a layer; `refused` says why a version
    does not take this shape at all.
    """

    steps: tuple[Step, ...]
    scratch: Mapping[str, int] = {}
    constants: Mapping[str, int] = {}
    refused: str | None = None


class Choice(NamedTuple):
    """A version and why it is the best one for a shape on an adapter."""

    version: str
    reason: str


class Plan(NamedTuple):
    """What a launch needs and its shape decides: passes without buffers, sizes, parameters, and why it cannot run."""

    passes: tuple[Pass, ...]
    nbytes: Mapping[str, int]  # of each tensor
    scratch: Mapping[str, int]
    params: tuple[int, ...]
    problem: str | None


# --- How a version is dispatched ------------------------------------------------------------------------


def one_step(workgroups: Workgroups, iterations: int) -> Schedule:
    """The schedule of a version that is a single dispatch."""
    return Schedule((Step(workgroups, iterations),))


def flat(elements: int, threads: int = 256) -> Workgroups:
    """Workgroups for one thread an element, in rows of at most 65,535 workgroups."""
    blocks = ceil(elements / threads)
    rows = ceil(blocks / MAX_WORKGROUPS)  # of equal length: fewer workgroups have nothing to do
    return ceil(blocks / rows), rows, 1


def nested_loops(*sizes: int) -> int:
    """An upper bound on the iterations of loops inside each other, from the outermost size to the innermost.

    Drivers also count the test that ends a loop, and one iteration of each inner loop for a thread that only waits
    for its neighbors. Where two loops follow each other in one body, give the sum of their sizes plus 2.
    """
    total = 0
    for waiting, size in enumerate(reversed(sizes), 1):
        total = size * (1 + total) + waiting
    return total


def tree_reduction(elements: int, threads: int) -> int:
    """The iterations of a thread that sums every `threads`-th element, then takes part in a tree reduction.

    Raises ValueError where `threads` is not a power of two: a step of the tree would lose a sum.
    """
    if threads & (threads - 1):
        raise ValueError(f"THREADS = {threads}: it must be a power of two")
    return nested_loops(ceil(elements / threads)) + nested_loops(threads.bit_length() - 1)


# --- An operation ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Operation:
    """One folder of kernels: what its versions read and write, how each is dispatched, and whether it is right.

    Where there are several outputs, an answer is a tuple, and a judge gets a sequence.

    Parameters
    ----------
    name : str
        The folder in `kernels`.
    tensors : tuple of str
        In binding order; scratch buffers and the parameters follow.
    outputs : tuple of str
        The tensors that `compute` returns.
    versions : mapping of str to function
        For each file stem, its schedule for a shape and a kernel (whose constants count).
    choose : function
        For a shape and an adapter, the versions worth running, best first, each with the reason. Where none of these
        can run, the first other version that can takes over.
    answer : function
        The right outputs in float64, from the inputs in binding order, and the shape.
    examples : sequence of Shape
        Small problems to check it on. No two sizes of one are equal, so that none is taken for another.
    judge : function, optional
        Reports on outputs: it takes them, the inputs and the shape. If it is not given, outputs are sums of products
        of the inputs, with plus signs only, and as near to the answer as can be proven.
    judges : mapping of str to function
        The judges of versions that round otherwise, also on whole numbers.
    adjoint : function, optional
        A judge that needs no right gradient.
    draws : mapping of str to function
        Inputs that are no float32 numbers, made from a shape.
    params : function, optional
        The uniform parameters, where they are not `shape.params()`.
    updated : tuple of str
        The outputs that are also inputs: they are changed in place.
    between : tuple of str
        The tensors that one pass leaves to another: neither inputs nor outputs.
    """

    name: str
    tensors: tuple[str, ...]
    outputs: tuple[str, ...]
    versions: Mapping[str, Callable[[Shape, Kernel], Schedule]]
    choose: Callable[[Shape, AdapterInfo], Sequence[Choice]]
    answer: Answer
    examples: Sequence[Shape]
    judge: Judge | None = None
    judges: Mapping[str, Judge] = field(default_factory=dict)
    adjoint: Judge | None = None
    draws: Mapping[str, Callable[[Shape], Array]] = field(default_factory=dict)
    params: Callable[[Shape], tuple[int, ...]] = lambda shape: shape.params()
    updated: tuple[str, ...] = ()
    between: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[str, ...]:
        """The tensors that it is given, in binding order."""
        made = {*self.outputs, *self.between} - {*self.updated}
        return tuple(name for name in self.tensors if name not in made)

    def right(self, shape: Shape, tensors: Mapping[str, Array]) -> tuple[Array, ...]:
        """The right outputs in float64, in the order of `outputs`."""
        found = self.answer(*(tensors[name] for name in self.inputs), shape)
        return found if isinstance(found, tuple) else (found,)

    def reports(
        self, shape: Shape, tensors: Mapping[str, Array], got: Sequence[Array], judge: Judge | None = None
    ) -> Sequence[Report]:
        """Judge the outputs `got`, in the order of `outputs`: by the operation's own judge, or by the one given."""
        data = [tensors[name] for name in self.inputs]
        found = (judge or self.judge or self._judge_sums)(got if len(self.outputs) > 1 else got[0], *data, shape)
        return [found] if isinstance(found, Report) else found

    def _judge_sums(self, got: Array, *given: object) -> Report:
        *data, shape = given
        return compare_sums(self.outputs[0], got, lambda *data: self.answer(*data, shape), *data)

    def kernel(self, version: str | Kernel) -> Kernel:
        """The kernel of a version by its name, or the given one (a version with other constants or an edited text).

        Raises TypeError where `version` is neither, ValueError where no version has its name.
        """
        if not isinstance(version, str | Kernel):
            raise TypeError(f"kernel is a {type(version).__name__}: it must be a version's name, or a Kernel")
        stem = version.version if isinstance(version, Kernel) else version
        if stem not in self.versions:
            raise ValueError(f"kernel = {stem!r}: {self.name} has {', '.join(self.versions)}")
        return version if isinstance(version, Kernel) else load(self.name, version)

    def choices(self, shape: Shape, adapter: AdapterInfo) -> Sequence[Choice]:
        """Return all versions: those worth running, best first, then the others, simplest first."""
        best = tuple(self.choose(shape, adapter))
        worth_running = {choice.version for choice in best}
        others = (Choice(version, LAST_RESORT) for version in self.versions if version not in worth_running)
        return *best, *others

    def plan(self, shape: Shape, kernel: str | Kernel | None = None) -> Plan:
        """How a problem is computed, with the given kernel or with the best version that this adapter can run.

        Raises
        ------
        TypeError, ValueError
            `kernel` names no version.
        GpuError
            No version (or not the one named) can run here, and why.
        """
        if kernel is not None:
            return _able(_planned(self, shape, self.kernel(kernel)))
        chosen, plan = _chosen(self, shape, adapter_info())
        if self.kernel(chosen.version) != chosen:  # its file was edited
            _chosen.cache_clear()
            _, plan = _chosen(self, shape, adapter_info())
        return _able(plan)

    def scheduled(self, shape: Shape, kernel: Kernel) -> tuple[Kernel, Schedule]:
        """The steps of a version for a shape, and its text as they run it.

        The sizes are written in, and the loops written out where the adapter does not take too long to compile that.
        """
        schedule = self.versions[kernel.version](shape, kernel)
        if not schedule.constants:
            return kernel, schedule
        written = with_sizes if adapter_info().compiles_slowly else specialize
        return written(kernel, schedule.constants), schedule

    def problem(self, shape: Shape, version: str) -> str | None:
        """Why a version cannot run for this shape on this adapter, or None."""
        return _planned(self, shape, self.kernel(version)).problem

    def explain_choice(self, shape: Shape) -> str:
        """Which version a call without `kernel=` takes for this shape on this adapter, and why, in one sentence."""
        taken = self.plan(shape).passes[0].kernel.version
        choices = self.choices(shape, adapter_info())
        at = [choice.version for choice in choices].index(taken)
        passed = ((choice.version, self.problem(shape, choice.version)) for choice in choices[:at])
        skipped = (f" ({name} comes first, but cannot run: {problem})" for name, problem in passed)
        return f"{self.name} takes {taken}: {choices[at].reason}{''.join(skipped)}."

    def prepare(self, buffers: Sequence[Buffer], shape: Shape, kernel: str | Kernel | None = None) -> tuple[Pass, ...]:
        """The passes over resident buffers, to run together, with others or again, or to measure.

        Parameters
        ----------
        buffers : sequence of GPUBuffer
            The tensors in binding order, without the parameters; each needs a buffer of its own.
        shape : Shape
            The sizes of the whole problem.
        kernel : str or Kernel, optional
            A version; the best one for this adapter by default.

        Raises
        ------
        TypeError, ValueError
            An unknown version, or buffers that do not hold the tensors.
        GpuError
            This adapter cannot run it.
        """
        plan = self.plan(shape, kernel)
        self._check_buffers(buffers, shape)
        return self._passes(plan, buffers)

    def launch(self, buffers: Sequence[Buffer], shape: Shape, kernel: str | Kernel | None = None) -> None:
        """Run over resident buffers and read nothing back; arguments and errors are those of `prepare`."""
        run(*self.prepare(buffers, shape, kernel))

    def compute(self, shape: Shape, kernel: str | Kernel | None, **inputs: np.ndarray) -> tuple[np.ndarray, ...]:
        """Upload the inputs, run, and read the outputs, in the order of `outputs`."""
        plan = self.plan(shape, kernel)
        buffers = {
            name: upload(inputs[name], name) if name in inputs else empty(nbytes, name)
            for name, nbytes in plan.nbytes.items()
        }
        run(*self._passes(plan, buffers.values()))
        return read_together([(buffers[name], shape.of(name)) for name in self.outputs])

    @staticmethod
    def _passes(plan: Plan, buffers: Iterable[Buffer]) -> tuple[Pass, ...]:
        scratch = (empty(nbytes, name) for name, nbytes in plan.scratch.items())
        takes_params = plan.passes[0].kernel.buffer_types[-1] == "uniform"
        bindings = (*buffers, *scratch, *([uniform(plan.params)] if takes_params else []))
        return tuple(replace(dispatch, buffers=bindings) for dispatch in plan.passes)

    def _check_buffers(self, buffers: Sequence[Buffer], shape: Shape) -> None:
        """Refuse a wrong number of buffers, one buffer for two tensors, or one too small for its tensor."""
        names = ", ".join(self.tensors)
        if len(buffers) != len(self.tensors):
            raise ValueError(f"{self.name}: {len(buffers)} buffers: it takes {len(self.tensors)}, {names}")
        if len(set(buffers)) < len(buffers):
            raise ValueError(f"{self.name}: one buffer was given for two tensors: {names} need one each")
        for name, buffer in zip(self.tensors, buffers, strict=True):
            size, needed = buffer.size, 4 * prod(shape.of(name))
            if size < needed:
                raise ValueError(f"{self.name}: {name} is a buffer of {size} bytes: {shape.of(name)} takes {needed}")


def _able(plan: Plan) -> Plan:
    """The plan. Raises GpuError where it cannot run here."""
    if plan.problem:
        raise GpuError(plan.problem)
    return plan


@lru_cache(maxsize=CACHED)
def _chosen(operation: Operation, shape: Shape, adapter: AdapterInfo) -> tuple[Kernel, Plan]:
    """Return the best version that can run on the adapter, and its plan; where none can, one that says why."""
    tried = []
    for choice in operation.choices(shape, adapter):
        kernel = operation.kernel(choice.version)
        plan = _planned(operation, shape, kernel)
        if plan.problem is None:
            return kernel, plan
        tried.append((kernel, plan))
    takes_the_shape = (each for each in tried if each[1].passes)
    kernel, plan = next(takes_the_shape, tried[0])
    if len(tried) == 1:
        return kernel, plan
    return kernel, plan._replace(problem=f"no version of {operation.name} can run this here: {plan.problem}")


@lru_cache(maxsize=CACHED)
def _planned(operation: Operation, shape: Shape, kernel: Kernel) -> Plan:
    """The plan of one version; also one that cannot run here."""
    tensors = {name: 4 * prod(shape.of(name)) for name in operation.tensors}
    large = [*filter(None, (too_large(nbytes, name) for name, nbytes in tensors.items()))]
    if max(tensors.values()) >= 4 * 2**32:  # more than a kernel's constants, which are u32, can count
        return Plan((), tensors, {}, operation.params(shape), large[0])
    kernel, schedule = operation.scheduled(shape, kernel)
    passes = tuple(Pass(kernel, (), *step) for step in schedule.steps)
    problems = chain(
        [schedule.refused],
        large,
        (
            too_large(nbytes, f"{kernel.name}: {name}", "choose another version")
            for name, nbytes in schedule.scratch.items()
        ),
        (dispatch.problem() for dispatch in passes),
    )
    return Plan(passes, tensors, schedule.scratch, operation.params(shape), next(filter(None, problems), None))
