"""Print what handing over LeNet's gradient costs: a round of a tree by Dask, and an all-reduce by NCCL.

    python tests/support/worker_rounds.py 2 4 8

The numbers are of workers. With PyTorch, NCCL is measured for those of them that have a GPU each.
"""

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

sys.path[:0] = [str(Path(__file__).resolve().parents[up]) for up in (2, 1)]

TIMES, WORDS = 30, 44_426


def add(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a worker does in a round."""
    return a + b


def by_dask(count: int) -> dict[str, float]:
    """Milliseconds in which a tree combines a gradient of each worker, and in which one process fetches them all."""
    from distributed import wait

    from helpers.workers.cluster import Workers

    workers = Workers(str(count))
    client, names, found = workers.client, workers.names, {"tree": [], "gather": []}
    for _ in range(TIMES):
        held = [client.submit(np.ones, WORDS, np.float32, workers=[name], pure=False) for name in names]
        wait(held)
        begin = perf_counter()
        while len(held) > 1:
            held = [client.submit(add, a, b, pure=False) for a, b in zip(held[::2], held[1::2], strict=True)]
        held[0].result()
        found["tree"].append(perf_counter() - begin)
        sent = [client.submit(np.ones, WORDS, np.float32, workers=[name], pure=False) for name in names]
        wait(sent)
        begin = perf_counter()
        client.gather(sent)
        found["gather"].append(perf_counter() - begin)
    workers.close()
    return {f"Dask, {name}": 1000 * median(each) for name, each in found.items()}


def by_nccl(rank: int, count: int, port: int) -> None:
    """One of the processes that add up a gradient by NCCL; the first one prints its time."""
    import torch
    from torch import distributed

    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "NCCL_NVLS_ENABLE": "0"}
    torch.cuda.set_device(rank)
    distributed.init_process_group("nccl", rank=rank, world_size=count)
    held, found = torch.ones(WORDS, device="cuda"), []
    for _ in range(10 * TIMES):
        torch.cuda.synchronize()
        begin = perf_counter()
        distributed.all_reduce(held)
        torch.cuda.synchronize()
        found.append(perf_counter() - begin)
    if not rank:
        print(json.dumps({"workers": count, "NCCL, all-reduce": 1000 * median(found)}), flush=True)
    distributed.destroy_process_group()


def main(counts: list[int]) -> None:
    """Print a line of milliseconds for each number of workers."""
    for count in counts:
        print(json.dumps({"workers": count, **by_dask(count)}), flush=True)
    with suppress(ImportError):
        import torch

        for port, count in enumerate(counts, 29_500):
            if count <= torch.cuda.device_count():
                torch.multiprocessing.spawn(by_nccl, (count, port), count)


if __name__ == "__main__":
    main([*map(int, sys.argv[1:])])
