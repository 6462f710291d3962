"""The sentence of each finding: what happens, with the numbers of its first case, and what to look at."""

from __future__ import annotations

from collections.abc import Sequence

from wgsl.facts import (
    READS,
    WRITES,
    Aliased,
    Differs,
    Endless,
    Facts,
    IndexOverflow,
    Line,
    LostUpdate,
    MemoryWord,
    MissedBarrier,
    NotANumber,
    OutOfRange,
    Overlap,
    PointerParameter,
    Race,
    SettledComparisons,
    Thread,
    Uninitialized,
    Unproven,
    Unwritten,
    Waiting,
    WorkUsedUp,
)
from wgsl.subgroup_facts import UndefinedLane
from wgsl.texture_facts import OutOfTexture, Texel
from wgsl.words import graphics
from wgsl.words.errors import quoted

QUOTED = 80  # characters of a line that are quoted
ONE_WRITER = "let one thread alone write each element, from all that belongs to it"


def message(facts: Facts, passes: Sequence[str] = (), with_advice: bool = True) -> str:
    """Return what is said of a finding: what happens, what to look at, and the passes that show it, if any are."""
    sentence = SENTENCES[type(facts)](facts)
    if with_advice and isinstance(facts, OutOfRange):
        sentence = f"{sentence}; {out_of_range_advice(facts)}"
    if passes:
        names = quoted(passes)
        sentence = f"{sentence} (in {names})"
    return sentence


# --- Threads, lines and words of memory -------------------------------------------------------------------------


def thread(named: Thread) -> str:
    """Return a thread in words."""
    if named.workgroup is None:
        return f"thread {named.index}"
    return f"thread {named.index} of workgroup ({', '.join(map(str, named.workgroup))})"


def quoted_line(number: int, text: str) -> str:
    """Return a line by its number and its code."""
    code = " ".join(text.partition("//")[0].split())
    shown = code if len(code) <= QUOTED else f"{code[:QUOTED]}..."
    return f"line {number}, `{shown}`"


def other_line(line: Line | None) -> str:
    """Return the line of the other access; None is the same line."""
    return "the same line" if line is None else quoted_line(line.number, line.code)


def element(word: MemoryWord | Texel) -> str:
    """Return a word of memory as a learner names it."""
    if isinstance(word, Texel):
        return f"the texel ({', '.join(map(str, word.at))}) of `{word.variable}`"
    if word.index is None:
        return f"`{word.variable}`"
    path = "".join(f"[{index}]" for index in (word.index, *word.path))
    return f"`{word.variable}{path}`"


def verb(writes: bool) -> str:
    """Return what a thread does."""
    return WRITES if writes else READS


# --- Indices ----------------------------------------------------------------------------------------------------


def out_of_range(facts: OutOfRange) -> str:
    """Return what an index past an array does."""
    writes = facts.access == WRITES
    if facts.dropped:
        here = "the write is dropped" if writes else "it gets 0"
    else:
        here = "it overwrites the last element" if writes else "it gets the last element"
    has = "only element 0"
    if facts.size != 1:
        has = f"{facts.size:,} elements, numbered 0 to {facts.size - 1:,}"
    does = f"{thread(facts.thread)} {facts.access} `{facts.source}` with index {facts.index:,}"
    return f"{does}, but `{facts.array}` has {has} (here {here})"


def out_of_range_advice(facts: OutOfRange) -> str:
    """Return what to look at where an index is past an array."""
    if facts.in_loop:
        return "check how the index is computed, how far the loop goes, and which threads come here"
    return "check how the index is computed, and which threads come here"


def index_overflow(facts: IndexOverflow) -> str:
    """Return what an index that wrapped around does."""
    uses = f"{thread(facts.thread)} uses {facts.index:,}"
    wrapped = f"the index of `{facts.source}` left the range of its type on the way and wrapped around: {uses}"
    if not facts.below_zero:
        return wrapped
    return f"{wrapped}; below 0 a u32 wraps around to a large number"


