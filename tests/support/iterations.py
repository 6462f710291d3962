"""A copy of a kernel's text that counts loop iterations."""

import re
from dataclasses import replace
from typing import NamedTuple

from helpers.wgsl import Kernel

COUNTER = """
@group(0) @binding({binding}) var<storage, read_write> {name}_most: atomic<u32>;
var<private> {name}_total: u32;

fn {name}() {{
  {name}_total++;
  atomicMax(&{name}_most, {name}_total);
}}
"""


class Counted(NamedTuple):
    """A counting copy: the u32 at `binding`, 0 at the start, becomes the iterations of the busiest invocation."""

    kernel: Kernel
    binding: int


def counted(kernel: Kernel, binding: int | None = None) -> Counted:
    """The counting copy of a kernel that compiles.

    The count is bound behind all other bindings by default; `binding` may name one of these that no entry point uses.
    """
    code, source, name = kernel.code, kernel.source, "counted"
    while name in source:  # a name that the kernel does not use
        name += "_x"
    for loop in reversed([*re.finditer(r"\b(for|while|loop)\b[^{]*\{", code)]):
        source = f"{source[: loop.end()]} {name}();{source[loop.end() :]}"
    binding = len(kernel.bindings) if binding is None else binding
    return Counted(replace(kernel, source=source + COUNTER.format(name=name, binding=binding)), binding)
