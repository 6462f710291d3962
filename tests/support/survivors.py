"""Why a mutant that passes every check computes the same as its kernel. Each of them was read."""

import re

from support.mutants import Mutant

# What a mutant is written as, and the reason.
REASONS = {
    r"for \(var (\w+) = 0u; \1 != .+; \1\+\+\) {": (
        "A counter that starts at 0 and grows by 1 is equal to its bound before it can be larger."
    ),
    r"for \(var half = .*; half != 0u; half /= 2u\) {": "An unsigned number that is not 0 is larger than 0.",
    r"(TILE|CHUNK|THREADS): u32 = ": (
        "This is how much work is done at once. The dispatch, and the number of turns of each loop, follow it."
    ),
    r"3_two_passes.*`partial\[thread\] = 0\.0;` -> `nothing`": (
        "WGSL promises that workgroup memory starts at 0. Not every driver keeps this promise, so the line stays: an "
        "adapter that does not keep it rejects this mutant."
    ),
    r"2_shared_weights:80: .* -> .*first (<= taps|< \(taps \+ 1u\));": (
        "Where the last chunk is full, one more follows, without any weights."
    ),
    r"2_shared_weights:95: .* -> .*select\(1u, count, inside\)": (
        "A thread outside of the image adds a product to a sum that it never writes."
    ),
    r"2_shared_weights:102: .* -> `if \(params.stride != 0u\)": (
        "The path for any stride is right for stride 1, too; it is only slower."
    ),
}


def reason(mutant: Mutant) -> str | None:
    """The reason, or None where nobody has found one."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, str(mutant))), None)
