"""The public functions: every bad argument gets its name, its value and the rule; every good one is left alone."""

import re

import numpy as np
import pytest
from problems import normal

import helpers
from helpers import gpu, ops, reference, wgsl
from helpers.shapes import ConvShape

SHAPE = ConvShape(2, 3, 6, 5, 4, 3, 2, 2, 1, 1)
PADDING = (1, 1)
X, W, B, DY = (normal(SHAPE.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"]))

# Each public function by its name, with arguments that are right.
RIGHT = {
    "conv2d": {"input": X, "weight": W, "bias": B, "stride": 2, "padding": 1},
    "conv2d_grad_weight": {"input": X, "weight_size": W.shape, "grad_output": DY, "stride": 2, "padding": 1},
    "conv2d_grad_input": {"input_size": X.shape, "weight": W, "grad_output": DY, "stride": 2, "padding": 1},
    "conv2d_grad_bias": {"grad_output": DY},
}
WANT = {
    "conv2d": reference.conv2d(X, W, B, 2, PADDING),
    "conv2d_grad_weight": reference.conv2d_grad_weight(X, W.shape, DY, 2, PADDING),
    "conv2d_grad_input": reference.conv2d_grad_input(X.shape, W, DY, 2, PADDING),
    "conv2d_grad_bias": reference.conv2d_grad_bias(DY),
}
GRADIENTS = [name for name in RIGHT if name != "conv2d"]
TENSORS = [(name, key) for name in RIGHT for key, value in RIGHT[name].items() if isinstance(value, np.ndarray)]
SIZES = [("conv2d_grad_weight", "weight_size"), ("conv2d_grad_input", "input_size")]
STEPS = [name for name in RIGHT if "stride" in RIGHT[name]]

every_function = pytest.mark.parametrize("name", RIGHT)
every_gradient = pytest.mark.parametrize("name", GRADIENTS)
every_tensor = pytest.mark.parametrize(("name", "argument"), TENSORS)
every_size = pytest.mark.parametrize(("name", "argument"), SIZES)
every_stepping = pytest.mark.parametrize("name", STEPS)


def call(name: str, **changed) -> np.ndarray:
    """A public function with its right arguments, some of them changed."""
    return getattr(helpers, name)(**{**RIGHT[name], **changed})


def refused(error: type[Exception], *words: str, name: str, **changed) -> None:
    """The call raises exactly this class, with these words in the message, before anything is made on the GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gpu, "empty", lambda *_: pytest.fail("a buffer was made before the arguments were checked"))
        with pytest.raises(error) as caught:
            call(name, **changed)
    assert caught.type is error
    for word in words:
        assert word in str(caught.value)


@every_function
def test_the_right_arguments_are_right(name):
    assert np.allclose(call(name), WANT[name], rtol=1e-5, atol=1e-5)


# --- Bad tensors ----------------------------------------------------------------------------------------


@every_tensor
@pytest.mark.parametrize("make", [list, tuple, np.ma.masked_array, lambda array: array.tobytes(), lambda array: 3.0])
def test_what_is_no_plain_array_is_a_type_error(name, argument, make):
    value = make(RIGHT[name][argument])
    refused(TypeError, f"{argument} is a {type(value).__name__}", "plain NumPy array", name=name, **{argument: value})


@every_tensor
@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "bool", "complex64", ">f4"])
def test_another_dtype_is_a_type_error(name, argument, dtype):
    value = RIGHT[name][argument].astype(dtype)
    told = f"{argument} has dtype {value.dtype}", "must be float32", f"{argument}.astype(np.float32)"
    refused(TypeError, *told, name=name, **{argument: value})


@every_tensor
@pytest.mark.parametrize("change", [lambda array: array.reshape(len(array), -1), lambda array: array[None]])
def test_a_wrong_rank_is_a_value_error(name, argument, change):
    value = change(RIGHT[name][argument])
    axes = "its axes must be (Co)" if argument == "bias" else "its axes must be ("
    refused(ValueError, f"{argument} has shape {value.shape}", axes, name=name, **{argument: value})


@every_tensor
def test_an_empty_axis_is_a_value_error(name, argument):
    value = RIGHT[name][argument][:0]
    refused(ValueError, f"{argument} has shape {value.shape}", "no axis may be 0", name=name, **{argument: value})


@pytest.mark.parametrize("name", ["conv2d", "conv2d_grad_input"])
def test_channels_that_differ_are_a_value_error(name):
    refused(ValueError, "weight has Ci = 2", "the input has 3 channels", name=name, weight=W[:, :2].copy())


def test_channels_that_differ_from_a_weight_size_are_a_value_error():
    told = "weight_size has Ci = 5", "the input has 3 channels"
    refused(ValueError, *told, name="conv2d_grad_weight", weight_size=(4, 5, 3, 2))


@pytest.mark.parametrize("name", ["conv2d_grad_weight", "conv2d_grad_input"])
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_a_grad_output_of_another_shape_is_a_value_error(name, axis):
    value = np.repeat(DY, 2, axis)
    told = f"grad_output has shape {value.shape}", "stride 2", "padding (1, 1)", f"make it {DY.shape}"
    refused(ValueError, *told, name=name, grad_output=value)


def test_a_bias_of_another_length_is_a_value_error():
    refused(ValueError, "bias has shape (3,)", "make it (4,)", name="conv2d", bias=B[:3])


# --- Bad numbers ----------------------------------------------------------------------------------------


@every_stepping
@pytest.mark.parametrize(
    ("stride", "error"),
    [
        (0, ValueError),
        (-1, ValueError),
        (2**31, ValueError),
        (1.5, TypeError),
        (2.0, TypeError),
        (True, TypeError),
        (np.bool_(True), TypeError),
        ("2", TypeError),
        ((2, 2), TypeError),
        (None, TypeError),
    ],
)
def test_a_bad_stride_is_an_error(name, stride, error):
    refused(error, f"stride = {stride!r}", name=name, stride=stride)


@every_stepping
@pytest.mark.parametrize(
    ("padding", "error", "told"),
    [
        (-1, ValueError, "padding = -1"),
        (1.5, TypeError, "padding = 1.5"),
        (True, TypeError, "padding = True"),
        ("same", TypeError, "padding = 'same'"),
        ((1,), ValueError, "padding = (1,)"),
        ((1, 2, 3), ValueError, "padding = (1, 2, 3)"),
        ((0, -2), ValueError, "padding = -2"),
        ((1, 1.0), TypeError, "padding = 1.0"),
        (None, TypeError, "padding = None"),
    ],
)
def test_a_bad_padding_is_an_error(name, padding, error, told):
    refused(error, told, name=name, padding=padding)


@every_size
@pytest.mark.parametrize("sizes", [(4, 3, 3), (4, 3, 3, 2, 1), 4, None, "4332", {4, 3}])
def test_sizes_of_a_wrong_length_are_a_value_error(name, argument, sizes):
    refused(ValueError, f"{argument} = {sizes!r}", "4 ints", name=name, **{argument: sizes})


@every_size
@pytest.mark.parametrize(
    ("size", "error"), [(0, ValueError), (-3, ValueError), (3.0, TypeError), (True, TypeError), ("3", TypeError)]
)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_a_bad_size_is_an_error_that_names_the_axis(name, argument, axis, size, error):
    sizes = list(RIGHT[name][argument])
    sizes[axis] = size
    letters = {"weight_size": ["Co", "Ci", "kH", "kW"], "input_size": ["N", "Ci", "H", "W"]}[argument]
    refused(error, f"{argument}'s {letters[axis]} = {size!r}", name=name, **{argument: tuple(sizes)})


@pytest.mark.parametrize(("axis", "side"), [(2, "h"), (3, "w")])
def test_a_kernel_larger_than_the_padded_input_is_a_value_error(axis, side):
    sizes = list(W.shape)
    sizes[axis] = 9
    padded = X.shape[axis] + 2
    told = f"kernel_{side} = 9", f"the padded input, which measures {padded}", "smaller kernel or more padding"
    refused(ValueError, *told, name="conv2d_grad_weight", weight_size=tuple(sizes))


@every_gradient
@pytest.mark.parametrize("kernel", ["3_magic", "", "2_workgroup_per_weight.wgsl"])
def test_an_unknown_rung_names_those_that_there_are(name, kernel):
    refused(ValueError, f"kernel = {kernel!r}", ", ".join(wgsl.rungs(name)), name=name, kernel=kernel)


# --- Bad launches on resident buffers --------------------------------------------------------------------


def resident() -> tuple:
    return gpu.upload(DY, "grad_output"), gpu.upload(X, "input"), gpu.empty(W.nbytes, "grad_weight")


@pytest.mark.parametrize("dtype", ["float64", "float16", "i32", np.dtype("float64")])
def test_a_launch_in_another_dtype_names_the_operation_and_the_dtype(dtype):
    with pytest.raises(TypeError, match=f"conv2d_grad_weight: dtype = {dtype}: it must be float32"):
        ops.launch("conv2d_grad_weight", resident(), SHAPE, dtype=dtype)


@pytest.mark.parametrize("count", [0, 2, 4])
def test_a_launch_with_a_wrong_number_of_buffers_names_the_right_ones(count):
    buffers = (*resident(), gpu.empty(4, "one more"))[:count]
    told = f"conv2d_grad_weight: {count} buffers: it takes 3, grad_output, input, grad_weight"
    with pytest.raises(ValueError, match=told):
        ops.launch("conv2d_grad_weight", buffers, SHAPE)


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_launch_with_a_buffer_too_small_names_it(which):
    buffers, names = list(resident()), ["grad_output", "input", "grad_weight"]
    needed = buffers[which].size
    buffers[which] = gpu.empty(needed - 4, "short")
    with pytest.raises(ValueError, match=f"{names[which]} is a buffer of {needed - 4} bytes: .* takes {needed}"):
        ops.launch("conv2d_grad_weight", tuple(buffers), SHAPE)


def test_a_launch_of_an_unknown_operation_names_those_that_there_are():
    told = f"operation = 'conv3d': it must be one of {', '.join(ops.OPERATIONS)}"
    with pytest.raises(ValueError, match=re.escape(told)):
        ops.launch("conv3d", resident(), SHAPE)


# --- Good arguments, left alone --------------------------------------------------------------------------


def strided(array: np.ndarray) -> np.ndarray:
    """Every second element of an array twice as long along each axis."""
    spread = np.full([2 * size for size in array.shape], np.nan, np.float32)
    view = spread[(slice(None, None, 2),) * array.ndim]
    view[...] = array
    return view


def read_only(array: np.ndarray) -> np.ndarray:
    array = array.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "view",
    [
        pytest.param(np.asfortranarray, id="transposed"),
        pytest.param(lambda array: array[::-1].copy()[::-1], id="negative stride"),
        pytest.param(strided, id="strided"),
        pytest.param(read_only, id="read-only"),
    ],
)
@every_tensor
def test_a_view_gives_the_answer_of_its_copy_and_stays_as_it_was(name, argument, view):
    given = view(RIGHT[name][argument])
    before = given.copy()
    assert np.array_equal(call(name, **{argument: given}), call(name))
    assert np.array_equal(given, before)


def test_a_broadcast_array_gives_the_answer_of_its_copy():
    ones = np.broadcast_to(np.float32(1), DY.shape)
    assert (helpers.conv2d_grad_bias(ones) == DY[:, 0].size).all()


@every_function
def test_the_answer_is_a_plain_array_of_its_own(name):
    got = call(name)
    assert got.dtype == np.float32
    assert got.flags.c_contiguous
    assert got.flags.writeable
    assert not any(np.shares_memory(got, array) for array in (X, W, B, DY))


@every_stepping
@pytest.mark.parametrize("integer", [np.int64, np.int32, np.uint8])
def test_numpys_integers_are_welcome(name, integer):
    changed = {"stride": integer(2), "padding": (integer(1), integer(1))}
    for size in ("weight_size", "input_size"):
        if size in RIGHT[name]:
            changed[size] = [integer(number) for number in RIGHT[name][size]]
    assert np.array_equal(call(name, **changed), call(name))


@every_stepping
def test_one_padding_is_both(name):
    assert np.array_equal(call(name, padding=(1, 1)), call(name, padding=1))
    assert np.array_equal(call(name, padding=[1, 1]), call(name, padding=1))


def test_no_bias_is_a_bias_of_zeros():
    assert np.array_equal(call("conv2d", bias=None), call("conv2d", bias=np.zeros_like(B)))


@every_gradient
def test_the_default_is_one_of_the_rungs(name):
    assert any(np.array_equal(call(name), call(name, kernel=rung)) for rung in wgsl.rungs(name))
    assert ops.choose(name, SHAPE, None).kernel.rung in wgsl.rungs(name)


@every_gradient
def test_a_kernel_with_other_constants_gives_the_same_answer(name):
    last = wgsl.load(name, wgsl.rungs(name)[-1])
    (constant,) = re.findall(r"override (\w+)", last.code)
    got = call(name, kernel=last.with_constants(**{constant: 8}))
    assert np.allclose(got, WANT[name], rtol=1e-5, atol=1e-5)


@every_gradient
def test_a_kernel_of_another_name_is_refused(name):
    refused(ValueError, "kernel = 'your kernel'", wgsl.rungs(name)[0], name=name, kernel=wgsl.Kernel("fn main() {}"))
