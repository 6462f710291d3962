"""The rounding errors of a right float32 sum: a bound, in six steps.

1. One operation may be off by a factor (1 + d), |d| <= u. Rounding to nearest has u = 2**-24, but WGSL leaves
   the direction of rounding to the adapter, so u = 2**-23 here.
2. In a sum of n products each term goes through one multiplication and at most n - 1 additions, in any order, tree
   or split; a fused multiply-add has one rounding less.
3. So |got - exact| <= gamma_n * sum |terms|, with gamma_n = n u / (1 - n u).
   (N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd edition, chapters 3 and 4.)
4. An adapter may replace numbers below 2**-126 by zero; the bound adds the most that this can lose.
5. The formula itself gives both: with absolute values it computes sum |terms|, with "not zero?" it computes n.
6. Whole numbers with sum |terms| <= 2**24 stay exact in every order: there the tolerance is 0.

So a right kernel is never called wrong. The price: step 3 is the worst case, and real errors mostly cancel.
Beyond about 2,900 terms (n * n * u > 1) a kernel that drops one average term still passes, and with 100,000
terms an error of 1.2 % of sum |terms| passes. Whole numbers (step 6) catch those: test with them first.
"""

from collections.abc import Callable

import numpy as np

from helpers.checks.report import Array, Report, compare

ROUNDING = 2.0**-23  # u of step 1
SMALLEST_NORMAL = 2.0**-126
FLOAT32_MAX = float(np.finfo(np.float32).max)


def tolerance(terms: float | Array, total: float | Array, *data: Array, scale: float = 1.0) -> Array:
    """The most by which a right float32 sum may be off: `terms` (n) products, sum |terms| = `total`.

    `data` are the factors; `scale` is sum |c| for a sum of c * such sums.

    Raises ValueError where float32 promises nothing: 2**23 terms or more, or sums that may overflow.
    """
    whole = all(np.array_equal(factors, np.rint(factors)) for factors in data)
    exact = whole & (total <= 2**24)
    spread = ROUNDING * (np.asarray(terms) + 1)  # the one more pays for the float64 reference's own rounding
    largest = sum(np.abs(factors).max() for factors in data)
    flushed = SMALLEST_NORMAL * terms * scale * (2 + largest)
    with np.errstate(all="ignore"):  # where spread >= 1 the bound becomes infinite, and is refused
        gamma = np.where(spread < 1, spread / (1 - spread), np.inf)
        bound = np.where(exact, 0.0, gamma * total + (1 + gamma) * flushed)
    if not np.all(total + bound <= FLOAT32_MAX):
        raise ValueError(
            f"sum |terms| = {np.max(total):.3g} over {np.max(terms):.0f} terms: float32 promises nothing beyond "
            f"{FLOAT32_MAX:.3g} or {1 / ROUNDING:.0f} terms; check a smaller case, with finite numbers"
        )
    return bound


def tolerance_of_sums(formula: Callable, *data: Array) -> Array:
    """The most by which right float32 sums may be off: ``formula(*data)``, sums of products with plus signs only."""
    data = [np.asarray(factors, np.float64) for factors in data]
    total = formula(*(np.abs(factors) for factors in data))
    terms = formula(*((factors != 0).astype(np.float64) for factors in data))
    return tolerance(terms, total, *data)


def compare_sums(name: str, got: Array, formula: Callable, *data: Array) -> Report:
    """Compare `got` with ``formula(*data)``, a sum of products with plus signs only, of the numbers the kernel read."""
    data = [np.asarray(factors, np.float64) for factors in data]
    return compare(name, got, formula(*data), tolerance_of_sums(formula, *data))
