"""The wrong kernels: the checker rejects each for the reasons that its row states, and accepts every right one."""

import random
import re
from itertools import chain

import numpy as np
import pytest
from support.kernel_faults import WRONG_KERNELS
from support.messages import stored
from support.problems import EVERY_VERSION, every_version
from support.sample import ALL, sample
from support.speakers import rejected

from helpers.checks.report import CheckError
from helpers.grading.test_run import GRAVEST_FIRST
from helpers.lessons.shared.wrong_kernel_shapes import STRIDE_1
from helpers.lessons.shared.wrong_kernels import INPUT_2, NUMBERS, RACE, WEIGHT_1, WrongKernel
from helpers.operations import checker
from helpers.operations.checker import check, given
from helpers.operations.convolution import operations
from helpers.operations.convolution.schedules import conv2d_grad_input
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import bias_alone
from helpers.operations.harness import drawn, launched, reports
from helpers.operations.kernels import load
from wgsl import Kernel
from wgsl.simulator.findings import KINDS

ORDER = {"data race", "overlapping writes", "non-uniform barrier", "endless loop"}  # no numbers show these for sure
BACK_1, BACK_2 = "gemm_bias_act_backward/1_thread_per_element", "gemm_bias_act_backward/2_tiled"


def named(name: str) -> WrongKernel:
    """The row with this name."""
    return next(row for row in WRONG_KERNELS if str(row) == name)


def covering(rows: list[WrongKernel], first: list[WrongKernel]) -> list[WrongKernel]:
    """The first rows, and others until each version and each reason has one, always the same; all with `--all`."""
    rest = [row for row in rows if row not in first]
    if ALL:
        return [*first, *rest]
    kept = [*first]
    covered = set().union(*map(names_of, first))
    for row in random.Random(20).sample(rest, len(rest)):
        if not names_of(row) <= covered:
            kept.append(row)
            covered |= names_of(row)
    return kept


def names_of(row: WrongKernel) -> set[str]:
    """The version and the reasons of a row."""
    return {row.kernel, *row.reasons}


RACES = {row.kernel: row for row in WRONG_KERNELS if row.reasons == RACE}  # a missing barrier, of each that has one
BY_DAY = [row for row in WRONG_KERNELS if ALL or not row.right.specialized]
TRIED = covering(BY_DAY, sample(RACES.values(), 8))


# --- The checker ------------------------------------------------------------------------------------------------


FOUND_HERE = {*GRAVEST_FIRST} - {"lost update", "undefined lane"}  # no kernel has atomics or subgroups


def test_every_finding_has_a_rank():
    assert {*GRAVEST_FIRST} == {*KINDS}


STORED = {f"{heading}: {text}": message for _, heading, text, message in stored("wrong_kernels")}


@pytest.mark.parametrize("row", TRIED, ids=str)
def test_a_wrong_kernel_is_rejected_for_its_reasons_where_they_are(row):
    """Without an adapter. The message about each reason, with its lines, is stored."""
    kinds, message = rejected(row)
    assert kinds == {*row.reasons}
    assert str(row) not in STORED or message == STORED[str(row)]


def test_a_missing_barrier_of_each_version_and_every_reason_are_stored():
    assert {*map(str, RACES.values())} <= {*STORED}
    stored_reasons = chain.from_iterable(row.reasons for row in WRONG_KERNELS if str(row) in STORED)
    assert {*stored_reasons} >= FOUND_HERE


# A driver takes a second to compile a specialized text, anew for each problem: of these, the first one.
GENERAL = dict.fromkeys((row.right, row.shape) for row in WRONG_KERNELS if not row.right.specialized)
FIRST = {row.kernel: (row.right, row.shape) for row in reversed(WRONG_KERNELS) if row.right.specialized}


ACCEPTED = [*sample(GENERAL, 4), *sample(FIRST.values(), 1)]


@pytest.mark.parametrize(("kernel", "shape"), ACCEPTED, ids=[f"{kernel.name}: {shape}" for kernel, shape in ACCEPTED])
def test_the_right_kernel_is_accepted_on_the_same_problem(kernel, shape):
    assert check(kernel, shape), check(kernel, shape)


@pytest.mark.parametrize("changed", [{"new": "n < params.batch"}, {"reasons": RACE}, {"reasons": NUMBERS + RACE}])
def test_an_accepted_wrong_kernel_or_another_reason_is_noticed(changed):
    row = named(f"{WEIGHT_1}: batch not summed")._replace(**changed)
    assert rejected(row)[0] != {*row.reasons}


@pytest.mark.parametrize(
    ("version", "ends"), [("conv2d_grad_bias/1_thread_per_channel", 0), ("conv2d/4_register_windows", 1)]
)
def test_a_gradient_is_tried_as_if_there_were_no_activation(version, ends):
    kernel = load(version)
    acting = ConvShape(1, 1, 1, 2, 2, 1, 1, activation="gelu")
    assert sum("ends of float32" in case.name for case in given(kernel, acting)) == ends
    assert check(kernel, acting)


# --- The table --------------------------------------------------------------------------------------------------


def test_every_version_and_every_reason_has_a_row_and_no_two_have_one_name():
    assert {row.kernel for row in WRONG_KERNELS} == {kernel.name for kernel in EVERY_VERSION}
    assert {*chain.from_iterable(row.reasons for row in WRONG_KERNELS)} == {"wrong numbers", *FOUND_HERE}
    assert len(set(map(str, WRONG_KERNELS))) == len(WRONG_KERNELS)


