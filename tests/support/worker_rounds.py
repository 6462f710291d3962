"""Print what handing over LeNet's gradient costs: a round of a tree by Dask, and an all-reduce by NCCL; and two steps.

    python tests/support/worker_rounds.py 2 4 8

The numbers are of workers. With PyTorch, NCCL is measured for those of them that have a GPU each. The steps are one of
LeNet, on the eight digits of lesson 09, and one of twenty layers, with as many images as one GPU needs LONG for: by one
GPU, without Dask, and by the workers, which take the machine's GPUs in turn. All times are medians in milliseconds.
"""

import json
import operator
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from functools import cache, reduce
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from distributed import Client, Future, wait

from helpers.gpu import adapter_info
from helpers.gpu.adapter import SETTINGS
from helpers.lessons.many_gpus.training import PARTS, Gradient, Part, combine, gradient, gradient_in, gradients, parts
from helpers.network.layers import Conv2d, Linear, MaxPool2d
from helpers.network.network import Network
from helpers.workers.cluster import Workers

TIMES, WORDS = 30, 44_426
LONG, MOST_IMAGES, PIXELS = 150, 512, 64  # milliseconds; images of a part, which a buffer must hold; of their width


def by_dask(workers: Workers) -> dict[str, float]:
    """Milliseconds in which a tree combines a gradient of each worker, and in which one process fetches them all."""
    client = workers.client

    def held() -> list[Future]:
        futures = [client.submit(np.ones, WORDS, np.float32, workers=[name], pure=False) for name in workers.names]
        wait(futures)
        return futures

    ways = {"tree": lambda futures: tree(operator.add, client, futures).result(), "gather": client.gather}
    return {f"Dask, {name}": took(way, before=held) for name, way in ways.items()}


def tree(function: Callable, client: Client, held: Sequence[Future]) -> Future:
    """That of the lesson."""
    while len(held) > 1:
        held = [client.submit(function, *pair, pure=False) for pair in zip(held[::2], held[1::2], strict=True)]
    return held[0]


@cache
def layers() -> Network:
    """Twenty layers with about as many numbers as LeNet has."""
    convolutions = (Conv2d(f"conv{k}", 16, 3, padding=1) for k in range(20))
    return Network(
        (*convolutions, MaxPool2d("pool", PIXELS // 4), Linear("out", 10, activation="none")), (1, PIXELS, PIXELS)
    )


@cache
def drawn() -> np.ndarray:
    """Images enough for a batch."""
    return np.random.default_rng(1).standard_normal((PARTS * MOST_IMAGES, 1, PIXELS, PIXELS), np.float32)


def layered(part: Part) -> Gradient:
    """The gradient that a worker computes for a recipe of the long step."""
    return gradient_in(layers(), drawn(), np.arange(len(drawn())) % 10, part)


def here(made: Callable[[Part], Gradient], recipes: Sequence[Part]) -> Gradient:
    """A step of one GPU."""
    return reduce(combine, map(made, recipes))


def there(workers: Workers, made: Callable[[Part], Gradient], recipes: Sequence[Part]) -> Gradient:
    """A step of the workers."""
    return tree(combine, workers.client, gradients(workers, recipes, made=made)).result()


def took(step: Callable, *arguments: object, times: int = TIMES, before: Callable[[], object] | None = None) -> float:
    """Milliseconds, the median of some times, after two more; the result of `before` is the argument, and not timed."""
    seconds = []
    for _ in range(times + 2):
        passed = [before()] if before else arguments
        begin = perf_counter()
        step(*passed)
        seconds.append(perf_counter() - begin)
    return 1000 * median(seconds[2:])


def by_step(workers: Workers) -> Iterator[dict[str, object]]:
    """A line for each step. One GPU takes the batch whole, and in the same parts as the workers."""
    images, recipes = 16, ()  # of a part
    while not recipes or (images < MOST_IMAGES and took(here, layered, recipes, times=3) < LONG):
        images *= 2
        recipes = parts(layers().state()[0], 0, images)
    lenet = parts(Network().state()[0], 0)
    for name, made, batch in ("LeNet", gradient, lenet), ("20 layers", layered, recipes):
        whole = [Part(batch[0].parameters, 0, batch[-1].end)] if batch[-1].end <= MOST_IMAGES else batch
        yield {
            "step": name,
            "images": batch[-1].end,
            "one GPU": took(here, made, whole),
            "one GPU, in parts": took(here, made, batch),
            f"{workers.count} workers by Dask": took(there, workers, made, batch),
        }


def by_nccl(rank: int, count: int, port: int) -> None:
    """One of the processes that add up a gradient by NCCL; the first one prints its time."""
    import torch
    from torch import distributed

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "NCCL_NVLS_ENABLE": "0"}
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=count)
    held = torch.ones(WORDS, device="cuda")
    seconds = []
    for _ in range(10 * TIMES):
        torch.cuda.synchronize()
        begin = perf_counter()
        distributed.all_reduce(held)
        torch.cuda.synchronize()
        seconds.append(perf_counter() - begin)
    if not rank:
        print(json.dumps({"workers": count, "NCCL, all-reduce": 1000 * median(seconds)}), flush=True)
    distributed.destroy_process_group()


def main(counts: list[int]) -> None:
    """Print lines for each number of workers."""
    print(json.dumps({"on": adapter_info().summary}), flush=True)
    for count in counts:
        with closing(Workers(str(count))) as workers:
            where = [*workers.client.run(lambda: os.environ.get(SETTINGS[0])).values()]
            print(json.dumps({"workers": count, "GPUs": where, **by_dask(workers)}), flush=True)
            for line in by_step(workers):
                print(json.dumps(line), flush=True)
    with suppress(ImportError):
        import torch

        for port, count in enumerate(counts, 29_500):
            if count <= torch.cuda.device_count():
                torch.multiprocessing.spawn(by_nccl, (count, port), count)


if __name__ == "__main__":
    from support import worker_rounds  # by this name, a worker imports what it is sent

    worker_rounds.main([*map(int, sys.argv[1:])])
