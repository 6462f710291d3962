"""The line `cost` in every kernel's header: as many loads and multiply-adds as the simulator counts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from support.headers import Cost, costs, holds_for, letters, value
from support.problems import every_general_version, every_version, findings, with_its
from support.sample import sample

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Operation, Shape
from helpers.gradient_checks.harness import drawn, operation_of, reports, simulated
from helpers.kernels import load
from helpers.network.shapes import PoolShape
from helpers.operations import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.trace import Trace

CONVOLUTIONS = [ConvShape(2, 3, 9, 8, 5, 4, 1), ConvShape(1, 2, 19, 31, 4, 5, 3, 2)]
BOTH = {"activation": "relu", "b_per_item": True, "per_item": True}
LAYERS = [  # the first two have partial tiles only, the next two full ones of 8 x 8
    GemmShape(5, 7, 6, 3),
    GemmShape(9, 4, 7, 2, **BOTH),
    GemmShape(8, 24, 16, 3),
    GemmShape(24, 8, 16, 2, **BOTH),
    GemmShape(16, 48, 32, 2),
]
# Problems in which every result costs the most.
BROAD = ConvShape(1, 2, 16, 32, 5, 4, 1, 1, (3, 0))
FULL = {name: [*operation.examples] for name, operation in OPERATIONS.items()} | {
    "conv2d": CONVOLUTIONS,
    "conv2d_grad_weight": CONVOLUTIONS,
    "conv2d_grad_input": [BROAD, ConvShape(1, 3, 32, 16, 5, 2, 4, 2, (1, 3))],
    "conv2d_grad_bias": CONVOLUTIONS,
    "gemm_bias_act": LAYERS,
    "gemm_bias_act_backward": LAYERS,
    "max_pool2d": [PoolShape(2, 3, 9, 8, (4, 1)), PoolShape(1, 2, 9, 7, (2, 3), (1, 2))],
    "max_pool2d_backward": [PoolShape(2, 3, 9, 8, (3, 2), (2, 1)), PoolShape(1, 2, 9, 8, (2, 3), (1, 2))],
    "avg_pool2d": [PoolShape(2, 3, 9, 8, (4, 1)), PoolShape(1, 2, 9, 7, (2, 3), (1, 2))],
    "avg_pool2d_backward": [PoolShape(2, 3, 8, 6, 2, 1, 1), PoolShape(1, 2, 6, 8, 4, 2, 2)],
}
MOST_LOSE = "max_pool2d_backward"  # of which only a pixel that is larger than all around it costs the most
# The same for the versions whose tiles are full only in larger problems.
TILES = [GemmShape(128, 32, 128), GemmShape(64, 48, 128, 2, "relu", b_per_item=True)]
FULL_TILES: dict[str, list[Shape]] = {
    "gemm_bias_act/3_register_tiles": [GemmShape(128, 32, 128), GemmShape(256, 48, 128, 2, "relu")],
    "gemm_bias_act/4_vec4_tiles": TILES,
    "gemm_bias_act/5_prefetch": TILES,
    "gemm_bias_act_backward/3_register_tiles": [GemmShape(128, 64, 192), GemmShape(64, 128, 64, 2, **BOTH)],
    "gemm_bias_act/7_deep_tiles": [GemmShape(8, 132, 24), GemmShape(8, 7, 16, 2, **BOTH), GemmShape(4, 24, 8, 4)],
    "gemm_bias_act_backward/5_deep_tiles": [
        GemmShape(12, 24, 16, 2),
        GemmShape(24, 8, 24, 3, **BOTH),
        GemmShape(8, 40, 32, 3, b_per_item=True),
    ],
    "gemm_bias_act/6_registers_only": [GemmShape(8, 24, 16), GemmShape(8, 16, 64, 2, "relu")],
    "gemm_bias_act_backward/4_registers_only": [
        GemmShape(8, 48, 32),
        GemmShape(8, 16, 64, 2, **BOTH),
        GemmShape(8, 32, 64, 2),
    ],
    "conv2d/2_implicit_gemm": [ConvShape(2, 16, 8, 8, 64, 1, 1), ConvShape(2, 16, 9, 8, 64, 2, 1, activation="relu")],
    "conv2d_grad_input/3_implicit_gemm": [ConvShape(2, 64, 8, 8, 16, 1, 1), ConvShape(2, 64, 8, 8, 16, 2, 1)],
    "conv2d_grad_input/4_residue_classes": [
        ConvShape(2, 64, 16, 16, 16, 2, 2, 2),
        ConvShape(2, 64, 24, 24, 16, 3, 3, 3),
    ],
    "conv2d/4_register_windows": [ConvShape(2, 3, 9, 8, 4, 2, 1), ConvShape(1, 2, 6, 14, 6, 4, 3, activation="relu")],
    "conv2d_grad_input/6_register_windows": [BROAD, ConvShape(1, 3, 32, 16, 5, 2, 4, 1, (1, 3))],
    "conv2d_grad_input/7_split_channels": [BROAD, ConvShape(1, 3, 32, 16, 4, 2, 5, 1, (1, 2))],
    "conv2d_grad_weight/3_split_k": [ConvShape(1, 128, 4, 4, 64, 1, 1), ConvShape(1, 64, 5, 8, 64, 2, 1)],
    "conv2d_grad_weight/5_register_windows": [
        ConvShape(2, 4, 6, 10, 8, 3, 3),
        ConvShape(1, 3, 7, 9, 4, 2, 6),
        ConvShape(2, 8, 9, 7, 4, 3, 1, 2),
    ],
    "conv2d_grad_weight/6_filter_rows": [ConvShape(2, 3, 6, 8, 5, 2, 5), ConvShape(3, 2, 9, 14, 4, 4, 3)],
    "conv2d/3_winograd": [
        ConvShape(16, 16, 18, 18, 64, 3, 3),
        ConvShape(4, 32, 34, 34, 64, 3, 3, activation="relu"),
    ],
    "conv2d_grad_weight/4_winograd": [ConvShape(1, 64, 18, 18, 64, 3, 3), ConvShape(4, 64, 10, 18, 64, 3, 3)],
    "conv2d_grad_input/5_winograd": [
        ConvShape(4, 64, 32, 32, 16, 3, 3, 1, 2),
        ConvShape(16, 64, 16, 16, 32, 3, 3, 1, 2),
    ],
}
# Layers over the whole signature in which every result costs the most, for the versions that serve every layer.
DILATED = ConvShape(2, 4, 9, 8, 6, 3, 2, (2, 1), 0, (1, 3), 2)
GENERAL: dict[str, list[Shape]] = {
    "conv2d/5_direct": [DILATED, ConvShape(3, 5, 7, 8, 10, 3, 3, groups=5)],
    "conv2d_grad_weight/7_direct": [
        DILATED,
        ConvShape(3, 5, 9, 12, 10, 3, 3, 1, 0, (2, 3), 5),
        ConvShape(2, 2, 9, 8, 4, 4, 3, (1, 2), groups=2),
    ],
    "conv2d_grad_input/8_direct": [
        ConvShape(2, 4, 8, 12, 6, 2, 4, (1, 2), (2, 9), (2, 3), 2),
        ConvShape(3, 4, 16, 8, 8, 3, 3, 1, 2, groups=4),
    ],
}
# Problems in which some cost less: a window reaches into the padding, or a pixel lies under fewer windows.
PADDED = [ConvShape(1, 2, 6, 7, 4, 3, 5, 2, (1, 4))]
POOLS = [PoolShape(1, 2, 6, 7, (3, 4), (2, 1), (1, 2))]
PARTIAL = {
    **{f"{kind}_pool2d{way}": POOLS for kind in ("max", "avg") for way in ("", "_backward")},
    "conv2d": PADDED,
    "conv2d_grad_weight": PADDED,
    "conv2d_grad_input": [ConvShape(1, 2, 16, 32, 3, 4, 3), ConvShape(1, 2, 32, 16, 4, 3, 5, 2, (1, 0))],
}
EVERY_STEP = ConvShape(3, 4, 5, 9, 6, 3, 2, (2, 3), (2, 1), (3, 2), 2)
SMALLER = {"THREADS": 64, "TILE": 8}  # the formulas hold for every value of the constants
KEYS = "loads_storage", "loads_workgroup", "multiply_adds"


class Measured(NamedTuple):
    """What the simulator counted for one cost: the three numbers, and the trace of the first pass."""

    counts: tuple[int, ...]
    first: Trace

    @property
    def share(self) -> int:
        """The most that one thread loads from the first buffer."""
        return self.most([0])

    def most(self, bindings: Sequence[int]) -> int:
        """The most that one thread loads from these buffers."""
        accesses = self.first.accesses
        loads = accesses[np.isin(accesses["binding"], bindings) & ~accesses["write"]]
        return max(np.unique(loads[["workgroup", "invocation"]], return_counts=True)[1])

    @property
    def steps(self) -> int:
        """How often a workgroup waits at a barrier."""
        return self.first.counts.total["barriers"] // prod(self.first.workgroups)


@cache
def measured(kernel: Kernel, shape: Shape, passes: int) -> list[Measured]:
    """The measured cost of each pass, or of all together."""
    tensors = drawn(operation_of(kernel), shape)
    outputs, traces = simulated(kernel, shape, tensors)
    assert not findings(traces)
    for report in reports(kernel, shape, tensors, outputs):
        report.require()
    groups = [[trace] for trace in traces] if passes > 1 else [traces]
    counts = [tuple(sum(trace.counts.total[key] for trace in group) for key in KEYS) for group in groups]
    return [Measured(*pair) for pair in zip(counts, (group[0] for group in groups), strict=True)]


def problems(kernel: Kernel) -> list[tuple[Kernel, Shape]]:
    """The problems in which each result costs the most and the header's cost holds, with both values of constants."""
    kernels = dict.fromkeys([kernel, with_its(kernel, SMALLER)])
    shapes = (FULL_TILES.get(kernel.name) or FULL[operation_of(kernel).name]) + GENERAL.get(kernel.name, [])
    found = [(k, s) for k in kernels for s in shapes if holds_for(k, s)]
    assert len(found) >= 2
    return sample(found, 1) if kernel.specialized else found


