"""Adapter, device, queue, buffers and encoders: each wraps the browser's object of the same name.

Its errors are wgpu's classes, with texts in the form that `wgsl.suggestions` reads.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from js import Array, Object, Uint8Array, isSecureContext, navigator
from pyodide.code import run_js
from pyodide.ffi import can_run_sync, run_sync, to_js

from wgpu.enums import BufferUsage, MapMode
from wgsl import adapter
from wgsl.adapter import GPUError, GPUOutOfMemoryError, GPUValidationError, refused_text

NEWER = "Chrome 137, Firefox 153, Safari 27 or newer"
WHERE = "Chrome says why at chrome://gpu, Firefox at about:support"
NO_GPU = f"the browser uses no GPU, but this software; {WHERE}"
SCOPES = "validation", "out-of-memory"  # the kinds of errors that are asked for
LONGEST = 60  # seconds that a wait for the GPU may take
# For a device, or none: a function that waits for all of some promises, at most this many milliseconds. It comes to
# what each of them comes to, to nothing where that takes longer, and to the reason where the GPU is taken away.
WAITER = run_js("""device => {
  let lost = null, wake = () => {};
  device?.lost.then(why => { wake(lost = why); });
  return (promises, longest) => new Promise(done => {
    if (lost) return done(lost);
    wake = done;
    const late = setTimeout(done, longest);
    Promise.allSettled(promises).then(done).finally(() => clearTimeout(late));
  });
}""")


class GPUGoneError(RuntimeError):
    """The browser took the GPU away, or it does not answer: no call works any more."""

    def __init__(self, why: str) -> None:
        todo = "choose Kernel > Restart Kernel, and run the cells again; what you wrote is kept"
        super().__init__(f"{why}: {todo} (where that does not help, close the browser first)")

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython shows: the message alone, as the code is not to blame."""
        return [str(self)]


def _raised(error: Any) -> GPUError:
    """The exception for an error that an error scope caught."""
    kind = GPUOutOfMemoryError if error.constructor.name == "GPUOutOfMemoryError" else GPUValidationError
    return kind(error.message)


def _camel(name: str) -> str:
    return re.sub(r"[_-](\w)", lambda match: match[1].upper(), name)


def _js(value: Any) -> Any:
    """A value as the browser takes it: our objects unwrapped, and names in JavaScript's form."""
    if isinstance(value, Wrapped):
        return value._internal
    if isinstance(value, Mapping):
        entries = [_entry(name, part) for name, part in value.items() if part is not None]
        return Object.fromEntries(to_js(entries))
    if isinstance(value, list | tuple):
        return to_js([_js(part) for part in value])
    return value.item() if hasattr(value, "item") and hasattr(value, "dtype") else value  # a number of NumPy


def _entry(name: str, value: Any) -> list:
    """A name of a description in JavaScript's form, and its value."""
    return [_camel(name), _names(value) if name == "constants" else _js(value)]


def _names(constants: Mapping[str, float]) -> Any:
    """A kernel's constants, which keep their names."""
    return Object.fromEntries(to_js(list(constants.items())))


def _wait(waiter: Any, *promises: Any) -> list:
    """Wait for several promises, and return their results, each with `.status`, and `.value` or `.reason`.

    Raises GPUGoneError where that takes too long, or where the browser takes the device away.
    """
    if not can_run_sync():
        raise RuntimeError("Python can wait for the GPU only in a cell")
    settled = run_sync(waiter(to_js(promises), 1000 * LONGEST))
    if settled is None:
        raise GPUGoneError(f"the GPU did not answer within {LONGEST} seconds")
    if hasattr(settled, "reason"):
        raise GPUGoneError(f"the browser took the GPU away ({settled.message.strip('. ') or settled.reason})")
    return list(settled)


class Wrapped:
    """An object of the browser, the device that made it, and what it needs, which lives as long.

    What a class does not have is a method of the browser's object, by wgpu's name for it.
    """

    def __init__(self, internal: Any, device: "GPUDevice | None" = None, *needs: "Wrapped") -> None:
        self._internal, self._device, self._needs = internal, device, [*needs]

    def __getattr__(self, name: str) -> Callable:
        """The method; what it is given is needed from then on."""
        method = getattr(self._internal, _camel(name))

        def call(*arguments: Any) -> None:
            self._needs += [argument for argument in arguments if isinstance(argument, Wrapped)]
            method(*map(_js, arguments))

        return call


class GPUBindGroup(Wrapped):
    """Buffers at their bindings."""


class GPUBindGroupLayout(Wrapped):
    """The kinds of the bindings."""


class GPUCommandBuffer(Wrapped):
    """Recorded commands."""


class GPUComputePipeline(Wrapped):
    """A compiled entry point."""