# --- Two accesses -----------------------------------------------------------------------------------------------


def race(facts: Race) -> str:
    """Return which two accesses nothing orders, and what would help."""
    who, other = map(thread, facts.threads)
    name = element(facts.word)
    note = " (in WGSL, an access to one component of a vector may access all of it)" if facts.of_vector else ""
    if facts.other_line is None and all(facts.wrote) and facts.no_barrier_helps:
        return f"{who} and {other} write different values to {name} in the same line{note}; {ONE_WRITER}"
    second = f"{other} {verb(facts.wrote[1])} in {other_line(facts.other_line)}"
    return f"{who} {verb(facts.wrote[0])} {name}, which {second}{note}, and {unordered(facts)}"


def unordered(facts: Race) -> str:
    """Return why two accesses are not ordered, and what would help."""
    if facts.no_barrier_helps:
        return f"both write it, so that no barrier helps: {ONE_WRITER}"
    if not facts.same_workgroup:
        return "nothing orders two workgroups: give each its own elements, or use an atomic or a second dispatch"
    if all(facts.wrote):
        return "nothing orders the two; check which element each thread should write"
    if facts.no_place_for_barrier:
        return "no barrier can order the two where they stand; check which elements each thread should use"
    barrier = {"workgroup": "workgroupBarrier()", "handle": "textureBarrier()"}.get(facts.space, "storageBarrier()")
    if facts.other_line is None:
        return f"nothing orders the two; check which elements each thread should use, and where a {barrier} must stand"
    return f"no {barrier} stands between the two"


def overlap(facts: Overlap) -> str:
    """Return which two threads write one value."""
    who, other = map(thread, facts.threads)
    why = "" if facts.same_workgroup else ", and nothing orders two workgroups"
    advice = "check which element each thread should write, if any"
    return f"{who} and {other} both write {element(facts.word)}, with the same value{why}; {advice}"


def lost_update(facts: LostUpdate) -> str:
    """Return which thread may overwrite what another one has just written."""
    who, other = map(thread, facts.threads)
    name = element(facts.word)
    read = "" if facts.read_in is None else f" in {other_line(facts.read_in)},"
    return (
        f"{who} reads {name}{read} and stores it here; {other} may write it in between, in "
        f"{other_line(facts.written_in)}, and that value would be lost; read and write in one step, with `atomicAdd`, "
        "`atomicMax` or `atomicCompareExchangeWeak`"
    )


def uninitialized(facts: Uninitialized) -> str:
    """Return which workgroup memory is read first and written later, or never."""
    return (
        f"{thread(facts.thread)} reads {element(facts.word)}, which no thread has written yet: WGSL promises 0 there, "
        f"but not every driver keeps the promise (Mesa's lavapipe does not), and what an earlier kernel left may be "
        f"there; check which thread should write it first, with a `workgroupBarrier()` before another thread reads "
        f"it; if none should, let one store a value that changes nothing (in a sum, 0) there"
    )


def undefined_lane(facts: UndefinedLane) -> str:
    """Return which thread of a subgroup another one takes a value from that it cannot give."""
    if facts.exists:
        why = "That thread does not call it at the same time"
        cure = "let all threads of the subgroup call it"
    else:
        why = f"Its subgroup has only 0 to {facts.size - 1}"
        cure = "use the value only where that thread exists"
    return (
        f"in `{facts.source}`, {thread(facts.thread)} takes the value of the thread with subgroup_invocation_id "
        f"{facts.number}. {why}, so that the value is undefined, and the result depends on it; {cure}"
    )


# --- Barriers ---------------------------------------------------------------------------------------------------


def missed_barrier(facts: MissedBarrier) -> str:
    """Return which threads of a workgroup do not reach a barrier."""
    reach = "reaches" if facts.arrived == 1 else "reach"
    return (
        f"only {facts.arrived} of the {facts.size} threads of a workgroup {reach} {facts.barrier}(), and "
        f"{thread(facts.missing)} does not, so that the others may wait forever; {to_the_barrier(facts.kept_by)}"
    )


