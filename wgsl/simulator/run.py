"""The way through the rooms: text and buffers in, a trace out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import ceil, isfinite, prod
from numbers import Real

import numpy as np

from wgsl.arguments import as_int, check_size
from wgsl.arithmetic.operators import DTYPES
from wgsl.kernel import Kernel, parsed
from wgsl.simulator import textures, undefined
from wgsl.simulator.access import Access
from wgsl.simulator.lanes import Dispatch
from wgsl.simulator.machine import Machine
from wgsl.simulator.memory import Words
from wgsl.simulator.subgroups import USUAL, Fill, Subgroups, checked_size
from wgsl.simulator.trace import Trace
from wgsl.simulator.values import without_nan_marks
from wgsl.simulator.watch import Unwatched, Watch
from wgsl.simulator.watched import checked_watch
from wgsl.simulator.work import TooLong, Work, too_large
from wgsl.types import kinds
from wgsl.types.declarations import Declarations, check
from wgsl.types.program import Program, Variable
from wgsl.types.subgroup_uniformity import not_portable
from wgsl.types.textures import Texture
from wgsl.types.uniformity import NotPortable

MAX_STEPS = 65_536
AT_ONCE = 2**14  # invocations that `execute` runs in step


def simulate(
    kernel: str | Kernel,
    buffers: Sequence[np.ndarray],
    workgroups: tuple[int, int, int],
    *,
    entry_point: str = "main",
    constants: Mapping[str, float] | None = None,
    outputs: Sequence[int] | None = None,
    max_steps: int | None = None,
    watch: Sequence[str] = (),
    work: Work | None = None,
    wrapped: float | None = None,
    subgroup_size: int = USUAL,
    program: Program | None = None,
) -> Trace:
    """Run a WGSL compute kernel without a GPU, and watch what it does.

    Parameters
    ----------
    kernel : str or Kernel
        The text. A Kernel brings the values of its `override` constants.
    buffers : sequence of ndarray
        One array of float32, float16, int32 or uint32 for each binding of group 0, in order, of exactly the size that
        counts; a uniform struct is the uint32 words that it is made of. They are not changed.
    workgroups : (x, y, z)
        The size of the dispatch.
    entry_point : str
        The function to run.
    constants : mapping, optional
        Values of `override` constants by name.
    outputs : sequence of int, optional
        The bindings that must be written whole; by default those that the entry point can store to.
    max_steps : int, optional
        How many loop iterations an invocation may make, in all its loops together; 65,536 by default. Past it the loop
        is called endless, and the run ends.
    watch : sequence of str, optional
        Names of variables that each thread has for itself (`let`, `var`, parameters): `Trace.watched` has all their
        values. A name that several have is written with its line, as in `i:12`.
    work : Work, optional
        An amount of work, which other runs may share: where it is used up, the run ends as with an endless loop.
    wrapped : float, optional
        What each load of f32 gives whose index has wrapped around, and no finding: two runs with different numbers show
        whether the results depend on such a load.
    subgroup_size : int, optional
        How many threads a subgroup has, for a text that uses subgroups: a power of two from 4 to 128, 32 by default.
    program : Program, optional
        What is run in the place of the text's own program, of which it is a copy with a change.

    Returns
    -------
    Trace
        The buffers afterwards, the findings (none for a right kernel), the counts and the accesses.

    Raises
    ------
    WgslError
        The text does not compile; the message has the line and the column.
    UnsupportedWgsl
        The text has a feature of WGSL that the simulator does not run.
    ValueError, TypeError
        An argument does not fit, or asks for more than the simulator holds (about a million invocations, 32 MiB of
        workgroup memory, some minutes of work); the message names it, its value and the rule.
    """
    if not isinstance(kernel, str | Kernel):
        raise TypeError(f"kernel is a {type(kernel).__name__}: it must be WGSL text or a Kernel")
    kernel = Kernel(kernel) if isinstance(kernel, str) else kernel
    overridden_kernel = overridden(kernel, constants)
    program = program or compiled(overridden_kernel, entry_point)
    arrays = checked_buffers(program, buffers)
    dispatch = _dispatch(program, workgroups, subgroup_size)
    output_variables = checked_outputs(program, outputs)
    iterations = checked_max_steps(max_steps)
    watched = checked_watch(program, kernel.source, watch)

    words = _memory(program, dispatch, arrays)
    observer = Watch(kernel.source, dispatch, words, program.written, are_finite(arrays), watched)
    machine = Machine(program, dispatch, words, observer, Access(words, observer, wrapped), iterations, work or Work())
    if _run_to_the_end(machine, observer, dispatch, shared=work is not None):
        again = partial(_again, program, dispatch, arrays, iterations)
        _report_at_the_end(observer, output_variables, machine.subgroups, again)
    if work is None or work.left >= 0:  # else the analysis, too, would take long: it follows calls of calls of calls
        for place in _refused(program, overridden_kernel, entry_point):
            observer.not_portable(place)
    buffers_after = _buffers_after(program, words, arrays)
    findings = observer.collector.findings()
    counts = observer.counter.counts(observer.line)
    size = dispatch.size
    return Trace(kernel, entry_point, dispatch.workgroups, size, buffers_after, findings, counts, observer.log)


def _dispatch(program: Program, workgroups: tuple[int, int, int], subgroup_size: int) -> Dispatch:
    """Return the invocations of a run."""
    groups = checked_workgroups(program, workgroups)
    return Dispatch(groups, program.workgroup_size, subgroup_size=checked_size(subgroup_size))


def _memory(program: Program, dispatch: Dispatch, arrays: Sequence[np.ndarray]) -> Words:
    """Return the memory in which a run begins: copies of the buffers, and workgroup memory that is 0."""
    words = Words(dispatch)
    for variable, array in zip(program.bindings, arrays, strict=True):
        if isinstance(variable.type, Texture):
            textures.bind(words, variable, without_nan_marks(array))
        else:
            words.bind(variable, without_nan_marks(array))
    for variable in program.workgroup:
        words.make(variable)
    return words


def _run_to_the_end(machine: Machine, observer: Watch, dispatch: Dispatch, shared: bool) -> bool:
    """Run a program; False where a loop did not end, or where work that is `shared` with other runs was used up.

    Raises TooLong where the work was that of this run alone.
    """
    try:
        return machine.run()
    except TooLong as stopped:
        if not shared:
            raise
        facts = stopped.facts
        observer.collector.add("endless loop", stopped.at, dispatch.all.index, lambda: facts)
        return False


def _again(
    program: Program, dispatch: Dispatch, arrays: Sequence[np.ndarray], iterations: int, fill: Fill | None
) -> list[np.ndarray] | None:
    """Run a program once more, unwatched; return the words of its buffers, or None where a loop does not end."""
    words = _memory(program, dispatch, arrays)
    watch = Unwatched()
    machine = Machine(program, dispatch, words, watch, Access(words, watch), iterations, Work(), fill)
    return [words.arrays[variable] for variable in program.bindings] if machine.run() else None


def _report_at_the_end(
    observer: Watch, outputs: Sequence[Variable], subgroups: Subgroups, again: undefined.Again
) -> None:
    """Report what only a whole run shows."""
    for variable in outputs:
        observer.unwritten(variable)
    undefined.report(observer, subgroups, again)


def _buffers_after(program: Program, words: Words, arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """Return the words of the bindings after a run, as arrays of the dtype and shape that each had before."""
    pairs = zip(program.bindings, arrays, strict=True)
    return tuple(_buffer_after(words, variable, array) for variable, array in pairs)


def _buffer_after(words: Words, variable: Variable, array: np.ndarray) -> np.ndarray:
    if variable in words.images:
        return words.images[variable].array(array)
    return words.buffer(variable).view(array.dtype).reshape(array.shape)


def execute(
    program: Program,
    buffers: Sequence[np.ndarray],
    workgroups: tuple[int, int, int],
    most: int = MAX_STEPS,
    work: Work | None = None,
) -> None:
    """Run a program over its buffers, and change them, as an adapter does: nothing is watched.

    Each buffer is the uint32 words of a binding, without those that do not count (see `size_of`). As on a GPU, not all
    workgroups run at once. A thread may make `most` iterations of its loops; `work` is what is left to several runs.

    Raises ValueError where it asks for more than the simulator holds, or a loop does not end; what a kernel has stored
    by then stays.
    """
    workgroups = checked_workgroups(program, workgroups)
    size = program.workgroup_size
    at_once = max(1, AT_ONCE // prod(size))
    count = prod(workgroups)
    for first in range(0, count, at_once):
        dispatch = Dispatch(workgroups, size, range(first, min(first + at_once, count)))
        words = Words(dispatch)
        watch = Unwatched()
        for variable, buffer in zip(program.bindings, buffers, strict=True):
            words.lend(variable, buffer)
        for variable in program.workgroup:
            words.make(variable)
        ended = Machine(program, dispatch, words, watch, Access(words, watch), most, work or Work()).run()
        for variable, buffer in zip(program.bindings, buffers, strict=True):
            words.give_back(variable, buffer)
        if not ended:
            raise ValueError(
                f"one thread has made {most:,} iterations of its loops, and the simulator stops it there: does "
                "every loop end? If they do, take a smaller problem"
            )


# --- Arguments ------------------------------------------------------------------------------------------------------

# What must hold before a run begins: the text compiles, and the arguments fit it.

MOST_INVOCATIONS = 2**20
MOST_WORDS = 2**23  # of workgroup memory, in all workgroups together
LARGEST_MAX_STEPS = 2**24
NUMBERS = (np.float32, np.float16, np.int32, np.uint32)


def overridden(kernel: Kernel, constants: Mapping[str, float] | None) -> Kernel:
    """The kernel with these values of its overrides, too. Raises ValueError for one that is not a finite number."""
    values = {**dict(kernel.constants), **(constants or {})}
    for name, value in values.items():
        if not isinstance(value, Real) or not isfinite(value):
            raise ValueError(f"{name} = {value!r}: it must be a finite number")
    return replace(kernel, constants=tuple(sorted(values.items())))


@lru_cache(maxsize=64)
def compiled(kernel: Kernel, entry_point: str) -> Program:
    """The program of a kernel.

    Raises WgslError where the text does not compile, and UnsupportedWgsl where the simulator cannot run it.
    """
    return kernel.read(lambda: textures.check_run(check(_declared(kernel.source, kernel.constants), entry_point)))


def _refused(program: Program, kernel: Kernel, entry_point: str) -> Iterable[NotPortable]:
    """Return the places where the threads may part; they are known of the text's own program."""
    if program is compiled(kernel, entry_point):
        return _unportable(kernel, entry_point)
    return not_portable(program, kernel.source)


