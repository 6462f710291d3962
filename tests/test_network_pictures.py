"""Pictures of a network: what an opened number says is what the GPU computed, what a kernel reads, and legible.

`messages/touches.txt` has what is opened where a reader points at it.
"""

from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from support.legible import faults, illegible
from support.problems import kind_for, versions_of
from support.sample import sample

from helpers.data import digits
from helpers.lessons.train_lenet import explorers
from helpers.lessons.train_lenet.indices import MADE, Made, pixels_of_window, windows_of_pixel
from helpers.lessons.train_lenet.kernel_lines import _small, line_of
from helpers.lessons.train_lenet.pictures.maps import fitting_pixel, fold
from helpers.lessons.train_lenet.trace import NetworkTrace
from helpers.network.layers import LENET, AvgPool2d, Conv2d, Linear, MaxPool2d, Step
from helpers.network.network import Network
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, operation_of, simulated
from helpers.operations.network.reference import softmax
from helpers.operations.network.shapes import PoolShape
from helpers.operations.operation import Shape
from helpers.operations.registry import OPERATIONS
from helpers.widgets.touch import Touched

OTHER = (  # what LeNet has not: strides, padding, means, no activation
    Conv2d("first", 3, 3, stride=2, padding=1, activation="none"),
    AvgPool2d("means", 3, stride=2, padding=1),
    Conv2d("second", 4, 3, padding=2),
    MaxPool2d("largest", 3, stride=2),
    Linear("last", 10, activation="none"),
)
IMAGES, LABELS = digits.seen_and_unseen()[2:]


@pytest.fixture(scope="module")
def lenet() -> Network:
    """A network that has learned enough to have gradients of every size, and mistakes."""
    net = Network(LENET, seed=1)
    seen, labels = digits.seen_and_unseen()[:2]
    for first in range(0, 160, 32):
        net.step(seen[first : first + 32], labels[first : first + 32])
    return net


@pytest.fixture(scope="module", params=["lenet", "other"])
def trace(request: pytest.FixtureRequest, lenet: Network) -> NetworkTrace:
    net = lenet if request.param == "lenet" else Network(OTHER, seed=2)
    return NetworkTrace(net, IMAGES[13], LABELS[13])


def places(trace: NetworkTrace, name: str, count: int = 8) -> list[tuple[int, ...]]:
    """Some places of a tensor: its corners, the number that is farthest from 0, and random ones."""
    shape = trace.shapes[name]
    largest = np.unravel_index(np.abs(trace.tensors[name]).argmax(), shape)
    chosen = [(0,) * len(shape), tuple(size - 1 for size in shape), tuple(map(int, largest))]
    random = np.random.default_rng(3)
    for _ in range(count):
        chosen.append(tuple(int(random.integers(size)) for size in shape))
    return chosen


# --- An opened number -------------------------------------------------------------------------------------------


def test_the_terms_of_a_number_add_up_to_what_the_gpu_wrote(trace):
    assert {"images", "labels"} | {*trace.network.shapes} == {*trace.shapes} & {*trace.network.workspace(1).sizes} - {
        *trace.makers
    }  # every tensor that is computed can be opened
    for name in trace.makers:
        for index in places(trace, name):
            opened = trace.open(name, index)
            assert abs(opened.result - opened.returned) <= opened.bound, opened.label
            assert opened.bound <= 1e-4 * max(1, abs(opened.result)) + 1e-6


def test_a_wrong_tensor_would_be_seen(lenet):
    trace = NetworkTrace(lenet, IMAGES[13], LABELS[13])
    for name, source in ("conv1.grad_weight", "conv1.grad_pre"), ("pool1.grad_output", "conv2.weight"):
        index = places(trace, name)[2]
        right = trace.tensors[source]
        trace.tensors[source] = right * np.float32(1.001)
        wrong = trace.open(name, index)
        assert abs(wrong.result - wrong.returned) > wrong.bound
        trace.tensors[source] = right


