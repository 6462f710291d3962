"""The line `cost` in every kernel's header: as many loads and multiply-adds as the simulator counts."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod
from typing import NamedTuple

import numpy as np
import pytest
from support.headers import Cost, costs, holds_for, letters, value
from support.problem_lists import by_name
from support.problems import EVERY_VERSION, GENERAL_VERSIONS, every_version, findings, parametrized, with_its
from support.sample import sample

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import drawn, operation_of, reports, simulated
from helpers.operations.kernels import load
from helpers.operations.operation import Operation, Shape
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.trace import Trace

# Problems in which every result costs the most: for the versions of an operation; for those whose tiles are full only
# in larger ones; and over the whole signature, for those that serve every layer.
FULL = {name: [*operation.examples] for name, operation in OPERATIONS.items()} | by_name("every result costs the most")
FULL_TILES, GENERAL = by_name("every result costs the most, tiles"), by_name("every result costs the most, any layer")
MOST_LOSE = "max_pool2d_backward"  # of which only a pixel that is larger than all around it costs the most
# Problems in which some cost less: a window reaches into the padding, or a pixel lies under fewer windows.
PARTIAL = by_name("some results cost less")
EVERY_STEP = ConvShape(3, 4, 5, 9, 6, 3, 2, (2, 3), (2, 1), (3, 2), 2)
SMALLER = {"THREADS": 64, "TILE": 8}  # the formulas hold for every value of the constants
KEYS = "loads_storage", "loads_workgroup", "multiply_adds"


class Measured(NamedTuple):
    """The counts of the simulator for one cost: the three numbers, and the trace of the first pass."""

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
        """The number of times that a workgroup waits at a barrier."""
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
    return [Measured(summed_counts(group), group[0]) for group in groups]


def summed_counts(traces: list[Trace]) -> tuple[int, ...]:
    """The three numbers of some passes, added up."""
    totals = dict.fromkeys(KEYS, 0)
    for trace in traces:
        for key in KEYS:
            totals[key] += trace.counts.total[key]
    return tuple(totals.values())


def problems(kernel: Kernel) -> list[tuple[Kernel, Shape]]:
    """The problems in which each result costs the most and the header's cost holds, with both values of constants."""
    kernels = dict.fromkeys([kernel, with_its(kernel, SMALLER)])
    shapes = (FULL_TILES.get(kernel.name) or FULL[operation_of(kernel).name]) + GENERAL.get(kernel.name, [])
    pairs = [pair for pair in product(kernels, shapes) if holds_for(*pair)]
    assert len(pairs) >= 2
    return sample(pairs, 1) if kernel.specialized else pairs


def results_of(operation: Operation, shape: Shape, cost: Cost) -> int:
    """The number of elements of the tensor of which the cost is that of one element."""
    return prod(shape.of(cost.result if cost.result in operation.tensors else operation.outputs[0]))


def stated_in_all(kernel: Kernel, shape: Shape, cost: Cost) -> list[Fraction]:
    """The costs, by the header, of all elements of a tensor together."""
    known = letters(kernel, shape)
    results = results_of(operation_of(kernel), shape, cost)
    return [value(formula, known) * results for formula in cost.formulas]


def require_cost(kernel: Kernel, shape: Shape, cost: Cost, got: Measured) -> None:
    """Raise AssertionError unless a result costs exactly what the header says."""
    known = letters(kernel, shape)
    operation = operation_of(kernel)
    wanted = stated_in_all(kernel, shape, cost)
    counts = list(got.counts)
    if operation.name == MOST_LOSE:
        counts[0] = results_of(operation, shape, cost) * got.most([0, 1])
    assert counts == wanted, f"{kernel.name}, {cost.result}: {counts} of {KEYS}, not {cost.formulas}"
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
            of_the_pass = got[min(i, steps - 1)]
            counts = tuple(np.subtract(of_the_pass.counts, np.sum(others, 0)))
            yield run, shape, cost, of_the_pass._replace(counts=counts)


def require_costs(kernel: Kernel) -> None:
    """Raise AssertionError unless the header is right about every problem."""
    for case in cases(kernel):
        require_cost(*case)


@parametrized(sample(EVERY_VERSION, 7))
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
        most = stated_in_all(kernel, shape, cost)
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


@parametrized(sample(GENERAL_VERSIONS, 8))
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


WRONG = (
    ("sum/3_two_passes", "G = min(ceil(n/THREADS), THREADS)", "G = min(ceil(n/THREADS), 1)"),
    ("sum/3_two_passes", "one thread has ceil(n/(G*THREADS))", "one thread has ceil(n/THREADS)"),
    ("sum/2_tree", "log2(THREADS) = 8 steps", "log2(THREADS) + 1 = 9 steps"),
    ("conv2d_grad_input/1_gather", "T = Co*ceil(kH/S)*ceil(kW/S)", "T = Co*ceil(kH*kW/S)"),
    ("gemm_bias_act_backward/1_thread_per_element", "2*M, 0, M where", "2*M, 0, K where"),
    ("gemm_bias_act/2_tiled", "where TILE divides M, K and N", "always"),
    ("conv2d_grad_bias/1_thread_per_channel", "global loads", "loads"),
    ("sum/1_one_thread", "n global loads", "__import__('os') global loads"),
    ("sum/1_one_thread", "n global loads", "n**9 global loads"),
)


@pytest.mark.parametrize(("name", "old", "new"), WRONG)
def test_a_wrong_header_is_noticed(name, old, new):
    with pytest.raises(AssertionError, match=r"not \(|has|steps|no global loads|no formula"):
        require_costs(load(name).edit(old, new))