def results_of(operation: Operation, shape: Shape, cost: Cost) -> int:
    """How many elements the tensor has of which the cost is that of one element."""
    return prod(shape.of(cost.of if cost.of in operation.tensors else operation.outputs[0]))


def stated_in_all(kernel: Kernel, shape: Shape, cost: Cost) -> list[Fraction]:
    """What the header says of all elements of a tensor together."""
    known, results = letters(kernel, shape), results_of(operation_of(kernel), shape, cost)
    return [value(formula, known) * results for formula in cost.formulas]


def require_cost(kernel: Kernel, shape: Shape, cost: Cost, got: Measured) -> None:
    """Raise AssertionError unless a result costs exactly what the header says."""
    known, operation, wanted = letters(kernel, shape), operation_of(kernel), stated_in_all(kernel, shape, cost)
    results = results_of(operation, shape, cost)
    counts = [results * got.most([0, 1]), *got.counts[1:]] if operation.name == MOST_LOSE else list(got.counts)
    assert counts == wanted, f"{kernel.name}, {cost.of}: {counts} of {KEYS}, not {cost.formulas}"
    if cost.share:
        assert got.share == value(cost.share, known), f"{kernel.name}: one thread has {got.share}"
    if cost.steps:
        assert got.steps == value(cost.steps[0], known), f"{kernel.name}: {got.steps} steps"


