"""The time of one step of training LeNet: our kernels, `Training` as readers run it, and PyTorch.

`python -m helpers.bench.training`: a step is forward, loss, backward and update over a batch that is on the device, by
the wall clock over many steps between two waits for the device, which is what a reader waits for. All take turns, and
all must lose the same from the same start. Then a timeline by the GPU's timestamps: what takes how long within a step.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

import numpy as np

from helpers import gpu
from helpers.bench.candidates import Candidate, Row, apart, clocked, compete, repetitions
from helpers.bench.libraries import torch_devices
from helpers.bench.run_metadata import OUTPUT, run_metadata
from helpers.data.digits import seen_and_unseen
from helpers.gpu import timing
from helpers.gpu.passes import Pass
from helpers.network.network import Network
from helpers.network.training import EVERY, MOST_ROWS, Training
from wgsl.output import escape_what_cannot_be_printed

Call = Callable[[], object]
BATCHES = 32, 256  # images a step
ROUNDS = 7  # in which all take turns
SECONDS = 0.3  # of one side in a round
LEARNING_RATE = 0.01
MOMENTUM = 0.9
CLOSE = 1e-4  # relative: how far apart the losses of the second step may lie


@dataclass
class Side(Candidate):
    """One way to train, of which all figures are those of a step; `loss` is that of the second step."""

    loss: float = math.nan


def _side(name: str, call: Call, wait: Call, loss: float, steps: int = 1) -> Side:
    """A side whose `call` makes some steps. A sample is as many calls as its time allows, until the device is done."""

    def timed(calls: int) -> float:
        """Seconds of a step, over some calls and the wait for the last one."""

        def call_and_wait() -> None:
            for _ in range(calls):
                call()
            wait()

        return clocked(call_and_wait, wait) / calls / steps

    once = timed(1)
    calls = max(1, int(SECONDS / steps / once))

    def sample(count: int) -> list[float]:
        """Seconds of a step, some times; one more is left out: in it, an idle GPU reaches its full clock."""
        timed(calls)
        return [timed(calls) for _ in range(count)]

    def host() -> float:
        return clocked(call, wait) / steps

    row = Row("training", "LeNet", name, "way to train")
    return Side(row, sample, once, calls * steps, host, loss=loss)


# --- The sides ----------------------------------------------------------------------------------------------


def sides(batch: int) -> Iterator[Side | str]:
    """Ours first, then PyTorch on each device that it has; in the place of one that fails, why it does."""
    devices = [library.device for library in torch_devices()]
    makers = [_ours, _training]
    makers += [partial(_torch, device=device) for device in devices]
    if "cuda" in devices:
        makers.append(_graph)
    for make in makers:
        try:
            yield make(batch)
        except RuntimeError as error:  # PyTorch's own and CUDA's
            yield f"not measured: {error}"


def _ours(batch: int) -> Side:
    """The passes of a step in one submission."""
    network = Network()
    loss = _second_loss(network, batch)
    passes = chain(*groups(network, batch).values())
    return _side("ours", partial(gpu.run, *passes), _waiter(network), loss)


def _training(batch: int) -> Side:
    """`Training` as readers run it: with a new batch each step, and with losses, answers and parameters recorded."""
    seen, labels, *_ = seen_and_unseen()
    training = Training(Network(), seen, labels, batch=batch, learning_rate=LEARNING_RATE, momentum=MOMENTUM)
    loss = _second_loss(Network(), batch)
    steps = EVERY if gpu.adapter_info().kind == "software" else MOST_ROWS
    advance = partial(training.advance, steps)
    return _side("ours, new batches, recorded", advance, _waiter(training.network), loss, steps)


def _first_batch(batch: int) -> tuple[np.ndarray, np.ndarray]:
    """Images and labels."""
    seen, labels, *_ = seen_and_unseen()
    return seen[:batch], labels[:batch]


def _second_loss(network: Network, batch: int) -> float:
    """Make two steps on the first batch, and return the loss of the second one."""
    images, labels = _first_batch(batch)
    network.step(images, labels, LEARNING_RATE, MOMENTUM)
    return network.step(images, labels, LEARNING_RATE, MOMENTUM)


def _waiter(network: Network) -> Call:
    """A function that waits for all that was submitted."""
    return partial(gpu.read, network.buffers["parameters"], (1,))


def groups(network: Network, batch: int) -> dict[str, tuple[Pass, ...]]:
    """The passes of one step of training, by the step's name."""
    space = network.workspace(batch)
    passes = {step.name: space.passes(step) for step in space.steps}
    passes["update: sgd"] = network.update(LEARNING_RATE, MOMENTUM)
    return passes


