"""Guards behind arrays, and a copy of a kernel's text in which every index past an array leads to its first guard.

What a GPU does about such an index is its driver's choice: a read gives 0 or some other element, a write is dropped or
changes the last element. So a wrong index may go unnoticed on one GPU and spoil the result on another.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from helpers.wgsl import Kernel, closing

MORE = 64  # guards behind an array, besides as many as it has elements
SIZE = f"(arrayLength(&{{}}) - {MORE}u) / 2u"


def guarded(array: np.ndarray, guard: float) -> np.ndarray:
    """A flat copy with as many guards behind it as it has elements, and `MORE` more."""
    return np.concatenate([np.ravel(array), np.full(array.size + MORE, guard)]).astype(np.float32)


def bounded(kernel: Kernel, arrays: Sequence[str]) -> Kernel:
    """The copy; `arrays` names the storage arrays, which are `guarded` in the buffers. Lines keep their numbers."""
    code, source, inserted = kernel.code, kernel.source, []
    for name in arrays:
        for at in (found.end() for found in re.finditer(rf"(?<![\w.]){name}\s*\[", code)):
            inserted += [(at, "min(u32("), (closing(code, at - 1), f"), {SIZE.format(name)})")]
    for at, text in sorted(inserted, reverse=True):
        source = source[:at] + text + source[at:]
    for name in arrays:
        source = re.sub(rf"\barrayLength\s*\(\s*&\s*{name}\s*,?\s*\)(?! - {MORE}u)", f"({SIZE.format(name)})", source)
    return replace(kernel, source=source)
