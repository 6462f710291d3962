"""The way through the rooms: text and buffers in, a trace out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import ceil, prod

import numpy as np

from wgsl.arguments import as_int, check_finite, check_size
from wgsl.arithmetic.operators import DTYPES
from wgsl.kernel import Kernel
from wgsl.simulator import textures, undefined
from wgsl.simulator.access import Access
from wgsl.simulator.bindings import Buffers, at_key, keyed, listed, unused
from wgsl.simulator.footprint import check_memory
from wgsl.simulator.lanes import Dispatch
from wgsl.simulator.machine import Machine
from wgsl.simulator.memory import Words, size_of
from wgsl.simulator.subgroups import USUAL, Fill, checked_size
from wgsl.simulator.trace import Trace
from wgsl.simulator.unwatched import Unwatched
from wgsl.simulator.values import without_nan_marks
from wgsl.simulator.watch import Watch
from wgsl.simulator.watched import checked_watch
from wgsl.simulator.work import TooLong, Work, too_large
from wgsl.syntax.parser import parsed
from wgsl.types import kinds
from wgsl.types.declarations import Declarations, check
from wgsl.types.program import Program, Variable
from wgsl.types.subgroup_uniformity import not_portable
from wgsl.types.textures import Texture
from wgsl.types.uniformity import NotPortable
from wgsl.types.usage import usage

MAX_STEPS = 65_536
AT_ONCE = 2**14  # invocations that `execute` runs in step


def simulate(
    kernel: str | Kernel,
    buffers: Buffers,
    workgroups: tuple[int, int, int],
    *,
    entry_point: str = "main",
    constants: Mapping[str, float] | None = None,
    outputs: Sequence[Hashable] | None = None,
    max_steps: int | None = None,
    watch: Sequence[str] = (),
    work: Work | None = None,
    wrapped: float | None = None,
    subgroup_size: int = USUAL,
    zero_initialized: bool = False,
    program: Program | None = None,
) -> Trace:
    """Run a WGSL compute kernel without a GPU, and watch what it does.

    Parameters
    ----------
    kernel : str or Kernel
        The text. A Kernel brings the values of its `override` constants.
    buffers : sequence or mapping of ndarray
        One array of float32, float16, int32 or uint32 for each binding, of exactly the size that counts; a uniform
        struct is the uint32 words that it is made of. A list has them in the order of (group, binding). The keys of a
        mapping are names, as in ``{"total": total}``, or groups and bindings, as in ``{(0, 1): total}``; what the entry
        point does not use can be left out. The arrays are not changed: `Trace.buffers` has those afterwards in the same
        form, for the next dispatch.
    workgroups : (x, y, z)
        The size of the dispatch.
    entry_point : str
        The function to run.
    constants : mapping, optional
        Values of `override` constants by name.
    outputs : sequence of int, str or (int, int), optional
        The bindings that must be written whole, each by its place in a list of all buffers, its name, or its group and
        binding; () where a kernel leaves a part of them on purpose. By default those that the entry point stores to
        and never loads: a buffer that it loads, too, holds values before the run, and may be changed in part.
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
    zero_initialized : bool
        Whether workgroup memory that no thread has written can be relied on to be 0, as WGSL promises. By default such
        a read is a finding, because drivers break the promise.
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
        workgroup memory, 2 GiB for all variables, values and buffers with what is noted about their words, some minutes
        of work); the message names it, its value and the rule.
    """
    kernel = _kernel(kernel)
    overridden_kernel = overridden(kernel, constants)
    program = program or compiled(overridden_kernel, entry_point)
    buffers = buffers if isinstance(buffers, Mapping) else list(buffers)
    keys, arrays = checked_buffers(program, buffers)
    dispatch = _dispatch(program, workgroups, subgroup_size)
    output_variables = checked_outputs(program, outputs)
    iterations = checked_max_steps(max_steps)
    watched = checked_watch(program, kernel.source, watch)

    words = _memory(program, dispatch, arrays)
    observer = Watch(kernel.source, dispatch, words, program, are_finite(arrays), watched, zero_initialized)
    machine = Machine(program, dispatch, words, observer, Access(words, observer, wrapped), iterations, work or Work())
    ended = _run_to_the_end(machine, observer, dispatch, shared=work is not None)
    observer.end(output_variables if ended else ())
    if ended:
        undefined.report(observer, machine.subgroups, partial(_again, program, dispatch, arrays, iterations))
    if work is None or work.left >= 0:  # else the analysis, too, would take long: it follows calls of calls of calls
        for place in _refused(program, overridden_kernel, entry_point):
            observer.not_portable(place)
    buffers_after = _buffers_after(keys, words, buffers)
    findings = observer.collector.findings()
    counts = observer.counter.counts(observer.line)
    size = dispatch.size
    return Trace(kernel, entry_point, dispatch.workgroups, size, buffers_after, findings, counts, observer.log)


def _kernel(kernel: str | Kernel) -> Kernel:
    if not isinstance(kernel, str | Kernel):
        raise TypeError(f"kernel is a {type(kernel).__name__}: it must be WGSL text or a Kernel")
    return Kernel(kernel) if isinstance(kernel, str) else kernel


def _dispatch(program: Program, workgroups: tuple[int, int, int], subgroup_size: int) -> Dispatch:
    """Return the invocations of a run."""
    groups = checked_workgroups(program, workgroups)
    return Dispatch(groups, program.workgroup_size, subgroup_size=checked_size(subgroup_size))


def _memory(program: Program, dispatch: Dispatch, arrays: Sequence[np.ndarray]) -> Words:
    """Return the memory in which a run begins: copies of the buffers, and workgroup memory that is 0."""
    bound = dict(zip(program.bindings, arrays, strict=True))
    words = Words(dispatch, check_memory(program, dispatch, bound, watched=True))
    for variable, array in bound.items():
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


def _buffers_after(
    keys: Mapping[Variable, Hashable], words: Words, buffers: Buffers
) -> tuple[np.ndarray, ...] | dict[Hashable, np.ndarray]:
    """Return the words of the bindings after a run, as arrays of the dtype and shape that each had before."""
    after = {key: _buffer_after(words, variable, buffers[key]) for variable, key in keys.items()}
    return after if isinstance(buffers, Mapping) else tuple(after.values())


def _buffer_after(words: Words, variable: Variable, before: np.ndarray) -> np.ndarray:
    if variable in words.images:
        return words.images[variable].array(before)
    return words.buffer(variable).view(before.dtype).reshape(before.shape)


def execute(
    program: Program,
    buffers: Sequence[np.ndarray],
    workgroups: tuple[int, int, int],
    most: int | None = None,
    work: Work | None = None,
) -> None:
    """Run a program over its buffers, and change them, as an adapter does: nothing is watched.

    Each buffer is the uint32 words of a binding, without those that do not count (see `size_of`). As on a GPU, not all
    workgroups run at once. A thread may make `most` iterations of its loops; `work` is what is left to several runs.

    Raises ValueError where it asks for more than the simulator holds, or a loop does not end; what a kernel has stored
    by then stays.
    """
    most = checked_max_steps(most)
    workgroups = checked_workgroups(program, workgroups)
    size = program.workgroup_size
    at_once = max(1, AT_ONCE // prod(size))
    count = prod(workgroups)
    for first in range(0, count, at_once):
        dispatch = Dispatch(workgroups, size, range(first, min(first + at_once, count)))
        bound = dict(zip(program.bindings, buffers, strict=True))
        words = Words(dispatch, check_memory(program, dispatch, bound, watched=False))
        watch = Unwatched()
        for variable, buffer in bound.items():
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
        check_finite(name, value)
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


def checked_buffers(program: Program, buffers: Buffers) -> tuple[dict[Variable, Hashable], list[np.ndarray]]:
    """The key of each buffer that is given, and an array for each binding, if there is one that fits."""
    keys = keyed(program, buffers)
    for variable, key in keys.items():
        _check_buffer(f"buffers[{key!r}] (`{variable.name}`)", variable, buffers[key])
    arrays = [buffers[keys[variable]] if variable in keys else unused(variable) for variable in program.bindings]
    return keys, arrays


def _check_buffer(name: str, variable: Variable, array: np.ndarray) -> None:
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


def checked_outputs(program: Program, outputs: Sequence[Hashable] | None) -> list[Variable]:
    """The variables that must be written whole."""
    storage = [variable for variable in program.bindings if _can_be_written(variable)]
    if outputs is None:
        return [variable for variable in storage if variable in program.written - usage(program.entry).loaded]
    if not isinstance(outputs, Sequence):
        raise TypeError(f"outputs = {outputs!r}: it must be a list of bindings, such as [2]")
    chosen = []
    for output in outputs:
        variable = _output(program, output)
        if variable not in storage:
            rule = f"is not a storage binding that it can write; these are {listed(storage) or 'none'}"
            raise ValueError(f"outputs = {outputs!r}: {output!r} {rule}")
        chosen.append(variable)
    return chosen


def stored(kernel: Kernel, entry_point: str) -> list[int]:
    """The places of all bindings that an entry point can store to, those that it loads included, as `outputs`."""
    program = compiled(kernel, entry_point)
    return [i for i, variable in enumerate(program.bindings) if variable in program.written]


def _output(program: Program, output: Hashable) -> Variable | None:
    """Return the binding of a key, or at a place in the list of all; None where there is none."""
    if isinstance(output, int | np.integer) and 0 <= output < len(program.bindings):
        return program.bindings[output]
    return at_key(program.bindings, output)


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