def cases(kernel: Kernel) -> Iterator[tuple[Kernel, Shape, Cost, Measured]]:
    """Every cost that the header states, with what was measured; large texts, which are slow to run, in one problem."""
    every = problems(kernel)
    for run, shape in sample(every, 1) if kernel.specialized else every:
        stated = costs(run, getattr(shape, "per_item", False))
        steps = len(operation_of(run).scheduled(shape, run)[1].steps) if len(stated) > 1 else 1
        got = measured(run, shape, steps)
        for i, cost in enumerate(stated):
            # The last pass computes what all further rows are about: of it, the other rows' costs are taken off.
            rows = [i] if i < steps - 1 else range(steps - 1, len(stated))
            others = [stated_in_all(run, shape, stated[row]) for row in rows if row != i]
            own = got[min(i, steps - 1)]
            yield run, shape, cost, own._replace(counts=tuple(np.subtract(own.counts, np.sum(others, 0))))


def require_costs(kernel: Kernel) -> None:
    """Raise AssertionError unless the header is right about every problem."""
    for case in cases(kernel):
        require_cost(*case)


@every_version
def test_the_cost_in_the_header_is_what_is_counted(kernel):
    require_costs(kernel)
    for cost in costs(kernel):
        if cost.steps:
            assert value(cost.steps[0], letters(kernel, problems(kernel)[0][1])) == int(cost.steps[1])


