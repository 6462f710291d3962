"""NaN and infinity: every operation passes them on as PyTorch does, in each version, on the adapter and simulated.

The results that are expected, here and in support/special_numbers.py, are numbers by PyTorch's rules; test_torch.py
compares some of them with PyTorch itself.
The glossary lists where a result differs from PyTorch's.
"""

import re

import numpy as np
import pytest
from support.headers import header
from support.notebook_gate import NOTEBOOKS
from support.problems import EVERY_VERSION, fitted, kind_of, parametrized
from support.sample import ALL, sample
from support.special_numbers import INF, NAN, pools, require, rows

import helpers
from helpers.network.layers import Conv2d, Linear
from helpers.network.network import Network
from helpers.network.training import Training
from helpers.operations.activations import ACTIVATIONS, act, derivative
from helpers.operations.convolution.reference import conv2d_loops
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape, bias_alone
from helpers.operations.harness import Array, Tensors, conv_bias_alone, drawn, launched, ones, operation_of
from helpers.operations.kernels import load
from helpers.operations.network import reference
from helpers.operations.network.shapes import ElementShape, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel

SPECIAL = np.float32([NAN, INF, -INF])
GLOSSARY = (NOTEBOOKS / "glossary.ipynb").read_text(encoding="utf-8")


# --- Activations ------------------------------------------------------------------------------------------

# At NaN, infinity and -infinity. (PyTorch computes GELU and SiLU of -infinity as -infinity times 0, which is NaN.)
OUTPUTS = {
    "none": (NAN, INF, -INF),
    "relu": (NAN, INF, 0),
    "gelu": (NAN, INF, 0),
    "silu": (NAN, INF, 0),
    "sigmoid": (NAN, 1, 0),
    "tanh": (NAN, 1, -1),
}
# A derivative that is not finite counts as 0.
DERIVATIVES = {
    "none": (1, 1, 1),
    "relu": (0, 1, 0),
    "gelu": (0, 1, 0),
    "silu": (0, 1, 0),
    "sigmoid": (0, 0, 0),
    "tanh": (0, 0, 0),
}
# All have the same text for it (test_kernel_files).
ACTIVATED = [kernel for kernel in EVERY_VERSION if "fn activate" in kernel.code]
DERIVED = [kernel for kernel in EVERY_VERSION if "fn derivative" in kernel.code]
SOME_ACTIVATED = [load("gemm_bias_act", "1_thread_per_element"), load("conv2d", "5_direct")]
every_activation = pytest.mark.parametrize("activation", ACTIVATIONS)


def layer_of(kernel: Kernel, pre: Array, activation: str) -> tuple[Shape, Tensors]:
    """A layer that the version takes, whose pre-activations are exactly `pre`, some of them again or left out."""
    if kind_of(kernel) is ConvShape:
        return conv_bias_alone(pre, activation)
    shape = fitted(kernel, bias_alone(pre, activation)[0])
    zeros = {name: np.zeros(shape.of(name), np.float32) for name in ("a", "b")}
    return shape, {**zeros, "bias": np.resize(pre, shape.n), "grad": ones(shape.of("grad"))}


@every_activation
def test_the_references_know_them(activation):
    np.testing.assert_array_equal(act(SPECIAL, activation), OUTPUTS[activation])
    np.testing.assert_array_equal(derivative(SPECIAL, activation), DERIVATIVES[activation])


@every_activation
@parametrized(ACTIVATED if ALL else SOME_ACTIVATED)
def test_an_activation_has_its_limits_and_keeps_nan(kernel, activation):
    shape, tensors = layer_of(kernel, SPECIAL, activation)
    require(kernel, shape, tensors, np.resize(OUTPUTS[activation], tensors["bias"].size))


@every_activation
@parametrized(DERIVED if ALL else DERIVED[:2])
def test_a_derivative_has_its_limits_and_is_0_for_nan(kernel, activation):
    shape, tensors = layer_of(kernel, SPECIAL, activation)
    require(kernel, shape, tensors, None, None, np.resize(DERIVATIVES[activation], shape.n))


@parametrized(DERIVED if ALL else DERIVED[:2])
def test_a_gradient_of_nan_passes_every_derivative_even_0(kernel):
    """0 times NaN and 0 times infinity are NaN. (PyTorch's ReLU chooses 0 there, and does not multiply.)"""
    shape, tensors = layer_of(kernel, np.float32([-1, -1, 2, 2]), "relu")
    tensors["grad"] = np.resize(np.float32([NAN, INF, NAN, INF]), shape.of("grad"))
    require(kernel, shape, tensors, None, None, np.resize([NAN, NAN, NAN, INF], shape.n))


