"""Refuse a bad argument before anything is launched: by its name, its value and the rule that it breaks."""

from collections.abc import Callable

import numpy as np

from wgsl.arguments import MAX_SIZE, as_int, check_size


def check_tensor(operation: str, name: str, array: np.ndarray, axes: str) -> np.ndarray:
    """Refuse what is not a float32 array of the right rank without an empty axis."""
    axes = axes.split()
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{operation}: {name} is a {type(array).__name__}: it must be a plain NumPy array")
    if array.dtype != np.float32:
        problem = f"{operation}: {name} has dtype {array.dtype}"
        raise TypeError(f"{problem}: it must be float32 (try {name}.astype(np.float32))")
    if array.ndim != len(axes):
        raise ValueError(f"{operation}: {name} has shape {array.shape}: its axes must be ({', '.join(axes)})")
    if 0 in array.shape:
        raise ValueError(f"{operation}: {name} has shape {array.shape}: no axis may be 0")
    return array


def check_shape(
    operation: str, name: str, array: np.ndarray, wanted: tuple[int, ...], others: Callable[[], str]
) -> None:
    """Refuse an array with another shape than the other arguments imply; `others` names these, where it is needed."""
    if array.shape != wanted:
        raise ValueError(f"{operation}: {name} has shape {array.shape}: {others()} make it {wanted}")


def check_number(name: str, value: float, most: float, least: float = 0) -> None:
    """Refuse what is not a number from `least` to `most`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}: it must be a number")
    if not least <= value <= most:
        raise ValueError(f"{name} = {value}: it must be from {least:.2g} to {most:.9g}")


def keep_sizes(shape: object, *names: str) -> None:
    """Keep these sizes of a frozen dataclass as Python's ints; refuse one that is not a whole number >= 1."""
    for name in names:
        size = as_int(getattr(shape, name))
        check_size(name, size)
        object.__setattr__(shape, name, size)


def check_pair(name: str, value: int | tuple[int, int], smallest: int = 1) -> tuple[int, int]:
    """One whole number for both axes or one for each, as (rows, columns); refuse what is neither."""
    if not isinstance(value, tuple | list):
        number = as_int(value)
        check_size(name, number, smallest)
        return number, number
    if len(value) != 2:
        raise ValueError(f"{name} = {value!r}: it must be one int, or two for rows and columns")
    rows = as_int(value[0])
    columns = as_int(value[1])
    check_size(f"{name}_h", rows, smallest)
    check_size(f"{name}_w", columns, smallest)
    return rows, columns


def check_sizes(name: str, sizes: tuple[int, ...], axes: str) -> tuple[int, ...]:
    """Refuse what is not one whole number >= 1 for each axis."""
    axes = axes.split()
    if not isinstance(sizes, tuple | list) or len(sizes) != len(axes):
        raise ValueError(f"{name} = {sizes!r}: it must be {len(axes)} ints, ({', '.join(axes)})")
    sizes = tuple(as_int(size) for size in sizes)
    for axis, size in zip(axes, sizes, strict=True):
        if type(size) is not int or not 1 <= size <= MAX_SIZE:  # a name is made only where it is needed
            check_size(f"{name}'s {axis}", size)
    return sizes