class GPUPipelineLayout(Wrapped):
    """The layouts of the bind groups."""


class GPUQuerySet(Wrapped):
    """A place for timestamps."""


class GPUShaderModule(Wrapped):
    """A compiled text."""


class GPUBuffer(Wrapped):
    """Bytes on the GPU, which are freed with this object."""

    @property
    def size(self) -> int:
        """Its bytes."""
        return self._internal.size

    def map_sync(self, mode: MapMode) -> None:
        """Wait until Python can read it."""
        self._device.settle(self._internal.mapAsync(int(mode)))

    def read_mapped(self) -> bytearray:
        """A copy of its bytes, while it is mapped."""
        copied = bytearray(self.size)
        Uint8Array.new(self._internal.getMappedRange()).assign_to(copied)
        return copied

    def __del__(self) -> None:
        self.destroy()  # as soon as no submitted command needs it


class GPUComputePassEncoder(Wrapped):
    """Records dispatches: a pipeline, bind groups, and how many workgroups."""


class GPUCommandEncoder(Wrapped):
    """Records passes, copies, and that timestamps, in nanoseconds, are written into a buffer."""

    def begin_compute_pass(self, **described: Any) -> GPUComputePassEncoder:
        """Begin to record dispatches."""
        begun = GPUComputePassEncoder(self._internal.beginComputePass(_js(described)), self._device)
        begun._needs = self._needs
        return begun

    def finish(self) -> GPUCommandBuffer:
        """The recorded commands, to be submitted once."""
        return GPUCommandBuffer(self._internal.finish(), self._device, *self._needs)


class GPUQueue(Wrapped):
    """Takes commands (`submit`) and data in their order."""

    def write_buffer(self, buffer: GPUBuffer, offset: int, data: Any) -> None:
        """Copy bytes into a buffer, after all that was submitted."""
        self._internal.writeBuffer(buffer._internal, offset, to_js(memoryview(data).cast("B")))

    def read_buffer(self, buffer: GPUBuffer, offset: int = 0, size: int | None = None) -> bytearray:
        """Wait for all that was submitted, and copy bytes out of a buffer."""
        size = buffer.size - offset if size is None else size
        copied = self._device.create_buffer(size=size, usage=BufferUsage.MAP_READ | BufferUsage.COPY_DST)
        encoder = self._device.create_command_encoder()
        encoder.copy_buffer_to_buffer(buffer, offset, copied, 0, size)
        self.submit([encoder.finish()])
        copied.map_sync(MapMode.READ)
        return copied.read_mapped()


class GPUDevice(Wrapped):
    """Makes everything else.

    A scope for errors is always open. What goes wrong is raised at the next call that waits anyway, because each
    look costs a wait; only a text and a pipeline are looked at when they are made.
    """

    def __init__(self, internal: Any) -> None:
        super().__init__(internal)
        self._waiter = WAITER(internal)
        self.features = set(Array.from_(internal.features).to_py())
        self.queue = GPUQueue(internal.queue, self)
        self._open()

    def _open(self) -> None:
        for scope in SCOPES:
            self._internal.pushErrorScope(scope)

    def settle(self, *promises: Any) -> list:
        """The results of the promises. Raises the error that occurred since the last look, or theirs."""
        caught = [self._internal.popErrorScope() for _ in SCOPES]
        self._open()
        *settled, memory, rule = _wait(self._waiter, *promises, *caught)
        for error in (memory.value, rule.value):
            if error:
                raise _raised(error)
        for result in settled:
            if result.status == "rejected":
                raise GPUValidationError(result.reason.message)
        return [result.value for result in settled]

    def create_shader_module(self, *, code: str) -> GPUShaderModule:
        """Compile a text. Raises GPUValidationError with the first mistake and its place."""
        self._internal.pushErrorScope("validation")
        made = self._internal.createShaderModule(_js({"code": code}))
        compilation, caught = _wait(self._waiter, made.getCompilationInfo(), self._internal.popErrorScope())
        for message in compilation.value.messages:
            if message.type == "error":
                raise GPUValidationError(refused_text(message.message, message.lineNum, message.linePos))
        if caught.value:
            raise _raised(caught.value)
        return GPUShaderModule(made, self)

    def create_compute_pipeline(self, *, layout: GPUPipelineLayout, compute: Mapping) -> GPUComputePipeline:
        """Compile an entry point. Raises GPUValidationError where it breaks a rule."""
        described = _js({"layout": layout, "compute": compute})
        (made,) = self.settle(self._internal.createComputePipelineAsync(described))
        return GPUComputePipeline(made, self)

    def _create(self, kind: type[Wrapped], *needs: Wrapped, **described: Any) -> Any:
        """A new object of one of our classes, which the browser makes of a description."""
        make = getattr(self._internal, kind.__name__.replace("GPU", "create"))
        return kind(make(_js(described)), self, *needs)

    def create_buffer(self, *, size: int, usage: int) -> GPUBuffer:
        """Bytes that are 0."""
        return self._create(GPUBuffer, size=size, usage=int(usage))

    def create_buffer_with_data(self, *, label: str = "", data: Any, usage: int) -> GPUBuffer:
        """A buffer that holds what an array holds."""
        made = self.create_buffer(size=memoryview(data).nbytes, usage=usage | BufferUsage.COPY_DST)
        self.queue.write_buffer(made, 0, data)
        return made

    def create_bind_group_layout(self, *, entries: Iterable[Mapping]) -> GPUBindGroupLayout:
        """The kinds of bindings."""
        return self._create(GPUBindGroupLayout, entries=list(entries))

    def create_pipeline_layout(self, *, bind_group_layouts: Sequence[GPUBindGroupLayout]) -> GPUPipelineLayout:
        """The layouts of all bind groups."""
        return self._create(GPUPipelineLayout, bind_group_layouts=bind_group_layouts)

    def create_bind_group(self, *, layout: GPUBindGroupLayout, entries: Sequence[Mapping]) -> GPUBindGroup:
        """Buffers at their bindings."""
        buffers = (entry["resource"]["buffer"] for entry in entries)
        return self._create(GPUBindGroup, *buffers, layout=layout, entries=entries)

    def create_command_encoder(self) -> GPUCommandEncoder:
        """Begin to record."""
        return self._create(GPUCommandEncoder)

    def create_query_set(self, *, type: str, count: int) -> GPUQuerySet:
        """A place for timestamps."""
        return self._create(GPUQuerySet, type=type, count=count)


