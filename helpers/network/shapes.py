"""The sizes of one pooling layer, of one loss and of one update."""

from dataclasses import dataclass

import numpy as np

from helpers.arguments import as_int, check_pair, check_size

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
        for name in ("batch", "channels", "in_h", "in_w"):
            check_size(name, as_int(getattr(self, name)))
            object.__setattr__(self, name, int(getattr(self, name)))
        object.__setattr__(self, "kernel", check_pair("kernel", self.kernel))
        stride = self.kernel if self.stride is None else check_pair("stride", self.stride)
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "padding", check_pair("padding", self.padding, 0))
        for axis, size, window, zeros in zip("hw", (self.in_h, self.in_w), self.kernel, self.padding, strict=True):
            if 2 * zeros > window:
                raise ValueError(f"padding_{axis} = {zeros}: it must be at most half of kernel_{axis} = {window}")
            if window > size + 2 * zeros:
                raise ValueError(f"kernel_{axis} = {window} is larger than the padded input, {size + 2 * zeros}")

    @property
    def outputs(self) -> Pair:
        """(oH, oW)"""
        sizes = zip((self.in_h, self.in_w), self.kernel, self.stride, self.padding, strict=True)
        return tuple((size + 2 * zeros - window) // step + 1 for size, window, step, zeros in sizes)

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: input, output, grad_input or grad_output."""
        sizes = self.outputs if tensor.endswith("output") else (self.in_h, self.in_w)
        return self.batch, self.channels, *sizes

    def params(self) -> tuple[int, ...]:
        """The u32 that every kernel of a pooling layer takes."""
        pairs = self.kernel, self.stride, self.padding, self.outputs
        return self.batch * self.channels, self.in_h, self.in_w, *(size for pair in pairs for size in pair)


@dataclass(frozen=True)
class LossShape:
    """Sizes of a cross-entropy: `logits` and their gradient are (N, C), `labels` and `losses` (N,)."""

    rows: int
    classes: int

    def __post_init__(self) -> None:
        check_size("rows", self.rows)
        check_size("classes", self.classes)

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: logits, labels, losses or grad_logits."""
        return (self.rows, self.classes) if tensor.endswith("logits") else (self.rows,)

    def params(self) -> tuple[int, ...]:
        """The u32 that the kernel takes."""
        return self.rows, self.classes


@dataclass(frozen=True)
class UpdateShape:
    """Sizes of one step of gradient descent: `parameter`, `grad` and `velocity` are (n,)."""

    count: int
    learning_rate: float
    momentum: float = 0.0

    def __post_init__(self) -> None:
        check_size("count", self.count)
        for name, least, most in (("learning_rate", 0.0, np.inf), ("momentum", 0.0, 1.0)):
            value = getattr(self, name)
            if not least <= value < most:
                raise ValueError(f"{name} = {value!r}: it must be a finite number from {least:g}, below {most:g}")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: parameter, grad or velocity."""
        return (self.count,)

    def params(self) -> tuple[int, ...]:
        """The words that the kernel takes: the count, and the bits of two float32."""
        return self.count, *np.float32([self.learning_rate, self.momentum]).view(np.uint32).tolist()


@dataclass(frozen=True)
class ElementShape:
    """The size of an operation on each element alone: all tensors are (count,)."""

    count: int

    def __post_init__(self) -> None:
        check_size("count", self.count)

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of any of its tensors."""
        return (self.count,)

    def params(self) -> tuple[int, ...]:
        """The u32 that the kernel takes."""
        return (self.count,)


@dataclass(frozen=True)
class StartShape:
    """Sizes of a random start: `parameter` is (count,), from -bound to bound; `stream` tells tensors apart."""

    count: int
    bound: float
    seed: int = 0
    stream: int = 0

    def __post_init__(self) -> None:
        check_size("count", self.count)
        for name in ("seed", "stream"):
            check_size(name, as_int(getattr(self, name)), 0, 2**32 - 1)
        if not 0 < self.bound < np.inf:
            raise ValueError(f"bound = {self.bound!r}: it must be a finite number above 0")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of `parameter`."""
        return (self.count,)

    def params(self) -> tuple[int, ...]:
        """The words that the kernel takes: three u32, and the bits of a float32."""
        return self.count, self.seed, self.stream, int(np.float32(self.bound).view(np.uint32))
