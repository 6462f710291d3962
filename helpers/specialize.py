"""A kernel's text for one layer: the layer's sizes written in as constants, and the marked loops written out.

A file in `kernels/` is WGSL that runs as it stands. Two kinds of lines in it are also instructions to `specialize`:

    const KERNEL_H: u32 = 3u;                       a constant, whose value may be replaced by the layer's
    for (var i = 0u; i < ROWS; i++) {  // unroll    a loop, whose body is repeated with i as a constant

Why it pays: where a size is a constant, the compiler computes addresses in advance and divides by multiplying; where a
loop's index is one, small arrays stay in registers, and neither an index nor the loop's end is checked at run time.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from helpers.wgsl import Kernel, WgslError, closing

CONSTANT = r"(\bconst {name}: (?P<type>u32|i32|f32|bool) = )[^;]*;"
LOOP = re.compile(
    r"for \(var (?P<name>\w+) = (?P<first>[^;]+); (?P=name) < (?P<end>[^;]+); "
    r"(?:(?P=name)\+\+|(?P=name) \+= (?P<step>[^)]+))\) \{ *// unroll$",
    re.MULTILINE,
)
SUFFIX = {"u32": "u", "i32": "i", "f32": "f", "bool": ""}
MOST = 512  # copies of one body


def specialize(kernel: Kernel, constants: Mapping[str, int]) -> Kernel:
    """The kernel with these values for its constants, and every loop marked ``// unroll`` written out.

    What `kernel.with_constants` has set comes before `constants`.

    Raises
    ------
    ValueError
        The text declares no such constant.
    WgslError
        A marked loop cannot be written out: its bounds are no constants, it has a `break` or a `continue`, or its
        body would be repeated more than 512 times.
    """
    overrides = [(name, value) for name, value in kernel.constants if re.search(rf"\boverride {name}\b", kernel.code)]
    values = {**constants, **{name: value for name, value in kernel.constants if (name, value) not in overrides}}
    source = kernel.source
    for name, value in values.items():
        found = re.search(CONSTANT.format(name=name), source)
        if not found:
            raise ValueError(f"{name} = {value}: {kernel.name} has no `const {name}: u32`")
        written = str(value).lower() + SUFFIX[found["type"]]
        source = f"{source[: found.start()]}{found[1]}{written};{source[found.end() :]}"
    return _unrolled(replace(kernel, source=source, constants=tuple(overrides)))


def _unrolled(kernel: Kernel) -> Kernel:
    """The kernel without marked loops; the last one comes first, for no other one is inside it."""
    while found := list(LOOP.finditer(kernel.source)):
        loop, source = found[-1], kernel.source
        brace = kernel.code.index("{", loop.start())
        end = closing(kernel.code, brace)
        first, last, step = (kernel.numbers(loop[part] or "1")[0] for part in ("first", "end", "step"))
        body, copies = source[loop.end() : end], range(first, last, step)
        if re.search(r"\b(break|continue)\b", kernel.code[brace:end]) or len(copies) > MOST:
            rule = f"at most {MOST} copies, no `break` and no `continue`"
            raise WgslError(f"{kernel.name}: `{loop[0]}` has {len(copies)}: a loop that is written out has {rule}")
        kind = "u" if loop["first"].endswith("u") else ""
        written = " ".join(f"{{ const {loop['name']} = {i}{kind};{body}}}" for i in copies)
        kernel = replace(kernel, source=source[: loop.start()] + written + source[end + 1 :])
    return kernel
