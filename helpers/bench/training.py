"""What one step of training LeNet takes: our kernels, `Training` as readers run it, and PyTorch.

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
BATCHES, ROUNDS, SECONDS = (32, 256), 7, 0.3  # of a batch, of all in turn, of one round
LEARNING_RATE, MOMENTUM = 0.01, 0.9
CLOSE = 1e-4  # relative: how far apart the losses of the second step may lie


@dataclass
class Side(Candidate):
    """One way to train, of which all figures are those of a step; `loss` is that of the second step."""

    loss: float = math.nan


def _side(name: str, call: Call, wait: Call, loss: float, steps: int = 1) -> Side:
    """A side whose `call` makes some steps. A sample is as many calls as its time allows, until the device is done."""

    def timed(calls: int) -> float:
        return clocked(lambda: ([call() for _ in range(calls)], wait()), wait) / calls / steps

    once = timed(1)
    calls = max(1, int(SECONDS / steps / once))

    def sample(count: int) -> list[float]:
        """The first one is left out: in it, an idle GPU reaches its full clock."""
        return [timed(calls) for _ in range(count + 1)][1:]

    row = Row("training", "LeNet", name, "way to train")
    return Side(row, sample, once, calls * steps, lambda: clocked(call, wait) / steps, loss=loss)


# --- Who takes part -----------------------------------------------------------------------------------------


def sides(batch: int) -> Iterator[Side | str]:
    """Ours first, then PyTorch on each device that it has; in the place of one that fails, why it does."""
    devices = [library.device for library in torch_devices()]
    theirs = [partial(_torch, device=device) for device in devices] + [_graph] * ("cuda" in devices)
    for make in (_ours, _training, *theirs):
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
    wait, loss = _waiter(training.network), _second_loss(Network(), batch)
    steps = EVERY if gpu.adapter_info().kind == "software" else MOST_ROWS
    return _side("ours, new batches, recorded", partial(training.advance, steps), wait, loss, steps)


def _second_loss(network: Network, batch: int) -> float:
    images, labels = (array[:batch] for array in seen_and_unseen()[:2])
    return [network.step(images, labels, LEARNING_RATE, MOMENTUM) for _ in range(2)][-1]


def _waiter(network: Network) -> Call:
    return partial(gpu.read, network.buffers["parameters"], (1,))


def groups(network: Network, batch: int) -> dict[str, tuple[Pass, ...]]:
    """The passes of one step of training, by the step's name."""
    space = network.workspace(batch)
    named = {step.name: space.passes(step) for step in space.steps}
    return named | {"update: sgd": network.update(LEARNING_RATE, MOMENTUM)}


def _torch(batch: int, device: str) -> Side:
    """PyTorch as it is written by hand: its layers, autograd and its SGD, which updates all tensors together."""
    step, wait = _torch_step(batch, device)
    return _side(f"PyTorch {device.upper()}", step, wait, [step().item() for _ in range(2)][-1])


def _graph(batch: int) -> Side:
    """PyTorch at its best: compiled, with fused SGD, captured once in a CUDA graph, which the host starts by a call."""
    import torch

    (step, wait), side = _torch_step(batch, "cuda", best=True), torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):  # as PyTorch's notes on graphs ask for
        losses = [step().item() for _ in range(4)]
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    # A graph remembers addresses and keeps nothing: what it reads lives as long as the step that was captured.
    return _side("PyTorch CUDA graph", lambda captured=step: graph.replay(), wait, losses[1])


def _torch_step(batch: int, device: str, best: bool = False) -> tuple[Callable, Callable]:
    """A step over a batch on the device, which returns the loss, and how to wait."""
    import torch

    from helpers.bench.torch_network import torch_network, train_step

    seen, labels, *_ = seen_and_unseen()
    images, right = torch.from_numpy(seen[:batch]).to(device), torch.from_numpy(labels[:batch]).long().to(device)
    model = torch_network(Network(), device)
    optimizer = torch.optim.SGD(model.parameters(), LEARNING_RATE, MOMENTUM, fused=best or None)
    forward = torch.compile(model, dynamic=False) if best else model
    return partial(
        train_step, forward, optimizer, images, right
    ), torch.cuda.synchronize if device == "cuda" else lambda: None


# --- The table ----------------------------------------------------------------------------------------------


def wrong(candidates: Sequence[Side]) -> list[str]:
    """A sentence on each side whose loss is not ours."""
    right = candidates[0].loss
    far = [side for side in candidates if not abs(side.loss - right) <= CLOSE * right]
    return [f"{side.row.name}: the loss of the second step is {side.loss:.6f}; ours is {right:.6f}" for side in far]


