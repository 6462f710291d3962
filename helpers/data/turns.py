"""Threads that use one object in turn, so that none of them reads what another one has half changed."""

from collections.abc import Callable
from functools import wraps
from threading import RLock


def turn(owner: object) -> RLock:
    """Return the lock of an object: a thread holds it from its first call to the last one that belongs together."""
    return vars(owner).setdefault("_turn", RLock())


def in_turn(act: Callable) -> Callable:
    """Return a method that waits until no other thread is in such a method of the same object."""

    @wraps(act)
    def act_in_turn(owner: object, *arguments: object, **named: object) -> object:
        with turn(owner):
            return act(owner, *arguments, **named)

    return act_in_turn
