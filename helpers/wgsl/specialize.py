"""A kernel's text for one layer: the layer's sizes written in as constants, and the marked loops written out.

A file in `kernels/` is WGSL that runs as it stands. Two kinds of lines in it are also instructions to `specialize`:

    const KERNEL_H: u32 = 3u;                       a constant, whose value may be replaced by the layer's
    for (var i = 0u; i < ROWS; i++) {  // unroll    a loop, whose body is repeated with i as a constant

Why it pays: where a size is a constant, the compiler computes addresses in advance and divides by multiplying; where a
loop's index is one, small arrays stay in registers, and neither an index nor the loop's end is checked at run time.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from helpers.wgsl.diagnostics import WgslError
from helpers.wgsl.kernel import Kernel
from helpers.wgsl.syntax.tokens import closing

CONSTANT = r"(\bconst {name}: (?P<type>u32|i32|f32|bool) = )[^;]*;"
LOOP = re.compile(
    r"for \(var (?P<name>\w+) = (?P<first>[^;]+); (?P=name) < (?P<end>[^;]+); "
    r"(?:(?P=name)\+\+|(?P=name) \+= (?P<step>[^)]+))\) \{ *// unroll$",
    re.MULTILINE,
)
SUFFIX = {"u32": "u", "i32": "i", "f32": "f", "bool": ""}
MOST = 512  # copies of one body
MOST_CHARACTERS = 100_000  # of a text: a longer one takes a driver longer to compile than it saves


def specialize(kernel: Kernel, constants: Mapping[str, int]) -> Kernel:
    """The kernel with these values for its constants, and every loop marked ``// unroll`` written out.

    What `kernel.with_constants` has set comes before `constants`.

    Raises
    ------
    ValueError
        The text declares no such constant.
    WgslError
        A marked loop cannot be written out: its bounds are no constants, it has a `break` or a `continue`, or its
        body would be repeated more than 512 times. Or the text would be too long: it is never made.
    """
    resized = sized(kernel, constants)
    if problem := too_long(resized):
        raise WgslError(problem)
    written = replace(resized, source=_written(kernel.source, _marked_loops(resized), 0, len(kernel.source)))
    overrides = tuple(pair for pair in kernel.constants if _is_override(kernel, pair[0]))
    return replace(written, source=_with_values(written), constants=overrides)


def too_long(kernel: Kernel) -> str | None:
    """Why no text is written with these values of the kernel's constants, or None."""
    length = len(_with_values(kernel)) + _added(_marked_loops(kernel), 0, len(kernel.source))
    if length <= MOST_CHARACTERS:
        return None
    rule = f"it may have at most {MOST_CHARACTERS:,}, for a longer one takes too long to compile"
    return f"{kernel.name}: its text for this layer has {length:,} characters: {rule}: choose another version"


def first_short_enough(kernel: Kernel, choices: Iterable[Mapping[str, int]]) -> tuple[Kernel | None, str | None]:
    """The kernel with the first of these constants with which its text is not too long; else None and the reason.

    What `kernel.with_constants` has set comes before them.
    """
    refused = None
    for constants in choices:
        resized = sized(kernel, constants)
        problem = too_long(resized)
        if problem is None:
            return resized, None
        refused = refused or problem
    return None, refused


def sized(kernel: Kernel, constants: Mapping[str, int]) -> Kernel:
    """The kernel with these values for its constants, which are not in its text yet.

    What `kernel.with_constants` has set comes before them.
    """
    return replace(kernel, constants=tuple({**constants, **dict(kernel.constants)}.items()))


def chosen(kernel: Kernel, **best: int) -> list[int]:
    """The values of these constants: what `kernel.with_constants` has set, or else the best ones."""
    return [dict(kernel.constants).get(name, value) for name, value in best.items()]


def _is_override(kernel: Kernel, name: str) -> bool:
    """Is this constant set when a pipeline is made, and not in the text?"""
    return re.search(rf"\boverride {name}\b", kernel.code) is not None


def _with_values(kernel: Kernel) -> str:
    """The kernel's text with the values of its constants written in."""
    source = kernel.source
    for name, value in kernel.constants:
        found = re.search(CONSTANT.format(name=name), source)
        if found:
            written = str(value).lower() + SUFFIX[found["type"]]
            source = f"{source[: found.start()]}{found[1]}{written};{source[found.end() :]}"
        elif not _is_override(kernel, name):
            raise ValueError(f"{name} = {value}: {kernel.name} has no `const {name}: u32`")
    return source


class Loop(NamedTuple):
    """A marked loop: where it, its body and its last brace are in the text, and what each copy of the body opens with.

    Its copies are what it is replaced by, with the marked loops in its body written out likewise.
    """

    start: int
    body: int
    end: int
    openings: Sequence[str]


def _marked_loops(kernel: Kernel) -> list[Loop]:
    """The marked loops of a kernel whose constants have their values, in the order of the text."""
    loops = []
    for loop in LOOP.finditer(kernel.source):
        brace = kernel.code.index("{", loop.start())
        end = closing(kernel.code, brace)
        copies = range(*(kernel.numbers(loop[part] or "1")[0] for part in ("first", "end", "step")))
        if re.search(r"\b(break|continue)\b", kernel.code[brace:end]) or len(copies) > MOST:
            rule = f"at most {MOST} copies, no `break` and no `continue`"
            raise WgslError(f"{kernel.name}: `{loop[0]}` has {len(copies)}: a loop that is written out has {rule}")
        kind = "u" if loop["first"].endswith("u") else ""
        openings = [f"{{ const {loop['name']} = {i}{kind};" for i in copies]
        loops.append(Loop(loop.start(), loop.end(), end, openings))
    return loops


def _written(source: str, loops: Sequence[Loop], start: int, end: int) -> str:
    """This part of the text with its marked loops written out."""
    written, at = "", start
    for loop in loops:
        if at <= loop.start < end:  # else it is elsewhere, or inside the one before it
            body = _written(source, loops, loop.body, loop.end)
            copies = " ".join(f"{opening}{body}}}" for opening in loop.openings)
            written, at = written + source[at : loop.start] + copies, loop.end + 1
    return written + source[at:end]


def _added(loops: Sequence[Loop], start: int, end: int) -> int:
    """How many characters longer this part of the text becomes when its marked loops are written out."""
    added, at = 0, start
    for loop in loops:
        if at <= loop.start < end:
            body = loop.end - loop.body + _added(loops, loop.body, loop.end)
            copies = sum(len(opening) + body + 2 for opening in loop.openings) - 1  # a brace, and blanks between them
            added, at = added + max(0, copies) - (loop.end + 1 - loop.start), loop.end + 1
    return added
