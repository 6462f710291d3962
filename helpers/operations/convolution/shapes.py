"""The sizes of one convolution, and the rules that they must keep."""

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from helpers.checks.arguments import MAX_SIZE, check_pair, keep_sizes
from helpers.checks.report import Array
from helpers.operations.activations import check_activation

Pair = tuple[int, int]
PAIRS = {"stride": 1, "padding": 0, "dilation": 1}  # and the least that each may be
SIZES = "batch", "in_channels", "in_h", "in_w", "out_channels", "kernel_h", "kernel_w", "groups"
STEPS = *PAIRS, "groups"  # the arguments of every function of a convolution after the tensors, in this order


def _part(pair: str, axis: int, doc: str) -> property:
    """One number of a pair, under a name of its own."""
    return property(lambda shape: getattr(shape, pair)[axis], doc=doc)


@dataclass(frozen=True, repr=False)
class ConvShape:
    """Sizes of ``output = act(conv2d(input, weight) + bias)``; the gradients are those of the convolution alone.

    ``input`` is (N, Ci, H, W), ``weight`` (Co, Ci/G, kH, kW), ``output`` and its gradient (N, Co, oH, oW), with
    ``oH = (H + 2*Ph - (kH-1)*Dh - 1) // Sh + 1`` and ``oW`` likewise. Stride (Sh, Sw), padding (Ph, Pw) and dilation
    (Dh, Dw) may be given as one int for both axes; G is `groups`.

    Raises
    ------
    TypeError
        A size is not an int.
    ValueError
        A size is out of range, the channels cannot be divided by the groups, the dilated filter is larger than the
        padded input, or there is no such activation.
    """

    batch: int
    in_channels: int
    in_h: int
    in_w: int
    out_channels: int
    kernel_h: int
    kernel_w: int
    stride: int | Pair = 1
    padding: int | Pair = 0
    dilation: int | Pair = 1
    groups: int = 1
    activation: str = "none"

    def __post_init__(self) -> None:
        check_activation(self.activation)
        keep_sizes(self, *SIZES)
        for name, least in PAIRS.items():
            object.__setattr__(self, name, check_pair(name, getattr(self, name), least))
        for name in ("in_channels", "out_channels"):
            if getattr(self, name) % self.groups:
                raise ValueError(f"groups = {self.groups} does not divide {name} = {getattr(self, name)}")
        for axis in "hw":
            if not self.span(axis) <= self.padded(axis) <= MAX_SIZE:
                self._refuse_axis(axis)

    def _refuse_axis(self, axis: str) -> None:
        span = self.span(axis)
        padded = self.padded(axis)
        dilation = getattr(self, f"dilation_{axis}")
        if span > padded:
            spread = f", {span} with dilation {dilation}," if dilation > 1 else ""
            raise ValueError(
                f"kernel_{axis} = {getattr(self, f'kernel_{axis}')}{spread} is larger than the padded input, which "
                f"measures {padded} (in_{axis} + 2*padding_{axis}): use a smaller kernel or more padding"
            )
        raise ValueError(f"in_{axis} + 2*padding_{axis} = {padded} is more than {MAX_SIZE}")

    def __repr__(self) -> str:
        """The constructor call, defaults omitted."""
        arguments = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in PAIRS and value[0] == value[1]:
                value = value[0]
            if value != field.default:
                arguments.append(f"{field.name}={value!r}")
        return f"ConvShape({', '.join(arguments)})"

    @classmethod
    def between(cls, input: tuple[int, ...], output: tuple[int, ...]) -> "ConvShape":
        """The convolution with stride 1 and no padding from an input shape to an output shape."""
        n, ci, in_h, in_w = input
        _, co, out_h, out_w = output
        return cls(n, ci, in_h, in_w, co, in_h - out_h + 1, in_w - out_w + 1)

    stride_h = _part("stride", 0, "Sh: rows from one window to the next below it.")
    stride_w = _part("stride", 1, "Sw: columns from one window to the next beside it.")
    padding_h = _part("padding", 0, "Ph: rows of zeros above and below the input.")
    padding_w = _part("padding", 1, "Pw: columns of zeros on either side of the input.")
    dilation_h = _part("dilation", 0, "Dh: rows from one row of the filter to the next, as it lies on the input.")
    dilation_w = _part("dilation", 1, "Dw: columns from one column of the filter to the next.")

    @property
    def steps(self) -> dict[str, int | Pair]:
        """The arguments of a convolution's functions after the tensors, by name."""
        return {name: getattr(self, name) for name in STEPS}

    def padded(self, axis: str) -> int:
        """Rows (axis "h") or columns ("w") of the input with its padding on both sides."""
        return getattr(self, f"in_{axis}") + 2 * getattr(self, f"padding_{axis}")

    def span(self, axis: str) -> int:
        """Rows (axis "h") or columns ("w") of the input from the filter's first to its last, dilated."""
        return (getattr(self, f"kernel_{axis}") - 1) * getattr(self, f"dilation_{axis}") + 1

    @cached_property
    def out_h(self) -> int:
        """oH: rows of the output."""
        return (self.padded("h") - self.span("h")) // self.stride_h + 1

    @cached_property
    def out_w(self) -> int:
        """oW: columns of the output."""
        return (self.padded("w") - self.span("w")) // self.stride_w + 1

    @property
    def input(self) -> tuple[int, int, int, int]:
        """(N, Ci, H, W)"""
        return self.batch, self.in_channels, self.in_h, self.in_w

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """(Co, Ci/G, kH, kW)"""
        return self.out_channels, self.in_channels // self.groups, self.kernel_h, self.kernel_w

    @property
    def output(self) -> tuple[int, int, int, int]:
        """(N, Co, oH, oW)"""
        return self.batch, self.out_channels, self.out_h, self.out_w

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name or its gradient's: input, weight, bias, output, grad_weight, ..."""
        kind = tensor.removeprefix("grad_")
        if kind == "bias":
            return (self.out_channels,)
        return getattr(self, kind)

    def params(self) -> tuple[int, ...]:
        """The 12 u32 that the kernels of the lessons take, in their struct's order: one stride for both axes."""
        return (
            self.batch,
            self.in_channels,
            self.in_h,
            self.in_w,
            self.out_channels,
            self.kernel_h,
            self.kernel_w,
            self.stride_h,
            self.padding_h,
            self.out_h,
            self.out_w,
            self.padding_w,
        )


def padded_by_word(
    input: Array, word: str, kernel: Pair, stride: int | Pair, dilation: int | Pair
) -> tuple[Array, Pair]:
    """The input and the padding (Ph, Pw) that "same" or "valid" stands for, with a filter of these sizes.

    Where "same" takes an odd number of rows or columns of zeros, the input returned has one more at the end.
    """
    if word not in ("same", "valid"):
        raise ValueError(f"padding = {word!r}: it must be one int, two for rows and columns, 'same' or 'valid'")
    if word == "valid":
        return input, (0, 0)
    if check_pair("stride", stride) != (1, 1):
        raise ValueError(f"padding = 'same' with stride = {stride}: at another stride than 1 no output is as large")
    dilation_h, dilation_w = check_pair("dilation", dilation)
    rows = (kernel[0] - 1) * dilation_h
    columns = (kernel[1] - 1) * dilation_w
    if rows % 2 or columns % 2:
        input = np.pad(input, [(0, 0), (0, 0), (0, rows % 2), (0, columns % 2)])
    return input, (rows // 2, columns // 2)
