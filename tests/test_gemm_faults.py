"""A zoo of wrong layers that look right: one small case of the tests catches each, and accuses no right one."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from gemm_problems import (
    BACKWARD_KERNEL,
    EXTREMES,
    FORWARD_KERNEL,
    Data,
    backward,
    bias_alone,
    drawn,
    forward_report,
    require_backward,
)

from helpers.gemm import GemmShape


@dataclass(frozen=True)
class Case:
    """One launch of the tests: its tensors, activation, and whether d_b is per item."""

    data: Data
    activation: str
    per_item: bool = False


ODD = GemmShape(5, 20, 37, 3)  # no two sizes are equal, no tile is full, one, two and three tiles
CASES = {
    "odd": Case(drawn(ODD), "relu"),
    "odd, none": Case(drawn(ODD), "none"),
    "own b": Case(drawn(GemmShape(5, 20, 37, 3, True)), "relu"),
    "per item": Case(drawn(GemmShape(5, 20, 37, 3, True, True)), "relu", True),
    "N over 256": Case(drawn(GemmShape(2, 3, 300)), "none"),
    "M over a tile": Case(drawn(GemmShape(35, 3, 4)), "none"),
    **{name: Case(bias_alone(EXTREMES), name) for name in ("relu", "gelu", "silu", "sigmoid", "tanh")},
}


@dataclass(frozen=True)
class Fault:
    """`old` becomes `new` in a kernel; the case of this name shows it."""

    name: str
    case: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.name} ({self.case})"


BACKWARD_FAULTS = [
    Fault("bias forgotten", "odd", "slope(pre + bias[n])", "slope(pre)"),
    Fault("upstream gradient forgotten", "odd", "grad[at] * finite", "finite"),
    Fault("slope forgotten", "odd", "* finite_or_0(slope(pre + bias[n]))", ""),
    Fault("relu has slope 1 at 0", "relu", "select(0.0, 1.0, x > 0.0); }    //", "select(0.0, 1.0, x >= 0.0); }  //"),
    Fault("gelu overflows", "gelu", "clamp(x, -11.0, 11.0)", "x"),
    Fault("gelu is cut too early", "gelu", "clamp(x, -11.0, 11.0)", "clamp(x, -4.0, 4.0)"),
    Fault("gelu's cube loses its factor", "gelu", "3.0 * CUBE", "CUBE"),
    Fault("gelu without the product rule", "gelu", "(1.0 + t * dz * sigmoid(-z))", "1.0"),
    Fault("silu without its x", "silu", "(1.0 + t * sigmoid(-t))", "(1.0 + sigmoid(-t))"),
    Fault("silu is sigmoid", "silu", "sigmoid(t) * (1.0 + t * sigmoid(-t))", "sigmoid(t)"),
    Fault("sigmoid's difference cancels", "sigmoid", "sigmoid(x) * sigmoid(-x)", "sigmoid(x) * (1.0 - sigmoid(x))"),
    Fault("sigmoid mirrored", "silu", "exp(-abs(x))", "exp(abs(x))"),
    Fault("tanh at half its argument", "tanh", "sigmoid(2.0 * t) * sigmoid(-2.0 * t)", "sigmoid(t) * sigmoid(-t)"),
    Fault("activations counted from 1", "odd", "case 1u", "case 0u"),
    Fault("last tile of k left out", "odd", "first < params.k;", "first + TILE <= params.k;"),
    Fault("d_a walks along k", "odd", "first < params.n;", "first < params.k;"),
    Fault("d_a with b, not its transpose", "odd", "right[local.x * TILE + local.y]", "right[local.y * TILE + local.x]"),
    Fault("d_b with a, not its transpose", "odd", "left[local.x * TILE + local.y]", "left[local.y * TILE + local.x]"),
    Fault("d_b of the first rows only", "M over a tile", "first < params.m;", "first < TILE;"),
    Fault("d_b of item 0 only", "odd", "select(params.batch_size, ", "select(1u, "),
    Fault("d_b from item 0's a", "odd", "read_a(item, first + local.y, load_k)", "read_a(0u, first + local.y, load_k)"),
    Fault("every item adds up all", "per item", "params.d_b_stride != 0u", "false"),
    Fault("every item writes item 0's d_b", "per item", "group.z * params.d_b_stride + ", ""),
    Fault("every item reads item 0's b", "own b", "item * params.b_stride + ", ""),
    Fault("d_bias of item 0 only", "odd", "params.batch_size * params.m", "params.m"),
    Fault("d_bias of the first 256 columns", "N over 256", "let n = global.x;", "let n = global.x % 256u;"),
    Fault("d_a writes past the end", "odd", "m < params.m && k < params.k) {\n    d_a", "k < params.k) {\n    d_a"),
    Fault("d_b writes past its row", "odd", "k < params.k && n < params.n) {\n    d_b", "k < params.k) {\n    d_b"),
    Fault("d_bias writes past the end", "odd", "if (n >= params.n) {", "if (n > params.n) {"),
]
FORWARD_FAULTS = [
    Fault("bias forgotten", "odd", "activate(pre + bias[n])", "activate(pre)"),
    Fault("activation forgotten", "odd", "activate(pre + bias[n])", "pre + bias[n]"),
    Fault("last tile of k left out", "odd", "first < params.k;", "first + TILE <= params.k;"),
    Fault("every item reads item 0's b", "own b", "item * params.b_stride + ", ""),
    Fault("writes past its row", "odd", "if (m < params.m && n < params.n) {", "if (m < params.m) {"),
    Fault("gelu is cut from below at -3", "gelu", "clamp(x, -11.0, 11.0)", "clamp(x, -3.0, 11.0)"),
    Fault("silu is swish of 1.702", "silu", "sigmoid(x); }      // silu", "sigmoid(1.702 * x); }  // silu"),
    Fault("sigmoid mirrored", "sigmoid", "exp(-abs(x))", "exp(abs(x))"),
    Fault("tanh at half its argument", "tanh", "sigmoid(2.0 * t) - sigmoid(-2.0 * t)", "sigmoid(t) - sigmoid(-t)"),
    Fault("tanh's series too far out", "tanh", "abs(t) < 0.1", "abs(t) < 2.0"),
]


def accused(judge: Callable[..., None], fault: Fault, kernel) -> None:
    """Bring the right kernel, then the wrong one, before the judge of the tests."""
    case = CASES[fault.case]
    judge(case, kernel)
    with pytest.raises(AssertionError):
        judge(case, kernel.edit(fault.old, fault.new))


def judge_backward(case: Case, kernel) -> None:
    require_backward(case.data, case.activation, case.per_item, kernel)


def judge_forward(case: Case, kernel) -> None:
    forward_report(case.data, case.activation, kernel).require()


@pytest.mark.parametrize("fault", BACKWARD_FAULTS, ids=str)
def test_a_planted_fault_of_the_backward_passes_is_caught(fault):
    accused(judge_backward, fault, BACKWARD_KERNEL)


@pytest.mark.parametrize("fault", FORWARD_FAULTS, ids=str)
def test_a_planted_fault_of_the_forward_pass_is_caught(fault):
    accused(judge_forward, fault, FORWARD_KERNEL)


# --- What only shows where a number is not finite -----------------------------------------------------------


@pytest.mark.parametrize("bits", ["0x7f800000u", "0xff800000u", "0x7fc00000u"], ids=["inf", "-inf", "nan"])
def test_a_slope_that_is_not_finite_counts_as_zero(bits):
    """Adapters differ in whether one arises: some take the NaN of inf - inf for a number. So one is put there."""
    infinite = BACKWARD_KERNEL.edit("slope(pre + bias[n])", f"bitcast<f32>({bits} + params.unused)")
    unguarded = infinite.edit("select(0.0, x, finite)", "x")
    ones = bias_alone(np.zeros(1))
    assert backward(ones, "none", kernel=infinite)[2] == 0
    assert not np.isfinite(backward(ones, "none", kernel=unguarded)[2])


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_a_pre_activation_that_is_not_a_number_has_slope_zero(activation):
    """Two products that overflow in opposite directions."""
    data = bias_alone(np.zeros(1)) | {"a": np.full((1, 1, 2), 3e38, np.float32), "b": np.float32([[3e38], [-3e38]])}
    assert backward(data, activation)[2] == 0


def test_a_read_past_the_right_edge_would_be_seen():
    """It meets a zero of the other tile: nothing happens, until what lies there is not a number."""
    data = drawn(GemmShape(2, 3, 4))
    data["b"][1, 0] = np.nan  # row 0 of b ends just before it
    careless = BACKWARD_KERNEL.edit("if (k < params.k && n < params.n) { return b", "if (k < params.k) { return b")
    assert np.isfinite(backward(data, "none")[0][..., 0]).all()
    assert np.isnan(backward(data, "none", kernel=careless)[0][..., 0]).all()