def _torch(batch: int, device: str) -> Side:
    """PyTorch as it is written by hand: its layers, autograd and its SGD, which updates all tensors together."""
    step, wait = _torch_step(batch, device)
    step()
    second_loss = step().item()
    return _side(f"PyTorch {device.upper()}", step, wait, second_loss)


def _graph(batch: int) -> Side:
    """PyTorch at its best: compiled, with fused SGD, captured once in a CUDA graph, which the host starts by a call."""
    import torch

    step, wait = _torch_step(batch, "cuda", best=True)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # as PyTorch's notes on graphs ask for
        losses = [step().item() for _ in range(4)]
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    # A graph remembers addresses and keeps nothing: what it reads lives as long as the step that was captured.
    return _side("PyTorch CUDA graph", lambda captured=step: graph.replay(), wait, losses[1])


def _torch_step(batch: int, device: str, best: bool = False) -> tuple[Callable, Callable]:
    """A step over a batch on the device, which returns the loss, and a function that waits."""
    import torch

    from helpers.bench.torch_network import torch_network, train_step

    images, labels = _first_batch(batch)
    images = torch.from_numpy(images).to(device)
    labels = torch.from_numpy(labels).long().to(device)
    model = torch_network(Network(), device)
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, MOMENTUM, fused=best or None)
    forward = torch.compile(model, dynamic=False) if best else model
    step = partial(train_step, forward, optimizer, images, labels)

    def wait() -> None:
        if device == "cuda":
            torch.cuda.synchronize()

    return step, wait


# --- The table ----------------------------------------------------------------------------------------------


def wrong(candidates: Sequence[Side]) -> list[str]:
    """A sentence on each side whose loss is not ours."""
    right = candidates[0].loss
    sentences = []
    for side in candidates:
        if not abs(side.loss - right) <= CLOSE * right:  # NaN is not close
            sentences.append(f"{side.row.name}: the loss of the second step is {side.loss:.6f}; ours is {right:.6f}")
    return sentences


def speed_table(batch: int, candidates: Sequence[Side]) -> list[str]:
    """Each side's step, and its time as a multiple of ours."""
    ours = candidates[0].row.kernel_us
    lines = [f"\n| batch {batch} | µs a step | rounds from .. to | host, µs | times ours |", "|---|--:|--:|--:|--:|"]
    for side in candidates:
        row = side.row
        low = 1e6 * min(side.times)
        high = 1e6 * max(side.times)
        figures = f"{row.kernel_us:.1f} | {low:.1f} .. {high:.1f} | {row.host_us:.1f}"
        lines.append(f"| {row.name} | {figures} | {row.kernel_us / ours:.2f} |")
    return lines


# --- The times within a step --------------------------------------------------------------------------------


def timeline(batch: int) -> dict[str, object]:
    """Microseconds: of the host, of the whole step in one pass, and for each step its begin, its end, and its time
    when it is repeated without a pause. Begins and ends are None where the adapter has no timestamps."""
    network = Network()
    network.step(*_first_batch(batch), 0)
    groups_by_name = groups(network, batch)
    spans = timing.timeline(*groups_by_name.values())
    rows = []
    for i, (name, group) in enumerate(groups_by_name.items()):
        begin, end = (None, None) if spans is None else (spans[i] / 1e3).tolist()
        repeated = _repeated(group)
        rows.append({"name": name, "dispatches": len(group), "begin": begin, "end": end, "repeated": repeated})
    passes = tuple(chain(*groups_by_name.values()))
    host = {part: nanoseconds / 1e3 for part, nanoseconds in timing.host_times(*passes).items()}
    one_pass = timing.measure(*passes, repeats=10).median / 1e3
    return {"batch": batch, "one_pass": one_pass, "host": host, "steps": rows}