def test_a_walk_leaves_the_network_as_it_is(lenet):
    before = lenet.state()
    NetworkTrace(lenet, IMAGES[0], LABELS[0])
    for old, new in zip(before, lenet.state(), strict=True):
        assert (old == new).all()


# --- What the kernels read --------------------------------------------------------------------------------------

CONV = ConvShape(2, 2, 6, 5, 4, 3, 2, 2, (1, 0))
POOL = PoolShape(2, 2, 7, 6, (3, 2), (2, 2), (1, 0))
SMALL = {ConvShape: CONV, PoolShape: POOL, GemmShape: GemmShape(3, 4, 5)}


def small(operation: str) -> Shape:
    return SMALL.get(kind_for(OPERATIONS[operation]), OPERATIONS[operation].examples[0])


def reads(operation: str, tensor: str) -> dict[tuple[int, ...], set[tuple[str, int]]]:
    """The words that the thread reads, in version 1, which writes a number of a tensor: for each number."""
    kernel, shape = versions_of(operation)[0], small(operation)
    tensors = operation_of(kernel).tensors
    _, traces = simulated(kernel, shape, drawn(operation_of(kernel), shape))
    words_read = {}
    for trace in traces:
        seen = trace.accesses[(trace.accesses["binding"] >= 0) & (trace.accesses["binding"] < len(tensors))]
        for write in seen[seen["write"] & (seen["binding"] == tensors.index(tensor))]:
            same = (seen["workgroup"] == write["workgroup"]).all(1) & (seen["invocation"] == write["invocation"])
            loads = seen[same & ~seen["write"]]
            index = tuple(map(int, np.unravel_index(write["index"], shape.of(tensor))))
            words_read[index] = {(tensors[b], int(i)) for b, i in zip(loads["binding"], loads["index"], strict=True)}
    return words_read


def words_of(shape: Shape, made: Made) -> set[tuple[str, int]]:
    """The words that a number is made of, or that decide which they are: the tensor of each, and its place there."""
    factors = [*chain.from_iterable(made.terms), *made.decided_by]
    return {(tensor, int(np.ravel_multi_index(at, shape.of(tensor)))) for tensor, at in factors}


@pytest.mark.parametrize(("operation", "tensor"), MADE)
def test_a_number_is_made_of_what_its_thread_reads(operation, tensor):
    shape = small(operation)
    words_read = reads(operation, tensor)
    assert {*words_read} == {*np.ndindex(shape.of(tensor))}
    exact = 0
    for index, seen in words_read.items():
        wanted = words_of(shape, MADE[operation, tensor](shape, *index))
        if operation == "max_pool2d_backward":  # it looks at no further pixel of a window where a larger one was found
            wanted |= {("input", int(np.ravel_multi_index(index, shape.of("input"))))}  # also of no window
            assert seen <= wanted
            exact += seen == wanted
        else:
            assert seen == wanted, index
    assert operation != "max_pool2d_backward" or exact > len(words_read) / 10


def test_another_set_would_be_seen():
    other = ConvShape(2, 2, 8, 5, 4, 3, 2, 2, (0, 0))
    made = MADE["conv2d_grad_weight", "grad_weight"]
    words_read = reads("conv2d_grad_weight", "grad_weight")
    assert any(seen != words_of(CONV, made(other, *index)) for index, seen in words_read.items())


def test_windows_and_pixels_are_two_sides_of_one_set():
    from_windows, from_pixels = set(), set()
    for window in np.ndindex(POOL.outputs):
        from_windows |= {(window, pixel) for pixel in pixels_of_window(POOL, *window)}
    for pixel in np.ndindex(POOL.in_h, POOL.in_w):
        from_pixels |= {(window, pixel) for window in windows_of_pixel(POOL, *pixel)}
    assert from_windows == from_pixels


# --- The line of the kernel -------------------------------------------------------------------------------------

