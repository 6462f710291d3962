"""What is known of values: polynomials modulo 2^32, conditions, and the facts that hold at one place of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from helpers.simulator.proof.polynomial import Polynomial, divided
from helpers.simulator.proof.solver import follows
from helpers.simulator.types import kinds
from helpers.simulator.types.kinds import BOOL, U32, Pointer, Type

MOST = 2**32 - 1


@dataclass(frozen=True)
class Condition:
    """What is known where a condition is true, and where it is false."""

    true: tuple[Polynomial, ...] = ()
    false: tuple[Polynomial, ...] = ()

    def __invert__(self) -> Condition:
        return Condition(self.false, self.true)

    def __and__(self, other: Condition) -> Condition:
        return Condition(self.true + other.true)

    def __or__(self, other: Condition) -> Condition:
        return ~(~self & ~other)


Leaf = Polynomial | Condition | None  # None: a value that is neither u32 nor bool
Value = tuple[Leaf, ...]


class Knowledge:
    """Facts, unknowns, and the operators of u32 and bool."""

    def __init__(self, known: dict[str, Polynomial], facts: Sequence[Polynomial]) -> None:
        self._known, self._facts = known, list(facts)
        self._fresh, self._made, self._exact = count(1), {}, set()

    def _named(self, name: str) -> Polynomial:
        return self._known.get(name, Polynomial.unknown(name))

    def _unknown(self, of: object = None) -> Polynomial:
        """A u32 of which nothing is known; the same one for the same computation."""
        key = next(self._fresh) if of is None else of
        return self._made.setdefault(key, Polynomial.unknown(f"#{len(self._made)}"))

    def _any(self, type: Type | None) -> Value:
        if type is None or isinstance(type, Pointer):
            return ()
        kinds_of = [scalar for _, scalar in kinds.leaves(type)]
        return tuple(self._unknown() if each == U32 else Condition() if each == BOOL else None for each in kinds_of)

    def _follows(self, conclusion: Polynomial) -> bool:
        return follows(conclusion, self._facts)

    @contextmanager
    def _assuming(self, facts: Sequence[Polynomial] = ()) -> Iterator[None]:
        before = list(self._facts), set(self._exact)
        self._facts += facts
        yield
        self._facts, self._exact = before

    def _operator(self, operator: str, a: Leaf, b: Leaf, unknown: Leaf) -> Leaf:
        if isinstance(a, Condition) and isinstance(b, Condition):
            return {"&": a & b, "|": a | b}.get(operator, unknown)
        if not (isinstance(a, Polynomial) and isinstance(b, Polynomial)):
            return unknown
        compute = OPERATORS.get(operator)
        return compute(self, a, b) if compute else unknown

    def _settled(self, value: Polynomial) -> Polynomial:
        """A value modulo 2^32 as a number: the polynomial, where it is shown to be in range, or an unknown.

        Comparisons and quotients need this; sums and products do not: the modulo can be taken after them.
        """
        if value in self._exact or ("settled", value) in self._made or value.is_unknown:
            return self._latest(value)
        if self._follows(value) and self._follows(-value + MOST):
            self._exact.add(value)
            return value
        return self._unknown(("settled", value))

    def _latest(self, value: Leaf) -> Leaf:
        """A value, or the unknown that stands for it since it was compared."""
        return value if value in self._exact else self._made.get(("settled", value), value)

    def _divided(self, a: Polynomial, b: Polynomial) -> tuple[Polynomial, Polynomial]:
        """Quotient and remainder."""
        a, b = self._settled(a), self._settled(b)
        if b.constant == 1 or (a == b and self._follows(b - 1)):
            return (a, b * 0) if b.constant == 1 else (b * 0 + 1, b * 0)
        quotient, rest = self._unknown(("/", a, b)), self._unknown(("%", a, b))
        if self._follows(b - 1):
            exact = a - quotient * b - rest
            self._facts += [each for each in (exact, -exact, b - 1 - rest) if each not in self._facts]
            self._bound(quotient, a, b)
            if -quotient in self._facts:  # it is 0
                return b * 0, a
        else:  # by 0, the quotient is a, and the rest 0
            self._facts += [a - quotient, a - rest]
        return quotient, rest

    def _bound(self, quotient: Polynomial, a: Polynomial, b: Polynomial) -> None:
        """Where a < c*b is known, the quotient is below c."""
        if len(b.terms) != 1:
            return
        ((by, factor),) = b.terms
        for fact in list(self._facts):
            limit = fact + a + 1
            parts = [(divided(monomial, by), number) for monomial, number in limit.terms]
            if parts and all(part is not None and number % factor == 0 for part, number in parts):
                below = Polynomial.of({part: number // factor for part, number in parts}) - 1 - quotient
                if below not in self._facts and self._follows(below):
                    self._facts.append(below)


def _less(a: Polynomial, b: Polynomial) -> Condition:
    return Condition((b - a - 1,), (a - b,))


def _equal(a: Polynomial, b: Polynomial) -> Condition:
    return Condition((a - b, b - a), (a - 1,) if b.constant == 0 else ())


OPERATORS: dict[str, Callable[[Knowledge, Polynomial, Polynomial], Leaf]] = {
    "+": lambda run, a, b: a + b,
    "-": lambda run, a, b: a - b,
    "*": lambda run, a, b: a * b,
    "/": lambda run, a, b: run._divided(a, b)[0],
    "%": lambda run, a, b: run._divided(a, b)[1],
    "<": lambda run, a, b: _less(run._settled(a), run._settled(b)),
    ">": lambda run, a, b: _less(run._settled(b), run._settled(a)),
    "<=": lambda run, a, b: ~_less(run._settled(b), run._settled(a)),
    ">=": lambda run, a, b: ~_less(run._settled(a), run._settled(b)),
    "==": lambda run, a, b: _equal(run._settled(a), run._settled(b)),
    "!=": lambda run, a, b: ~_equal(run._settled(a), run._settled(b)),
}
