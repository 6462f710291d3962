"""A bad argument is refused by its name, its value and the rule, before anything is made; a good one is left alone."""

from itertools import product

import numpy as np
import pytest
from support.problems import kind_for

import helpers
from helpers.operations import operation
from helpers.operations.convolution.shapes import PAIRS, ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, normal
from helpers.operations.network.shapes import PoolShape
from helpers.operations.registry import OPERATIONS

LAYER = ConvShape(2, 3, 6, 5, 4, 3, 2, 2, 1)
POOL = PoolShape(2, 3, 6, 5, 2)
BY_KIND = {ConvShape: LAYER, GemmShape: GemmShape(3, 4, 5, 2), PoolShape: POOL}
KINDS = {name: kind_for(operation) for name, operation in OPERATIONS.items()}
SHAPES = {name: BY_KIND[kind] for name, kind in KINDS.items() if kind in BY_KIND}
RIGHT = {name: drawn(OPERATIONS[name], shape, normal) for name, shape in SHAPES.items()}  # arguments that are right
TENSORS = []
for name, tensors in RIGHT.items():
    TENSORS += [(name, argument) for argument in tensors]
SIZES = [("conv2d_grad_weight", "weight_size", LAYER.weight), ("conv2d_grad_input", "input_size", LAYER.input)]
SIZES.append(("avg_pool2d_backward", "input_size", POOL.of("input")))
for name in ("conv2d", "conv2d_grad_weight", "conv2d_grad_input"):
    RIGHT[name] |= {"stride": 2, "padding": 1}
for name in RIGHT:
    if "pool2d" in name:
        RIGHT[name]["kernel_size"] = 2
for name, argument, size in SIZES:
    RIGHT[name][argument] = size

every_layer = pytest.mark.parametrize("name", [name for name in RIGHT if "stride" in RIGHT[name]])
every_tensor = pytest.mark.parametrize(("name", "argument"), TENSORS)


def call(name: str, **changed) -> tuple[np.ndarray, ...]:
    """A public function with its right arguments, some of them changed."""
    returned = getattr(helpers, name)(**{**RIGHT[name], **changed})
    return returned if isinstance(returned, tuple) else (returned,)


def refused(name: str, error: type[Exception], words: str, **changed) -> None:
    """The call raises exactly this class, with these words in the message, before anything is made on the GPU."""
    with pytest.MonkeyPatch.context() as patch:
        for make in ("empty", "upload"):
            patch.setattr(
                operation, make, lambda *_: pytest.fail("a buffer was made before the arguments were checked")
            )
        with pytest.raises(error) as caught:
            call(name, **changed)
    assert caught.type is error
    assert words in str(caught.value)


# --- Tensors and sizes --------------------------------------------------------------------------------------

WRONG_TENSORS = [
    (np.ndarray.tolist, TypeError, "is a list: it must be a plain NumPy array"),
    (np.ma.masked_array, TypeError, "is a MaskedArray"),
    (np.float64, TypeError, "has dtype float64: it must be float32 (try "),
    (lambda right: right.astype(">f4"), TypeError, "has dtype >f4"),
    (lambda right: right.astype(bool), TypeError, "has dtype bool"),
    (lambda right: right[None, None], ValueError, "its axes must be ("),
    (lambda right: right[:0], ValueError, "no axis may be 0"),
]


@every_tensor
def test_every_tensor_is_checked(name, argument):
    for change, error, words in WRONG_TENSORS:
        refused(name, error, words, **{argument: change(RIGHT[name][argument])})
    refused(name, TypeError, f"{name}: {argument} has dtype", **{argument: RIGHT[name][argument].astype(int)})


@pytest.mark.parametrize(("name", "argument", "right"), SIZES)
def test_every_size_is_checked(name, argument, right):
    for wrong in (right[:3], (*right, 4), 4, None, "2365", {*right}):
        refused(name, ValueError, f"{argument} = {wrong!r}: it must be 4 ints", **{argument: wrong})
    for axis, wrong in product(range(4), (0, -1, 2**31, 2.0, True, None)):
        size = [*right[:axis], wrong, *right[axis + 1 :]]
        error = ValueError if type(wrong) is int else TypeError
        refused(name, error, f" = {wrong}", **{argument: size})