def _repeated(group: tuple[Pass, ...]) -> float:
    """Microseconds of a step's passes, as one of many repetitions in one compute pass."""
    _, count = repetitions(group)
    return timing.measure(*group * count, repeats=5, awake=0).median / count / 1e3


def timeline_table(line: dict[str, object]) -> list[str]:
    """A row for each step, and the sums."""
    rows = line["steps"]
    repeated = sum(row["repeated"] for row in rows)
    lines = [f"\n| batch {line['batch']}, µs | dispatches | begin | own pass | repeated |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        span = "- | -"
        if row["end"] is not None:
            span = f"{row['begin']:.1f} | {row['end'] - row['begin']:.1f}"
        lines.append(f"| {row['name']} | {row['dispatches']} | {span} | {row['repeated']:.1f} |")
    lines.append(f"\nAll in one compute pass: {line['one_pass']:.1f} µs on the GPU; repeated alone, {repeated:.1f} µs.")
    if rows[-1]["end"] is None:
        lines.append("This adapter has no timestamps: times are by the wall clock, and there are no begins and ends.")
    else:
        kernels = sum(row["end"] - row["begin"] for row in rows)
        gaps = rows[-1]["end"] - kernels
        lines.append(f"Each step in a pass of its own: {kernels:.1f} µs in passes, {gaps:.1f} µs between them.")
    parts = ", ".join(f"{part} {microseconds:.1f} µs" for part, microseconds in line["host"].items())
    dispatches = sum(row["dispatches"] for row in rows)
    lines.append(f"The host: {parts}; {dispatches} dispatches.")
    return lines


# --- The command --------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; the exit status is 1 where a side failed, or lost something else."""
    escape_what_cannot_be_printed()
    options = _options(words)
    result = run_metadata("helpers.bench.training") | {"speed": {}, "timelines": []}
    faults = []
    print(f"Adapter: {gpu.adapter_info().summary}, {gpu.adapter_info().driver}.", flush=True)
    for batch in options.batch:
        result["speed"][batch] = _speed(batch, options.rounds, faults)
        times = timeline(batch)
        print(*timeline_table(times), sep="\n", flush=True)
        result["timelines"].append(times)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(*faults, f"\nWritten: {options.output}", sep="\n")
    return 1 if faults else 0


def _options(words: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command; a software adapter takes one batch and fewer rounds by default."""
    batches = BATCHES
    rounds = ROUNDS
    if gpu.adapter_info().kind == "software":
        batches = BATCHES[:1]
        rounds = 2
    parser = argparse.ArgumentParser(prog="python -m helpers.bench.training", description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=batches, metavar="N")
    turns = "in which all take turns; a slow side takes part in fewer"
    parser.add_argument("--rounds", type=int, default=rounds, help=turns)
    parser.add_argument("--output", type=Path, default=OUTPUT / "training.json", metavar="FILE")
    return parser.parse_args(words)


def _speed(batch: int, rounds: int, faults: list[str]) -> dict[str, dict[str, object]]:
    """Measure all sides and print the table; `faults` gets a sentence for each that failed, or is wrong.

    Returns the seconds of each side, by its name.
    """
    candidates = []
    for side in sides(batch):
        if isinstance(side, Side):
            candidates.append(side)
        else:
            faults.append(side)
    faults += wrong(candidates)
    seconds = rounds * SECONDS
    compete(candidates, seconds, rounds=rounds, slow=math.inf)
    for side in candidates:
        apart(side, seconds)
    print(*speed_table(batch, candidates), sep="\n", flush=True)
    times = {}
    for side in candidates:
        row = side.row
        times[row.name] = {"step": row.kernel_us / 1e6, "host": row.host_us / 1e6, "rounds": side.times}
    return times


if __name__ == "__main__":
    sys.exit(main())
