"""A bad argument is refused by its name, its value and the rule, before anything is made; a good one is left alone."""

from itertools import product

import numpy as np
import pytest
from support.problems import general_versions_of
from support.sample import sample

import helpers
from helpers.arguments import check_size, check_sizes, check_tensor
from helpers.convolution import reference
from helpers.convolution.shapes import PAIRS, ConvShape
from helpers.gemm.reference import backward
from helpers.gemm.shapes import GemmShape
from helpers.gpu import operation
from helpers.oracles.harness import normal

# --- The rules, each once -------------------------------------------------------------------------------

TENSOR = np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        ([[1.0]], TypeError, ["x is a list", "plain NumPy array"]),
        (np.ma.masked_array(TENSOR), TypeError, ["x is a MaskedArray"]),
        (TENSOR.astype("float64"), TypeError, ["relu: x has dtype float64", "must be float32", "x.astype(np.float32)"]),
        (TENSOR.astype(">f4"), TypeError, ["dtype >f4"]),
        (TENSOR.astype(bool), TypeError, ["dtype bool"]),
        (TENSOR[None], ValueError, ["x has shape (1, 2, 3)", "its axes must be (M, N)"]),
        (TENSOR[:0], ValueError, ["x has shape (0, 3)", "no axis may be 0"]),
    ],
)
def test_what_is_not_a_float32_array_of_the_right_rank_is_refused(value, error, words):
    with pytest.raises(error) as caught:
        check_tensor("relu", "x", value, "M N")
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("value", "error"),
    [(0, ValueError), (-1, ValueError), (2**31, ValueError), (2.0, TypeError), (True, TypeError), (None, TypeError)],
)
def test_what_is_not_a_size_is_refused(value, error):
    with pytest.raises(error, match=f"stride = {value}"):
        check_size("stride", value)
    with pytest.raises(error, match=f"shape's N = {value}"):
        check_sizes("shape", (2, value), "M N")


