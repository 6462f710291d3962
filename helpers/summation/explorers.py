"""Pictures with sliders of threads that add up one sum."""

from collections.abc import Mapping, Sequence

import numpy as np

from helpers import gpu
from helpers.kernels import load
from helpers.stepper import stepper
from helpers.summation.error_picture import ErrorPicture, Order
from helpers.summation.indices import ADDRESSINGS, schedules
from helpers.summation.operations import SUM
from helpers.summation.pictures import AddressingPicture, RacePicture, TwoPassesPicture
from helpers.summation.shapes import SumShape
from helpers.widgets.explorer import Explorer
from wgsl import Kernel
from wgsl.simulator.run import simulate


def race() -> Explorer:
    """One slider over the six orders in which two threads may load and store."""
    return Explorer(RacePicture().show, {"order": len(schedules())})


def steps(kernel: str | Kernel, numbers: np.ndarray, watch: Sequence[str] = (), **options) -> Explorer:
    """Sliders through a simulated run of one workgroup that adds up a short list (n,): its lines, threads and memory.

    The kernel has few threads and the bindings of `sum`: the list, the total, and the list's length in a uniform.
    `watch` names the variables to show; `options` are those of
    `stepper`, such as the thread at first.
    """
    buffers = numbers, np.zeros(1, np.float32), np.array([len(numbers)], np.uint32)
    return stepper(simulate(kernel, buffers, (1, 1, 1), watch=watch), **options)


def addressing() -> Explorer:
    """Sliders over three ways to address a tree, and over its steps."""
    return Explorer(AddressingPicture().show, {"pairing": len(ADDRESSINGS), "step": (1, 5)}, play="step")


def two_passes(numbers: np.ndarray) -> Explorer:
    """One slider over four workgroups of four threads that share a list (n,); the kernel really runs at this size."""
    kernel = load("sum", "3_two_passes").with_constants(THREADS=TwoPassesPicture.THREADS)
    buffers = gpu.upload(numbers, "input"), gpu.empty(4, "total")
    passes = SUM.prepare(buffers, SumShape(len(numbers)), kernel)
    gpu.run(*passes)
    _, total_buffer, parts_buffer, _ = passes[0].buffers
    parts = gpu.read(parts_buffer, (parts_buffer.size // 4,)).tolist()
    (returned,) = gpu.read(total_buffer, (1,)).tolist()
    picture = TwoPassesPicture(numbers.tolist(), parts, returned)
    return Explorer(picture.show, {"group": len(parts)})


def errors(lengths: np.ndarray, orders: Mapping[str, tuple[np.ndarray, np.ndarray | None]]) -> Explorer:
    """One slider over the orders of summation, each with its measured errors and its bound (see `Order`)."""
    picture = ErrorPicture(lengths, {name: Order(*order) for name, order in orders.items()})
    return Explorer(picture.show, {"order": len(orders)})