# --- Steps and groups ---------------------------------------------------------------------------------------

TWO = "it must be one int, or two for rows and columns"
INT = "it must be an int"
WRONG_STEPS = [
    *[(wrong, ValueError, f" = {wrong}: {TWO}") for wrong in [(2, 2, 2), (2,), []]],
    *[(wrong, TypeError, f" = {wrong!r} is a ") for wrong in [True, 1.0, None, np.True_, np.float32(1)]],
    ((1, True), TypeError, f"_w = True is a bool: {INT}"),
    ((1.0, 1), TypeError, f"_h = 1.0 is a float: {INT}"),
    (np.array([1, 1]), TypeError, f" = array([1, 1]) is a ndarray: {INT}"),
    (-1, ValueError, " = -1: it must be from "),
    ((1, -1), ValueError, "_w = -1: it must be from "),
    (2**31, ValueError, " = 2147483648: it must be from "),
]


@every_layer
def test_a_step_that_is_no_whole_number_or_two_is_refused(name):
    for step, (value, error, words) in product(PAIRS, WRONG_STEPS):
        refused(name, error, f"{step}{words}", **{step: value})
    for step in ("stride", "dilation"):
        refused(name, ValueError, f"{step} = 0: it must be from 1", **{step: 0})


@pytest.mark.parametrize("step", PAIRS)
def test_a_step_that_equals_one_that_was_accepted_is_refused_all_the_same(step):
    right = dict.fromkeys(PAIRS, 1)
    for accepted, wrong in product((1, (1, 1)), (True, (1, True), 1.0)):
        call("conv2d", **right | {step: accepted})
        refused("conv2d", TypeError, INT, **right | {step: wrong})


WRONG_GROUPS = [
    *[(wrong, ValueError, f"groups = {wrong}: it must be from 1") for wrong in (0, -3)],
    *[(wrong, TypeError, f"groups = {wrong!r} is a ") for wrong in (True, 3.0, (1, 1), None)],
    (2, ValueError, "groups = 2 does not divide in_channels = 3"),
    (3, ValueError, "has Ci/groups = 3 (axis 1) and groups = 3, and the input has 3 channels: they must be 9"),
]


@every_layer
def test_groups_that_do_not_divide_the_channels_are_refused(name):
    for value, error, words in WRONG_GROUPS:
        refused(name, error, words, groups=value)


# --- Good arguments, left alone ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", RIGHT)
def test_the_answer_is_right_and_a_plain_array_of_its_own(name):
    tensors = {argument: RIGHT[name][argument] for function, argument in TENSORS if function == name}
    for got, right in zip(call(name), OPERATIONS[name].right(SHAPES[name], tensors), strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)
        assert got.dtype == np.float32
        assert got.flags.c_contiguous
        assert got.flags.writeable


def strided(array: np.ndarray) -> np.ndarray:
    """Every second element of an array twice as long along each axis."""
    places = (slice(None, None, 2),) * array.ndim
    spread = np.full([2 * size for size in array.shape], np.nan, np.float32)
    spread[places] = array
    return spread[places]


@every_tensor
@pytest.mark.parametrize("view", [np.asfortranarray, lambda array: array[::-1].copy()[::-1], strided])
def test_a_view_gives_the_answer_of_its_copy_and_stays_as_it_was(name, argument, view):
    tensor = view(RIGHT[name][argument])
    tensor.flags.writeable = False
    assert all(map(np.array_equal, call(name, **{argument: tensor}), call(name)))
    assert np.array_equal(tensor, RIGHT[name][argument])


@every_layer
@pytest.mark.parametrize("integer", [np.int64, np.uint8])
def test_numpys_integers_and_one_padding_for_both_axes_are_accepted(name, integer):
    changed = {"stride": integer(2), "padding": [integer(1), integer(1)], "groups": integer(1)}
    sizes = {key: [*map(integer, value)] for key, value in RIGHT[name].items() if key.endswith("_size")}
    assert np.array_equal(call(name, **changed, **sizes)[0], call(name)[0])


def test_no_bias_is_a_bias_of_zeros():
    assert np.array_equal(call("conv2d", bias=None)[0], call("conv2d", bias=np.zeros(4, np.float32))[0])
