"""Why a mutant that passes every check computes the same as its kernel. Each of them was read."""

import re

from support.mutants import Mutant

# The name of the kernel and the changed line, as `Mutant` writes them, and the reason.
REASONS = {
    r"for \(var (\w+) = 0u; \1 != [\w.]+; \1\+\+\) {": "A counter that starts at 0 and grows by 1 is equal to its bound "
    "before it can be larger.",
    r"for \(var half = .*; half != 0u; half /= 2u\) {": "An unsigned number that is not 0 is larger than 0.",
    r"3_two_passes.*`partial\[thread\] = 0\.0;` -> `nothing`": "WGSL promises that workgroup memory starts at 0. Not "
    "every driver keeps this promise, so the line stays: where the adapter is such a one, this mutant is rejected.",
}


def reason(mutant: Mutant) -> str | None:
    """The reason, or None where nobody has found one."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, str(mutant))), None)
