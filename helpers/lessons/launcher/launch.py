"""The calls of wgpu that a launch takes, in short form and without a GPU: what a learner writes in appendix C.

They know one kernel, which computes output[i] = 3 * input[i] + 1 in workgroups of 4 threads. What wgpu refuses they
refuse, too, by a ValueError whose sentence the learner reads; and a workgroup for each number, where each thread was
meant to have one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from functools import wraps
from inspect import Parameter, signature
from typing import ClassVar

from helpers.grading.words.values import as_typed

# threads of a workgroup, bytes of a number
THREADS = 4
FLOAT = 4
MOST_BYTES = 1_000_000  # of a buffer, which is made in the reader's own process
CALLS: dict[str, Callable] = {}


class Made:
    """An object, with the words that name it in a message."""

    words: ClassVar[str]

    def __str__(self) -> str:
        return self.words


class Code(Made):
    words = "the text of a kernel"


class Module(Made):
    words = "a module"


class Access(Enum):
    """The access that a kernel has to the buffer in a slot."""

    READ = "read-only-storage"
    WRITE = "storage"

    def __str__(self) -> str:
        return self.name


@dataclass(eq=False)
class Buffer(Made):
    words = "a buffer"
    numbers: list[float]

    def __str__(self) -> str:
        return f"{self.words} of {FLOAT * len(self.numbers)} bytes"


@dataclass(eq=False)
class Layout(Made):
    words = "a layout"
    access: tuple[Access, ...]


@dataclass(eq=False)
class Pipeline(Made):
    words = "a pipeline"


@dataclass(eq=False)
class BindGroup(Made):
    words = "a bind group"
    layout: Layout
    buffers: tuple[Buffer, ...]


@dataclass(eq=False)
class Encoder(Made):
    words = "an encoder"
    dispatches: list = field(default_factory=list)
    open: "Pass | None" = None
    finished: bool = False


@dataclass(eq=False)
class Pass(Made):
    words = "a pass"
    encoder: Encoder
    pipeline: Pipeline | None = None
    group: BindGroup | None = None


@dataclass(eq=False)
class Commands(Made):
    words = "a recording"
    dispatches: list
    submitted: bool = False


DECLARED = Access.READ, Access.WRITE
WORDS = {int: "a whole number", tuple: "a tuple of numbers", Access: "READ or WRITE"}


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ValueError(sentence)


def _require_type(parameter: Parameter, value: object) -> None:
    """Refuse a value that has not the type of the parameter's annotation."""
    kind = parameter.annotation
    wanted = WORDS.get(kind) or kind.words
    _require(type(value) is kind, f"`{parameter.name}` must be {wanted}, and this is {as_typed(value)}")


def call(function: Callable) -> Callable:
    """A call that a learner can make: what it is given must have the types of its annotations."""
    takes = signature(function)

    @wraps(function)
    def checked(*arguments: object, **named: object) -> object:
        for name, value in takes.bind(*arguments, **named).arguments.items():
            parameter = takes.parameters[name]
            if parameter.kind is Parameter.VAR_POSITIONAL:
                for one in value:
                    _require_type(parameter, one)
            else:
                _require_type(parameter, value)
        return function(*arguments, **named)

    CALLS[function.__name__] = checked
    return checked


# --- What is made ---------------------------------------------------------------------------------------------


@call
def create_shader_module(code: Code) -> Module:
    return Module()


@call
def create_buffer(size: int) -> Buffer:
    _require(size > 0 and size % FLOAT == 0, f"a buffer of floats has 4, 8, 12, ... bytes, and this one has {size}")
    _require(size <= MOST_BYTES, f"size = {size:,}: a buffer has at most {MOST_BYTES:,} bytes here")
    return Buffer([0] * (size // FLOAT))


@call
def create_bind_group_layout(*access: Access) -> Layout:
    return Layout(access)


@call
def create_compute_pipeline(layout: Layout, module: Module) -> Pipeline:
    names = " and ".join(access.name for access in layout.access)
    _require(layout.access == DECLARED, f"the kernel declares `read` and then `read_write`; this layout has {names}")
    return Pipeline()


@call
def create_bind_group(layout: Layout, *buffers: Buffer) -> BindGroup:
    slots = len(layout.access)
    count = len(buffers)
    _require(count == slots, f"the number of slots in the layout is {slots}, and that of buffers {count}")
    return BindGroup(layout, buffers)


@call
def create_command_encoder() -> Encoder:
    return Encoder()


# --- What is recorded, and runs -------------------------------------------------------------------------------


def _require_ready(encoder: Encoder) -> None:
    _require(not encoder.finished, "this encoder is finished: create another one")
    _require(encoder.open is None, "a pass of this encoder is still open: end it first")


@call
def begin_compute_pass(encoder: Encoder) -> Pass:
    _require_ready(encoder)
    encoder.open = Pass(encoder)
    return encoder.open


def _require_open(compute: Pass) -> None:
    _require(compute.encoder.open is compute, "this pass has ended: begin another one")


@call
def set_pipeline(compute: Pass, pipeline: Pipeline) -> None:
    _require_open(compute)
    compute.pipeline = pipeline


@call
def set_bind_group(compute: Pass, group: BindGroup) -> None:
    _require_open(compute)
    compute.group = group


@call
def dispatch_workgroups(compute: Pass, workgroups: int) -> None:
    _require_open(compute)
    _require(compute.pipeline is not None, "the pass has no pipeline yet: set it first")
    _require(compute.group is not None, "the pass has no bind group yet: set it first")
    _require(compute.group.layout.access == DECLARED, "the bind group has another layout than the pipeline")
    input, output = compute.group.buffers
    _require(input is not output, "one buffer cannot be read in one slot and written in the other")
    _require(workgroups >= 0, f"there are no {workgroups} workgroups")
    threads = workgroups * THREADS
    needed = max(len(input.numbers), len(output.numbers))
    many = f"{workgroups} workgroups have {threads} threads, for {needed} numbers"
    _require(threads < needed + 2 * THREADS, f"{many}: fewer workgroups of {THREADS} threads are enough")
    compute.encoder.dispatches.append((input, output, workgroups))


@call
def end(compute: Pass) -> None:
    _require_open(compute)
    compute.encoder.open = None


@call
def finish(encoder: Encoder) -> Commands:
    _require_ready(encoder)
    encoder.finished = True
    return Commands(encoder.dispatches)


@call
def submit(commands: Commands) -> None:
    _require(not commands.submitted, "this recording was submitted, which uses it up (record again)")
    commands.submitted = True
    for input, output, workgroups in commands.dispatches:
        for i in range(min(workgroups * THREADS, len(output.numbers))):
            output.numbers[i] = 3 * (input.numbers[i] if i < len(input.numbers) else 0) + 1


@call
def write_buffer(buffer: Buffer, numbers: tuple) -> None:
    bytes = FLOAT * len(numbers)
    size = FLOAT * len(buffer.numbers)
    _require(bytes <= size, f"these numbers are {bytes} bytes, and the buffer has {size}")
    buffer.numbers[: len(numbers)] = numbers


@call
def read_buffer(buffer: Buffer) -> tuple:
    return tuple(buffer.numbers)
