"""The workers of a Dask cluster, here or on other machines: checks that they are like this process, and their work."""

import logging
import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, contextmanager, suppress
from functools import cache

import dask
from distributed import Client, Future, KilledWorker, LocalCluster, Worker, WorkerPlugin, get_worker, wait

from helpers.gpu import GpuError, device
from helpers.gpu.adapter import SETTINGS, gpus
from helpers.workers.pieces import Versions, WorkersError, called, versions

DASHBOARD = "127.0.0.1:8787"  # or the next port that is free
SECONDS = 5  # that a scheduler may take to answer
LOST = 30  # seconds without a result after which the workers are counted
AHEAD = 2  # pieces that a thread of a worker has: the one that it computes, and the next
AGAIN = "; start it again in this folder, or in a copy of it"
# No piece moves once it has a worker, which has at most one in reserve. A fork would break the GPU's driver.
LOCAL = {
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.rootish-taskgroup": 0,  # a part that is lost is computed where it was asked for
    "distributed.worker.multiprocessing-method": "spawn",
    # Work that a worker would do beside its piece, 150 times a second:
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "10s",
    "distributed.admin.system-monitor.interval": "10s",
}
START = "start some in this folder, or in copies of it: .venv/bin/python -m distributed.cli.dask_worker --nthreads 1"