def speed_table(batch: int, candidates: Sequence[Side]) -> list[str]:
    """Each side's step, and how many times as long as ours it takes."""
    lines = [f"\n| batch {batch} | µs a step | rounds from .. to | host, µs | times ours |", "|---|--:|--:|--:|--:|"]
    for side in candidates:
        row, low, high = side.row, 1e6 * min(side.times), 1e6 * max(side.times)
        figures = f"{row.kernel_us:.1f} | {low:.1f} .. {high:.1f} | {row.host_us:.1f}"
        lines.append(f"| {row.name} | {figures} | {row.kernel_us / candidates[0].row.kernel_us:.2f} |")
    return lines


# --- Where the time goes ------------------------------------------------------------------------------------


def timeline(batch: int) -> dict[str, object]:
    """Microseconds: of the host, of the whole step in one pass, and for each step its begin, its end, and its time
    when it is repeated without a pause. Begins and ends are None where the adapter has no timestamps."""
    network = Network()
    network.step(*(array[:batch] for array in seen_and_unseen()[:2]), 0)
    named = groups(network, batch)
    spans = timing.timeline(*named.values())
    spans = np.full((len(named), 2), None) if spans is None else spans / 1e3
    rows = [
        {"name": name, "dispatches": len(group), "begin": begin, "end": end, "repeated": _repeated(group)}
        for (name, group), (begin, end) in zip(named.items(), spans.tolist(), strict=True)
    ]
    passes = tuple(chain(*named.values()))
    host = {part: took / 1e3 for part, took in timing.host_times(*passes).items()}
    return {"batch": batch, "one_pass": timing.measure(*passes, repeats=10).median / 1e3, "host": host, "steps": rows}


def _repeated(group: tuple[Pass, ...]) -> float:
    """Microseconds of a step's passes, as one of many repetitions in one compute pass."""
    _, count = repetitions(group)
    return timing.measure(*group * count, repeats=5, awake=0).median / count / 1e3


def timeline_table(line: dict[str, object]) -> list[str]:
    """A row for each step, and the sums."""
    rows, host = line["steps"], line["host"]
    repeated = sum(row["repeated"] for row in rows)
    lines = [f"\n| batch {line['batch']}, µs | dispatches | begin | own pass | repeated |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        timed = row["end"] is not None
        spans = f"{row['begin']:.1f} | {row['end'] - row['begin']:.1f}" if timed else "- | -"
        lines.append(f"| {row['name']} | {row['dispatches']} | {spans} | {row['repeated']:.1f} |")
    lines.append(f"\nAll in one compute pass: {line['one_pass']:.1f} µs on the GPU; repeated alone, {repeated:.1f} µs.")
    if rows[-1]["end"] is None:
        lines.append("This adapter has no timestamps: times are by the wall clock, and there are no begins and ends.")
    else:
        kernels = sum(row["end"] - row["begin"] for row in rows)
        gaps = rows[-1]["end"] - kernels
        lines.append(f"Each step in a pass of its own: {kernels:.1f} µs in passes, {gaps:.1f} µs between them.")
    parts = ", ".join(f"{part} {took:.1f} µs" for part, took in host.items())
    return [*lines, f"The host: {parts}; {sum(row['dispatches'] for row in rows)} dispatches."]


# --- The command --------------------------------------------------------------------------------------------


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; the exit status is 1 where a side failed, or lost something else."""
    escape_what_cannot_be_printed()
    software = gpu.adapter_info().kind == "software"
    parser = argparse.ArgumentParser(prog="python -m helpers.bench.training", description=__doc__)
    parser.add_argument("--batch", type=int, nargs="+", default=BATCHES[: 1 if software else None], metavar="N")
    parser.add_argument(
        "--rounds",
        type=int,
        default=2 if software else ROUNDS,
        help="in which all take turns; a slow side takes part in fewer",
    )
    parser.add_argument("--output", type=Path, default=OUTPUT / "training.json", metavar="FILE")
    options = parser.parse_args(words)
    result, faults = run_metadata("helpers.bench.training") | {"speed": {}, "timelines": []}, []
    print(f"Adapter: {gpu.adapter_info().summary}, {gpu.adapter_info().driver}.", flush=True)
    for batch in options.batch:
        made = [*sides(batch)]
        candidates = [side for side in made if isinstance(side, Side)]
        faults += [*filter(lambda side: isinstance(side, str), made), *wrong(candidates)]
        seconds = options.rounds * SECONDS
        compete(candidates, seconds, rounds=options.rounds, slow=math.inf)
        for side in candidates:
            apart(side, seconds)
        print(*speed_table(batch, candidates), sep="\n", flush=True)
        result["speed"][batch] = {
            side.row.name: {"step": side.row.kernel_us / 1e6, "host": side.row.host_us / 1e6, "rounds": side.times}
            for side in candidates
        }
        del candidates, made
        result["timelines"].append(timeline(batch))
        print(*timeline_table(result["timelines"][-1]), sep="\n", flush=True)
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(json.dumps(result, indent=1), encoding="utf-8")
    print(*faults, f"\nWritten: {options.output}", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
