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
    WorkUsedUp,
)

QUOTED = 80  # characters of a line that are quoted


def message(found: Facts, passes: Sequence[str] = (), with_advice: bool = True) -> str:
    """Return what is said of a finding: what happens, what to look at, and the passes that show it, if any are."""
    sentence = SENTENCES[type(found)](found)
    if with_advice and isinstance(found, OutOfRange):
        sentence = f"{sentence}; {out_of_range_advice(found)}"
    if passes:
        names = " and ".join(f"`{name}`" for name in passes)
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


def element(word: MemoryWord) -> str:
    """Return a word of memory as a learner names it."""
    if word.index is None:
        return f"`{word.variable}`"
    return f"`{word.variable}[{word.index}]`"


def verb(writes: bool) -> str:
    """Return what a thread does."""
    return WRITES if writes else READS


# --- Indices ----------------------------------------------------------------------------------------------------


def out_of_range(found: OutOfRange) -> str:
    """Return what an index past an array does."""
    writes = found.access == WRITES
    if found.dropped:
        here = "the write is dropped" if writes else "it gets 0"
    else:
        here = "it overwrites the last element" if writes else "it gets the last element"
    has = "only element 0"
    if found.size != 1:
        has = f"{found.size:,} elements, numbered 0 to {found.size - 1:,}"
    does = f"{thread(found.thread)} {found.access} `{found.source}` with index {found.index:,}"
    return f"{does}, but `{found.array}` has {has} (here {here})"


def out_of_range_advice(found: OutOfRange) -> str:
    """Return what to look at where an index is past an array; at a loop's limit only where there is a loop."""
    return causes(found.in_loop)


def causes(in_loop: bool) -> str:
    """Return what may be wrong with an index."""
    if in_loop:
        return "check the guard, the loop's limit and the offsets"
    return "check the guard and the offsets"


def index_overflow(found: IndexOverflow) -> str:
    """Return what an index that wrapped around does."""
    uses = f"{thread(found.thread)} uses {found.index:,}"
    return (
        f"the index of `{found.source}` left the range of its type on the way and wrapped around: {uses}; "
        f"below 0 a u32 wraps around to a large number, so that one comparison with the size finds both sides"
    )


# --- Two accesses -----------------------------------------------------------------------------------------------


def race(found: Race) -> str:
    """Return which two accesses nothing orders, and what would help."""
    who, other = map(thread, found.threads)
    name = element(found.word)
    if found.other_line is None and all(found.wrote):
        return f"{who} and {other} write different values to {name} in the same line; give each its own element"
    first = f"{who} {verb(found.wrote[0])} {name}"
    second = f"{other} {verb(found.wrote[1])} in {other_line(found.other_line)}"
    return f"{first}, which {second}, and {unordered(found)}"


def unordered(found: Race) -> str:
    """Return why two accesses are not ordered, and what would help."""
    if found.both_write:
        return (
            "both write it, so that no barrier helps: give each total one thread, which adds up all that belongs to it"
        )
    if not found.same_workgroup:
        return "nothing orders two workgroups: give each its own elements, or use an atomic or a second dispatch"
    barrier = "workgroupBarrier()" if found.space == "workgroup" else "storageBarrier()"
    return f"no {barrier} stands between the two"


def overlap(found: Overlap) -> str:
    """Return which two threads write one value."""
    who, other = map(thread, found.threads)
    why = "" if found.same_workgroup else ", and nothing orders two workgroups"
    cure = "give each its own elements, or let one thread write it"
    return f"{who} and {other} both write {element(found.word)}, with the same value{why}; {cure}"


def uninitialized(found: Uninitialized) -> str:
    """Return which workgroup memory is read first and written later, or never."""
    return (
        f"{thread(found.thread)} reads {element(found.word)}, which no thread has written yet: WGSL promises 0 there, "
        f"but not every driver keeps the promise (Mesa's lavapipe does not), and what an earlier kernel left may be "
        f"there; store 0 there yourself, with a `workgroupBarrier()` before another thread reads it"
    )


# --- Barriers ---------------------------------------------------------------------------------------------------


def missed_barrier(found: MissedBarrier) -> str:
    """Return which threads of a workgroup do not reach a barrier."""
    reach = "reaches" if found.arrived == 1 else "reach"
    return (
        f"only {found.arrived} of the {found.size} threads of a workgroup {reach} {found.barrier}(), and "
        f"{thread(found.missing)} does not, so that the others may wait forever; take the barrier out of the `if` or "
        f"the loop, and let no thread return above it"
    )


