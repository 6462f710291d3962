"""The images, parts and sums of each worker, as the pictures of lesson 09 draw them."""

from itertools import accumulate, pairwise
from math import ceil, log2

Place = tuple[int, int]  # in the tree: after how many rounds, and which of the sums from the left


def bounds(images: int, workers: int) -> list[tuple[int, int]]:
    """Each worker's first image and the one after its last, by the rule of `split_batch`."""
    sizes = [len(range(k, images, workers)) for k in range(workers)]
    return list(pairwise(accumulate(sizes, initial=0)))


def owner(place: Place, parts: int, workers: int) -> int:
    """The worker of a part or a sum: neighboring parts have one worker, and a sum is made where its left term is."""
    after, i = place
    return (i << after) * workers // parts


def computed_again(parts: int, workers: int, rounds: int, killed: int) -> set[Place]:
    """The parts and sums that are computed again where a worker is killed after some rounds of the tree.

    A sum keeps none of its terms, so what is lost is made anew from its parts.
    """
    sums = range(parts >> rounds)
    lost = {i for i in sums if owner((rounds, i), parts, workers) == killed}
    again = set()
    for after in range(rounds + 1):
        for i in range(parts >> after):
            part_of = i >> (rounds - after)  # the sum that this one is a term of
            if part_of in lost:
                again.add((after, i))
    return again


# Milliseconds in which workers hand over LeNet's gradient (178 kB), by their number, as measured on 27 November 2026
# with four NVIDIA H100 in one machine, by `tests/support/worker_rounds.py 2 4 8 16`; and of a round, by the model.
MEASURED = {"Dask": {2: 13.0, 4: 23.1, 8: 38.0, 16: 52.7}, "NCCL": {2: 0.038, 4: 0.060}}
ROUND = {"Dask": 13.0, "NCCL": 0.033}


def handing_over(way: str, workers: int) -> float:
    """Milliseconds of a tree's rounds, each as long as the first."""
    return ROUND[way] * ceil(log2(workers))
