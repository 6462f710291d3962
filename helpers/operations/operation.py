"""One description for all operations: their tensors, their versions, how each is dispatched, and the right answer.

A call walks one way: check the arguments, plan once, upload, run, read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import prod
from typing import NamedTuple, Protocol

import numpy as np

from helpers.checks.report import Array, Report
from helpers.checks.tolerance import compare_sums
from helpers.gpu.adapter import AdapterInfo, GpuError, adapter_info
from helpers.gpu.buffers import Buffer, empty, read_together, too_large, uniform, upload
from helpers.gpu.passes import Pass, run
from helpers.operations.dispatch import Schedule
from helpers.operations.kernels import load
from wgsl import Kernel
from wgsl.specialize import specialize, with_sizes

CACHED = 256  # plans, each with the text of a kernel
LAST_RESORT = "it is the first version that can run"
Answer = Callable[..., Array | tuple[Array, ...]]
Judge = Callable[..., Report | Sequence[Report]]


class Shape(Protocol):
    """The sizes of one problem, checked; hashable."""

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name."""

    def params(self) -> tuple[int, ...]:
        """The u32 of the kernels' uniform struct, in its order."""


class Choice(NamedTuple):
    """A version and why it is the best one for a shape on an adapter."""

    version: str
    reason: str


class Plan(NamedTuple):
    """All that a shape decides of a launch: passes without buffers, sizes, parameters, and why it cannot run."""

    passes: tuple[Pass, ...]
    nbytes: Mapping[str, int]  # of each tensor
    scratch: Mapping[str, int]
    params: tuple[int, ...]
    problem: str | None


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
        inputs = [tensors[name] for name in self.inputs]
        answer = self.answer(*inputs, shape)
        if isinstance(answer, tuple):
            return answer
        return (answer,)

    def reports(
        self, shape: Shape, tensors: Mapping[str, Array], got: Sequence[Array], judge: Judge | None = None
    ) -> Sequence[Report]:
        """Judge the outputs `got`, in the order of `outputs`: by `judge`, or else by that of the operation."""
        judge = judge or self.judge or self._judge_sums
        inputs = [tensors[name] for name in self.inputs]
        judged = got if len(self.outputs) > 1 else got[0]
        reports = judge(judged, *inputs, shape)
        if isinstance(reports, Report):
            return [reports]
        return reports

    def _judge_sums(self, got: Array, *inputs_and_shape: object) -> Report:
        *inputs, shape = inputs_and_shape

        def formula(*factors: Array) -> Array:
            return self.answer(*factors, shape)

        return compare_sums(self.outputs[0], got, formula, *inputs)

    def kernel(self, version: str | Kernel) -> Kernel:
        """The kernel of a version by its name, or the kernel itself (a version with other constants or an edited text).

        Raises TypeError where `version` is neither, ValueError where no version has its name.
        """
        if not isinstance(version, str | Kernel):
            raise TypeError(f"kernel is a {type(version).__name__}: it must be a version's name, or a Kernel")
        stem = version.version if isinstance(version, Kernel) else version
        if stem not in self.versions:
            raise ValueError(f"kernel = {stem!r}: {self.name} has {', '.join(self.versions)}")
        if isinstance(version, Kernel):
            return version
        return load(self.name, version)

    def choices(self, shape: Shape, adapter: AdapterInfo) -> Sequence[Choice]:
        """Return all versions: those worth running, best first, then the others, simplest first."""
        best = tuple(self.choose(shape, adapter))
        worth_running = {choice.version for choice in best}
        others = (Choice(version, LAST_RESORT) for version in self.versions if version not in worth_running)
        return *best, *others

    def plan(self, shape: Shape, kernel: str | Kernel | None = None) -> Plan:
        """The plan of a problem, with the kernel or, without one, the best version that this adapter can run.

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
        if adapter_info().compiles_slowly:
            return with_sizes(kernel, schedule.constants), schedule
        return specialize(kernel, schedule.constants), schedule

    def problem(self, shape: Shape, version: str) -> str | None:
        """The reason why a version cannot run for this shape on this adapter, or None."""
        return _planned(self, shape, self.kernel(version)).problem

    def explain_choice(self, shape: Shape) -> str:
        """Name the version that a call without `kernel=` takes for this shape on this adapter, and say why."""
        taken = self.plan(shape).passes[0].kernel.version
        skipped = ""
        for choice in self.choices(shape, adapter_info()):
            if choice.version == taken:
                break
            problem = self.problem(shape, choice.version)
            skipped += f" ({choice.version} comes first, but cannot run: {problem})"
        return f"{self.name} takes {taken}: {choice.reason}{skipped}."

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
        buffers = {}
        for name, nbytes in plan.nbytes.items():
            if name in inputs:
                buffers[name] = upload(inputs[name], name)
            else:
                buffers[name] = empty(nbytes, name)
        run(*self._passes(plan, buffers.values()))
        return read_together([(buffers[name], shape.of(name)) for name in self.outputs])

    @staticmethod
    def _passes(plan: Plan, buffers: Iterable[Buffer]) -> tuple[Pass, ...]:
        """The passes of a plan over the tensors' buffers, new scratch buffers and the parameters."""
        bound = list(buffers)
        for name, nbytes in plan.scratch.items():
            bound.append(empty(nbytes, name))
        takes_params = plan.passes[0].kernel.buffer_types[-1] == "uniform"
        if takes_params:
            bound.append(uniform(plan.params))
        bindings = tuple(bound)
        return tuple(replace(dispatch, buffers=bindings) for dispatch in plan.passes)

    def _check_buffers(self, buffers: Sequence[Buffer], shape: Shape) -> None:
        """Refuse a wrong number of buffers, one buffer for two tensors, or one too small for its tensor."""
        names = ", ".join(self.tensors)
        if len(buffers) != len(self.tensors):
            raise ValueError(f"{self.name}: {len(buffers)} buffers: it takes {len(self.tensors)}, {names}")
        if len(set(buffers)) < len(buffers):
            raise ValueError(f"{self.name}: one buffer was given for two tensors: {names} need one each")
        for name, buffer in zip(self.tensors, buffers, strict=True):
            needed = 4 * prod(shape.of(name))
            if buffer.size < needed:
                problem = f"{self.name}: {name} is a buffer of {buffer.size} bytes"
                raise ValueError(f"{problem}: {shape.of(name)} takes {needed}")


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
    kernel, plan = _most_telling(tried)
    if len(tried) == 1:
        return kernel, plan
    return kernel, plan._replace(problem=f"no version of {operation.name} can run this here: {plan.problem}")


