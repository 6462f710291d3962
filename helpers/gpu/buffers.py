"""Arrays on the GPU: make a buffer, fill it, read it back."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod

import numpy as np
import wgpu

from helpers.gpu.adapter import MAX_BINDING, MAX_BUFFER, GpuError, device, reason

Buffer = wgpu.GPUBuffer
WORDS = {np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.uint32)}  # the kinds of numbers that a buffer holds
STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


ALIGNMENT = 256  # bytes: where a slice of a buffer may begin on every WebGPU adapter


@dataclass(frozen=True)
class Slice:
    """A part of a storage buffer, in bytes: it can be bound, copied and read in the place of a whole one."""

    buffer: wgpu.GPUBuffer
    offset: int
    size: int


def part_of(buffer: wgpu.GPUBuffer | Slice) -> Slice:
    """The slice itself, or a whole buffer as one."""
    if isinstance(buffer, Slice):
        return buffer
    return Slice(buffer, 0, buffer.size)


SPLIT = "split the batch (gradients of weights and biases add up, those of inputs are concatenated)"


def too_large(nbytes: int, name: str, advice: str = SPLIT) -> str | None:
    """The reason why one binding cannot hold a tensor of this many bytes, with advice, or None."""
    if nbytes <= MAX_BINDING:
        return None
    size = f"{nbytes / 2**20:.1f} MiB, more than the {MAX_BINDING >> 20} MiB that one binding may hold"
    return f"{name} takes {size}: {advice}"


def require_binding(nbytes: int, name: str, advice: str = SPLIT) -> None:
    """Raise GpuError, with advice, where one binding cannot hold a tensor of this many bytes."""
    problem = too_large(nbytes, name, advice)
    if problem:
        raise GpuError(problem)


def empty(nbytes: int, name: str) -> wgpu.GPUBuffer:
    """A storage buffer of `nbytes` zeros; `name` is what an error calls it."""
    require_binding(nbytes, name)
    try:
        return device().create_buffer(size=nbytes, usage=STORAGE)  # a label would cost a third more
    except wgpu.GPUError as error:
        raise GpuError(f"{name}: the adapter refuses {nbytes / 2**20:.1f} MiB more: {reason(error)}") from error


def upload(array: np.ndarray, name: str) -> wgpu.GPUBuffer:
    """A storage buffer that holds `array`, row-major (a strided array is copied in that order).

    Raises TypeError for a dtype that WGSL does not have, ValueError for an array without elements.
    """
    if array.dtype not in WORDS:
        raise TypeError(f"{name} has dtype {array.dtype}: it must be float32, int32 or uint32")
    if not array.size:
        raise ValueError(f"{name} has shape {array.shape}: no axis may be 0")
    buffer = empty(array.nbytes, name)
    write(buffer, array)
    return buffer


def write(buffer: wgpu.GPUBuffer | Slice, array: np.ndarray) -> None:
    """Copy `array`, row-major, to the beginning of a buffer; what was submitted before still sees what was there."""
    part = part_of(buffer)
    device().queue.write_buffer(part.buffer, part.offset, np.ascontiguousarray(array))


def read(buffer: wgpu.GPUBuffer | Slice, shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Wait for all that was submitted, then copy the first elements of `buffer` into an array of `shape`.

    A kernel that never ends is waited for without end.
    """
    nbytes = np.dtype(dtype).itemsize * prod(shape)
    part = part_of(buffer)
    data = device().queue.read_buffer(part.buffer, part.offset, nbytes)
    return np.frombuffer(data, dtype).reshape(shape)


def read_together(wanted: Sequence[tuple[wgpu.GPUBuffer | Slice, tuple[int, ...]]]) -> tuple[np.ndarray, ...]:
    """As `read`, of float32 from several buffers, but wait only once: each wait takes as long as a small launch."""
    numbers = sum(prod(shape) for _, shape in wanted)
    if len(wanted) == 1 or 4 * numbers > MAX_BUFFER:
        return tuple(read(buffer, shape) for buffer, shape in wanted)
    data = _copied_together(wanted, 4 * numbers)
    arrays = []
    begin = 0
    for _, shape in wanted:
        end = begin + prod(shape)
        arrays.append(data[begin:end].reshape(shape))
        begin = end
    return tuple(arrays)


def _copied_together(wanted: Sequence[tuple[wgpu.GPUBuffer | Slice, tuple[int, ...]]], nbytes: int) -> np.ndarray:
    """The float32 numbers of several buffers, one after the other."""
    usage = wgpu.BufferUsage.MAP_READ | wgpu.BufferUsage.COPY_DST
    copies = device().create_buffer(size=nbytes, usage=usage)
    encoder = device().create_command_encoder()
    begin = 0
    for buffer, shape in wanted:
        part = part_of(buffer)
        size = 4 * prod(shape)
        encoder.copy_buffer_to_buffer(part.buffer, part.offset, copies, begin, size)
        begin += size
    device().queue.submit([encoder.finish()])
    copies.map_sync(wgpu.MapMode.READ)
    numbers = np.frombuffer(copies.read_mapped(), np.float32)
    copies.destroy()
    return numbers


@lru_cache(maxsize=256)
def uniform(values: tuple[int, ...]) -> wgpu.GPUBuffer:
    """A uniform buffer of u32, padded to the 16 bytes that WGSL rounds a struct up to; the same values share one."""
    data = np.zeros(4 * ceil(len(values) / 4), np.uint32)
    data[: len(values)] = values
    return device().create_buffer_with_data(label="params", data=data, usage=wgpu.BufferUsage.UNIFORM)
