"""Numbers and names in words, as pictures and verdicts have them."""

from collections.abc import Iterable


def listed(words: Iterable[object]) -> str:
    """One, two and three."""
    *first, last = [str(word) for word in words]
    if not first:
        return last
    return f"{', '.join(first)} and {last}"


def in_words(name: str, numbers: Iterable[int]) -> str:
    """Some numbers as a person says them: row 2, rows 1 to 3, rows 0, 2 and 4."""
    ordered = sorted(numbers)
    if not ordered:
        return f"no {name}"
    if len(ordered) == 1:
        return f"{name} {ordered[0]}"
    if len(ordered) > 2 and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"{name}s {ordered[0]} to {ordered[-1]}"
    return f"{name}s {listed(ordered)}"
