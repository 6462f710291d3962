"""Polynomials with whole coefficients, in unknown whole numbers that have names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

Monomial = tuple[str, ...]  # names in order, as often as their power: a*a*b is ("a", "a", "b"), 1 is ()


@dataclass(frozen=True)
class Polynomial:
    """A sum of monomials with their coefficients, none of which is 0."""

    terms: frozenset[tuple[Monomial, int]]

    @classmethod
    def of(cls, terms: Mapping[Monomial, int]) -> Polynomial:
        """A polynomial from the coefficient of each monomial."""
        return cls(frozenset((monomial, number) for monomial, number in terms.items() if number))

    @classmethod
    def number(cls, value: int) -> Polynomial:
        """A constant."""
        return cls.of({(): value})

    @classmethod
    def unknown(cls, name: str) -> Polynomial:
        """One unknown."""
        return cls.of({(name,): 1})

    def __add__(self, other: Polynomial | int) -> Polynomial:
        total = Counter(dict(self.terms))
        for monomial, number in _polynomial(other).terms:
            total[monomial] += number
        return Polynomial.of(total)

    def __neg__(self) -> Polynomial:
        return self * -1

    def __sub__(self, other: Polynomial | int) -> Polynomial:
        return self + _polynomial(other) * -1

    def __mul__(self, other: Polynomial | int) -> Polynomial:
        total = Counter()
        for first, a in self.terms:
            for second, b in _polynomial(other).terms:
                total[tuple(sorted(first + second))] += a * b
        return Polynomial.of(total)

    def __str__(self) -> str:
        parts = [f"{number:+d}" + "".join(f"*{name}" for name in names) for names, number in sorted(self.terms)]
        return " ".join(parts) or "0"

    @cached_property
    def constant(self) -> int | None:
        """The value, if it is a number."""
        return None if any(monomial for monomial, _ in self.terms) else sum(number for _, number in self.terms)

    @property
    def is_unknown(self) -> bool:
        """Whether it is one unknown and nothing else."""
        return [(len(monomial), number) for monomial, number in self.terms] == [(1, 1)]

    @property
    def names(self) -> set[str]:
        """The unknowns."""
        return {name for monomial, _ in self.terms for name in monomial}


def divided(monomial: Monomial, by: Monomial) -> Monomial | None:
    """The quotient of two monomials, if it is one."""
    left = Counter(monomial)
    left.subtract(by)
    return None if min(left.values(), default=0) < 0 else tuple(sorted(left.elements()))


def _polynomial(value: Polynomial | int) -> Polynomial:
    return Polynomial.number(value) if isinstance(value, int) else value
