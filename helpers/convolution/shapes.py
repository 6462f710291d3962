"""The sizes of one convolution, and the rules that they must keep."""

from dataclasses import dataclass, fields

from helpers.activations import check_activation
from helpers.arguments import MAX_SIZE, check_size


@dataclass(frozen=True)
class ConvShape:
    """Sizes of ``output = act(conv2d(input, weight) + bias)``; the gradients are those of the convolution alone.

    ``input`` is (N, Ci, H, W), ``weight`` (Co, Ci, kH, kW), ``output`` and its gradient (N, Co, oH, oW), with
    ``oH = (H + 2*Ph - kH) // S + 1`` and ``oW`` likewise.

    Raises
    ------
    TypeError
        A size is not an int.
    ValueError
        A size is out of range, the kernel is larger than the padded input, or there is no such activation.
    """

    batch: int
    in_channels: int
    in_h: int
    in_w: int
    out_channels: int
    kernel_h: int
    kernel_w: int
    stride: int = 1
    padding_h: int = 0
    padding_w: int = 0
    activation: str = "none"

    def __post_init__(self) -> None:
        check_activation(self.activation)
        for field in (field for field in fields(self) if field.type is int):
            check_size(field.name, getattr(self, field.name), smallest=0 if "padding" in field.name else 1)
        for axis in "hw":
            kernel, padded = getattr(self, f"kernel_{axis}"), self.padded(axis)
            if kernel > padded:
                raise ValueError(
                    f"kernel_{axis} = {kernel} is larger than the padded input, which measures {padded} "
                    f"(in_{axis} + 2*padding_{axis}): use a smaller kernel or more padding"
                )
            if padded > MAX_SIZE:
                raise ValueError(f"in_{axis} + 2*padding_{axis} = {padded} is more than {MAX_SIZE}")

    def __repr__(self) -> str:
        """As a call that makes it, without the activation where there is none."""
        shown = (field.name for field in fields(self) if field.name != "activation" or self.activation != "none")
        return f"ConvShape({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    @classmethod
    def between(cls, input: tuple[int, ...], output: tuple[int, ...]) -> "ConvShape":
        """The convolution with stride 1 and no padding from an input shape to an output shape."""
        (n, ci, in_h, in_w), (_, co, out_h, out_w) = input, output
        return cls(n, ci, in_h, in_w, co, in_h - out_h + 1, in_w - out_w + 1)

    def padded(self, axis: str) -> int:
        """Rows (axis "h") or columns ("w") of the input with its padding on both sides."""
        return getattr(self, f"in_{axis}") + 2 * getattr(self, f"padding_{axis}")

    @property
    def out_h(self) -> int:
        """oH: rows of the output."""
        return (self.padded("h") - self.kernel_h) // self.stride + 1

    @property
    def out_w(self) -> int:
        """oW: columns of the output."""
        return (self.padded("w") - self.kernel_w) // self.stride + 1

    @property
    def input(self) -> tuple[int, int, int, int]:
        """(N, Ci, H, W)"""
        return self.batch, self.in_channels, self.in_h, self.in_w

    @property
    def weight(self) -> tuple[int, int, int, int]:
        """(Co, Ci, kH, kW)"""
        return self.out_channels, self.in_channels, self.kernel_h, self.kernel_w

    @property
    def output(self) -> tuple[int, int, int, int]:
        """(N, Co, oH, oW)"""
        return self.batch, self.out_channels, self.out_h, self.out_w

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name or its gradient's: input, weight, bias, output, grad_weight, ..."""
        kind = tensor.removeprefix("grad_")
        return (self.out_channels,) if kind == "bias" else getattr(self, kind)

    def params(self) -> tuple[int, ...]:
        """The 12 u32 that every convolution kernel takes, in its struct's order."""
        return (
            *(self.batch, self.in_channels, self.in_h, self.in_w),
            *(self.out_channels, self.kernel_h, self.kernel_w, self.stride),
            *(self.padding_h, self.out_h, self.out_w, self.padding_w),
        )