FIRST = {  # the lines of version 1 that make each tensor
    ("conv2d", "output"): "sum += input[",
    ("conv2d_grad_weight", "grad_weight"): "sum += grad_output[grad_row + ow] * input[input_row + iw];",
    ("conv2d_grad_bias", "grad_bias"): "sum += grad_output[plane + i];",
    ("conv2d_grad_input", "grad_input"): "sum += grad_output[grad_row + ow] * weight[weight_row + kw];",
    ("max_pool2d", "output"): "largest = max(largest, pixel);",
    ("max_pool2d_backward", "grad_input"): "sum += grad_output[",
    ("avg_pool2d", "output"): "sum += input[",
    ("avg_pool2d_backward", "grad_input"): "sum += grad_output[",
    ("relu_backward", "grad_pre"): "grad_pre[i] = select(grad_output[i], 0.0, output[i] <= 0.0);",
    ("cross_entropy", "losses"): "losses[row] = log(total)",
    ("cross_entropy", "grad_logits"): "grad_logits[first + c] = (share - ",
    ("gemm_bias_act", "output"): "pre += a[",
    ("gemm_bias_act_backward", "grad_pre"): "grad_pre[index] = grad[index] * ",
    ("gemm_bias_act_backward", "d_a"): "sum += grad_pre[row * params.n + n] * b[",
    ("gemm_bias_act_backward", "d_b"): "sum += a[row * params.k + k] * grad_pre[",
    ("gemm_bias_act_backward", "d_bias"): "sum += grad_pre[",
}


@pytest.mark.parametrize(("operation", "tensor"), MADE)
def test_the_line_is_the_one_that_makes_the_number(operation, tensor):
    """Without it, the number is another one; and it is found where it lies in an edited text, too."""
    kernel, shape = versions_of(operation)[0], small(operation)
    step = Step("layer", OPERATIONS[operation], shape, OPERATIONS[operation].tensors)
    line = line_of(step, tensor, kernel.version)
    assert line.text.startswith(FIRST[operation, tensor])
    assert kernel.source.split("\n")[line.number - 1].strip().startswith(line.text[:20])
    if kernel.source.count("@compute") == 1:
        assert line_of(step, tensor, kernel.edit("@compute", "\n\n@compute")).number == line.number + 2
    tensors = drawn(operation_of(kernel), shape)
    right, _ = simulated(kernel, shape, tensors)
    if kernel.source.count(line.text) == 1:
        without, _ = simulated(kernel.edit(line.text, ""), shape, tensors, before=77.0)
        assert any((one != other).any() for one, other in zip(right, without, strict=True))


def test_a_small_layer_is_run_instead_of_a_large_one_of_one_group():
    """A layer of several groups is run whole, as is that of a bias, whose version may want all of it."""
    large = ConvShape(2, 8, 40, 30, 6, 5, 3)
    forward, bias = OPERATIONS["conv2d"], OPERATIONS["conv2d_grad_bias"]
    assert _small(forward, large, versions_of("conv2d")[0]) == ConvShape(2, 4, 12, 10, 4, 5, 3)
    assert _small(bias, large, versions_of("conv2d_grad_bias")[0]) == large
    groups = replace(large, groups=2)
    assert _small(forward, groups, versions_of("conv2d")[0]) == groups


def test_of_a_specialized_version_it_is_the_line_of_the_file(trace):
    """And it does the arithmetic of a sum: a product or a sum is written there."""
    for name, (step, tensor) in trace.makers.items():
        if name.endswith(("conv1.output", "conv2.grad_weight", "second.output")):
            for kernel in sample(versions_of(step.operation.name), 2):
                if not step.operation.versions[kernel.version](step.shape, kernel).refused and kernel.specialized:
                    line = line_of(step, tensor, kernel.version)
                    assert line.kernel == kernel.name
                    assert kernel.source.split("\n")[line.number - 1].strip().startswith(line.text[:12])
                    assert "sum" in line.text
                    assert "*" in line.text or "fma" in line.text


# --- The pictures -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def walked(lenet: Network) -> explorers.Explorer:
    return explorers.network(lenet, IMAGES[:3], LABELS[:3])


