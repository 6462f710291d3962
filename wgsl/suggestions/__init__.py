"""What is wrong with a text and what to write instead, in the words of someone who learns the language.

A refusal has a kind and facts; a function of `CURES` makes the sentence of them, with the text, the tree and the types
at hand. `values` is about types that do not go together, `unknown_names` about names, `breaks` about
texts that break off, with the table of `habits` from Python, C and CUDA.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from wgsl.diagnostics import Diagnostic, Lines, NotWgsl, Text, Unsupported, UnsupportedWgsl, WgslError, error
from wgsl.suggestions import breaks, unknown_names, values
from wgsl.suggestions.context import Context
from wgsl.syntax.parser import parse
from wgsl.types.declarations import Declarations, check
from wgsl.words.errors import not_simulated

SUBGROUP = "subgroup"  # in the name of a function, a built-in value or an extension
OTHER_NUMBERS = ("numbers of 16 bits", "numbers of 64 bits", "number of 16 bits")  # kinds of what not every adapter has
SUBGROUPS = (
    "not every adapter offers subgroup functions, so these kernels do without them: share values in workgroup memory, "
    "with a `workgroupBarrier()` before they are read"
)
UNCLEAR = "the compiler refuses this, and gives no reason in plain words"
INTERNALS = re.compile(  # a compiler's own terms; a reason that has one of them is not shown
    r"naga|wgpu|Scalar|Vector|Some\(|\bNone\b|Handle|\[\d+\]|Abstract|Expression|concreti|::|see msg|Entry point|\{ |"
    r"Capabilit|TypeFlags"
)


CURES: Mapping[str, Callable[..., Diagnostic | str | None]] = {  # by the kind of a refusal
    "operands": values.operands,
    "clash": values.clash,
    "assigned": values.assigned,
    "fit": values.fit,
    "declared": values.declared,
    "power": values.power,
    "index": values.index,
    "indexed": values.indexed,
    "condition": values.condition,
    "joined": values.joined,
    "argument": values.argument,
    "select": values.select,
    "called": values.called,
    "returned": values.returned,
    "length": values.length,
    "unknown": unknown_names.unknown,
    "type": unknown_names.type,
    "called_value": unknown_names.called_value,
    "whole read": unknown_names.whole,
    "whole write": unknown_names.whole,
    "entry_point": unknown_names.entry_point,
    "no_bindings": unknown_names.no_bindings,
    "part": unknown_names.part,
    "constant": unknown_names.constant,
    "counted": unknown_names.counted,
    "too_late": unknown_names.too_late,
    "read_only": unknown_names.read_only,
    "expected": breaks.expected,
}


def wgsl_error(kernel: Text, refused: NotWgsl | Unsupported) -> WgslError:
    """What to raise for a kernel whose text is refused: place, cause, cure, and the line with a caret."""
    if isinstance(refused, NotWgsl):
        made = error(kernel, explained(kernel.source, refused, kernel.pasted))
        made.kind = refused.kind
        return made
    reason = f"{not_simulated(refused.feature)}; an adapter may run this kernel"
    made = error(kernel, Diagnostic(reason, refused.at), UnsupportedWgsl, "is not simulated")
    made.kind, made.feature = refused.kind, refused.feature
    return made


def explained(source: str, refused: NotWgsl, seen: range | None = None) -> Diagnostic:
    """Return the cure of a refusal, or its own reason where no cure is certain.

    The lines of the text are numbered as its reader sees them: all of them, or only those in `seen`, from 1.
    """
    context = Context(source, refused, seen)
    advice = values.copied(context) if refused.scope and refused.kind != "unknown" else None
    if not advice and refused.kind in CURES:
        advice = CURES[refused.kind](context, **refused.facts)
    advice = advice or refused.reason
    return Diagnostic(advice, refused.at, refused.length) if isinstance(advice, str) else advice


def compile_error(kernel: Text, constants: Mapping[str, float], entry_point: str, log: str) -> WgslError:
    """The error of a kernel that an adapter's compiler refuses, as our own reading of the text explains it.

    Where that finds nothing wrong, or cannot read the text, the compiler's own `log` has the last word.
    """
    try:
        check(Declarations(parse(kernel.source), constants), entry_point)
    except NotWgsl as refused:
        return wgsl_error(kernel, refused)
    except Unsupported as unsupported:
        if SUBGROUP in unsupported.facts.get("name", ""):
            return error(kernel, Diagnostic(SUBGROUPS, unsupported.at))
        if unsupported.kind in OTHER_NUMBERS:
            numbers = "numbers are `f32`, `u32` or `i32`"
            return error(kernel, Diagnostic(f"not every adapter has {unsupported.feature}; {numbers}", unsupported.at))
    except ValueError as wrong:
        return error(kernel, Diagnostic(str(wrong), None))
    return error(kernel, compiler_diagnostic(kernel.source, log))


def compiler_diagnostic(source: str, log: str) -> Diagnostic:
    """Return what a compiler says, where it says so in plain words, and the first place that it gives: ``wgsl:3:14``.

    Its log is all that is known of what it found.
    """
    place = re.search(r"┌─ .*:(\d+):(\d+)", log)
    at = Lines(source).offset(*map(int, place.groups())) if place else None
    if "Not implemented as constant expression" in log and place:
        name = re.match(r"\w+", source[at:])
        cure = f"write the number, or give `{name[0]}` a `var`" if name else "write the number"
        reason = f"WGSL can compute this before the run, but the compiler of this adapter cannot: {cure}"
        return Diagnostic(reason, at, len(name[0]) if name else 1)
    if pointer := re.search(r"Argument '(\w+)' at index", log):
        reason = f"`{pointer[1]}` cannot be a parameter: a function can use every buffer by its own name"
        return Diagnostic(reason, at)
    lines = re.findall(r"parsing error: (.*)|^ +=+ (?:note: )?(.*)", log, re.MULTILINE)
    plain = [line for line in map("".join, lines) if line and not INTERNALS.search(line)]
    return Diagnostic("; ".join(dict.fromkeys(plain)) or UNCLEAR, at)