class GPUAdapter(Wrapped):
    """The GPU that the browser offers."""

    @cached_property
    def info(self) -> dict[str, str]:
        """Its names, as far as the browser tells them, under wgpu's keys."""
        info = self._internal.info
        software = getattr(info, "isFallbackAdapter", False) or "swiftshader" in info.architecture
        browser = " ".join(re.findall(r"(?:Edg|Firefox|Chrome|Version)/\d+", navigator.userAgent)[-1:])
        names = filter(None, (info.device, info.description, f"{info.vendor} {info.architecture}".strip()))
        return {
            "device": next(names, "a GPU that the browser does not name"),
            "description": f"{NO_GPU} ({browser})" if software else browser,
            "backend_type": "WebGPU in this browser",
            "adapter_type": "CPU" if software else "GPU",
        }

    @property
    def summary(self) -> str:
        """One line about it."""
        return f"{self.info['device']} ({self.info['adapter_type']}) via {self.info['backend_type']}"

    @cached_property
    def features(self) -> set[str]:
        """The features that it has beyond every adapter."""
        return set(Array.from_(self._internal.features).to_py())

    def request_device_sync(
        self, *, required_features: Sequence[str] = (), required_limits: Mapping[str, int] | None = None
    ) -> GPUDevice:
        """Open it. Raises GPUError where it does not offer what is required."""
        described = _js({"required_features": list(required_features), "required_limits": required_limits or {}})
        (made,) = _wait(WAITER(None), self._internal.requestDevice(described))
        if made.status == "rejected":
            raise GPUError(made.reason.message)
        return GPUDevice(made.value)


class GPU:
    """The way to the adapter."""

    def request_adapter_sync(self, *, power_preference: str = "high-performance") -> "GPUAdapter | adapter.GPUAdapter":
        """The adapter that the browser chooses, or the simulator where it has none that Python can use."""
        why = _without_gpu()
        if why:
            return adapter.GPUAdapter(why)
        (offered,) = _wait(WAITER(None), navigator.gpu.requestAdapter(_js({"power_preference": power_preference})))
        if offered.status == "rejected" or not offered.value:
            return adapter.GPUAdapter(f"this browser finds no GPU, or does not use it ({WHERE})")
        return GPUAdapter(offered.value)

    def enumerate_adapters_sync(self) -> "list[GPUAdapter | adapter.GPUAdapter]":
        """The one adapter."""
        return [self.request_adapter_sync()]


def _without_gpu() -> str | None:
    """The reason why Python cannot ask this browser for a GPU, and what would help, or None."""
    if not isSecureContext:
        return "this address has no https, without which a browser offers no GPU: open the page with https"
    if not hasattr(navigator, "gpu"):
        return f"this browser has no WebGPU, or it is switched off: switch it on, or take {NEWER}"
    if not can_run_sync():
        return f"in this browser, Python cannot wait for a GPU: take {NEWER}"
    return None


gpu = GPU()