@pytest.mark.parametrize(
    ("kernel", "old", "new"),
    [
        (SOME_ACTIVATED[0], "if (is_nan(x)) { return x; }", "if (is_nan(x)) { return 0.0; }"),  # as max or clamp may
        (SOME_ACTIVATED[0], "> 0x7f800000u", ">= 0x7f800000u"),
        (DERIVED[0], "params.activation > 0u", "true"),
        (DERIVED[0], "is_nan(x) && params.activation > 0u) { return x; }", "is_nan(x)) { return 1.0; }"),
    ],
)
def test_an_activation_that_loses_a_special_number_is_noticed(kernel, old, new):
    wrong = kernel.edit(old, new)

    def run_all() -> None:
        for activation in ACTIVATIONS:
            shape, tensors = layer_of(wrong, SPECIAL, activation)
            wanted = [OUTPUTS[activation]] if kernel in ACTIVATED else [None, None, DERIVATIVES[activation]]
            require(wrong, shape, tensors, *wanted)

    with pytest.raises(AssertionError, match=kernel.name):
        run_all()


# --- Sums of products -------------------------------------------------------------------------------------

SUMS = {
    ConvShape: ConvShape(1, 2, 6, 8, 2, 3, 3),
    GemmShape: GemmShape(3, 4, 8, 2),
    SumShape: SumShape(300),
    PoolShape: PoolShape(1, 2, 5, 6, (2, 3), (1, 2), (1, 1)),
    UpdateShape: UpdateShape(5, 0.5, 0.5),
}
NO_SUM = "max_pool2d", "max_pool2d_backward"
OF_SUMS = [kernel for kernel in EVERY_VERSION if kind_of(kernel) in SUMS and operation_of(kernel).name not in NO_SUM]
IN_GENERAL = [kernel for kernel in OF_SUMS if not kernel.specialized]
PLACED = [NAN], [INF], [-INF], [INF, -INF], [NAN, INF]


def right(kernel: Kernel, shape: Shape, tensors: Tensors) -> tuple[Array, ...]:
    """The outputs in float64; those of convolutions by the loops, which multiply no zero of the padding."""
    if not isinstance(shape, ConvShape):
        return operation_of(kernel).right(shape, tensors)
    all_ones = {name: ones(shape.of(name)) for name in ("input", "weight", "bias", "grad_output")}
    names = "output", "grad_weight", "grad_input", "grad_bias"
    computed = conv2d_loops(*(all_ones | tensors).values(), shape.stride_h, (shape.padding_h, shape.padding_w))
    made = dict(zip(names, computed, strict=True))
    return tuple(made[name] for name in operation_of(kernel).outputs)


def spreads(kernel: Kernel) -> bool:
    """Return True where the header says that NaN reaches more results than it contributes to."""
    return "NaN" in header(kernel)["limits"]


@pytest.mark.filterwarnings("ignore:invalid value")
@parametrized(OF_SUMS if ALL else [*sample(IN_GENERAL, 8), load("conv2d_grad_input", "6_register_windows")])
def test_a_special_number_reaches_every_sum_that_it_is_in(kernel):
    """As IEEE 754 adds and multiplies: infinity - infinity and 0 * infinity are NaN."""
    shape = fitted(kernel, SUMS[kind_of(kernel)])
    clean = drawn(operation_of(kernel), shape, ones)
    for name, tensor in clean.items():
        for numbers in PLACED:
            changed = tensor.copy()
            changed.flat[: len(numbers)] = numbers
            wanted = right(kernel, shape, clean | {name: changed})
            for got, want in zip(launched(kernel, shape, clean | {name: changed}), wanted, strict=True):
                special = ~np.isfinite(want)
                if spreads(kernel):
                    assert not np.isfinite(got[special]).any(), (name, numbers)
                else:
                    np.testing.assert_allclose(got, want, rtol=1e-5, err_msg=f"{kernel.name}: {numbers} in {name}")


# --- Max pooling ------------------------------------------------------------------------------------------

POOLED, POOLED_BACK = load("max_pool2d", "1_thread_per_output"), load("max_pool2d_backward", "1_gather")


def test_max_pooling_keeps_nan_and_takes_minus_infinity():
    shape, input, output, grad_output, grad_input = pools()
    require(POOLED, shape, {"input": input}, output)
    require(POOLED_BACK, shape, {"input": input, "grad_output": grad_output}, grad_input)
    np.testing.assert_array_equal(reference.max_pool2d(input, shape), output)
    np.testing.assert_array_equal(reference.max_pool2d_backward(input, grad_output, shape), grad_input)