def _most_telling(tried: Sequence[tuple[Kernel, Plan]]) -> tuple[Kernel, Plan]:
    """Of versions that cannot run, the first one that takes the shape: what it lacks is the adapter's limit."""
    for kernel, plan in tried:
        if plan.passes:
            return kernel, plan
    return tried[0]


@lru_cache(maxsize=CACHED)
def _planned(operation: Operation, shape: Shape, kernel: Kernel) -> Plan:
    """The plan of one version; also one that cannot run here."""
    params = operation.params(shape)
    nbytes = {name: 4 * prod(shape.of(name)) for name in operation.tensors}
    if max(nbytes.values()) >= 4 * 2**32:  # more than a kernel's constants, which are u32, can count
        return Plan((), nbytes, {}, params, _problem_of_tensors(nbytes))
    kernel, schedule = operation.scheduled(shape, kernel)
    passes = tuple(Pass(kernel, (), *step) for step in schedule.steps)
    problem = schedule.refused or _problem_of_tensors(nbytes) or _problem_of_passes(passes, schedule.scratch)
    return Plan(passes, nbytes, schedule.scratch, params, problem)


def _problem_of_tensors(nbytes: Mapping[str, int]) -> str | None:
    """The reason why no version can run here: the first tensor that is too large for a binding, or None."""
    for name, size in nbytes.items():
        problem = too_large(size, name)
        if problem:
            return problem
    return None


def _problem_of_passes(passes: Sequence[Pass], scratch: Mapping[str, int]) -> str | None:
    """The reason why a version cannot run here: a scratch buffer that is too large, or a pass; or None."""
    for name, size in scratch.items():
        problem = too_large(size, f"{passes[0].kernel.name}: {name}", "choose another version")
        if problem:
            return problem
    for dispatch in passes:
        problem = dispatch.problem()
        if problem:
            return problem
    return None