def unproven(found: Unproven) -> str:
    """Return what decides who comes to a barrier, step by step."""
    steps = [f"`{step.code}` in line {step.number}" for step in found.steps]
    depends = ", that on ".join(steps)
    return (
        f"WGSL cannot prove that all threads of a workgroup come to this `{found.barrier}` together, and browsers "
        f"refuse it: who comes depends on {depends}, and {differs(found.differs)}; put it where all threads come, or "
        "decide by a value that is the same for all, such as one from a uniform, a `read` buffer or "
        "`workgroupUniformLoad`"
    )


def differs(why: Differs) -> str:
    """Return why a value may differ between the threads of a workgroup."""
    return {
        "input": f"`{why.name}` holds the {why.of}, which each thread has for itself",
        "atomic": "what an atomic function returns depends on the order of the threads",
        "storage": f"`{why.name}` is a buffer that threads can write (`read_write`)",
        "workgroup": f"`{why.name}` is workgroup memory, which threads write at different times",
        "private": f"each thread has a `{why.name}` of its own",
    }[why.kind]


def aliased(found: Aliased) -> str:
    """Return which variable a function reaches in two ways."""
    ways = f"`{found.function}` reaches `{found.variable}` in two ways here, and writes it"
    return f"{ways}, which browsers refuse; give it a copy, or another variable"


def pointer_parameter(found: PointerParameter) -> str:
    """Return which parameter not every compiler takes."""
    return (
        f"not every compiler takes a pointer to {found.space} memory as a parameter (`{found.parameter}`); use the "
        "variable by its name, or hand over an index"
    )


# --- Loops ------------------------------------------------------------------------------------------------------


def endless(found: Endless) -> str:
    """Return which loop does not end, and why."""
    if found.may_end:
        here = f"{found.here:,} of them in this loop, which is not at its end"
        return f"{_together(found)}, {here}; does each loop end, and is the work shared out?"
    return f"{_still_running(found)}{_endless_cause(found)}"


def _together(found: Endless) -> str:
    return f"one thread has made {found.iterations:,} iterations in all its loops together"


def _still_running(found: Endless) -> str:
    running = f"this loop is still running after {found.iterations:,} iterations of one thread"
    return running if found.mostly_here else f"{running} in all its loops"


def _endless_cause(found: Endless) -> str:
    if found.closed:
        return ": nothing in it ends it"
    if found.always:
        return f": `{found.always}` always holds, because a u32 is never below 0"
    if found.unmoved:
        names = " and ".join(f"`{name}`" for name in found.unmoved)
        return f": {names}, on which its end depends, did not change in the last iteration"
    return ""


def too_long(found: WorkUsedUp) -> str:
    """Return how far a run came that used up its work."""
    return f"{_not_at_its_end()}: {stopped_after(found)}; does one thread do the work of many?"


def _not_at_its_end() -> str:
    return "the simulator has not come to the end of this"


def stopped_after(found: WorkUsedUp) -> str:
    """Return how far a run came."""
    return f"it was stopped after {found.statements:,} statements, with up to {found.most_threads:,} threads each"


def stopped(found: Endless | WorkUsedUp) -> str:
    """Return where a run was stopped, in one clause, without what its end depends on."""
    if isinstance(found, WorkUsedUp):
        return f"{_not_at_its_end()}: it was stopped after {found.statements:,} statements"
    if found.may_end:
        return _together(found)
    if found.closed:
        return f"{_still_running(found)}{_endless_cause(found)}"
    if found.always:
        return f"{_still_running(found)}: `{found.always}` always holds"
    return _still_running(found)


def settled_comparisons(found: SettledComparisons) -> str:
    """Return which comparisons are settled before the run."""
    codes = " and ".join(f"`{code}`" for code in found.codes)
    when = "always" if found.hold else "never"
    if len(found.codes) == 1:
        hold, those = "holds", "it"
    else:
        hold, those = "hold", "them"
    return f"{codes} {when} {hold}, because a u32 wraps around below 0: the kernel does the same without {those}"


# --- Numbers ----------------------------------------------------------------------------------------------------


def unwritten(found: Unwritten) -> str:
    """Return which numbers of an output are not written."""
    if found.count == found.size:
        return f"no thread writes to `{found.variable}`"
    some = f"{found.count:,} of the {found.size:,} numbers of `{found.variable}`"
    return f"{some} are never written, first number {found.index:,}"


def not_a_number(found: NotANumber) -> str:
    """Return which operation gives NaN of operands that are none."""
    stores = other_line(found.stored_in)
    return f"`{found.source}` gives NaN (not a number) although no operand is NaN, and {stores} stores it"


SENTENCES = {
    OutOfRange: out_of_range,
    IndexOverflow: index_overflow,
    Race: race,
    Overlap: overlap,
    Uninitialized: uninitialized,
    MissedBarrier: missed_barrier,
    Unproven: unproven,
    Aliased: aliased,
    PointerParameter: pointer_parameter,
    Endless: endless,
    WorkUsedUp: too_long,
    Unwritten: unwritten,
    NotANumber: not_a_number,
}
