"""The reader's own kernels from lessons 01 to 08 in a network: where each fits, and how it is dispatched there.

    Network(kernels=student_kernels({"conv2d_grad_weight": my_text}))

A kernel takes the place of an operation in all layers that it fits; the others keep theirs. Where it computes a part
of what the operation does, ours do the rest.

This module trusts its texts. `helpers.train_apart` trains with a learner's, in a process apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from helpers.gpu import Pass, empty, uniform
from helpers.gpu.buffers import part_of
from helpers.lessons.shared.products import PRODUCTS, sizes
from helpers.operations.convolution.operations import FORWARD, GRAD_BIAS, GRAD_INPUT, GRAD_WEIGHT
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import nested_loops
from helpers.operations.gemm.operations import BACKWARD as GEMM_BACKWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.operations import CROSS_ENTROPY, MAX_BACKWARD, RELU_BACKWARD, SGD
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel

Words = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """The operation whose place a puzzle's kernel takes, and how the kernel runs there.

    `tensors` are the operation's, in the order of the puzzle's bindings, a result last. `words` are those of its
    uniform, and `loops` the sizes of the official kernel's loops, from the outermost. Where it is one pass of several,
    `entry_point` is that of the pass. `fits` says which layers it can compute.
    """

    operation: Operation
    tensors: str
    words: Callable[[Shape], Words] = lambda shape: shape.params()
    loops: Callable[[Shape], Words] = lambda shape: ()
    entry_point: str = "main"
    fits: Callable[[Shape], bool] = lambda shape: True

    @property
    def result(self) -> str:
        """The tensor that it computes."""
        *_, result = self.tensors.split()
        return result

    def workgroups(self, shape: Shape) -> tuple[int, int, int]:
        """As the puzzle states it: tiles of 16 x 16 results of a matrix, 64 rows of logits, or 256 results in a row."""
        *_, result = self.tensors.split()
        size = shape.of(result)
        if isinstance(shape, LossShape):
            return ceil(shape.rows / 64), 1, 1
        if isinstance(shape, GemmShape) and len(size) > 1:
            return ceil(size[-1] / 16), ceil(size[-2] / 16), prod(size[:-2])
        return ceil(prod(size) / 256), 1, 1

    def dispatch(self, kernel: Kernel, buffers: Mapping[str, object], shape: Shape) -> Pass:
        """The kernel over the buffers of its tensors, which are given by name."""
        bindings = *(buffers[name] for name in self.tensors.split()), uniform(self.words(shape))
        return Pass(kernel, bindings, self.workgroups(shape), nested_loops(*self.loops(shape)))

    def passes(self, kernel: Kernel, buffers: Mapping[str, object], shape: Shape) -> tuple[Pass, ...]:
        """All that computes what the operation does; where that is one pass of several, this one."""
        return (self.dispatch(kernel, buffers, shape),)


def pool_params(s: PoolShape) -> tuple[int, ...]:
    """The words of the puzzle's uniform, for square windows."""
    return s.batch * s.channels, s.in_h, s.in_w, s.kernel[0], s.stride[0], s.padding[0], *s.outputs


class _Convolution(Place):
    """The forward pass without its ReLU, which our kernel of its gradient applies: it passes on what is above 0."""

    def passes(self, kernel: Kernel, buffers: Mapping[str, object], shape: ConvShape) -> tuple[Pass, ...]:
        if shape.activation == "none":
            return super().passes(kernel, buffers, shape)
        pre = empty(4 * prod(shape.output), "pre")
        elements = ElementShape(prod(shape.output))
        relu = RELU_BACKWARD.prepare((pre, part_of(pre), buffers["output"]), elements)  # one buffer, only read
        return self.dispatch(kernel, {**buffers, "output": pre}, shape), *relu


class _Bias(_Convolution):
    """The bias of the forward pass and its ReLU, after the sums without a bias."""

    result = "bias"

    def dispatch(self, kernel: Kernel, buffers: Mapping[str, object], shape: ConvShape) -> Pass:
        bindings = *(buffers[name] for name in ("sums", "bias", "output")), uniform(self.words(shape))
        return Pass(kernel, bindings, self.workgroups(shape))


class _Loss(Place):
    """The gradient of the loss; the losses are those of our kernel, which comes first."""

    def passes(self, kernel: Kernel, buffers: Mapping[str, object], shape: LossShape) -> tuple[Pass, ...]:
        ours = self.operation.prepare([buffers[name] for name in self.operation.tensors], shape)
        return *ours, self.dispatch(kernel, buffers, shape)


def _alike(s: ConvShape, *columns_and_steps: int) -> ConvShape:
    """With as many columns of a filter, and the same stride and padding for both axes; no dilation and no groups."""
    return ConvShape(*s.input, s.out_channels, s.kernel_h, *columns_and_steps, activation=s.activation)


def _outputs(s: ConvShape) -> Words:
    return s.batch, *s.output[2:]


def _pass(name: str) -> Place:
    """One pass of the GEMM's backward pass, by its puzzle."""
    summed = PRODUCTS[name]

    def loops(s: GemmShape) -> Words:
        if summed.output == "d_bias":
            return sizes(s, "BM")
        (length,) = sizes(s, summed.along)
        return ceil(length / 16), 16

    return Place(
        GEMM_BACKWARD,
        f"{summed.inputs} {summed.output}",
        words=lambda s: sizes(s, summed.words),
        loops=loops,
        entry_point=f"{name}_f32",
        fits=lambda s: summed.output != "grad_pre" or s.activation == "relu",
    )