def test_every_step_of_a_walk_is_legible_and_said(walked):
    for step in range(16):
        words = walked.set(step=step, tensor=step, map=3)
        assert not list(faults(walked.picture)), step
        assert walked.picture.caption().height <= 50
        assert words.startswith(f"Step {step} of 15: ")
        assert (f"{walked.picture.name(step)}[" in words) == (step > 0)
    assert sum(part.grid.values.size for part in walked.picture.touchable.values()) < 700  # cells in the page
    assert not walked.steps.done[0], "nothing was played"
    walked.set(step=14)
    walked._player.value = 15  # as a browser does while it plays
    assert walked.steps.done[0]


@pytest.fixture(scope="module")
def opened(lenet: Network) -> explorers.Explorer:
    return explorers.open_number(lenet, IMAGES[:2], LABELS[:2], "conv1.grad_weight", (3, 0, 2, 1))


def test_an_opened_number_of_every_tensor_is_legible(opened):
    assert opened.sentence.startswith("conv1.grad_weight[3,0,2,1] is the sum of 576 products: ")
    assert opened.sentence.endswith("It is made in line 85 of conv2d_grad_weight/1_thread_per_weight.wgsl.")
    for tensor, name in sample(enumerate(opened.picture.names), 9):
        for place in {"map": 0, "row": 0, "column": 0}, {"map": 7, "row": 3, "column": 2}:
            words = opened.set(tensor=tensor, **place)
            assert words.startswith(f"{name}["), words
            assert not list(faults(opened.picture)), words
            assert opened.picture.caption().height <= 50, words


def test_logits_that_are_dragged_give_softmax_minus_truth():
    bars = explorers.loss_of_logits()
    logits = np.arange(10.0) / 5  # bars have tenths
    bars._touched(Touched("logits", (0, 0), True, logits.tolist()))
    (gradient,) = softmax(logits)[None] - np.eye(10)[[3]]
    assert f"the gradient of its logit is {gradient[3]:.2f}".replace("-", "−") in bars.sentence
    bars._touched(Touched("logits", (0, 0), True, [-2, -2, -2, 5, *[-2] * 6]))
    assert bars.steps.done == [True, False, False]
    assert not list(faults(bars.picture))


def test_mistakes_are_the_digits_that_are_wrong(lenet):
    wrong = np.flatnonzero(lenet.predict(IMAGES[:60]) != LABELS[:60])
    explorer = explorers.mistakes(lenet, IMAGES[:60], LABELS[:60])
    assert explorer.sentence.startswith(f"{len(wrong)} of 60 answers are wrong")
    shown = explorer.picture.mistakes
    assert {mistake.number for mistake in shown} <= {*wrong}
    assert [m.softmax.max() for m in shown] == sorted((m.softmax.max() for m in shown), reverse=True)
    alone = NetworkTrace(lenet, IMAGES[shown[1].number], LABELS[shown[1].number]).tensors["grad_images"][0]
    assert np.allclose(shown[1].gradient, alone, rtol=1e-3, atol=1e-5 * np.abs(alone).max())
    assert not illegible(explorer, 4)
    right = np.setdiff1d(np.arange(60), wrong)
    with pytest.raises(ValueError, match="digits are right: give more of them"):
        explorers.mistakes(lenet, IMAGES[right], LABELS[right])


def test_another_network_can_be_drawn(trace):
    net = trace.network
    explorer = explorers.network(net, IMAGES[:1], LABELS[:1], step=2 * len(net.layers) + 1)
    assert not list(faults(explorer.picture))


def test_maps_fill_their_box_and_no_more():
    assert [fold(count) for count in (10, 84, 120, 256, 11)] == [(2, 5), (7, 12), (10, 12), (16, 16), (1, 11)]
    for shape in (6, 24, 24), (16, 4, 4), (256, 10, 12), (1, 28, 28):
        pixel, across = fitting_pixel(shape, 190, 150, 14)
        gap = int(shape[0] > 1)
        assert pixel * (across * (shape[2] + gap) - gap) <= 190
        assert pixel * (-(-shape[0] // across) * (shape[1] + gap) - gap) <= 150
