"""The orders in which two threads take their turns."""

from itertools import permutations


def orders(barrier: bool) -> list[tuple[int, ...]]:
    """The thread of each of four turns, in every order that two threads with two turns each can take them.

    With a barrier, the first turns of both come before their second ones.
    """
    every = sorted(set(permutations((0, 0, 1, 1))))
    if not barrier:
        return every
    return [order for order in every if order[0] != order[1]]
