"""Channels that belong together, in the words of the pictures: nothing where there is only one group."""

from helpers.data.words import in_words
from helpers.operations.convolution.indices import input_channels_of, output_channels_of
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import MARGIN, Picture


def group_of(shape: ConvShape, co: int) -> int:
    """The group of output channel `co`."""
    return co * shape.groups // shape.out_channels


def draw_group(picture: Picture, shape: ConvShape, co: int) -> None:
    """Name the channels in the group of output channel `co`, on the right above the table of terms."""
    if shape.groups == 1:
        return
    inputs = input_channels_of(shape, co)
    outputs = in_words("output channel", output_channels_of(shape, inputs[0]))
    read = "read" if shape.out_channels > shape.groups else "reads"
    text = f"group {group_of(shape, co)}: {outputs} {read} only {in_words('input channel', inputs)}"
    picture.note(picture.width - MARGIN, picture.height - 98, text, "right")


def channel_note(shape: ConvShape, co: int, ci: int) -> str:
    """The input channel that the weight [co, ci] multiplies: ci counts from the first channel of the group."""
    if shape.groups == 1:
        return f"ci = {ci}"
    first = input_channels_of(shape, co)[0]
    return f"ci = {ci} (channel {first + ci})"


def channel_words(shape: ConvShape, co: int, ci: int) -> str:
    """The same input channel in a sentence, with its group."""
    inputs = input_channels_of(shape, co)
    channel = f"channel {inputs[ci]}"
    if shape.groups == 1:
        return channel
    group = f"group {group_of(shape, co)}"
    if len(inputs) == 1:
        return f"{channel} ({group})"
    return f"{channel} ({group}: {in_words('channel', inputs)})"
