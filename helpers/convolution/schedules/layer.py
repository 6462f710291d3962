"""The layer in a text: its sizes, by the names of the kernels' constants."""

from helpers.activations import ACTIVATIONS
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Schedule


def simple_layer(s: ConvShape) -> dict[str, int]:
    """The sizes for versions with one stride, no dilation and no groups."""
    names = "BATCH IN_CHANNELS IN_H IN_W OUT_CHANNELS KERNEL_H KERNEL_W STRIDE PADDING_H OUT_H OUT_W PADDING_W"
    return dict(zip(names.split(), s.params(), strict=True))


def layer(s: ConvShape) -> dict[str, int]:
    """The sizes for versions that serve every layer."""
    pairs = {
        f"{name.upper()}_{axis}": value
        for name in ("stride", "padding", "dilation")
        for axis, value in zip("HW", getattr(s, name), strict=True)
    }
    names = "batch in_channels in_h in_w out_channels kernel_h kernel_w groups out_h out_w"
    return {**pairs, **{name.upper(): getattr(s, name) for name in names.split()}}


def with_activation(s: ConvShape, schedule: Schedule) -> Schedule:
    """The schedule of a version that applies the layer's activation, which is one more constant."""
    return schedule._replace(constants={**schedule.constants, "ACTIVATION": ACTIVATIONS.index(s.activation)})
