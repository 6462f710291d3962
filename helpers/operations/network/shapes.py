"""The sizes of one pooling layer, of a list of elements, of one loss and of one update."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers.checks.arguments import as_int, check_number, check_pair, check_size, keep_sizes
from helpers.checks.tolerance import FLOAT32_MAX
from helpers.operations.convolution.shapes import ConvShape

Pair = tuple[int, int]


@dataclass(frozen=True)
class PoolShape:
    """Sizes of a pooling layer: `input` and its gradient are (N, C, H, W), `output` and its gradient (N, C, oH, oW).

    ``oH = (H + 2*Ph - kH) // Sh + 1`` and ``oW`` likewise: rows and columns that no whole window reaches are left out.
    The window (kH, kW), stride and padding may be given as one int for both axes; the stride is the window's size if
    it is not given.

    Raises
    ------
    TypeError
        A size is not an int.
    ValueError
        A size is out of range, the padding is more than half a window, or the window is larger than the padded input.
    """

    batch: int
    channels: int
    in_h: int
    in_w: int
    kernel: int | Pair
    stride: int | Pair | None = None
    padding: int | Pair = 0

    def __post_init__(self) -> None:
        keep_sizes(self, "batch", "channels", "in_h", "in_w")
        object.__setattr__(self, "kernel", check_pair("kernel_size", self.kernel))
        stride = self.kernel if self.stride is None else check_pair("stride", self.stride)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "padding", check_pair("padding", self.padding, 0))
        for axis, size, window, zeros in zip("hw", (self.in_h, self.in_w), self.kernel, self.padding, strict=True):
            if 2 * zeros > window:
                raise ValueError(f"padding_{axis} = {zeros}: it must be at most half of kernel_size_{axis} = {window}")
            padded = size + 2 * zeros
            if window > padded:
                mistake = f"kernel_size_{axis} = {window} is larger than the padded input"
                raise ValueError(f"{mistake}, which measures {padded}")

    @cached_property
    def windows(self) -> ConvShape:
        """A convolution with the same windows, of one channel."""
        return ConvShape(self.batch, 1, self.in_h, self.in_w, 1, *self.kernel, self.stride, self.padding)

    @property
    def outputs(self) -> Pair:
        """(oH, oW)"""
        return self.windows.output[2:]

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: input, output, grad_input or grad_output."""
        sizes = self.outputs if tensor.endswith("output") else (self.in_h, self.in_w)
        return self.batch, self.channels, *sizes

    def params(self) -> tuple[int, ...]:
        """The u32 that every kernel of a pooling layer takes."""
        images = self.batch * self.channels
        return images, self.in_h, self.in_w, *self.kernel, *self.stride, *self.padding, *self.outputs


@dataclass(frozen=True)
class ElementShape:
    """The size of what is computed element by element: every tensor is (n,)."""

    count: int

    def __post_init__(self) -> None:
        keep_sizes(self, "count")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of every tensor."""
        return (self.count,)

    def params(self) -> tuple[int, ...]:
        """The u32 that the kernel takes."""
        return (self.count,)


@dataclass(frozen=True)
class LossShape:
    """Sizes of a cross-entropy: `logits` and their gradient are (N, C), `labels` and `losses` (N,)."""

    rows: int
    classes: int

    def __post_init__(self) -> None:
        keep_sizes(self, "rows", "classes")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: logits, labels, losses or grad_logits."""
        if tensor.endswith("logits"):
            return self.rows, self.classes
        return (self.rows,)

    def params(self) -> tuple[int, ...]:
        """The u32 that the kernel takes."""
        return self.rows, self.classes

    def labels(self) -> np.ndarray:
        """An example of a label for each row: the last class, the first one, and any others."""
        others = np.random.default_rng(0).permutation(self.classes)
        return np.resize([self.classes - 1, 0, *others], self.rows).astype(np.uint32)


@dataclass(frozen=True)
class UpdateShape(ElementShape):
    """Sizes of one step of gradient descent: `parameter`, `grad` and `velocity` are (n,).

    Raises
    ------
    TypeError
        The count is not an int, or one of the other two is not a number.
    ValueError
        The learning rate is negative or not finite, or the momentum is not in [0, 1).
    """

    learning_rate: float
    momentum: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        below_1 = float(np.nextafter(np.float32(1), 0))
        for name, most in {"learning_rate": FLOAT32_MAX, "momentum": below_1}.items():
            value = getattr(self, name)
            check_number(name, value, most)
            object.__setattr__(self, name, float(np.float32(value)))  # as the kernel computes with it

    def params(self) -> tuple[int, ...]:
        """The count, and the bits of two float32."""
        bits = np.float32([self.learning_rate, self.momentum]).view(np.uint32)
        return self.count, *bits.tolist()


@dataclass(frozen=True)
class StartShape(ElementShape):
    """Sizes of a random start: `parameter` is (count,), from -bound to bound; `stream` tells tensors apart."""

    bound: float
    seed: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("seed", "stream"):
            number = as_int(getattr(self, name))
            check_size(name, number, 0, 2**32 - 1)
            object.__setattr__(self, name, number)
        smallest = float(np.finfo(np.float32).smallest_subnormal)  # float32 holds no smaller number above 0
        check_number("bound", self.bound, FLOAT32_MAX, smallest)

    def params(self) -> tuple[int, ...]:
        """The words that the kernel takes: three u32, and the bits of a float32."""
        return self.count, self.seed, self.stream, int(np.float32(self.bound).view(np.uint32))
