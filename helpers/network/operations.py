"""Pooling, the loss and the update on the GPU: their versions, and how each is dispatched."""

from math import ceil, prod

from helpers.gpu.operation import Choice, Operation, Schedule, flat, nested_loops, one_step
from helpers.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.wgsl import Kernel


def _outputs(s: PoolShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.of("output"))), nested_loops(*s.kernel))


def _pixels(s: PoolShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.of("input"))), nested_loops(*s.kernel))


def _pixels_with_rivals(s: PoolShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.of("input"))), nested_loops(*s.kernel, prod(s.kernel)))


def _rows(s: LossShape, kernel: Kernel) -> Schedule:
    return one_step((ceil(s.rows / 64), 1, 1), nested_loops(3 * s.classes + 4))


def _elements(s: ElementShape | StartShape | UpdateShape, kernel: Kernel) -> Schedule:
    return one_step(flat(s.count), 0)


def _only(version: str, schedule) -> dict:
    """The one version of an operation, and that it is taken."""
    return {"versions": {version: schedule}, "choose": lambda s, adapter: [Choice(version, "it is the only one")]}


def _operation(name: str, tensors: str, outputs: str, version: str, schedule) -> Operation:
    return Operation(name, (*tensors.split(),), (*outputs.split(),), **_only(version, schedule))


MAX = _operation("max_pool2d", "input output", "output", "1_thread_per_output", _outputs)
AVG = _operation("avg_pool2d", "input output", "output", "1_thread_per_output", _outputs)
MAX_BACKWARD = _operation(
    "max_pool2d_backward", "input grad_output grad_input", "grad_input", "1_gather", _pixels_with_rivals
)
AVG_BACKWARD = _operation("avg_pool2d_backward", "grad_output grad_input", "grad_input", "1_gather", _pixels)
CROSS_ENTROPY = _operation(
    "cross_entropy", "logits labels losses grad_logits", "losses grad_logits", "1_thread_per_row", _rows
)
SGD = _operation("sgd", "parameter grad velocity", "parameter velocity", "1_thread_per_parameter", _elements)
RELU_BACKWARD = _operation(
    "relu_backward", "output grad_output grad_pre", "grad_pre", "1_thread_per_element", _elements
)
INITIALIZE = _operation("initialize", "parameter", "parameter", "1_thread_per_element", _elements)
OPERATIONS = {
    each.name: each
    for each in (MAX, AVG, MAX_BACKWARD, AVG_BACKWARD, RELU_BACKWARD, CROSS_ENTROPY, SGD, INITIALIZE)
}
