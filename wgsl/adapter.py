"""An adapter without a GPU, with the names of the package wgpu: the simulator runs the kernels, slowly.

What is recorded runs at once when it is submitted. A kernel that is wrong is treated as a GPU treats it: a read past
the end of a buffer gives 0, such a write is dropped, an index past another array means its last element, and of
several writes to one place the last one remains. Nothing is reported; `wgsl.simulate` does that.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from wgsl.diagnostics import Lines, NotWgsl, Unsupported
from wgsl.simulator.bindings import unused
from wgsl.simulator.memory import size_of
from wgsl.simulator.run import execute
from wgsl.syntax.parser import parsed
from wgsl.types.declarations import Declarations, check
from wgsl.types.memory import HANDLE
from wgsl.types.program import Program, Variable
from wgsl.types.usage import usage

WORD = 4  # bytes
FEATURES = frozenset({"subgroups"})  # extensions that a text may enable, under their names in WGSL and in WebGPU


class GPUError(Exception):
    """The base of the errors that a call raises, as wgpu names it."""


class GPUValidationError(GPUError):
    """A rule of WebGPU or WGSL was broken."""


class GPUOutOfMemoryError(GPUError):
    """There is no memory left."""


def refused_text(reason: str, line: int, column: int) -> str:
    """Return a compiler's message about a text, with the reason and its place, as `wgsl.suggestions` reads it."""
    return f"Shader parsing error: {reason}\n  ┌─ wgsl:{line}:{column}\n  = {reason}"


