"""A kernel's text for one layer: the layer's sizes written in as constants, and the marked loops written out.

A file in `kernels/` is WGSL that runs as it stands. Two kinds of lines in it are also instructions to `specialize`:

    const KERNEL_H: u32 = 3u;                       a constant, whose value may be replaced by the layer's
    for (var i = 0u; i < ROWS; i++) {  // unroll    a loop, whose body is repeated with i as a constant

Why it pays: where a size is a constant, the compiler computes addresses in advance and divides by multiplying; where a
loop's index is one, small arrays stay in registers, and neither an index nor the loop's end is checked at run time.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from wgsl.diagnostics import WgslError
from wgsl.kernel import Kernel
from wgsl.syntax import tree

MARK = re.compile(r"\{ *// unroll$", re.MULTILINE)
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
        The text cannot be read. Or a marked loop cannot be written out: its bounds are no constants, it has a `break`
        or a `continue`, or its body would be repeated more than 512 times. Or the text would be too long: it is never
        made.
    """
    resized = sized(kernel, constants)
    if problem := too_long(resized):
        raise WgslError(problem)
    return _rewritten(kernel, _edits(resized))


def with_sizes(kernel: Kernel, constants: Mapping[str, int]) -> Kernel:
    """The kernel with these values for its constants, and its marked loops as they are: its lines are the file's.

    What `kernel.with_constants` has set comes before `constants`.
    """
    return _rewritten(kernel, sorted(_constants(sized(kernel, constants))))


def too_long(kernel: Kernel) -> str | None:
    """Return the reason where the text for these values of the constants would be too long; None where it would not."""
    length = _written(len, kernel.source, _edits(kernel))
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
        if not problem:
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


class Edit(NamedTuple):
    """A part of the text; only its end remains, from `body` on, repeated after each of the openings.

    For a constant nothing remains, and its value is the opening. For a loop its body remains, with the edits in it.
    """

    start: int
    body: int
    end: int
    openings: Sequence[str]


def _edits(kernel: Kernel) -> list[Edit]:
    """Return all that is rewritten, in the order of the text: the marked loops, and the constants with their values."""
    loops = _marked(replace(kernel, constants=()))
    copies = [_copies(kernel, loop, body) for loop, body in loops]
    return sorted([*copies, *_constants(kernel)])


def _constants(kernel: Kernel) -> Iterator[Edit]:
    """The constants that are rewritten with their values."""
    for name, value in kernel.constants:
        kind = kernel.kind(name)
        node = kernel.outline.nodes.get(name)
        if kind == "const" and node.type and node.type.name in SUFFIX:
            yield Edit(node.type.end, node.end, node.end, [f" = {str(value).lower()}{SUFFIX[node.type.name]}"])
        elif kind != "override":
            raise ValueError(f"{name} = {value}: {kernel.name} has no `const {name}: u32`")


@lru_cache(maxsize=64)
def _marked(kernel: Kernel) -> list[tuple[tree.For, int]]:
    """The marked loops of a text that count up to an end by `i++` or `i += step`, each with where its mark ends."""
    loops = []
    for node in tree.walk(kernel.module):
        match node:
            case tree.For(
                first=tree.Declaration(kind="var", name=name, type=None, value=tree.Node()),
                condition=tree.Binary(operator="<", left=tree.Name(name=tested)),
                update=tree.Increment(operator="++", target=tree.Name(name=changed))
                | tree.Assignment(operator="+=", target=tree.Name(name=changed)),
            ) if name == tested == changed and (mark := MARK.match(kernel.source, node.body.at)):
                loops.append((node, mark.end()))
    return loops


def _copies(kernel: Kernel, loop: tree.For, body: int) -> Edit:
    """A loop, written out."""
    source = kernel.source
    first = loop.first.value
    bounds = first, loop.condition.right, getattr(loop.update, "value", None)  # `i++` has no step
    copies = range(*(kernel.number(bound) for bound in bounds if bound))
    if len(copies) > MOST or any(isinstance(node, tree.Break | tree.Continue) for node in tree.walk(loop.body)):
        rule = f"at most {MOST} copies, no `break` and no `continue`"
        written = source[loop.at : body]
        raise WgslError(f"`{written}` has {len(copies)}: a loop that is written out has {rule}", kernel.name)
    suffix = "u" if source.endswith("u", 0, first.end) else ""
    openings = []
    for i in copies:
        blank = " " if openings else ""
        openings.append(f"{blank}{{ const {loop.first.name} = {i}{suffix};")
    return Edit(loop.at, body, loop.end, openings)


def _rewritten(kernel: Kernel, edits: Sequence[Edit]) -> Kernel:
    """The kernel with edits of its text, which has no other constants after them but its overrides."""
    overrides = tuple(pair for pair in kernel.constants if kernel.kind(pair[0]) == "override")
    return replace(kernel, source=_written(str, kernel.source, edits), constants=overrides)


def _written(measure: Callable, source: str, edits: Sequence[Edit], start: int = 0, end: int | None = None) -> Any:
    """This part of the text with its edits: the text itself where `measure` is `str`, its length where it is `len`."""
    end = len(source) if end is None else end
    written = measure("")
    at = start
    for edit in edits:
        if at <= edit.start < end:  # else it is elsewhere, or inside the one before it
            body = _written(measure, source, edits, edit.body, edit.end)
            written += measure(source[at : edit.start])
            for opening in edit.openings:
                written += measure(opening) + body
            at = edit.end
    return written + measure(source[at:end])
