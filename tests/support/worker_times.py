"""Print how many random problems a second some numbers of workers compute, beside one process without workers.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 __GL_SHADER_DISK_CACHE=0 MESA_SHADER_CACHE_DISABLE=true \\
        python tests/support/worker_times.py 1 2 4 8 16

Without these settings, the process without workers computes on several cores (PyTorch and NumPy do, in a worker of Dask
they do not), and a driver remembers the kernels of the run before.
"""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from random_problems import LAYERS

from helpers.workers import cluster, mapped

EACH = 24  # pieces for each worker: about a minute


def rate(workers: int, most: int, *where: object) -> float:
    """Problems a second. Before, each worker has two pieces in which it loads what it needs.

    Pieces differ, so any number of workers takes its own from all over the same ones.
    """
    for first, count in ((10**6, 2), (0, EACH)):
        begin = time.monotonic()
        pieces = [[0, first + i * most // workers * LAYERS, LAYERS] for i in range(workers * count)]
        results = mapped("tests.random_problems:judged", pieces, *where)
        problems = sum(result["problems"] for result in results)
    return problems / (time.monotonic() - begin)


def main(counts: list[str]) -> None:
    """Print a line for each number of workers."""
    most = max(map(int, counts))
    one = rate(1, most)
    print(f"one process: {one:.2f} problems a second", flush=True)
    for count in counts:
        with cluster._client(count) as client, TemporaryDirectory() as folder:
            many = rate(int(count), most, client.scheduler.address, Path(folder, "ledger"))
        print(f"{count} workers: {many:.2f}, {many / one:.2f} times as many: {many / one / int(count):.2f} of ideal")


if __name__ == "__main__":
    main(sys.argv[1:])