def computed(workers: str, function: str, texts: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Each piece's number with its result, as they come."""
    with _client(workers) as client:
        most = AHEAD * _checked(client)
        submitted = 0
        running: dict[Future, int] = {}  # the numbers of the pieces
        while submitted < len(texts) or running:
            while len(running) < most and submitted < len(texts):
                future = client.submit(_call, versions(), function, texts[submitted], pure=False)
                running[future] = submitted
                submitted += 1
            for future in _done(client, list(running)):
                i = running.pop(future)
                yield i, _result(future, texts[i])


class Workers:
    """Workers that a notebook uses until `close`: those of the scheduler at an address, or as many processes here.

    `client` is Dask's, `names` has their addresses, in the order of their names, and `own` says whether they were
    started here. Raises WorkersError where they cannot be used.
    """

    def __init__(self, workers: str) -> None:
        with ExitStack() as stack:
            self.client = stack.enter_context(_client(workers, dashboard=DASHBOARD))
            _checked(self.client)
            self._end = stack.pop_all()
        self.count = len(self.names)
        self.own = self.client.cluster is not None

    @property
    def names(self) -> list[str]:
        """The addresses of those that are there, in the order of their names."""
        there = self.client.scheduler_info(n_workers=-1)["workers"]
        return sorted(there, key=lambda address: str(there[address]["name"]))

    def __repr__(self) -> str:
        return f"{self.count} workers: see them work at {self.client.dashboard_link}"

    def wait(self) -> None:
        """Wait for a worker that takes the place of one that was killed, as those do that were started here."""
        with suppress(TimeoutError):
            self.client.wait_for_workers(self.count, timeout=LOST)

    def kill(self, computed: Sequence[Future]) -> None:
        """End the last worker's process, once these are computed. Raises WorkersError where it is somebody else's."""
        if not self.own:
            raise WorkersError(f"the workers of {self.client.scheduler.address} were not started here: none is killed")
        wait(computed)
        self.client.run(os._exit, 1, workers=self.names[-1:], on_error="ignore")

    def close(self) -> None:
        """Take leave of the scheduler, and end the processes that were started here."""
        self._end.close()


@contextmanager
def _client(workers: str, dashboard: str | None = None) -> Iterator[Client]:
    """A client of the scheduler at an address, or of a cluster of as many processes here."""
    warnings.filterwarnings("ignore", module="distributed")  # versions are compared below,
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # and a scheduler that is gone is said in a line
    is_number = workers.lstrip("+-").isdecimal()
    if not is_number:
        with _client_of_scheduler(workers) as client:
            yield client
        return
    if int(workers) < 1:
        raise WorkersError("it must be 1 or more, or the address of a scheduler", workers)
    here = {"threads_per_worker": 1, "memory_limit": 0, "dashboard_address": dashboard, "silence_logs": "CRITICAL"}
    with dask.config.set(LOCAL), LocalCluster(n_workers=0, **here) as cluster, Client(cluster) as client:
        cluster.sync(_keep_ctrl_c)
        cluster.scale(int(workers))
        client.wait_for_workers(int(workers))
        yield client


def _client_of_scheduler(address: str) -> Client:
    """A client of the scheduler at an address. Raises WorkersError where none answers, or it is of an old version."""
    try:
        return Client(address, timeout=SECONDS)
    except (OSError, ValueError):
        raise WorkersError(f"no scheduler answers there within {SECONDS} s", address) from None
    except Exception as error:  # a scheduler of an old version raises anything
        raise _refusal(error, f"the scheduler at {address}") from error


async def _keep_ctrl_c() -> None:
    """Ctrl-C is for the command alone: the processes that this thread starts inherit that they do not hear it."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


def _checked(client: Client) -> int:
    """The number of threads of the workers. Raises WorkersError where one of them is not as this process."""
    address = client.scheduler.address
    expected = versions()
    try:
        difference = client.run_on_scheduler(different, expected)
    except (ImportError, AttributeError) as error:  # it has another tree, or none
        difference = error
    _refuse_where(difference, f"the scheduler at {address}")
    workers = client.scheduler_info()["workers"]
    if not workers:
        raise WorkersError(f"the scheduler at {address} has no workers; {START} {address}")
    for worker, fault in client.run(problem, expected, on_error="return").items():
        _refuse_where(fault, f"worker {workers[worker]['name']} at {worker}")
    client.register_plugin(Prepared())
    return sum(worker["nthreads"] for worker in workers.values())


def _refuse_where(fault: str | Exception, process: str) -> None:
    """Raise WorkersError where a process has a fault: a reason in words, or an error that it raised."""
    if fault:
        raise _refusal(fault, process)


def _refusal(fault: str | Exception, process: str) -> WorkersError:
    message = f"{process} is refused: {fault}"
    if isinstance(fault, Exception):
        message += AGAIN
    return WorkersError(message)


def different(expected: Versions) -> str:
    """The differences of this process, or nothing."""
    differences = []
    for name, version in versions().items():
        if version != expected[name]:
            differences.append(f"{name} {version}, not {expected[name]}")
    if not differences:
        return ""
    return f"it has {'; '.join(differences)}{AGAIN}"


def problem(expected: Versions, dask_worker: Worker) -> str:
    """The reason why a worker is refused, or nothing."""
    return different(expected) or prepare(dask_worker.name)


@cache
def prepare(name: object) -> str:
    """Open this process's GPU; says why it cannot, or nothing.

    Workers that a command started here, whose names are numbers, take this machine's GPUs in turn.
    """
    try:
        if isinstance(name, int):
            _take_gpu_in_turn(name)
        device()
    except GpuError as error:
        return str(error)
    return ""


def _take_gpu_in_turn(number: int) -> None:
    """Let this process use one of several GPUs, by the worker's number, where no setting names one."""
    if any(os.environ.get(name) for name in SETTINGS):
        return
    numbers = [i for i, adapter in enumerate(gpus()) if adapter.info["adapter_type"] == "DiscreteGPU"]
    if len(numbers) > 1:
        os.environ[SETTINGS[0]] = str(numbers[number % len(numbers)])


class Prepared(WorkerPlugin):
    """Opens a worker's GPU when its process begins, also of one that takes the place of another."""

    name = "helpers.workers"  # a scheduler keeps one of this name, however many commands it serves

    def setup(self, worker: Worker) -> None:
        """Open it."""
        prepare(worker.name)


def _call(expected: Versions, function: str, text: str) -> str:
    """Compute a piece, as a worker does."""
    worker = get_worker()
    fault = problem(expected, worker)  # again: the worker may have come later
    _refuse_where(fault, f"worker {worker.name} at {worker.address}")
    return called(function, text)


def _done(client: Client, running: Sequence[Future]) -> set[Future]:
    """Those that are done, of which there is at least one."""
    while True:
        try:
            return wait(running, LOST, "FIRST_COMPLETED").done
        except TimeoutError:
            if not client.scheduler_info()["workers"]:
                raise WorkersError(f"no worker is left; {START} {client.scheduler.address}") from None
        except (CancelledError, OSError):
            raise WorkersError(f"the scheduler at {client.scheduler.address} is gone") from None


def _result(future: Future, text: str) -> str:
    try:
        return future.result()
    except KilledWorker as error:
        raise WorkersError(f"piece {text[:100]} ended every worker that tried it: {error}") from None
