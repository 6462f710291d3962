"""The sentence of each finding: what happens, with the numbers of its first case, and what to look at.

They say "thread", as the lessons do, where WGSL says "invocation".
"""

from __future__ import annotations

QUOTED = 80  # characters of a line that are quoted
CAUSES = "check the guard, the loop's limit and the offsets"


def thread(named: tuple[tuple[int, int, int], int], alone: bool) -> str:
    """A thread in words; with its workgroup, unless that is alone."""
    group, local = named
    return f"thread {local}" if alone else f"thread {local} of workgroup ({', '.join(map(str, group))})"


def line(number: int, text: str) -> str:
    """A line by its number and its code."""
    code = " ".join(text.partition("//")[0].split())
    return f"line {number}, `{code if len(code) <= QUOTED else code[:QUOTED] + '...'}`"


def out_of_range(who: str, write: bool, source: str, index: int, name: str, count: int, dropped: bool) -> str:
    """An index past an array."""
    verb = "writes" if write else "reads"
    has = f"{count:,} elements, numbered 0 to {count - 1:,}" if count != 1 else "only element 0"
    if dropped:
        here = "the write is dropped" if write else "it gets 0"
    else:
        here = "it overwrites the last element" if write else "it gets the last element"
    return f"{who} {verb} `{source}` with index {index:,}, but `{name}` has {has} (here {here}); {CAUSES}"


def overflow(who: str, source: str, index: int) -> str:
    """An index that wrapped around."""
    return (
        f"the index of `{source}` left the range of its type on the way and wrapped around: {who} uses {index:,}; "
        f"keep it in range, for example by a test before you subtract"
    )


def race(who: str, other: str, wrote: tuple[bool, bool], name: str, other_line: str, why: str) -> str:
    """Two accesses that nothing orders; the line of the other one is "" where it is the same."""
    mine, theirs = ("writes" if wrote[0] else "reads"), ("writes" if wrote[1] else "reads")
    if not other_line and all(wrote):
        return f"{who} and {other} write different values to {name} in the same line; give each its own element"
    return f"{who} {mine} {name}, which {other} {theirs} in {other_line or 'the same line'}, and {why}"


def overlapping(who: str, other: str, name: str, why: str) -> str:
    """Two writes of one value."""
    return f"{who} and {other} both write {name}, with the same value, and {why}; let one thread write it"


def unordered(space: str, same_group: bool, both_write: bool) -> str:
    """Why two accesses are not ordered, and what would help."""
    if both_write:
        return (
            "both write it, so that no barrier helps: give each total one thread, which adds up all that belongs to it"
        )
    if not same_group:
        return "nothing orders two workgroups: give each its own elements, or use an atomic or a second dispatch"
    barrier = "workgroupBarrier()" if space == "workgroup" else "storageBarrier()"
    return f"no {barrier} stands between the two"


def missed_barrier(name: str, arrived: int, threads: int, missing: str) -> str:
    """A barrier that some threads of a workgroup do not reach."""
    verb = "reaches" if arrived == 1 else "reach"
    return (
        f"only {arrived} of the {threads} threads of a workgroup {verb} {name}(), and {missing} does not, so that the "
        f"others may wait forever; take the barrier out of the `if` or the loop, and let no thread return above it"
    )


def endless(rounds: int, unmoved: list[str], below_zero: str, closed: bool) -> str:
    """A loop that used up the budget: `closed` is one that nothing leaves."""
    names = " and ".join(f"`{name}`" for name in unmoved)
    cause = f": {names}, on which its end depends, did not change in the last round" if names else ""
    if below_zero:
        cause = f": `{below_zero}` always holds, because a u32 is never below 0"
    if closed:
        cause = ": nothing in it ends it"
    return f"this loop has not ended after {rounds:,} rounds of one thread{cause}"


def unwritten(name: str, count: int, of: int, first: int) -> str:
    """An output that is not written whole."""
    if count == of:
        return f"no thread writes to `{name}`"
    return f"{count:,} of the {of:,} numbers of `{name}` are never written, first number {first:,}"


def uninitialized(who: str, name: str) -> str:
    """Workgroup memory that is read first and written later, or never."""
    return (
        f"{who} reads {name}, which no thread has written yet: WGSL promises 0 there, but a GPU may still hold what an "
        f"earlier kernel left; write it first, with 0 where a thread has nothing to put there"
    )


def not_a_number(source: str, stored_in: str) -> str:
    """NaN from finite numbers; the line that stores it is "" where it is the same."""
    stores = stored_in or "the same line"
    return f"`{source}` gives NaN (not a number) although no operand is NaN, and {stores} stores it"
