"""Compute convolutions and their gradients of random layers over the whole signature, and judge each number.

    python tests/random_problems.py [--count 10000] [--seed 0]

draws layers of every proportion: strides, paddings and dilations along each axis, groups, activations. A problem is one
of the four operations on one of them. It runs with one of the versions that take the layer, another one each time, and
must be as near to float64 as can be proven. Where PyTorch is installed, the float64 answers are also compared with its
own. The exit status is 1 if any number is wrong, and the smallest such layer is printed.

With --workers, the same layers are computed side by side. A ledger has a line for each few of them: their seed, how
many problems they are, and the worst error in units of the tolerance.
"""

import argparse
import sys
import warnings
from dataclasses import replace
from importlib.util import find_spec
from math import ceil
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import HypothesisWarning
from support.problems import conv_shapes, require_close

from helpers.gpu import adapter_info
from helpers.operations.activations import ACTIVATIONS
from helpers.operations.convolution.operations import OPERATIONS
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import drawn, normal
from helpers.operations.operation import Operation
from helpers.workers import WorkersError, add_options, mapped

LAYERS = 4  # of one seed: two seconds on a GPU. Hypothesis begins with the smallest; only the first seed keeps it
# Dask's other threads use it:
warnings.filterwarnings("ignore", "Do not use the `random` module inside strategies", HypothesisWarning)


def able(operation: Operation, shape: ConvShape) -> list[str]:
    """The versions that take a layer and can run it here."""
    return [version for version in operation.versions if operation.problem(shape, version) is None]


def judge_answers(shape: ConvShape) -> None:
    """Raise AssertionError unless the float64 answers are PyTorch's, up to float64 rounding; before an activation."""
    import torch

    shape = replace(shape, activation="none")
    tensors = drawn(OPERATIONS["conv2d"], shape, normal) | {"grad_output": normal(shape.output, 3)}
    leaves = {name: torch.tensor(tensor, dtype=torch.float64, requires_grad=True) for name, tensor in tensors.items()}
    x, w, b, upstream = leaves.values()
    output = torch.nn.functional.conv2d(x, w, b, **shape.steps)
    output.backward(upstream.detach())
    theirs = {
        "conv2d": output.detach(),
        **{f"conv2d_grad_{name}": leaves[name].grad for name in ("input", "weight", "bias")},
    }
    for name, right in theirs.items():
        (got,) = OPERATIONS[name].right(shape, tensors)
        np.testing.assert_allclose(got, right.numpy(), rtol=1e-11, atol=1e-11, err_msg=f"{name}: {shape}")


def judged(piece: list[int]) -> dict:
    """The result for a few layers, from the seed, the number of the first one, and how many there are."""
    begin, first, layers = piece
    result = {"seed": begin + first, "layers": 0, "problems": 0, "worst": 0.0, "on": adapter_info().name}
    try:
        judge_layers(first, layers, result)
    except AssertionError as error:
        result["wrong"] = "\n".join(map(str, [error, *getattr(error, "__notes__", [])]))
    return result


def judge_layers(first: int, layers: int, result: dict) -> None:
    """Judge a few layers, and count them in `result`. Raises AssertionError for the smallest one that is wrong."""
    to_skip = [True] if first > 0 else []

    @seed(result["seed"])
    @settings(
        max_examples=layers + len(to_skip),
        phases=[Phase.generate, Phase.shrink],
        deadline=None,
        database=None,
        suppress_health_check=[*HealthCheck],
    )
    @given(conv_shapes(activations=ACTIVATIONS, general=True))
    def every_number_is_right(shape: ConvShape) -> None:
        if to_skip:
            to_skip.clear()
        else:
            judge_layer(shape, first + result["layers"], result)

    every_number_is_right()


def judge_layer(shape: ConvShape, turn: int, result: dict) -> None:
    """Judge the four operations on a layer, each with one of the versions that take it, and count them."""
    for operation in OPERATIONS.values():
        versions = able(operation, shape)
        version = versions[turn % len(versions)]
        result["worst"] = max(result["worst"], require_close(operation.kernel(version), shape))
    if find_spec("torch"):
        judge_answers(shape)
    result["layers"] += 1
    result["problems"] += len(OPERATIONS)


def main(words: list[str] | None = None) -> int:
    """Run the problems that were asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    add_options(parser)
    options = parser.parse_args(words)
    layers, begin = ceil(options.count / len(OPERATIONS)), options.seed * 10**9
    pieces = [[begin, first, min(LAYERS, layers - first)] for first in range(0, layers, LAYERS)]
    results = []
    try:
        for result in mapped("tests.random_problems:judged", pieces, options.workers, options.ledger):
            if "wrong" in result:
                print(result["wrong"])
                return 1
            results.append(result)
    except WorkersError as error:
        print(error, file=sys.stderr)
    if results:
        print(report(results))
    return 0 if len(results) == len(pieces) else 2


def report(results: list[dict]) -> str:
    """The number of problems that are right, the adapters, and the error of the worst number."""
    layers = sum(result["layers"] for result in results)
    problems = sum(result["problems"] for result in results)
    beside = "float64 and PyTorch" if find_spec("torch") else "float64 (PyTorch is not installed)"
    on = " and ".join(sorted({result["on"] for result in results}))
    worst = max(result["worst"] for result in results)
    right = f"Right: {problems:,} problems on {layers:,} random layers, beside {beside}, on {on}."
    return f"{right} {problems - layers:,} are gradients. The largest error is {worst:.3f} of the tolerance."


if __name__ == "__main__":
    sys.exit(main())
