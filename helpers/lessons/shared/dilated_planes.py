"""Planes with a dilated filter, for kernels that compute one: lesson 01's and appendix B's."""

from collections.abc import Callable, Mapping, Sequence

from helpers.grading.drawn_choice import IN_THE_LAST
from helpers.lessons.shared.drawn_numbers import Sizes, kind
from helpers.lessons.shared.drawn_sizes import Random
from helpers.operations.convolution.shapes import ConvShape

THREADS = 64  # of a workgroup
MOST_PRODUCTS = 60  # in one result of a drawn problem


def plane(sizes: Sequence[int]) -> ConvShape:
    """A layer of one image and one channel, by its H, W, kH, kW, S, P and D."""
    *planes, stride, padding, dilation = sizes
    in_h, in_w, kernel_h, kernel_w = planes
    return ConvShape(1, 1, in_h, in_w, 1, kernel_h, kernel_w, stride, padding, dilation)


def plane_sizes(many: str) -> Callable[[Random], Sizes]:
    """Return a function that draws a plane, often with more results (`many` are computed) than a workgroup computes."""

    def drawn(random: Random) -> Sizes:
        while True:
            most = int(random.choice([4, 12, 12]))
            results = random.integers(1, most + 1, 2).tolist()
            S, D = random.integers(1, 5, 2).tolist()
            P = int(random.integers(0, 4))
            summed = random.integers(1, 8, 2).tolist()
            (kH, kW), (oH, oW) = (results, summed) if many == "weights" else (summed, results)
            H = (oH - 1) * S + (kH - 1) * D + 1 - 2 * P + int(random.integers(S))
            W = (oW - 1) * S + (kW - 1) * D + 1 - 2 * P + int(random.integers(S))
            fits = min(H, W) > 0 and max(H, W) <= 60 and min(kH, kW) >= P and summed[0] * summed[1] <= MOST_PRODUCTS
            if fits and H != W and kH != kW:
                return {"H": H, "W": W, "kH": kH, "kW": kW, "S": S, "P": P, "D": D} | kind(random)

    return drawn


def facts_of_plane(many: str) -> Callable[[Sizes], Mapping[str, int]]:
    """Return a function of a plane's sizes: what a text may limit, where it computes `many`."""

    def facts(sizes: Sizes) -> Mapping[str, int]:
        *numbers, _ = sizes.values()
        names = list(sizes)[:-1]
        s = plane(numbers)
        counts = {"weights": s.kernel_h * s.kernel_w, "outputs": s.out_h * s.out_w}
        outputs = {"oH": s.out_h, "oW": s.out_w}
        results = {many: counts[many], IN_THE_LAST: counts[many] % THREADS}
        return dict(zip(names, numbers, strict=True)) | outputs | results

    return facts
