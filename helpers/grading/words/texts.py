"""The sentences on a text that is not tried: each names what is wrong, and what to write or to look at."""

from collections.abc import Sequence

from helpers.grading import reasons
from wgsl.facts import Line
from wgsl.words import errors, findings

NOT_RUN = "it is not judged yet, as each kernel must run in our simulator before it runs on a GPU"


def quoted(line: Line) -> str:
    """Return a line by its number and its code."""
    return findings.quoted_line(line.number, line.code)


def plain(reason: reasons.Plain) -> str:
    """Return the text as it is."""
    return reason.text


def not_compiled(reason: reasons.NotCompiled) -> str:
    """Return the place of a compile error, and why, and what the text lacks besides."""
    text = _placed(reason, reason.why)
    return f"{text}; also, {nothing_read(reasons.NothingRead(reason.unread))}" if reason.unread else text


def not_simulated(reason: reasons.NotSimulated) -> str:
    """Return what the simulator does not run."""
    why = reason.why
    if reason.feature:
        why = f"{errors.not_simulated(reason.feature)}; write it in another way"
    return f"{NOT_RUN}: {_placed(reason, why)}"


def _placed(reason: reasons.NotCompiled | reasons.NotSimulated, why: str) -> str:
    if reason.line is None:
        return why
    return f"{errors.place(reason.line, reason.column)}: {why}"


def undeclared(reason: reasons.Undeclared) -> str:
    """Return which name has no declaration, and the line that is missing."""
    cure = f"the skeleton's line `{reason.missing}` is missing" if reason.missing else "which step declares it?"
    return f"line {reason.line}, column {reason.column}: `{reason.name}` is declared nowhere: {cure}"


# --- Beside the skeleton ------------------------------------------------------------------------------------------


def exchanged_bindings(reason: reasons.ExchangedBindings) -> str:
    """Return which bindings are exchanged."""
    numbers = " and ".join(map(str, reason.numbers))
    return f"bindings {numbers} are exchanged: which number has `{reason.name}` in the task?"


def renamed_pass(reason: reasons.RenamedPass) -> str:
    """Return the name that a pass must have."""
    return f"the pass `{reason.name}` must be called `{reason.wanted}`: that is the name by which it is run"


def missing_pass(reason: reasons.MissingPass) -> str:
    """Return which pass is missing."""
    run = " and then ".join(f"`{name}`" for name in reason.passes)
    return f"the passes {run} are run: which of your functions, with @compute before it, is `{reason.missing}`?"


def not_u32(reason: reasons.NotU32) -> str:
    """Return which member of the uniform has another type."""
    cure = f"write `{reason.member}: u32`"
    return f"line {reason.line}: the words of the struct are u32, and `{reason.member}` is an {reason.type}: {cure}"


def changed_binding(reason: reasons.ChangedBinding) -> str:
    """Return which binding was changed."""
    return f"its binding {reason.binding} is not the skeleton's; copy all bindings, and the struct, from there"


def extra_binding(reason: reasons.ExtraBinding) -> str:
    """Return which binding the task does not have."""
    return f"it has a binding {reason.binding}, which the task does not name"


def other_stage(reason: reasons.OtherStage) -> str:
    """Return which function to delete."""
    return f"line {reason.line}: `{reason.name}` is a {reason.stage} shader, which no dispatch runs: delete it"


def unwanted_subgroups(reason: reasons.UnwantedSubgroups) -> str:
    """Return what takes the place of subgroups."""
    return (
        f"line {reason.line} enables subgroups, and this exercise does without them, as not every adapter has them: "
        "share numbers in workgroup memory, with a `workgroupBarrier()` before they are read"
    )


def wrong_binding(reason: reasons.WrongBinding) -> str:
    """Return the declaration that a binding must have."""
    space = reason.space.replace(",", ", ")
    what = f"of type `{reason.type}`" if reason.type else f"with a struct of {reason.members} u32"
    return f"its binding {reason.binding} must be a `var<{space}>` {what}, as the task says"


def workgroup_size(reason: reasons.WorkgroupSize) -> str:
    """Return how many threads workgroups have and must have."""
    threads = f"{times(reason.size)} threads"
    if set(reason.size) == {1}:
        threads = "1 thread"
    whose = f"the workgroups of `{reason.entry_point}`" if reason.entry_point else "its workgroups"
    return f"{whose} have {threads}; write @workgroup_size({times(reason.wanted, ', ')})"


def times(size: Sequence[int], sign: str = " x ") -> str:
    """Return a size without the axes of 1 at its end."""
    count = len(size)
    while count > 1 and size[count - 1] == 1:
        count -= 1
    return sign.join(map(str, size[:count]))


def nothing_stored(reason: reasons.NothingStored) -> str:
    """Return which output is never stored to."""
    where = f"which line of `{reason.entry_point}` should store your result there?"
    return f"no line stores to `{reason.output}`: {where}"


def nothing_read(reason: reasons.NothingRead) -> str:
    """Return which input is never read."""
    return f"no line reads `{reason.input}`: where does your result need it?"


# --- Stopped ------------------------------------------------------------------------------------------------------


def long_text(reason: reasons.LongText) -> str:
    """Return how long a text may be."""
    return f"it has {reason.letters:,} characters; a kernel has at most {reason.most:,} here"


def stopped(reason: reasons.Stopped) -> str:
    """Return why a process was stopped, and what to look at."""
    if reason.cause == "time":
        return f"the compiler or the GPU driver was stopped after {reason.limit} s; are its arrays short?"
    if reason.cause == "memory":
        limit = f"{reason.limit / 1e9:g} GB"
        return f"it was stopped, because it took more than {limit} of memory; how long are its arrays?"
    return "it made the compiler or the GPU driver crash; look at its arrays, its indices and how deep its brackets are"


SENTENCES = {
    reasons.Plain: plain,
    reasons.NotCompiled: not_compiled,
    reasons.NotSimulated: not_simulated,
    reasons.Undeclared: undeclared,
    reasons.ExchangedBindings: exchanged_bindings,
    reasons.RenamedPass: renamed_pass,
    reasons.MissingPass: missing_pass,
    reasons.NotU32: not_u32,
    reasons.ChangedBinding: changed_binding,
    reasons.ExtraBinding: extra_binding,
    reasons.OtherStage: other_stage,
    reasons.UnwantedSubgroups: unwanted_subgroups,
    reasons.WrongBinding: wrong_binding,
    reasons.WorkgroupSize: workgroup_size,
    reasons.NothingStored: nothing_stored,
    reasons.NothingRead: nothing_read,
    reasons.LongText: long_text,
    reasons.Stopped: stopped,
}