class GPUBuffer:
    """Bytes, in whole words."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._words = np.zeros(-(-size // WORD), np.uint32)

    def words(self, offset: int, size: int) -> np.ndarray:
        """The words of some of its bytes, to be read and changed."""
        return self._words[offset // WORD : (offset + size) // WORD]

    def map_sync(self, mode: object) -> None:
        """Wait until Python can read it: it can at any time."""

    def read_mapped(self) -> bytearray:
        """A copy of its bytes."""
        return bytearray(self._words.tobytes()[: self.size])

    def destroy(self) -> None:
        """Free it; Python does."""


class GPUShaderModule:
    """A text that was read; its names and types are checked when an entry point is prepared."""

    def __init__(self, code: str) -> None:
        self._code = code
        for name in self._read(lambda: parsed(code)).enabled:
            if name in FEATURES:
                continue
            reason = f"the `{name}` extension is not supported in the current environment"
            raise GPUValidationError(refused_text(reason, *Lines(code).place(name.at)))

    def program(self, entry_point: str, constants: Mapping[str, float]) -> Program:
        """One entry point, with the values of the constants. Raises GPUValidationError where it breaks a rule."""
        return self._read(lambda: _of_buffers(check(Declarations(parsed(self._code), constants), entry_point)))

    def _read(self, read: Callable[[], Any]) -> Any:
        """Return what `read` makes of the text. Raises GPUValidationError, with the place, where it is refused."""
        try:
            return read()
        except (NotWgsl, Unsupported) as error:
            reason = f"the simulator has no {error}" if isinstance(error, Unsupported) else str(error)
            raise GPUValidationError(refused_text(reason, *Lines(self._code).place(error.at))) from None
        except ValueError as error:
            raise GPUValidationError(str(error)) from None


def _of_buffers(program: Program) -> Program:
    """The program. Raises Unsupported where it has textures, which this adapter does not make."""
    for variable in program.bindings:
        if variable.space == HANDLE:
            raise Unsupported("textures", variable.at, name=variable.type)
    return program


class GPUBindGroupLayout(NamedTuple):
    """The kinds of the bindings."""

    entries: Sequence[Mapping]


class GPUPipelineLayout(NamedTuple):
    """The layouts of the bind groups."""

    bind_group_layouts: Sequence[GPUBindGroupLayout]


class GPUQuerySet:
    """A place for timestamps, of which this adapter makes none."""


class GPUComputePipeline:
    """An entry point, ready to run."""

    def __init__(self, program: Program) -> None:
        self.program = program


class GPUBindGroup:
    """Buffers at their bindings."""

    def __init__(self, entries: Iterable[Mapping]) -> None:
        self.words = {entry["binding"]: _words_of(**entry["resource"]) for entry in entries}


def _words_of(buffer: GPUBuffer, offset: int = 0, size: int | None = None) -> np.ndarray:
    return buffer.words(offset, buffer.size - offset if size is None else size)


def _counted(variable: Variable, words: np.ndarray) -> np.ndarray:
    """The words that the kernel sees. Raises GPUValidationError where there are too few."""
    least, step = size_of(variable.type)
    if len(words) < least:
        sizes = f"is bound with size {WORD * len(words)} where the shader expects {WORD * least}"
        raise GPUValidationError(f"In bind group {variable.group}, binding index {variable.binding} {sizes}")
    return words[: least + (len(words) - least) // step * step if step else least]


def _bound(variable: Variable, bound: Mapping[tuple[int, int], np.ndarray], used: bool) -> np.ndarray:
    """The words of a binding. Raises GPUValidationError where it is used and has too few, or none."""
    words = bound.get((variable.group, variable.binding))
    if words is not None:
        return _counted(variable, words)
    if used:
        raise GPUValidationError(f"In bind group {variable.group}, binding index {variable.binding} has no buffer")
    return unused(variable)


class GPUComputePassEncoder:
    """Records dispatches."""

    def __init__(self, commands: list[Callable[[], None]]) -> None:
        self._commands = commands
        self._words: dict[tuple[int, int], np.ndarray] = {}

    def set_pipeline(self, pipeline: GPUComputePipeline) -> None:
        """Let the next dispatches run this entry point."""
        self._program = pipeline.program

    def set_bind_group(self, index: int, group: GPUBindGroup) -> None:
        """Let the next dispatches read and write the buffers of this group."""
        others = {place: words for place, words in self._words.items() if place[0] != index}
        self._words = others | {(index, binding): words for binding, words in group.words.items()}

    def dispatch_workgroups(self, x: int, y: int = 1, z: int = 1) -> None:
        """Record one dispatch."""
        self._commands.append(partial(_dispatch, self._program, self._words, (x, y, z)))

    def end(self) -> None:
        """No more dispatches follow."""


def _dispatch(program: Program, bound: Mapping[tuple[int, int], np.ndarray], workgroups: tuple[int, int, int]) -> None:
    """Run one dispatch. Raises GPUError where the simulator refuses it."""
    used = usage(program.entry).variables
    buffers = [_bound(variable, bound, variable in used) for variable in program.bindings]
    try:
        execute(program, buffers, workgroups)
    except (ValueError, MemoryError) as error:
        raise GPUError(f"{error} (in a browser with WebGPU, a GPU runs it)") from None


class GPUCommandEncoder:
    """Records dispatches and copies, to be submitted once."""

    def __init__(self) -> None:
        self.commands: list[Callable[[], None]] = []

    def begin_compute_pass(self, *, label: str = "", timestamp_writes: Mapping | None = None) -> GPUComputePassEncoder:
        """Begin to record dispatches."""
        return GPUComputePassEncoder(self.commands)

    def copy_buffer_to_buffer(
        self, source: GPUBuffer, source_offset: int, destination: GPUBuffer, destination_offset: int, size: int
    ) -> None:
        """Record a copy."""
        copied = source.words(source_offset, size)
        overwritten = destination.words(destination_offset, size)
        self.commands.append(partial(np.copyto, overwritten, copied))

    def finish(self) -> "GPUCommandEncoder":
        """Return all that was recorded; nothing is added to it afterwards."""
        return self


class GPUQueue:
    """Does at once what it is given."""

    def submit(self, recorded: Sequence[GPUCommandEncoder]) -> None:
        """Run recorded commands in their order. Raises GPUError where the simulator refuses one."""
        for encoder in recorded:
            for command in encoder.commands:
                command()

    def write_buffer(self, buffer: GPUBuffer, offset: int, data: Any) -> None:
        """Copy bytes into a buffer."""
        words = np.frombuffer(data, np.uint32)
        buffer.words(offset, words.nbytes)[:] = words

    def read_buffer(self, buffer: GPUBuffer, offset: int = 0, size: int | None = None) -> bytearray:
        """Copy bytes out of a buffer."""
        return bytearray(_words_of(buffer, offset, size).tobytes())


class GPUDevice:
    """Makes everything else."""

    def __init__(self, features: Iterable[str] = ()) -> None:
        self.features = set(features)
        self.queue = GPUQueue()

    def create_shader_module(self, *, code: str) -> GPUShaderModule:
        """Read a text. Raises GPUValidationError with the first mistake and its place."""
        return GPUShaderModule(code)

    def create_compute_pipeline(self, *, layout: GPUPipelineLayout, compute: Mapping) -> GPUComputePipeline:
        """Prepare an entry point. Raises GPUValidationError where it breaks a rule."""
        module: GPUShaderModule = compute["module"]
        return GPUComputePipeline(module.program(compute["entry_point"], compute.get("constants") or {}))

    def create_buffer(self, *, size: int, usage: int) -> GPUBuffer:
        """Bytes that are 0. Raises GPUOutOfMemoryError where Python has no room for them."""
        try:
            return GPUBuffer(size)
        except MemoryError as error:
            raise GPUOutOfMemoryError(str(error)) from None

    def create_buffer_with_data(self, *, label: str = "", data: Any, usage: int) -> GPUBuffer:
        """A buffer that holds what an array holds."""
        made = self.create_buffer(size=memoryview(data).nbytes, usage=usage)
        self.queue.write_buffer(made, 0, data)
        return made

    def create_bind_group_layout(self, *, entries: Iterable[Mapping]) -> GPUBindGroupLayout:
        """The kinds of bindings."""
        return GPUBindGroupLayout(tuple(entries))

    def create_pipeline_layout(self, *, bind_group_layouts: Sequence[GPUBindGroupLayout]) -> GPUPipelineLayout:
        """The layouts of all bind groups."""
        return GPUPipelineLayout(tuple(bind_group_layouts))

    def create_bind_group(self, *, layout: GPUBindGroupLayout, entries: Iterable[Mapping]) -> GPUBindGroup:
        """Buffers at their bindings."""
        return GPUBindGroup(entries)

    def create_command_encoder(self) -> GPUCommandEncoder:
        """Begin to record."""
        return GPUCommandEncoder()


class GPUAdapter:
    """The simulator, and why it is used."""

    features = FEATURES

    def __init__(self, why: str) -> None:
        self.info = {
            "device": "the simulator (of this project, without a GPU)",
            "description": f"none: {why}. The lessons go on in the simulator: results are the same, but take long",
            "backend_type": "WebGPU, simulated with NumPy",
            "adapter_type": "CPU",
        }

    @property
    def summary(self) -> str:
        """One line about it."""
        return f"{self.info['device']} ({self.info['adapter_type']}) via {self.info['backend_type']}"

    def request_device_sync(
        self, *, required_features: Sequence[str] = (), required_limits: Mapping[str, int] | None = None
    ) -> GPUDevice:
        """Open it."""
        return GPUDevice(required_features)


class GPU:
    """The way to the adapter where there is no browser."""

    def request_adapter_sync(self, *, power_preference: str = "high-performance") -> GPUAdapter:
        """The simulator."""
        return GPUAdapter("this Python runs in no browser")

    def enumerate_adapters_sync(self) -> list[GPUAdapter]:
        """The one adapter."""
        return [self.request_adapter_sync()]


gpu = GPU()