@lru_cache(maxsize=64)
def _unportable(kernel: Kernel, entry_point: str) -> list[NotPortable]:
    return kernel.read(lambda: not_portable(compiled(kernel, entry_point), kernel.source))


@lru_cache(maxsize=64)
def _declared(source: str, constants: tuple[tuple[str, float], ...]) -> Declarations:
    """All that a text declares: the entry points of a text that has several share it."""
    return Declarations(parsed(source), dict(constants))


# --- Arguments ------------------------------------------------------------------------------------------------


def checked_buffers(program: Program, buffers: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The buffers, if there is one that fits each binding."""
    names = ", ".join(f"{v.binding} {v.name}" for v in program.bindings)
    buffers = list(buffers)
    if len(buffers) != len(program.bindings):
        raise ValueError(
            f"buffers has {len(buffers)} arrays: the kernel has {len(program.bindings)} bindings ({names})"
        )
    for variable, array in zip(program.bindings, buffers, strict=True):
        _check_buffer(variable, array)
    return buffers


def _check_buffer(variable: Variable, array: np.ndarray) -> None:
    name = f"buffers[{variable.binding}] (`{variable.name}`)"
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}: it must be a NumPy array")
    if isinstance(variable.type, Texture):
        textures.check_array(name, variable.type, array)
        return
    if array.dtype not in NUMBERS:
        raise ValueError(f"{name} has dtype {array.dtype}: it must be float32, float16, int32 or uint32")
    scalars = {scalar for _, scalar in kinds.leaves(variable.type)}
    wanted = DTYPES[next(iter(scalars)).name] if len(scalars) == 1 else np.uint32
    raw = isinstance(variable.type, kinds.Struct) and array.dtype == np.uint32
    if array.dtype != wanted and not raw:
        raise ValueError(f"{name} has dtype {array.dtype}: `{variable.type}` needs {np.dtype(wanted).name}")
    _check_length(name, variable.type, array)


def _check_length(name: str, type: kinds.Type, array: np.ndarray) -> None:
    in_each_word = kinds.WORD // array.itemsize
    least, step = (int(size * in_each_word) for size in size_of(type))
    length = array.size
    fits = length == least
    if step:
        fits = length >= least and (length - least) % step == 0
    if not fits:
        unit = "word" if in_each_word == 1 else "float16"
        rule = f"{least} {unit}{'s' if least > 1 and unit == 'word' else ''}"
        if step:
            rule += f", or {step} more for each further element"
        raise ValueError(f"{name} has {length} numbers: `{type}` needs {rule}")


def size_of(type: kinds.Type) -> tuple[kinds.Size, kinds.Size]:
    """The least size of a buffer in words, and those of each further element of a runtime-sized array, or 0."""
    last = type.fields[-1].type if isinstance(type, kinds.Struct) else type
    runtime = isinstance(last, kinds.Array) and last.count is None
    return kinds.words(type), last.stride if runtime else 0


def checked_workgroups(program: Program, workgroups: tuple[int, int, int]) -> tuple[int, int, int]:
    """The size of the dispatch, if a GPU takes it and the simulator can hold it."""
    if not isinstance(workgroups, tuple | list) or len(workgroups) != 3:
        raise ValueError(f"workgroups = {workgroups!r}: it must be three ints, (x, y, z)")
    sizes = tuple(map(as_int, workgroups))
    for axis, size in zip("xyz", sizes, strict=True):
        check_size(f"workgroups' {axis}", size, 1, 65_535)
    groups = prod(sizes)
    threads = prod(program.workgroup_size)
    memory = ceil(sum(kinds.words(variable.type) for variable in program.workgroup))
    if groups * threads > MOST_INVOCATIONS or groups * memory > MOST_WORDS:
        raise too_large(
            f"workgroups = {sizes}: {groups * threads:,} invocations with {groups * memory:,} words of "
            f"workgroup memory; the simulator holds {MOST_INVOCATIONS:,} and {MOST_WORDS:,}"
        )
    return sizes


def checked_outputs(program: Program, outputs: Sequence[int] | None) -> list[Variable]:
    """The variables that must be written whole."""
    storage = [variable for variable in program.bindings if _can_be_written(variable)]
    if outputs is None:
        return [variable for variable in storage if variable in program.written]
    if not isinstance(outputs, Sequence):
        raise TypeError(f"outputs = {outputs!r}: it must be a list of bindings, such as [2]")
    for output in outputs:
        if output not in [variable.binding for variable in storage]:
            numbers = ", ".join(f"{variable.binding} {variable.name}" for variable in storage)
            rule = f"is not a storage binding that it can write; these are {numbers or 'none'}"
            raise ValueError(f"outputs = {outputs!r}: {output!r} {rule}")
    return [variable for variable in storage if variable.binding in outputs]


def _can_be_written(variable: Variable) -> bool:
    if isinstance(variable.type, Texture):
        return variable.type.access != "read"
    return variable.space == "storage" and variable.access != "read"


def checked_max_steps(max_steps: int | None) -> int:
    """The loop iterations that an invocation may make: `MAX_STEPS` where the caller says nothing."""
    iterations = as_int(MAX_STEPS if max_steps is None else max_steps)
    check_size("max_steps", iterations, 1, LARGEST_MAX_STEPS)
    return iterations


# --- Buffers --------------------------------------------------------------------------------------------------


def are_finite(arrays: Sequence[np.ndarray]) -> bool:
    """Return True where no array of floats holds an infinity. (A NaN does no harm: what comes of it is never new.)"""
    return not any(np.isinf(array).any() for array in arrays if array.dtype.kind == "f")
