"""Compute convolutions and their gradients of random layers over the whole signature, and judge each number.

    python tests/random_problems.py [--count 10000] [--seed 0]

draws layers of every proportion: strides, paddings and dilations along each axis, groups, activations. A problem is one
of the four operations on one of them. It runs with one of the versions that take the layer, another one each time, and
must be as near to float64 as can be proven. Where PyTorch is installed, the float64 answers are also compared with its
own. The exit status is 1 if any number is wrong, and the smallest such layer is printed.
"""

import argparse
import sys
import time
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from math import ceil
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from support.problems import conv_shapes, require_close

from helpers.activations import ACTIVATIONS
from helpers.convolution.operations import OPERATIONS
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Operation
from helpers.gradient_checks.harness import drawn, normal

EVERY = 100  # layers between two lines of progress


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


def main(words: list[str] | None = None) -> int:
    """Run the problems that were asked for; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(words)
    torch, begin, runs = find_spec("torch") is not None, time.monotonic(), Counter()

    quiet = {"deadline": None, "database": None, "suppress_health_check": [*HealthCheck]}

    @seed(options.seed)
    @settings(max_examples=ceil(options.count / len(OPERATIONS)), phases=[Phase.generate, Phase.shrink], **quiet)
    @given(conv_shapes(activations=ACTIVATIONS, general=True))
    def every_number_is_right(shape: ConvShape) -> None:
        for name, operation in OPERATIONS.items():
            versions = able(operation, shape)
            version = versions[runs[name] % len(versions)]
            require_close(operation.kernel(version), shape)
            runs[name] += 1
        if torch:
            judge_answers(shape)
        if runs["conv2d"] % EVERY == 0:
            print(f"{runs.total():,} problems, {time.monotonic() - begin:.0f} s", flush=True)

    try:
        every_number_is_right()
    except AssertionError as error:
        print(error, *getattr(error, "__notes__", []), sep="\n")
        return 1
    beside = "float64 and PyTorch" if torch else "float64 (PyTorch is not installed)"
    print(f"Right: {runs.total():,} problems on {runs['conv2d']:,} random layers, beside {beside}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