OF_WEIGHT = GRAD_WEIGHT, "grad_output input grad_weight"
PLACES: dict[str, Place] = {
    "add_bias": _Bias(
        FORWARD,
        "output bias output",
        lambda s: (s.batch, s.out_channels, s.out_h * s.out_w),
        entry_point="bias",
    ),
    "conv2d": _Convolution(
        FORWARD,
        "input weight bias output",
        lambda s: (*s.input, s.out_channels, s.kernel_h, s.kernel_w, s.stride_h, s.padding_h),
        lambda s: s.weight[1:],
        fits=lambda s: s == _alike(s, s.kernel_w, s.stride_h, s.padding_h),
    ),
    "strided_conv2d": _Convolution(FORWARD, "input weight bias output", loops=lambda s: s.weight[1:]),
    "conv2d_grad_weight": Place(
        *OF_WEIGHT,
        lambda s: (*s.input, s.out_channels, s.kernel_h),
        _outputs,
        fits=lambda s: s == _alike(s, s.kernel_h),  # with a square filter, and no stride or padding
    ),
    "strided_grad_weight": Place(*OF_WEIGHT, loops=_outputs),
    **dict.fromkeys(
        ("conv2d_grad_input", "strided_grad_input"),
        Place(GRAD_INPUT, "grad_output weight grad_input", loops=lambda s: (s.out_channels, *s.weight[2:])),
    ),
    "conv2d_grad_bias": Place(GRAD_BIAS, "grad_output grad_bias", lambda s: s.output, _outputs),
    **{name: _pass(name) for name in PRODUCTS if name.startswith("gemm_bwd")},
    "transposed_tile": replace(_pass("gemm_bwd_db"), words=lambda s: sizes(s, "MKN"), fits=lambda s: s.batch_size == 1),
    "transposed_product": replace(
        _pass("gemm_bwd_da"), words=lambda s: sizes(s, "MNK"), fits=lambda s: s.batch_size == 1
    ),
    "max_pool2d_backward": Place(
        MAX_BACKWARD,
        "input grad_output grad_input",
        pool_params,
        lambda s: (*s.kernel, prod(s.kernel)),
        fits=lambda s: s == PoolShape(s.batch, s.channels, s.in_h, s.in_w, s.kernel[0], s.stride[0], s.padding[0]),
    ),
    "relu_gate": Place(RELU_BACKWARD, "output grad_output grad_pre"),
    "softmax_minus_truth": _Loss(CROSS_ENTROPY, "logits labels grad_logits", loops=lambda s: (3 * s.classes + 4,)),
    "momentum_step": Place(SGD, "grad parameter velocity"),
}


@dataclass(frozen=True)
class StudentKernels:
    """An operation with one or more of its passes computed by puzzles' kernels, which are given by puzzle."""

    operation: Operation
    kernels: Mapping[str, Kernel]

    def prepare(self, buffers: Sequence, shape: Shape) -> tuple[Pass, ...]:
        """The passes over the operation's tensors; where a puzzle's kernel does not fit, the official ones."""
        fitting = {PLACES[puzzle].entry_point: puzzle for puzzle in self.kernels if PLACES[puzzle].fits(shape)}
        named = dict(zip(self.operation.tensors, buffers, strict=True))
        if "bias" in fitting:
            return self._with_bias(fitting["bias"], named, shape)
        if "main" in fitting:
            return self._passes(fitting["main"], named, shape)
        passes: list[Pass] = []
        for official in self.operation.prepare(buffers, shape):
            if official.entry_point in fitting:
                passes += self._passes(fitting[official.entry_point], named, shape)
            else:
                passes.append(official)
        return tuple(passes)

    def _passes(self, puzzle: str, named: Mapping[str, object], shape: Shape) -> tuple[Pass, ...]:
        """The passes of one puzzle's kernel."""
        return PLACES[puzzle].passes(self.kernels[puzzle], named, shape)

    def _with_bias(self, puzzle: str, named: Mapping[str, object], shape: ConvShape) -> tuple[Pass, ...]:
        """A forward pass with a bias of 0 and no ReLU, by whatever else computes it, and then the bias by a puzzle."""
        sums = empty(4 * prod(shape.output), "sums")
        none = empty(4 * shape.out_channels, "no bias")
        rest = replace(self, kernels={name: text for name, text in self.kernels.items() if name != puzzle})
        buffers = {**named, "bias": none, "output": sums}
        first = rest.prepare([buffers[name] for name in self.operation.tensors], replace(shape, activation="none"))
        return *first, *self._passes(puzzle, {**named, "sums": sums}, shape)


def student_kernels(texts: Mapping[str, str]) -> dict[str, StudentKernels]:
    """Return the `kernels` for a `Network`, from the texts of puzzles by their names.

    Raises ValueError for a puzzle that has no place in a network, and for two that take the same place.
    """
    if not isinstance(texts, Mapping):
        raise TypeError(f"texts is a {type(texts).__name__}: it must be a dict of texts by their puzzles")
    chosen: dict[str, StudentKernels] = {}
    for puzzle, text in texts.items():
        if puzzle not in PLACES:
            raise ValueError(f"puzzle = {puzzle!r}: it must be one of {', '.join(PLACES)}")
        if not isinstance(text, str):
            raise TypeError(f"texts[{puzzle!r}] is a {type(text).__name__}: it must be the text of a kernel")
        operation = PLACES[puzzle].operation
        others = chosen.get(operation.name, StudentKernels(operation, {})).kernels
        for other in others:
            if PLACES[other].entry_point == PLACES[puzzle].entry_point:
                raise ValueError(f"{other} and {puzzle} compute the same gradient: choose one of them")
        kernel = Kernel(text, f"your {puzzle}")
        chosen[operation.name] = StudentKernels(operation, {**others, puzzle: kernel})
    return chosen
