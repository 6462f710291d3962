"""How large is the tolerance of a sum, beside the errors that sums really have, and beside one of its terms?

The factors are whole numbers, and the products are added up in one order, so that every machine finds the same errors.
"""

from functools import cache

import numpy as np

from helpers.grading.tolerance import tolerance

POWERS = range(17)  # the sums have 2**power terms
TRIALS = 50


def allowed(terms: np.ndarray) -> np.ndarray:
    """The tolerance of sums with so many terms, for each unit of sum |terms|."""
    return tolerance(terms, 1.0, np.array(0.5))


@cache
def measured() -> np.ndarray:
    """The largest error of sums of positive products in float32, one after the other, over the sum, at each length."""
    random, lengths = np.random.default_rng(0), 2 ** np.array(POWERS)
    largest = np.zeros(len(lengths))
    for _ in range(TRIALS):
        x, y = random.integers(1, 2**20, (2, lengths[-1]))
        products = x.astype(np.float32) * y.astype(np.float32)
        right = np.cumsum(x.astype(np.float64) * y)[lengths - 1]
        got = np.cumsum(products, dtype=np.float32)[lengths - 1]
        largest = np.maximum(largest, abs(got - right) / right)
    return largest


def blind_from() -> int:
    """The first number of terms whose tolerance is larger than one average term, 1 / terms of the sum."""
    terms = np.arange(1, 2 ** POWERS[-1] + 1)
    return int(terms[np.argmax(allowed(terms) * terms > 1)])
