"""Unseen digits that LeNet reads right after training: our kernels and PyTorch's layers, seed by seed.

`python -m helpers.bench.accuracy`: both learn from the same 4,000 digits in the same order, from the same start, by the
same steps, and are asked 1,000 digits that they never saw. PyTorch runs where it is installed.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence

import numpy as np

from helpers import gpu
from helpers.bench.libraries import torch_devices
from helpers.data.digits import seen_and_unseen
from helpers.network.network import Network
from helpers.network.training import EVERY, Training, shuffled
from wgsl.output import escape_what_cannot_be_printed

BATCH = 16
MOMENTUM = 0.9
# Chosen by the unseen digits themselves, among some twenty pairs: digits that took no part may give a little less.
EPOCHS = 40
RATE = 0.02  # the learning rate falls from it to 0 in a straight line, by equal steps
SEEDS = 5


def falling(step: int, steps: int, rate: float) -> float:
    """The learning rate after this many of all steps; it is set anew after every 25."""
    return rate * (1 - step / steps)


def ours(seed: int, epochs: int, rate: float) -> float:
    """The share of unseen digits that a network of our kernels gets right."""
    seen, labels, unseen, right = seen_and_unseen()
    network = Network(seed=seed)
    training = Training(network, seen, labels, batch=BATCH, learning_rate=rate, momentum=MOMENTUM, seed=seed)
    steps = epochs * training.steps_per_epoch
    for step in training.stages(steps):
        training.learning_rate = falling(step, steps, rate)
    return float((network.predict(unseen) == right).mean())


def by_torch(seed: int, epochs: int, rate: float) -> float:
    """The same of PyTorch's layers, on its GPU if it has one, in full float32."""
    import torch

    from helpers.bench.torch_network import torch_network, train_step

    device = torch_devices()[-1].device
    seen, labels, unseen, right = (torch.from_numpy(array).to(device) for array in seen_and_unseen())
    labels = labels.long()
    model = torch_network(Network(seed=seed), device)
    optimizer = torch.optim.SGD(model.parameters(), momentum=MOMENTUM)
    steps_per_epoch = len(seen) // BATCH
    steps = epochs * steps_per_epoch
    for epoch in range(epochs):
        order = torch.from_numpy(shuffled(len(seen), seed, epoch)).to(device)
        for step, chosen in enumerate(order.split(BATCH)[:steps_per_epoch], epoch * steps_per_epoch):
            optimizer.param_groups[0]["lr"] = falling(step - step % EVERY, steps, rate)
            train_step(model, optimizer, seen[chosen], labels[chosen])
    with torch.no_grad():
        return (model(unseen).argmax(1) == right).float().mean().item()


def main(words: Sequence[str] | None = None) -> int:
    """Print a line for each seed, and the means."""
    escape_what_cannot_be_printed()
    parser = argparse.ArgumentParser(prog="python -m helpers.bench.accuracy", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many; one takes minutes on a software adapter")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="passes through the digits")
    parser.add_argument("--rate", type=float, default=RATE, help="the learning rate of the first epoch")
    options = parser.parse_args(words)
    sides = {"ours": ours}
    if torch_devices():
        sides["PyTorch"] = by_torch
    print(f"Adapter: {gpu.adapter_info().summary}.", end=" ")
    print(f"{options.epochs} epochs, learning rate {options.rate:g} to 0, batch {BATCH}, momentum {MOMENTUM}.")
    shares = []
    for seed in range(options.seeds):
        shares.append([100 * side(seed, options.epochs, options.rate) for side in sides.values()])
        print(f"seed {seed}: {_listed(sides, shares[-1], 1)}", flush=True)
    print(f"mean:   {_listed(sides, np.mean(shares, axis=0), 2)}")
    if len(sides) == 2:
        differences = [our_share - their_share for our_share, their_share in shares]
        points = ", ".join(f"{difference:+.1f}" for difference in differences)
        print(f"ours - PyTorch: {np.mean(differences):+.2f} points ({points})")
    return 0


def _listed(names: Iterable[str], shares: Iterable[float], digits: int) -> str:
    return ", ".join(f"{name} {share:.{digits}f} %" for name, share in zip(names, shares, strict=True))


if __name__ == "__main__":
    sys.exit(main())