PADDED = PoolShape(1, 1, 2, 2, 2, 1, 1)  # nine windows, of one, two or four pixels


@pytest.mark.parametrize(
    ("pixels", "output", "grad_input"),
    [
        ([[-INF, -INF], [-INF, -INF]], [[-INF] * 3] * 3, [[4, 2], [2, 1]]),
        ([[1, NAN], [2, 3]], [[1, NAN, NAN], [2, NAN, NAN], [2, 3, 3]], [[1, 4], [2, 2]]),
        ([[NAN, 1], [2, NAN]], [[NAN, NAN, 1], [NAN, NAN, NAN], [2, NAN, NAN]], [[3, 1], [1, 4]]),
    ],
)
def test_windows_that_overlap_and_have_padding_pass_on_special_numbers(pixels, output, grad_input):
    input, grad_output = np.float32(pixels)[None, None], ones((1, 1, 3, 3))
    require(POOLED, PADDED, {"input": input}, output)
    require(POOLED_BACK, PADDED, {"input": input, "grad_output": grad_output}, grad_input)
    np.testing.assert_array_equal(reference.max_pool2d_backward(input, grad_output, PADDED)[0, 0], grad_input)


@pytest.mark.parametrize("special", [NAN, INF])
def test_a_special_gradient_of_a_window_goes_to_its_maximum_alone(special):
    shape, input = PoolShape(1, 1, 2, 2, 2), np.float32([[[[1, 4], [3, 2]]]])
    grad_output = np.full((1, 1, 1, 1), special, np.float32)
    require(POOLED_BACK, shape, {"input": input, "grad_output": grad_output}, [0, special, 0, 0])


@pytest.mark.parametrize(
    ("kernel", "old", "new"),
    [
        (POOLED, "most_bits > 0x7f800000u", "false"),
        (POOLED, "> 0x7f800000u", "> 0x7fffffffu"),
        (POOLED, "> 0x7f800000u", ">= 0x7f800000u"),
        (POOLED, " & 0x7fffffffu", ""),
        (POOLED, "0xff800000u", "0xff7fffffu"),
        (POOLED_BACK, "if (is_nan(rival))", "if (false)"),
        (POOLED_BACK, "return last_nan == mine;", "return true;"),
        (POOLED_BACK, "return last_nan == mine;", "return last_nan >= mine;"),
        (POOLED_BACK, "return last_nan == mine;", "return last_nan <= mine;"),
    ],
)
def test_max_pooling_that_loses_a_special_number_is_noticed(kernel, old, new):
    shape, input, output, grad_output, grad_input = pools()
    want = output if kernel is POOLED else grad_input
    with pytest.raises(AssertionError, match=kernel.name):
        require(kernel.edit(old, new), shape, {"input": input, "grad_output": grad_output}, want)


# --- ReLU backward, the loss and the update ---------------------------------------------------------------

GATE = load("relu_backward", "1_thread_per_element")
GATED = {"output": np.float32([NAN, NAN, INF, 0, 0, 1]), "grad_output": np.float32([2, NAN, NAN, NAN, INF, -INF])}
PASSED = [2, NAN, NAN, 0, 0, -INF]


def test_the_gradient_of_a_relu_passes_where_its_output_is_nan_and_nothing_passes_at_0():
    require(GATE, ElementShape(6), GATED, PASSED)
    np.testing.assert_array_equal(reference.relu_backward(**GATED), PASSED)
    wrong = GATE.edit("grad_output[i], 0.0, output[i] <= 0.0", "0.0, grad_output[i], output[i] > 0.0")
    with pytest.raises(AssertionError, match="relu_backward"):
        require(wrong, ElementShape(6), GATED, PASSED)


LOSS = load("cross_entropy", "1_thread_per_row")


def test_the_loss_of_a_row_with_nan_is_nan_and_minus_infinity_is_a_probability_of_0():
    shape, tensors, losses, grads = rows()
    require(LOSS, shape, tensors, losses, grads)
    for got in reference.cross_entropy(**tensors), helpers.cross_entropy(**tensors):
        np.testing.assert_allclose(got[0], losses, rtol=1e-6)
        np.testing.assert_allclose(got[1], grads, rtol=1e-6)


def test_a_loss_that_loses_nan_is_noticed():
    shape, tensors, losses, grads = rows()
    wrong = LOSS.edit("exp(2.0 * half), 0.0, half <= -43.5", "0.0, exp(2.0 * half), half > -43.5")
    with pytest.raises(AssertionError, match="cross_entropy"):
        require(wrong, shape, tensors, losses, grads)