@pytest.mark.parametrize("sizes", [(2,), (2, 3, 4), 4, None, "23", {2, 3}])
def test_sizes_of_a_wrong_length_are_refused(sizes):
    with pytest.raises(ValueError, match="2 ints"):
        check_sizes("shape", sizes, "M N")


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: ConvShape(1, 1, 5, 5, 1, 3, 9, 1, 1), ValueError, "kernel_w = 9 .* which measures 7 .*smaller"),
        (lambda: ConvShape(1, 1, 5, 5, 1, 3, 3, 1, (-1, 0)), ValueError, "padding_h = -1"),
        (lambda: ConvShape(1, 1, 5, 5.0, 1, 3, 3), TypeError, "in_w = 5.0"),
        (lambda: ConvShape(1, 4, 5, 5, 6, 3, 3, groups=4), ValueError, "^groups = 4 does not divide out_channels = 6$"),
        (lambda: ConvShape(1, 1, 5, 5, 1, 3, 3, groups=True), TypeError, "^groups = True is a bool: it must be an int"),
        (lambda: ConvShape(*[1] * 11, "elu"), ValueError, "^activation = 'elu': it must be one of none, relu"),
        (lambda: GemmShape(0, 1, 1), ValueError, "m = 0"),
        (lambda: GemmShape(1, 2.0, 1), TypeError, "k = 2.0"),
        (lambda: GemmShape(1, 1, 1, b_per_item=1), TypeError, "b_per_item = 1: it must be True or False"),
        (lambda: GemmShape(1, 1, 1, 1, "elu"), ValueError, "activation = 'elu': it must be one of none, relu"),
        (lambda: GemmShape(1, 1, 1, 1, None), ValueError, "activation = None"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(make, error, words):
    with pytest.raises(error, match=words):
        make()


# --- The public functions ask them ------------------------------------------------------------------------

SHAPE = ConvShape(2, 3, 6, 5, 4, 3, 2, 2, 1)
X, W, B, DY = (normal(SHAPE.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"]))
A, M, C, G = (normal(size, seed) for seed, size in enumerate([(2, 3, 4), (4, 5), (5,), (2, 3, 5)]))
STEPS = {"stride": 2, "padding": 1}
RIGHT = {  # each public function with arguments that are right
    "conv2d": {"input": X, "weight": W, "bias": B, **STEPS},
    "conv2d_grad_weight": {"input": X, "weight_size": W.shape, "grad_output": DY, **STEPS},
    "conv2d_grad_input": {"input_size": X.shape, "weight": W, "grad_output": DY, **STEPS},
    "conv2d_grad_bias": {"grad_output": DY},
    "gemm_bias_act": {"a": A, "b": M, "bias": C},
    "gemm_bias_act_backward": {"a": A, "b": M, "bias": C, "grad": G},
}
WANT = {
    "conv2d": reference.conv2d(X, W, B, 2, 1),
    "conv2d_grad_weight": reference.conv2d_grad_weight(X, W.shape, DY, 2, 1),
    "conv2d_grad_input": reference.conv2d_grad_input(X.shape, W, DY, 2, 1),
    "conv2d_grad_bias": reference.conv2d_grad_bias(DY),
    "gemm_bias_act": A.astype(np.float64) @ M + C,
    "gemm_bias_act_backward": backward(A, M, C, G),
}
TENSORS = [(name, key) for name in RIGHT for key, value in RIGHT[name].items() if isinstance(value, np.ndarray)]
STEPPING = [name for name in RIGHT if "stride" in RIGHT[name]]

every_function = pytest.mark.parametrize("name", RIGHT)
every_tensor = pytest.mark.parametrize(("name", "argument"), TENSORS)


def call(name: str, **changed) -> tuple[np.ndarray, ...]:
    """A public function with its right arguments, some of them changed."""
    answer = getattr(helpers, name)(**{**RIGHT[name], **changed})
    return answer if isinstance(answer, tuple) else (answer,)


def refused(error: type[Exception], *words: str, name: str, **changed) -> None:
    """The call raises exactly this class, with these words in the message, before anything is made on the GPU."""
    with pytest.MonkeyPatch.context() as patch:
        for make in ("empty", "upload"):
            patch.setattr(
                operation, make, lambda *_: pytest.fail("a buffer was made before the arguments were checked")
            )
        with pytest.raises(error) as caught:
            call(name, **changed)
    assert caught.type is error
    for word in words:
        assert word in str(caught.value)


@every_function
def test_right_arguments_give_the_right_answer(name):
    want = WANT[name] if isinstance(WANT[name], tuple) else (WANT[name],)
    for got, right in zip(call(name), want, strict=True):
        assert np.allclose(got, right, rtol=1e-5, atol=1e-5)


@every_tensor
def test_every_tensor_is_checked(name, argument):
    right = RIGHT[name][argument]
    refused(TypeError, f"{argument} is a list", name=name, **{argument: right.tolist()})
    refused(TypeError, f"{name}: {argument} has dtype float64", name=name, **{argument: right.astype(np.float64)})
    refused(ValueError, f"{argument} has shape", name=name, **{argument: right.ravel()[:0]})


NO_ACTIVATION = "activation = 'softmax': it must be one of none, relu, gelu, silu, sigmoid, tanh"


@pytest.mark.parametrize(
    ("name", "changed", "error", "words"),
    [
        ("conv2d", {"weight": W[:, :2]}, ValueError, "weight has Ci/groups = 2"),
        ("conv2d", {"bias": B[:3]}, ValueError, "bias has shape (3,)"),
        ("conv2d", {"activation": "softmax"}, ValueError, NO_ACTIVATION),
        (
            "conv2d",
            {"padding": "full"},
            ValueError,
            "padding = 'full': it must be one int, two for rows",
        ),
        ("conv2d", {"padding": "same", "stride": 2}, ValueError, "padding = 'same' with stride = 2"),
        ("conv2d_grad_input", {"padding": "same"}, TypeError, "padding = 'same'"),
        ("conv2d", {"activation": ["relu"]}, ValueError, "activation = ['relu']: it must be one of none, relu"),
        ("conv2d_grad_weight", {"weight_size": (4, 5, 3, 2)}, ValueError, "weight_size has Ci/groups = 5"),
        ("conv2d_grad_weight", {"weight_size": (4, 3, 9, 2)}, ValueError, "kernel_h = 9"),
        ("conv2d_grad_weight", {"weight_size": (4, 3, 0, 2)}, ValueError, "weight_size's kH = 0"),
        ("conv2d_grad_weight", {"grad_output": DY[:1]}, ValueError, "grad_output has shape (1, 4, 3, 3)"),
        ("conv2d_grad_input", {"input_size": (2, 3, 6)}, ValueError, "input_size = (2, 3, 6)"),
        ("conv2d_grad_input", {"grad_output": DY[:, :, 1:]}, ValueError, "make it (2, 4, 3, 3)"),
        ("gemm_bias_act", {"b": M[:3]}, ValueError, "b has shape (3, 5)"),
        ("gemm_bias_act", {"b": np.ones((3, 4, 5), np.float32)}, ValueError, "(2, 4, N)"),
        ("gemm_bias_act", {"bias": C[:4]}, ValueError, "bias has shape (4,)"),
        ("gemm_bias_act", {"activation": "softmax"}, ValueError, NO_ACTIVATION),
        ("gemm_bias_act_backward", {"grad": G[:1]}, ValueError, "grad has shape (1, 3, 5)"),
        ("gemm_bias_act_backward", {"per_item": 1}, TypeError, "per_item = 1"),
        ("gemm_bias_act_backward", {"kernel": 2}, TypeError, "kernel is a int"),
        ("gemm_bias_act_backward", {"kernel": "3_fast"}, ValueError, "2_tiled"),
        ("conv2d_grad_bias", {"kernel": "2_workgroup_per_channel.wgsl"}, ValueError, "1_thread_per_channel"),
        ("conv2d_grad_weight", {"kernel": helpers.Kernel("fn main() {}")}, ValueError, "kernel = 'your kernel'"),
    ],
)
def test_arguments_that_do_not_fit_together_are_refused(name, changed, error, words):
    refused(error, words, name=name, **changed)


every_layer = pytest.mark.parametrize("name", STEPPING)
TWO = "it must be one int, or two for rows and columns"


WRONG_STEPS = [
    ((2, 2, 2), ValueError, f" = (2, 2, 2): {TWO}"),
    ((2,), ValueError, f" = (2,): {TWO}"),
    ([], ValueError, f" = []: {TWO}"),
    (True, TypeError, " = True is a bool: it must be an int"),
    ((1, True), TypeError, "_w = True is a bool: it must be an int"),
    (np.True_, TypeError, " = "),
    (1.0, TypeError, " = 1.0 is a float: it must be an int"),
    ((1.0, 1), TypeError, "_h = 1.0 is a float: it must be an int"),
    (np.float32(1), TypeError, " = "),
    (None, TypeError, " = None is a NoneType: it must be an int"),
    (np.array([1, 1]), TypeError, " = array([1, 1]) is a ndarray: it must be an int"),
    (-1, ValueError, " = -1: it must be from "),
    ((1, -1), ValueError, "_w = -1: it must be from "),
    (2**31, ValueError, " = 2147483648: it must be from "),
]


@pytest.mark.parametrize(("name", "step", "wrong"), sample([*product(STEPPING, PAIRS, WRONG_STEPS)], 40))
def test_a_step_that_is_no_whole_number_or_two_is_refused(name, step, wrong):
    value, error, words = wrong
    refused(error, f"{step}{words}", name=name, **{step: value})


@pytest.mark.parametrize("step", PAIRS)
@pytest.mark.parametrize("wrong", [True, (1, True), 1.0])
def test_a_step_that_equals_one_that_was_accepted_is_refused_all_the_same(step, wrong):
    image, filters = np.ones((1, 1, 5, 5), np.float32), np.ones((1, 1, 3, 3), np.float32)
    for accepted in (1, (1, 1)):
        helpers.conv2d(image, filters, **{step: accepted})
    with pytest.raises(TypeError, match=f"{step}.* = .*it must be an int"):
        helpers.conv2d(image, filters, **{step: wrong})


@every_layer
@pytest.mark.parametrize(
    ("value", "error", "words"),
    [
        (0, ValueError, "groups = 0: it must be from 1"),
        (-3, ValueError, "groups = -3: it must be from 1"),
        (True, TypeError, "groups = True is a bool: it must be an int"),
        (3.0, TypeError, "groups = 3.0 is a float: it must be an int"),
        ((1, 1), TypeError, "groups = (1, 1) is a tuple: it must be an int"),
        (None, TypeError, "groups = None is a NoneType: it must be an int"),
        (2, ValueError, "groups = 2 does not divide in_channels = 3"),
        (3, ValueError, "has Ci/groups = 3 (axis 1) and groups = 3, and the input has 3 channels: they must be 9"),
    ],
)
def test_groups_that_do_not_divide_the_channels_are_refused(name, value, error, words):
    refused(error, words, name=name, groups=value)


def filters(name: str, *size: int) -> dict[str, object]:
    """Other weights, or their size, as a function takes them."""
    return {"weight_size": size} if name == "conv2d_grad_weight" else {"weight": np.zeros(size, np.float32)}


@every_layer
@pytest.mark.parametrize(
    ("size", "changed", "words"),
    [
        ((4, 1, 3, 2), {"groups": 3}, "groups = 3 does not divide out_channels = 4"),
        ((4, 3, 9, 2), {}, "kernel_h = 9 is larger than the padded input, which measures 8"),
        ((4, 3, 3, 2), {"dilation": (4, 1)}, "kernel_h = 3, 9 with dilation 4, is larger than the padded input, which"),
        ((4, 3, 3, 2), {"dilation": (1, 7)}, "kernel_w = 2, 8 with dilation 7, is larger than the padded input, which"),
        ((4, 3, 3, 2), {"stride": 0}, "stride = 0: it must be from 1"),
        ((4, 3, 3, 2), {"dilation": 0}, "dilation = 0: it must be from 1"),
    ],
)
def test_filters_that_do_not_fit_the_layer_are_refused(name, size, changed, words):
    refused(ValueError, words, name=name, **filters(name, *size), **changed)


# --- Good arguments, left alone ---------------------------------------------------------------------------


def strided(array: np.ndarray) -> np.ndarray:
    """Every second element of an array twice as long along each axis."""
    spread = np.full([2 * size for size in array.shape], np.nan, np.float32)
    view = spread[(slice(None, None, 2),) * array.ndim]
    view[...] = array
    return view


@every_tensor
@pytest.mark.parametrize("view", [np.asfortranarray, lambda array: array[::-1].copy()[::-1], strided])
def test_a_view_gives_the_answer_of_its_copy_and_stays_as_it_was(name, argument, view):
    given = view(RIGHT[name][argument])
    before = given.copy()
    given.flags.writeable = False
    for got, right in zip(call(name, **{argument: given}), call(name), strict=True):
        assert np.array_equal(got, right)
    assert np.array_equal(given, before)


@every_function
def test_the_answer_is_a_plain_array_of_its_own(name):
    for got in call(name):
        assert got.dtype == np.float32
        assert got.flags.c_contiguous
        assert got.flags.writeable


@every_layer
@pytest.mark.parametrize("integer", [np.int64, np.uint8])
def test_numpys_integers_and_one_padding_for_both_axes_are_accepted(name, integer):
    changed = {"stride": integer(2), "padding": [integer(1), integer(1)], "groups": integer(1)}
    for size in ("weight_size", "input_size"):
        if size in RIGHT[name]:
            changed[size] = [integer(number) for number in RIGHT[name][size]]
    assert np.array_equal(call(name, **changed)[0], call(name)[0])


def test_no_bias_is_a_bias_of_zeros():
    assert np.array_equal(call("conv2d", bias=None)[0], call("conv2d", bias=np.zeros_like(B))[0])


def general(name: str) -> list[str]:
    """The versions that take every shape."""
    return [kernel.version for kernel in general_versions_of(name)]


@pytest.mark.parametrize("name", [name for name in RIGHT if "grad" in name or "backward" in name])
def test_every_version_can_be_named(name):
    for version in general(name):
        for got, right in zip(call(name, kernel=version), call(name), strict=True):
            assert np.allclose(got, right, rtol=1e-5, atol=1e-5)