def to_the_barrier(kept_by: str) -> str:
    """Return how the thread that something keeps from a barrier comes to it."""
    if kept_by == "loop":
        return "let all threads make as many turns of the loop, or take the barrier out of it"
    if kept_by in ("if", "switch"):
        return f"take the barrier out of the `{kept_by}`"
    if not kept_by:
        return "let all threads come to it"
    return f"let no thread `{kept_by}` above it"


def unproven(facts: Unproven) -> str:
    """Return what decides who comes to a barrier, step by step."""
    steps = [f"`{step.code}` in line {step.number}" for step in facts.steps]
    depends = ", that on ".join(steps)
    if facts.argument:
        return unlike_argument(facts, depends)
    if facts.group == "draw":
        return graphics.unproven_derivative(facts, depends, differs(facts.differs))
    return (
        f"WGSL cannot prove that all threads of a {facts.group} come to this `{facts.barrier}` together, and browsers "
        f"refuse it: who comes depends on {depends}, and {differs(facts.differs)}; put it where all threads come, or "
        "decide by a value that is the same for all, such as one from a uniform, a `read` buffer or "
        "`workgroupUniformLoad`"
    )


def unlike_argument(facts: Unproven, depends: str) -> str:
    """Return which argument must be the same for all threads of a subgroup."""
    why = differs(facts.differs)
    if depends:
        why = f"it depends on {depends}, and {why}"
    return (
        f"the second argument of `{facts.barrier}` must be the same for all threads of a subgroup. WGSL cannot prove "
        f"it of `{facts.argument}`, and browsers refuse it: {why}; take a constant, or `subgroupShuffle`, whose second "
        "argument may differ"
    )


def differs(why: Differs) -> str:
    """Return why a value may differ between the threads of a workgroup."""
    if why.of == "location":
        return f"each fragment has a `{why.name}` of its own"
    owner = "subgroup" if why.of == "subgroup_id" else graphics.OWNERS.get(why.of, "thread")
    return {
        "input": f"`{why.name}` holds the {why.of}, which each {owner} has for itself",
        "subgroup": f"what `{why.name}` gives may differ from subgroup to subgroup",
        "thread": f"what `{why.name}` gives may differ from thread to thread",
        "atomic": "what an atomic function returns depends on the order of the threads",
        "storage": f"`{why.name}` is a buffer that threads can write (`read_write`)",
        "texture": f"`{why.name}` is a texture that threads can write (`read_write`)",
        "workgroup": f"`{why.name}` is workgroup memory, which threads write at different times",
        "private": f"each thread has a `{why.name}` of its own",
    }[why.kind]


def aliased(facts: Aliased) -> str:
    """Return which variable a function reaches in two ways."""
    ways = f"`{facts.function}` reaches `{facts.variable}` in two ways here, and writes it"
    return f"{ways}, which browsers refuse; give it a copy, or another variable"


def pointer_parameter(facts: PointerParameter) -> str:
    """Return which parameter not every compiler takes."""
    return (
        f"not every compiler takes a pointer to {facts.space} memory as a parameter (`{facts.parameter}`); use the "
        "variable by its name, or hand over an index"
    )


# --- Loops ------------------------------------------------------------------------------------------------------


def endless(facts: Endless) -> str:
    """Return which loop does not end, and why."""
    if facts.may_end:
        here = f"{facts.here:,} of them in this loop, which is not at its end"
        return f"{_together(facts)}, {here}; does each loop end, and is the work shared out?"
    return f"{_still_running(facts)}{_endless_cause(facts)}"


def _together(facts: Endless) -> str:
    return f"one thread has made {facts.iterations:,} iterations in all its loops together"