def test_an_update_keeps_nan_and_infinity():
    parameter, grad, velocity = np.float32([[1, NAN, 1, INF, 1], [NAN, 1, INF, INF, INF], [0, 0, 0, 0, -INF]])
    tensors = {"parameter": parameter, "grad": grad, "velocity": velocity}
    for momentum in 0.0, 0.5:
        shape = UpdateShape(5, 0.5, momentum)
        updated = [NAN, NAN, -INF, NAN, NAN], [NAN, 1, INF, INF, NAN]
        require(load("sgd", "1_thread_per_parameter"), shape, tensors, *updated)


# --- A network --------------------------------------------------------------------------------------------

SIZE = 1, 4, 4


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("broken", ["c.weight", "f.bias", "g.weight"])
def test_a_network_with_a_parameter_of_nan_has_a_loss_of_nan(broken, activation):
    layers = Conv2d("c", 2, 3), Linear("f", 4, activation=activation), Linear("g", 3, activation="none")
    network = Network(layers, SIZE)
    state = network.state()
    parameters = state[0].copy()
    parameters[network.slices()[broken].offset // 4] = NAN
    network.restore((parameters, state[1]))
    images = ones((5, *SIZE))
    assert np.isnan(network.step(images, np.zeros(5, int)))


# --- What float32 cannot hold -----------------------------------------------------------------------------


def test_a_number_that_float32_cannot_hold_is_refused_by_name():
    network = Network((Linear("f", 3, activation="none"),), (2,))
    before = network.parameters()
    for number in 1e300, -1e39:
        parameters = {name: array.astype(np.float64) for name, array in before.items()}
        parameters["f.weight"][1, 2] = number
        with pytest.raises(ValueError, match=r"parameters: f.weight\[1, 2\] = .*: it is too large for float32"):
            network.load_parameters(parameters)
    with pytest.raises(TypeError, match="velocities has dtype float64: it must be float32"):
        network.restore((network.state()[0], network.state()[1].astype(np.float64)))
    assert all(np.array_equal(before[name], array) for name, array in network.parameters().items())
    images, labels = ones((4, 2)), np.zeros(4, int)
    for name, value in ("learning_rate", 1e39), ("learning_rate", NAN), ("momentum", 0.999999999):
        with pytest.raises(ValueError, match=f"{name} = .*: it must be from 0 to"):
            Training(network, images, labels, batch=2, **{name: value})
    for bound in 1e39, 1e-60, NAN:
        with pytest.raises(ValueError, match=r"bound = .*: it must be from 1.4e-45 to 3.4"):
            StartShape(3, bound)


def test_an_override_that_an_f32_cannot_hold_is_refused():
    text = "override F: f32; @group(0) @binding(0) var<storage, read_write> o: array<f32>;"
    text += "@compute @workgroup_size(1) fn main() { o[0] = F; }"
    for value in 1e39, -1e300:
        with pytest.raises(ValueError, match=r"F = -?1.*: it is too large for an f32"):
            helpers.simulate(text, [np.zeros(1, np.float32)], (1, 1, 1), constants={"F": value})


# --- What the glossary says -------------------------------------------------------------------------------


def test_the_glossary_lists_the_versions_in_which_nan_spreads():
    listed = {*re.findall(r"`(\w+/\d_\w+)`", GLOSSARY)}
    assert listed == {kernel.name for kernel in EVERY_VERSION if spreads(kernel)}


CONVOLUTIONS = [kernel for kernel in EVERY_VERSION if kind_of(kernel) is ConvShape]


@parametrized(CONVOLUTIONS if ALL else [kernel for kernel in CONVOLUTIONS if not kernel.specialized])
def test_a_header_says_whether_nan_spreads(kernel):
    """To results that it does not contribute to, such as those of the padding."""
    shape = fitted(kernel, ConvShape(1, 2, 6, 8, 2, 3, 3, 1, 1))
    clean = drawn(operation_of(kernel), shape, ones)
    more = 0
    for name in clean:
        changed = clean[name].copy()
        changed.flat[0] = NAN
        (got,) = launched(kernel, shape, clean | {name: changed})
        (want,) = right(kernel, shape, clean | {name: changed})
        assert np.isnan(got[np.isnan(want)]).all()
        more += np.count_nonzero(np.isnan(got) & ~np.isnan(want))
    assert (more > 0) == spreads(kernel)
