"""What follows from facts: each fact says that a polynomial is not negative.

Products are what makes indices hard. Here each product of unknowns is an unknown of its own, about which two rules say
enough: a product of numbers that are not negative is not negative, and neither is such a product times a fact. The
solver then decides whether linear combinations of facts and of such products give the conclusion. From ``n <= N - 1``
and ``c <= C - 1``, for example, follows ``n*C + c <= N*C - 1``: it is ``(N - 1 - n) * C + (C - 1 - c) >= 0``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import z3

from helpers.simulator.proof.polynomial import Monomial, Polynomial, divided

ROUNDS, MOST_FACTS, SECONDS = 2, 2000, 5
BOUND = 2**20  # a fact with such a constant is an upper bound


def follows(conclusion: Polynomial, facts: Sequence[Polynomial]) -> bool:
    """Whether `conclusion` >= 0 follows from the facts, as far as the solver finds out. All unknowns are >= 0."""
    if all(number >= 0 for _, number in conclusion.terms):
        return True
    return any(_impossible(known) for known in widened([-conclusion - 1, *facts]))


def widened(facts: Sequence[Polynomial]) -> Iterator[set[Polynomial]]:
    """The facts with more and more products: those that have a monomial in common with others.

    The first fact says that the conclusion is false. Its monomials, those of facts about the same unknowns, and those
    of facts that bound a product, such as the largest length of a buffer, are the first that products must have.
    """
    degree = max(len(monomial) for fact in facts for monomial, _ in fact.terms)
    bounds = [fact for fact in facts if dict(fact.terms).get((), 0) >= BOUND or facts[0].names <= fact.names]
    known, wanted = set(facts), _monomials(bounds)
    for _ in range(ROUNDS):
        new = {product for fact in facts for product in _products(fact, wanted, degree)} - known
        if len(known) + len(new) > MOST_FACTS:
            return
        known, wanted = known | new, wanted | _monomials(new)
        yield known


def _products(fact: Polynomial, wanted: set[Monomial], degree: int) -> Iterator[Polynomial]:
    """The products of a fact with a monomial that have one of the wanted monomials, up to a degree."""
    own = _monomials([fact])
    most = degree - max(map(len, own), default=degree)
    pairs = ((each, monomial) for each in wanted for monomial in own if 0 < len(each) - len(monomial) <= most)
    for factor in {divided(*pair) for pair in pairs} - {None}:
        yield fact * Polynomial.of({factor: 1})


def _monomials(facts: Iterable[Polynomial]) -> set[Monomial]:
    return {monomial for fact in facts for monomial, _ in fact.terms if monomial}


def _impossible(facts: Iterable[Polynomial]) -> bool:
    """Whether no numbers fulfil all facts, even if each monomial could have a value of its own, >= 0."""
    solver = z3.SolverFor("QF_LRA")
    solver.set("timeout", 1000 * SECONDS)
    names = {monomial: z3.Real("*".join(monomial)) for monomial in _monomials(facts)}
    for fact in facts:
        solver.add(z3.Sum([number * names[monomial] if monomial else number for monomial, number in fact.terms]) >= 0)
    solver.add([each >= 0 for each in names.values()])
    return solver.check() == z3.unsat
