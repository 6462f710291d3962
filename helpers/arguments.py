"""Refuse a bad argument before anything is launched: by its name, its value and the rule that it breaks."""

from collections.abc import Mapping
from math import prod

import numpy as np
import wgpu
from numpy.typing import DTypeLike

LARGEST = 2**30  # keeps every index of a kernel, and every wrapped negative one, inside 32 bits


def check_tensor(operation: str, name: str, array: np.ndarray, axes: str) -> np.ndarray:
    """Refuse what is not a float32 array of the right rank without an empty axis."""
    axes = axes.split()
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{operation}: {name} is a {type(array).__name__}: it must be a plain NumPy array")
    if array.dtype != np.float32:
        said = f"{operation}: {name} has dtype {array.dtype}"
        raise TypeError(f"{said}: it must be float32 (try {name}.astype(np.float32))")
    if array.ndim != len(axes):
        raise ValueError(f"{operation}: {name} has shape {array.shape}: its axes must be ({', '.join(axes)})")
    if 0 in array.shape:
        raise ValueError(f"{operation}: {name} has shape {array.shape}: no axis may be 0")
    return array


def check_size(name: str, value: int, smallest: int = 1) -> None:
    """Refuse what is not a whole number from `smallest` to LARGEST, by the argument's name."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}: it must be an int")
    if not smallest <= value <= LARGEST:
        raise ValueError(f"{name} = {value}: it must be from {smallest} to {LARGEST}")


def as_int(value: int) -> int:
    """`value` as Python's int; NumPy's integers are welcome, True and 2.0 are not."""
    return int(value) if isinstance(value, np.integer) else value


def check_sizes(name: str, sizes: tuple[int, ...], axes: str) -> tuple[int, ...]:
    """Refuse what is not one whole number >= 1 for each axis."""
    axes = axes.split()
    if not isinstance(sizes, tuple | list) or len(sizes) != len(axes):
        raise ValueError(f"{name} = {sizes!r}: it must be {len(axes)} ints, ({', '.join(axes)})")
    for axis, size in zip(axes, sizes, strict=True):
        check_size(f"{name}'s {axis}", as_int(size))
    return tuple(int(size) for size in sizes)


def check_dtype(operation: str, dtype: DTypeLike) -> None:
    """Refuse every dtype but float32, however it is written."""
    try:
        known = dtype is not None and np.dtype(dtype) == np.float32
    except TypeError:
        known = False
    if not known:
        raise TypeError(f"{operation}: dtype = {dtype}: it must be float32, the only one these kernels compute")


def check_buffers(operation: str, shapes: Mapping[str, tuple[int, ...]], buffers: tuple[wgpu.GPUBuffer, ...]) -> None:
    """Refuse a wrong number of buffers, or one too small for the float32 tensor that it should hold."""
    if len(buffers) != len(shapes):
        raise ValueError(f"{operation}: {len(buffers)} buffers: it takes {len(shapes)}, {', '.join(shapes)}")
    for (name, shape), buffer in zip(shapes.items(), buffers, strict=True):
        if buffer.size < 4 * prod(shape):
            raise ValueError(f"{operation}: {name} is a buffer of {buffer.size} bytes: {shape} takes {4 * prod(shape)}")