@every_version
def test_at_most_is_said_where_some_results_cost_less(kernel):
    partial = [] if kernel.name in FULL_TILES else PARTIAL.get(operation_of(kernel).name, [])  # tiles cost the same
    for shape in [*partial, *([EVERY_STEP] if kernel.name in GENERAL else [])]:
        (cost,), (got,) = costs(kernel), measured(kernel, shape, 1)
        known, results = letters(kernel, shape), prod(shape.of(operation_of(kernel).outputs[0]))
        most = [value(formula, known) * results for formula in cost.formulas]
        assert cost.at_most
        assert all(count <= limit for count, limit in zip(got.counts, most, strict=True))
        assert got.counts[0] < most[0]
        assert got.counts[2] < most[2] or not most[2]  # pooling multiplies nothing
    assert any(cost.at_most for cost in costs(kernel)) == bool(partial)


# --- The checks above can fail --------------------------------------------------------------------------

TERM = re.compile(r"\b(?:\d+|[A-Za-z]\w*)\b(?!\()")  # a number or a letter


def changed(cost: Cost) -> Iterator[Cost]:
    """A cost with one number or letter of one formula replaced by one more."""
    for i, formula in enumerate(cost.formulas):
        for term in TERM.finditer(formula):
            wrong = f"{formula[: term.start()]}({term[0]} + 1){formula[term.end() :]}"
            yield replace(cost, formulas=(*cost.formulas[:i], wrong, *cost.formulas[i + 1 :]))


@every_general_version
def test_every_wrong_number_in_a_formula_is_noticed(kernel):
    missed: dict[Cost, bool] = {}
    for run, shape, cost, got in cases(kernel):
        for wrong in changed(cost):
            try:
                require_cost(run, shape, wrong, got)
                missed.setdefault(wrong, True)
            except AssertionError:
                missed[wrong] = False
    assert len(missed) >= 3
    assert [wrong for wrong, unnoticed in missed.items() if unnoticed] == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("sum/3_two_passes", "G = min(ceil(n/THREADS), THREADS)", "G = min(ceil(n/THREADS), 1)"),
        ("sum/3_two_passes", "one thread has ceil(n/(G*THREADS))", "one thread has ceil(n/THREADS)"),
        ("sum/2_tree", "log2(THREADS) = 8 steps", "log2(THREADS) + 1 = 9 steps"),
        ("conv2d_grad_input/1_gather", "T = Co*ceil(kH/S)*ceil(kW/S)", "T = Co*ceil(kH*kW/S)"),
        ("gemm_bias_act_backward/1_thread_per_element", "2*M, 0, M where", "2*M, 0, K where"),
        ("gemm_bias_act/2_tiled", "where TILE divides M, K and N", "always"),
        ("conv2d_grad_bias/1_thread_per_channel", "global loads", "loads"),
        ("sum/1_one_thread", "n global loads", "__import__('os') global loads"),
        ("sum/1_one_thread", "n global loads", "n**9 global loads"),
    ],
)
def test_a_wrong_header_is_noticed(name, old, new):
    with pytest.raises(AssertionError, match=r"not \(|has|steps|no global loads|no formula"):
        require_costs(load(*name.split("/")).edit(old, new))
