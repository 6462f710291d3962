"""A kernel over NumPy arrays: arrays in, arrays out."""

from collections.abc import Sequence

import numpy as np

from helpers.checks.arguments import as_int, check_size
from helpers.gpu.adapter import MAX_WORKGROUPS
from helpers.gpu.buffers import read, uniform, upload
from helpers.gpu.compiled import pipeline
from helpers.gpu.passes import Pass, run
from wgsl import Kernel


def launch(
    kernel: str | Kernel, arrays: Sequence, workgroups: int | Sequence[int] = 1
) -> np.ndarray | tuple[np.ndarray, ...]:
    """Run a kernel's entry point `main` and return the arrays that it may write, as they are afterwards.

    Parameters
    ----------
    kernel : str or Kernel
        WGSL text.
    arrays : sequence
        In binding order: float32, int32 or uint32 arrays, and for a uniform a tuple of its u32 values.
        They are copied to the GPU, and stay as they are.
    workgroups : int or sequence of up to three int
        How many in x, y and z, each from 1 to 65,535.

    Returns the array at the kernel's one read_write binding, or a tuple where it has several of them.

    Raises
    ------
    WgslError
        The kernel does not compile.
    TypeError, ValueError
        An argument is of a wrong kind, dtype, length or size.
    GpuError
        An array is larger than one binding may hold, or smaller than the kernel declares.
    """
    if not isinstance(kernel, str | Kernel):
        raise TypeError(f"kernel is a {type(kernel).__name__}: it must be WGSL text or a Kernel")
    if isinstance(kernel, str):
        kernel = Kernel(kernel)
    pipeline(kernel, "main")  # first: where the text is wrong, the arrays may be right
    counts = _checked_workgroups(workgroups)
    arrays = _checked_arrays(kernel, arrays)
    buffers = []
    for i, array in enumerate(arrays):
        if isinstance(array, tuple):
            buffers.append(uniform(array))
        else:
            buffers.append(upload(array, f"arrays[{i}]"))
    run(Pass(kernel, tuple(buffers), counts))
    written = []
    for kind, buffer, array in zip(kernel.buffer_types, buffers, arrays, strict=True):
        if kind == "storage":
            written.append(read(buffer, array.shape, array.dtype))
    return written[0] if len(written) == 1 else tuple(written)


def _checked_workgroups(workgroups: int | Sequence[int]) -> tuple[int, int, int]:
    """The number in x, y and z. Raises TypeError or ValueError where one is 0 or too large, or there are four."""
    counts = tuple(workgroups) if isinstance(workgroups, tuple | list) else (workgroups,)
    if not 1 <= len(counts) <= 3:
        raise ValueError(f"workgroups = {workgroups!r}: it must be one to three numbers, for x, y and z")
    for axis, count in zip("xyz", counts, strict=False):
        name = f"workgroups in {axis}" if len(counts) > 1 else "workgroups"
        check_size(name, as_int(count), largest=MAX_WORKGROUPS)
    three = [*counts, 1, 1][:3]
    return tuple(int(count) for count in three)


def _checked_arrays(kernel: Kernel, arrays: Sequence) -> tuple[np.ndarray | tuple[int, ...], ...]:
    """One array or tuple for each binding. Raises TypeError or ValueError, by the place in `arrays` and the rule."""
    listed = ", ".join(binding.name for binding in kernel.bindings)
    rule = f"it must be a list with one for each of {len(kernel.bindings)} bindings, {listed}"
    if not isinstance(arrays, tuple | list):
        raise ValueError(f"arrays is a {type(arrays).__name__}: {rule}")
    if len(arrays) != len(kernel.bindings):
        raise ValueError(f"arrays has {len(arrays)} entries: {rule}")
    for i, (array, binding) in enumerate(zip(arrays, kernel.bindings, strict=True)):
        if binding.space == "uniform":
            _check_uniform(f"arrays[{i}]", array, binding.name)
        elif not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise TypeError(f"arrays[{i}] is a {type(array).__name__}: `{binding.name}` takes a plain NumPy array")
    return tuple(arrays)


def _check_uniform(name: str, values: tuple[int, ...], binding: str) -> None:
    """Refuse what is not a tuple of u32 for a uniform."""
    if not isinstance(values, tuple) or not values:
        rule = f"the uniform `{binding}` takes a tuple of whole numbers, such as (3,)"
        raise TypeError(f"{name} is a {type(values).__name__}: {rule}")
    for i, value in enumerate(values):
        check_size(f"{name}[{i}]", as_int(value), 0, 2**32 - 1)
