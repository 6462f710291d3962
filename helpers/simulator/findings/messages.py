"""The sentence of each finding: what happens, with the numbers of its first case, and what to look at."""

from __future__ import annotations

LOOK = "Check the guard, the loop's limit and the offsets."


def invocation(named: tuple[tuple[int, int, int], int]) -> str:
    """An invocation in words."""
    group, local = named
    return f"invocation {local} of workgroup ({', '.join(map(str, group))})"


def out_of_range(who: str, write: bool, source: str, index: int, name: str, count: int, dropped: bool) -> str:
    """An index past an array."""
    verb = "writes" if write else "reads"
    range_ = f"{count:,} element{'s' * (count != 1)}, 0 to {count - 1:,}"
    if dropped:
        done = "drops the write" if write else "gives 0"
    else:
        done = "overwrites the last element" if write else "gives the last element"
    return f"{who} {verb} `{source}` with index {index:,}, but `{name}` has {range_}; this run {done}. {LOOK}"


def overflow(who: str, source: str, index: int) -> str:
    """An index that wrapped around."""
    return (
        f"the index of `{source}` left the range of its type on the way and wrapped around modulo 2^32: {who} uses "
        f"{index:,}; test before you subtract, or reorder the sum so that nothing falls below 0"
    )


def race(who: str, other: str, wrote: tuple[bool, bool], name: str, lines: tuple[int, int], why: str) -> str:
    """Two accesses that nothing orders."""
    mine, theirs = ("writes" if wrote[0] else "reads"), ("writes" if wrote[1] else "reads")
    if lines[0] == lines[1]:
        return f"{who} {mine} {name} and {other} {theirs} it in the same line, and {why}"
    return f"{who} {mine} {name}, which {other} {theirs} in line {lines[1]}, and {why}"


def overlapping(who: str, other: str, name: str, why: str) -> str:
    """Two writes of one value."""
    return f"{who} and {other} both write {name}, with the same value, and {why}; let one invocation write it"


def unordered(space: str, same_group: bool) -> str:
    """Why two accesses are not ordered."""
    if not same_group:
        return "nothing orders two workgroups: give each its own element, use an atomic, or a second dispatch"
    barrier = "workgroupBarrier()" if space == "workgroup" else "storageBarrier()"
    return f"no {barrier} stands between the two"


def missed_barrier(name: str, arrived: int, threads: int, missing: str) -> str:
    """A barrier that some invocations of a workgroup do not reach."""
    return (
        f"{arrived} of the {threads} invocations of a workgroup reach {name}(), and {missing} does not: on a GPU the "
        f"others may wait for it forever; take the barrier out of the `if` or loop, and let no invocation return "
        f"above it"
    )


def endless(rounds: int, unmoved: list[str]) -> str:
    """A loop that used up the budget."""
    names = " and ".join(f"`{name}`" for name in unmoved)
    stuck = f"; {names}, on which its end depends, did not change in the last round" if names else ""
    return f"an invocation has gone round {rounds:,} times in all, and this loop has not ended{stuck}"


def unwritten(name: str, count: int, of: int, first: int) -> str:
    """An output that is not written whole."""
    many = "no element" if count == of else f"{of - count:,} of the {of:,} elements"
    if count == of:
        return f"{many} of `{name}` is written"
    return f"only {many} of `{name}` are written; the first one that is not has index {first:,}"


def not_a_number(source: str, line: int) -> str:
    """NaN from finite numbers."""
    return f"`{source}` gives NaN (not a number) from finite numbers, and line {line} stores it"