def plain(kernel: Kernel) -> str:
    """A kernel's code without blanks."""
    return re.sub(r"\s+", "", kernel.code)


@every_version
def test_every_barrier_is_missing_in_a_row(kernel):
    rows = [row for row in WRONG_KERNELS if row.kernel == kernel.name]
    wrong = {plain(row.wrong): row.reasons for row in rows}
    code = plain(rows[0].right)
    for barrier in re.finditer(r"workgroupBarrier\(\);", code):
        assert wrong[code[: barrier.start()] + code[barrier.end() :]] == ("data race",)


# --- Without a simulator ----------------------------------------------------------------------------------------

# Nothing comes of these reads and writes: no guard is where they are made, a compiler may take 0 * x for 0, or they
# reach only sums that are never written.
UNSEEN = {
    "gemm_bias_act/1_thread_per_element: 0 times what was there added",
    "conv2d_grad_input/2_shared_weights: weights past the filter loaded",
    "sum/3_two_passes: parts read past the end",
    "conv2d_grad_weight/5_register_windows: channels past the end",
    "gemm_bias_act_backward/1_thread_per_element: no guard in grad_pre",
    "gemm_bias_act/3_register_tiles: reads past the last row of a",
    "gemm_bias_act/4_vec4_tiles: reads past the last row of a",
    "gemm_bias_act/5_prefetch: reads past the last row of a",
    "gemm_bias_act/6_registers_only: reads past the last row of a",
    "gemm_bias_act/7_deep_tiles: reads past the last row of a",
    "gemm_bias_act_backward/3_register_tiles: d_bias reads past the last column",
}
NUMERIC = [row for row in WRONG_KERNELS if not (ORDER | {"not portable"}) & set(row.reasons) and str(row) not in UNSEEN]


def right_on_the_adapter(kernel: Kernel, shape: object) -> bool:
    """The verdict of numbers alone, with guards around them."""
    try:
        outputs = [launched(kernel, *case[1:]) for case in given(kernel, shape)]
    except CheckError:
        return False
    judged = zip(given(kernel, shape), outputs, strict=True)
    return all(all(reports(kernel, case.shape, case.tensors, got)) for case, got in judged)


@pytest.mark.parametrize("row", covering(NUMERIC, []), ids=str)
def test_the_adapter_shows_what_has_to_do_with_numbers_and_bounds(row):
    assert not right_on_the_adapter(row.wrong, row.shape)


def test_only_a_guard_shows_a_read_past_the_end_of_an_input():
    row = named(f"{WEIGHT_1}: one image too many")
    tensors = drawn(operations.GRAD_WEIGHT, STRIDE_1)
    (right,) = operations.GRAD_WEIGHT.right(STRIDE_1, tensors)
    (unseen,) = launched(row.wrong, STRIDE_1, tensors, guard=0)
    assert np.array_equal(unseen, right)


# --- What the checker says --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("batch not summed", "number [0, 0, 0, 0] is "),
        ("writes past the end", "grad_weight is written past its end, first at number 72: it has 72 numbers"),
    ],
)
def test_what_is_right_only_in_a_simulated_run_is_rejected_for_this_adapter(mistake, message, monkeypatch):
    row = named(f"{WEIGHT_1}: {mistake}")
    monkeypatch.setattr(checker, "launched", lambda kernel, *arguments: launched(row.wrong, *arguments))
    (reason,) = check(row.right, row.shape).reasons
    assert reason.kind == "wrong on this adapter"
    assert reason.message.startswith(message)


# --- What needs more than a row ---------------------------------------------------------------------------------

EACH_PLANE, RESET = "for (var plane = workgroup.z;", "    var sum = 0.0;\n"


@pytest.mark.parametrize(
    "edits",
    [{"plane += grid.z": "plane += 100u"}, {RESET: "", EACH_PLANE: f"var sum = 0.0;\n  {EACH_PLANE}"}],
    ids=["planes skipped", "sum not reset"],
)
def test_mistakes_with_planes_beyond_the_last_layer_of_a_dispatch(monkeypatch, edits):
    monkeypatch.setattr(conv2d_grad_input, "MAX_WORKGROUPS", 4)  # with 65,535, no problem would be small enough
    shape = ConvShape(2, 3, 4, 5, 2, 3, 2, 2, (1, 2))  # no other test plans this one
    wrong = right = load(INPUT_2).with_constants(TILE=4)
    for edit in edits.items():
        wrong = wrong.edit(*edit)
    assert check(right, shape)
    assert "wrong numbers" in check(wrong, shape).kinds


@pytest.mark.parametrize("bits", ["0x7f800000u", "0xff800000u", "0x7fc00000u"], ids=["inf", "-inf", "nan"])
@pytest.mark.parametrize("version", [BACK_1, BACK_2])
def test_a_derivative_that_is_not_finite_counts_as_zero(version, bits):
    """Adapters differ in whether one arises: some take the NaN of inf - inf for a number. So one is put there."""
    kernel, (shape, tensors) = load(version), bias_alone(np.zeros(1), "none")
    infinite = kernel.edit("finite_or_0(derivative(", f"finite_or_0(bitcast<f32>({bits} + params.unused) * (")
    unguarded = infinite.edit("select(0.0, x, finite)", "x")
    assert launched(infinite, shape, tensors)[2] == 0
    assert not np.isfinite(launched(unguarded, shape, tensors)[2])
