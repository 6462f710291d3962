"""The orders in which two threads take their turns."""

from itertools import permutations


def orders(barrier: bool) -> list[tuple[int, ...]]:
    """Which of two threads takes each of four turns; with a barrier, the first turns of both come before the second."""
    return [order for order in sorted({*permutations((0, 0, 1, 1))}) if not barrier or order[0] != order[1]]
