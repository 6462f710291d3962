"""Suggestions for a text that is refused: what is wrong with it, and what to write instead, as records of facts.

A refusal has a kind and facts; a function of `CURES` makes a suggestion of them, with the text, the tree and the types
at hand. `values` is about types that do not go together, `places` about what a place takes, `unknown_names` about
names, `breaks` about texts that break off, with the table of `habits` from Python, C and CUDA; `compiler_log` is about
what only an adapter's compiler refuses. A cure that changes the text is tried first, in `trial`. The sentences are in
`wgsl.words.suggestions`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from wgsl.diagnostics import Diagnostic, NotWgsl, Text, Unsupported, UnsupportedWgsl, WgslError, error
from wgsl.facts import Mark, Suggestion
from wgsl.suggestions import breaks, outside, places, unknown_names, values
from wgsl.suggestions.compiler_log import explain_log
from wgsl.suggestions.context import Context
from wgsl.suggestions.trial import first_that_holds
from wgsl.syntax.parser import parse
from wgsl.types.declarations import Declarations, check
from wgsl.words.errors import NOT_SIMULATED
from wgsl.words.suggestions import sentence

SUBGROUP = "subgroup"  # in the name of a function, a built-in value or an extension
OTHER_NUMBERS = ("numbers of 64 bits",)  # kinds of what not every adapter has

CURES: Mapping[str, Callable[..., Suggestion | None]] = {  # by the kind of a refusal
    "operands": values.operands,
    "clash": values.clash,
    "assigned": values.assigned,
    "fit": values.fit,
    "declared": values.declared,
    "power": values.power,
    "index": places.index,
    "indexed": places.indexed,
    "condition": places.condition,
    "joined": places.joined,
    "argument": places.argument,
    "select": places.select,
    "called": places.called,
    "returned": places.returned,
    "length": places.length,
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
    "attribute": outside.attribute,
    "keyword": outside.keyword,
    "no address space": outside.no_address_space,
}


def wgsl_error(kernel: Text, refused: NotWgsl | Unsupported) -> WgslError:
    """Return the error of a kernel whose text is refused: place, cause, cure, and the line with a caret."""
    if isinstance(refused, NotWgsl):
        refusal = error(kernel, explained(kernel.source, refused, kernel.pasted))
        refusal.kind = refused.kind
        return refusal
    suggestion = Suggestion("not simulated", _unsupported(refused), Mark(refused.at))
    refusal = error(kernel, diagnostic(suggestion), UnsupportedWgsl, NOT_SIMULATED)
    refusal.kind = refused.kind
    refusal.feature = refused.feature
    return refusal


def _unsupported(refused: Unsupported) -> dict[str, object]:
    return {"kind": refused.kind, "facts": refused.facts}


def diagnostic(suggestion: Suggestion) -> Diagnostic:
    """Return a suggestion that has a mark, with its sentence."""
    return Diagnostic(sentence(suggestion.kind, suggestion.facts), *suggestion.mark)


def explained(source: str, refused: NotWgsl, seen: range | None = None) -> Diagnostic:
    """Return the cure of a refusal, or its own reason where no cure is certain.

    The lines of the text are numbered as its reader sees them: all of them, or only those in `seen`, from 1.
    """
    suggestion = suggested(Context(source, refused, seen))
    mark = Mark(refused.at, refused.length)
    if suggestion is None:
        return Diagnostic(refused.reason, *mark)
    return Diagnostic(sentence(suggestion.kind, suggestion.facts), *(suggestion.mark or mark))


def suggested(context: Context) -> Suggestion | None:
    """Return the suggestion for a text that is refused; None where no cure is certain."""
    return first_that_holds(context, _candidates(context))


def _candidates(context: Context) -> Iterator[Suggestion | None]:
    """The suggestions for what may be wrong, the likeliest first."""
    refused = context.refused
    if refused.scope and refused.kind != "unknown":
        yield from places.copied(context)
    if refused.kind in CURES:
        yield CURES[refused.kind](context, **refused.facts)


def compile_error(kernel: Text, constants: Mapping[str, float], entry_point: str, log: str) -> WgslError:
    """Return the error of a kernel that an adapter's compiler refuses, as our own reading of the text explains it.

    Where that finds nothing wrong, or cannot read the text, the compiler's own `log` has the last word.
    """
    try:
        check(Declarations(parse(kernel.source), constants), entry_point)
    except NotWgsl as refused:
        if refused.kind == "no subgroups":
            return error(kernel, diagnostic(Suggestion("subgroups", mark=Mark(refused.at))))
        return wgsl_error(kernel, refused)
    except Unsupported as unsupported:
        if suggestion := not_everywhere(unsupported):
            return error(kernel, diagnostic(suggestion))
        if unsupported.kind == "discard":
            return error(kernel, diagnostic(Suggestion("discard", mark=Mark(unsupported.at, len("discard")))))
    except ValueError as wrong:
        return error(kernel, Diagnostic(str(wrong), None))
    for name in parse(kernel.source).enabled:
        if SUBGROUP in name:
            return error(kernel, diagnostic(Suggestion("subgroups", mark=Mark(name.at))))
    return error(kernel, diagnostic(explain_log(kernel.source, log)))


def not_everywhere(unsupported: Unsupported) -> Suggestion | None:
    """Return the suggestion for what some adapters have and others do not; None where it is something else."""
    mark = Mark(unsupported.at)
    if SUBGROUP in unsupported.facts.get("name", ""):
        return Suggestion("subgroups", mark=mark)
    if unsupported.kind in OTHER_NUMBERS:
        return Suggestion("other numbers", _unsupported(unsupported), mark)
    return None