def _still_running(facts: Endless) -> str:
    running = f"this loop is still running after {facts.iterations:,} iterations of one thread"
    return running if facts.mostly_here else f"{running} in all its loops"


def _endless_cause(facts: Endless) -> str:
    if facts.closed:
        return ": nothing in it ends it"
    if facts.always:
        return f": `{facts.always}` always holds, because a u32 is never below 0"
    if facts.unmoved:
        names = quoted(facts.unmoved)
        return f": {names}, on which its end depends, did not change in the last iteration"
    return ""


def waiting(facts: Waiting) -> str:
    """Return which loop waits for other threads, and why it may be endless."""
    return (
        f"{_waits(facts)}, and WGSL does not promise that the other thread runs while this one waits: the loop may "
        "never end; write in one dispatch and read in the next, or, within a workgroup, wait at a barrier"
    )


def _waits(facts: Waiting) -> str:
    return f"this loop ends only when another thread changes `{facts.variable}`"


def too_long(facts: WorkUsedUp) -> str:
    """Return how far a run came that used up its work."""
    return f"{_not_at_its_end()}: {stopped_after(facts)}; does one thread do the work of many?"


def _not_at_its_end() -> str:
    return "the simulator has not come to the end of this"


def stopped_after(facts: WorkUsedUp) -> str:
    """Return how far a run came."""
    threads = "1 thread" if facts.most_threads == 1 else f"up to {facts.most_threads:,} threads"
    return f"it was stopped after {facts.statements:,} statements, with {threads} each"


def stopped(facts: Endless | Waiting | WorkUsedUp) -> str:
    """Return where a run was stopped, in one clause, without what its end depends on."""
    if isinstance(facts, Waiting):
        return _waits(facts)
    if isinstance(facts, WorkUsedUp):
        return f"{_not_at_its_end()}: it was stopped after {facts.statements:,} statements"
    if facts.may_end:
        return _together(facts)
    if facts.closed:
        return f"{_still_running(facts)}{_endless_cause(facts)}"
    if facts.always:
        return f"{_still_running(facts)}: `{facts.always}` always holds"
    return _still_running(facts)


def settled_comparisons(facts: SettledComparisons) -> str:
    """Return which comparisons are settled before the run."""
    codes = quoted(facts.codes)
    when = "always" if facts.hold else "never"
    if len(facts.codes) == 1:
        hold, those = "holds", "it"
    else:
        hold, those = "hold", "them"
    return f"{codes} {when} {hold}, because a u32 wraps around below 0: the kernel does the same without {those}"


# --- Numbers ----------------------------------------------------------------------------------------------------


def unwritten(facts: Unwritten) -> str:
    """Return which numbers of an output are not written."""
    if facts.count == facts.size:
        return f"no thread writes to `{facts.variable}`"
    some = f"{facts.count:,} of the {facts.size:,} {facts.parts} of `{facts.variable}`"
    part = facts.parts.removesuffix("s")
    if facts.count == 1:
        return f"{some} is never written: {part} {facts.index:,}"
    return f"{some} are never written, first {part} {facts.index:,}"


def not_a_number(facts: NotANumber) -> str:
    """Return which operation gives NaN of operands that are none."""
    stores = other_line(facts.stored_in)
    return f"`{facts.source}` gives NaN (not a number) although no operand is NaN, and {stores} stores it"


SENTENCES = {
    OutOfRange: out_of_range,
    IndexOverflow: index_overflow,
    Race: race,
    Overlap: overlap,
    LostUpdate: lost_update,
    Uninitialized: uninitialized,
    MissedBarrier: missed_barrier,
    Unproven: unproven,
    Aliased: aliased,
    PointerParameter: pointer_parameter,
    Endless: endless,
    Waiting: waiting,
    WorkUsedUp: too_long,
    Unwritten: unwritten,
    NotANumber: not_a_number,
    UndefinedLane: undefined_lane,
    OutOfTexture: lambda facts: graphics.out_of_texture(facts, thread(facts.thread)),
}
