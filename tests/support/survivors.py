"""Reasons why a mutant that passes the checker is no wrong kernel: it computes the same, or another test rejects it.

Each of them was read by a person.
"""

import re

from support.mutants import Mutant

# How mutants are written, and the reason that they share.
REASONS = {
    # Loops and sizes
    r"for \(var (\w+) = (0u; \1 != .+|first; \1 != first \+ rows|workgroup\.z; \1 != last|1u; \1 != SLICES); "
    r"\1\+\+\) {": ("A counter that begins below its bound and grows by 1 is equal to it before it can be larger."),
    r"for \(var \w+ = (rows|columns)\.x; \w+ != \1\.y;": (
        "Where no window holds a pixel, the counter begins at its bound, else below it."
    ),
    r"for \(var half = .*; half != 0u; half /= 2u\) {": "An unsigned number that is not 0 is larger than 0.",
    r"(TILE|CHUNK|THREADS|DEPTH): u32 = ": (
        "This is how much work is done at once. The dispatch, and the number of turns of each loop, follow it."
    ),
    r"-> .*first (<= (params\.\w|end)|< \((params\.\w|end) \+ 1u\)); first \+= (TILE|DEPTH)": (
        "Where the last tile is full, one more follows, and all of it is past the edge: zeros."
    ),
    r"2_shared_weights.* -> .*first (<= taps|< \(taps \+ 1u\));": (
        "Where the last chunk is full, one more follows, without any weights."
    ),
    r"2_shared_weights.* -> .*select\(1u, count, inside\)": (
        "A thread outside of the image adds a product to a sum that it never writes."
    ),
    r"2_shared_weights.* -> `if \(params.stride != 0u\)": (
        "The path for any stride is right for stride 1, too; it is only slower."
    ),
    r"-> .*(read_a\(workgroup\.z, m,|read_b\(workgroup\.z|read_grad_pre\(workgroup\.z, m,"
    r"|\(workgroup\.z \* params\.m \+ m\))": ("`item` is another name of `workgroup.z` here."),
    r"for \(var c = 1u; c < .* -> `for \(var c = 0u; c < ": (
        "The largest logit begins as the first one, and is compared with it."
    ),
    r"for \(var c = 1u; c != params\.classes": (
        "There is at least one class, so the counter begins at its bound or below it."
    ),
    r"deep_tiles.*\bitem\b.* -> .*\bworkgroup\.z\b": "`item` is another name of `workgroup.z` here.",
    r"STRIDE: u32 = ": "How far apart the rows of a tile lie decides about bank conflicts, not about results.",
    r"`let vec4s = min\(VEC4S, .* -> .*(terms \+ 4u\)|\* 4u\)|/ 3u\))": "Behind the end of a sum, a tile has zeros.",
    r"slice_product\(local, .* -> .* \+ first\)": "Behind the end of a sum, a tile has zeros.",
    r"deep_tiles.*workgroup\.x < k_tiles && in_d_a.* -> .*workgroup\.x (<= k_tiles|< \(k_tiles \+ 1u\)|!= k_tiles)": (
        "The last workgroup of a row has no tile of d_a: all of it would be past the edge."
    ),
    r"deep_tiles.*workgroup\.x < k_tiles.* -> .*workgroup\.x != k_tiles": (
        "No workgroup is farther along x than k_tiles."
    ),
    # Values that meet a zero, or that nobody reads
    r"(2_tiled|deep_tiles).*`return (0\.0;` -> `return 1\.0;|select\(.* -> .*select\(1\.0, 1\.0, k)": (
        "Past the edge at which a sum ends, the other operand is 0; past the other edges, the result is not written."
    ),
    r"`var most_bits = 0u;` -> `var most_bits = 1u;": "The bits of NaN lie far above 1.",
    r"`var lowest = |is_nan\((rival|largest|pixel)\)|0x7fffffffu|most_bits >= 0x7f800000u": (
        "Only NaN or infinity shows this, and the checks draw none. tests/test_special_numbers.py has some."
    ),
    r"`if \(is_nan\(x\) && params\.activation .* -> .*!= 0u": "An unsigned number that is not 0 is larger than 0.",
    r"`if \(is_nan\(x\) && params\.activation .* -> .*>= 0u": (
        "Only NaN shows this, and the checks draw none. tests/test_special_numbers.py has some."
    ),
    r"`if \(is_nan\(x\) && params\.activation .* -> .*(> 1|< 0)u": (
        "Only an adapter whose clamp makes a number of NaN shows this; ReLU compares, and NaN > 0 is false."
    ),
    r"half <= -43\.5\);` -> .*(half < -43\.5|<= -87\.0)": (
        "Below exp(-87), a number is smaller than any normal one, which an adapter may take for 0."
    ),
    # Activations
    r"`if \(abs\(x\) > 87\.0\).* -> .*(>= 87|> 174)": (
        "From 87 on, exp(-x) is smaller than any normal number, which an adapter may take for 0."
    ),
    r"`if \(abs\(x\) > 87\.0\).* -> .*x (>= 0|> 1)\.0\);": "Where abs(x) > 87, x is not between 0 and 1.",
    r"`return select\(e, 1\.0, x > 0\.0\).* -> .*x >= 0\.0": "Where x is 0, e is 1, so both values are the same.",
    r"-> `let t = clamp\(x, -(22\.0, (11|44)|11\.0, (22|5\.5)|88\.0, (44|176)|44\.0, (22|88)|176\.0, 88)": (
        "So far from 0, the sigmoid is 0 or 1 in float32, or so near that the difference is less than its error."
    ),
    r"-> .*max\(x, -(22|176)\.0\) \* sigmoid": "Where x is below the old limit, it is multiplied by a sigmoid of 0.",
    r"`let series = .* -> .*(4\.0 / 15|1\.0 / 15|2\.0 / 30|2\.0 / 7\.5)\.?0?": (
        "The tolerance allows tanh the error of a difference of two sigmoids, and this changes less. "
        "tests/test_activations.py asks for more digits near 0, and rejects it."
    ),
    r"series, abs\(t\) < 0\.1.* -> .*abs\(t\) (<= 0\.1|< 0\.2|< 0\.05)": (
        "Near the border, the series and the difference of two sigmoids are both within rounding."
    ),
    r"`let finite = |select\(1\.0, x, finite\)": (
        "Only a derivative that is not finite shows this, and no finite input has one. tests/test_wrong_kernels.py "
        "puts one there, and rejects it."
    ),
}


def reason(mutant: Mutant) -> str | None:
    """The reason, or None where nobody has found one."""
    return next((why for pattern, why in REASONS.items() if re.search(pattern, str(mutant))), None)
