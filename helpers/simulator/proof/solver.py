"""What follows from facts: each fact says that a polynomial is not negative.

Products are what makes indices hard. Here each product of unknowns is an unknown of its own, about which two rules say
enough: a product of numbers that are not negative is not negative, and neither is such a product times a fact. The
solver then decides whether linear combinations of facts and of such products give the conclusion. From ``n <= N - 1``
and ``c <= C - 1``, for example, follows ``n*C + c <= N*C - 1``: it is ``(N - 1 - n) * C + (C - 1 - c) >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import z3

from helpers.simulator.proof.polynomial import Monomial, Polynomial, divided

ROUNDS, MOST_PRODUCTS = 3, 1500
SECONDS = 5


def follows(conclusion: Polynomial, facts: Iterable[Polynomial], deep: int = ROUNDS) -> bool:
    """Whether `conclusion` >= 0 follows from the facts, as far as the solver finds out. All unknowns are >= 0."""
    if all(number >= 0 for _, number in conclusion.terms):
        return True
    known = products([-conclusion - 1, *facts], conclusion, deep)
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", 1000 * SECONDS)
    names: dict[Monomial, z3.ArithRef] = {}
    for fact in known:
        solver.add(_linear(fact, names) >= 0)
    solver.add([each >= 0 for each in names.values()])
    return solver.check() == z3.unsat


def products(facts: list[Polynomial], conclusion: Polynomial, deep: int) -> set[Polynomial]:
    """The facts, and their products with what makes them comparable with the conclusion and with each other."""
    degree = max(len(monomial) for fact in facts for monomial, _ in fact.terms)
    known, wanted = set(facts), {monomial for monomial, _ in conclusion.terms}
    wanted |= {monomial for fact in facts for monomial, _ in fact.terms}
    for _ in range(deep):
        new = {each for fact in facts for each in _scaled(fact, wanted, degree)} - known
        if not new or len(known) + len(new) > MOST_PRODUCTS:
            break
        known |= new
        wanted |= {monomial for fact in new for monomial, _ in fact.terms}
    return known


def _scaled(fact: Polynomial, wanted: set[Monomial], degree: int) -> Iterator[Polynomial]:
    own = [monomial for monomial, _ in fact.terms if monomial]
    factors = {divided(each, monomial) for each in wanted for monomial in own if len(monomial) <= len(each)}
    most = degree - max(map(len, own), default=0)
    for factor in factors - {None, ()}:
        if len(factor) <= most:
            yield fact * Polynomial.of({factor: 1})


def _linear(fact: Polynomial, names: dict[Monomial, z3.ArithRef]) -> z3.ArithRef:
    terms = [z3.RealVal(0)]
    for monomial, number in fact.terms:
        if monomial and monomial not in names:
            names[monomial] = z3.Real("*".join(monomial))
        terms.append(number * names[monomial] if monomial else z3.RealVal(number))
    return z3.Sum(terms)
