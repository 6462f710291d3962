"""Kernels compiled once, and passes that run them.

Compiled modules are cached by their source, pipelines by source, entry point and constants, both for as long as a pass
uses them, and the last used ones beyond that. Layouts are cached by the buffer types that they list, and a bind group
for as long as a pass over the same buffers lives.
"""

import re
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

import numpy as np
import wgpu

from helpers.checks.arguments import as_int, check_size
from helpers.gpu.adapter import MAKING, MAX_WORKGROUPS, NATIVE, GpuError, adapter_info, device, reason
from helpers.gpu.buffers import Slice, empty, part_of, read, uniform, upload
from helpers.gpu.zeros import with_zeros
from wgsl import Kernel, WgslError, limit_passed
from wgsl.suggestions import compile_error

# --- Made once ------------------------------------------------------------------------------------------

IDLE = 128  # modules, and pipelines, that are cached although nothing uses them; a text takes up to some megabytes
Made = TypeVar("Made")


class Cache(WeakValueDictionary[Hashable, Made]):
    """What was made, by a key: whatever is in use somewhere, and of the rest the IDLE things that were used last."""

    def __init__(self) -> None:
        super().__init__()
        self._recent: OrderedDict[Hashable, Made] = OrderedDict()

    def made(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What has this key; it is made where it does not exist. Other threads wait for it."""
        with MAKING:
            made = self.get(key)
            if made is None:
                made = self[key] = make()
            self._recent[key] = made
            self._recent.move_to_end(key)
            while len(self._recent) > IDLE:
                self._recent.popitem(last=False)
            return made


MODULES: Cache[wgpu.GPUShaderModule] = Cache()
PIPELINES: Cache[wgpu.GPUComputePipeline] = Cache()


def module(source: str, checked: bool = True) -> wgpu.GPUShaderModule:
    """The compiled module of a source.

    One that is not `checked` reads and writes wherever its indices point: never for a learner's kernel.
    """
    return MODULES.made((source, checked), lambda: _module(source, checked))


def _module(source: str, checked: bool) -> wgpu.GPUShaderModule:
    code = source.replace("\0", "\ufffd")  # for wgpu, a NUL ends the text,
    code = code.replace("#version ", "#version\t")  # and one that begins with this is GLSL
    return device().create_shader_module(code=code) if checked or not NATIVE else _unchecked_module(code)


def _unchecked_module(code: str) -> wgpu.GPUShaderModule:
    """A module without bounds checks, by a function of wgpu-native that wgpu 0.32 does not wrap."""
    from wgpu.backends.wgpu_native import _api as native

    text = native.new_struct_p("WGPUShaderSourceWGSL *", code=native.to_c_string_view(code))
    text[0].chain.next, text[0].chain.sType = native.ffi.NULL, native.lib.WGPUSType_ShaderSourceWGSL
    chained, label = native.ffi.cast("WGPUChainedStruct *", text), native.to_c_string_view("unchecked")
    description = native.new_struct_p("WGPUShaderModuleDescriptor *", nextInChain=chained, label=label)
    made = native.lib.wgpuDeviceCreateShaderModuleTrusted(device()._internal, description, 0)
    return native.GPUShaderModule("unchecked", made, device())


@cache
def bind_group_layout(kinds: tuple[str, ...]) -> wgpu.GPUBindGroupLayout:
    """The layout of one bind group: buffers of these kinds at bindings 0, 1, 2, ..."""
    entries = [
        {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}} for i, kind in enumerate(kinds)
    ]
    return device().create_bind_group_layout(entries=entries)


def pipeline(kernel: Kernel, entry_point: str, checked: bool = True) -> wgpu.GPUComputePipeline:
    """The pipeline of one entry point of a kernel.

    Raises
    ------
    WgslError
        The kernel does not compile (says where, and what the compiler expected), or takes more than every WebGPU
        adapter offers.
    """
    key = kernel.source, entry_point, kernel.constants, checked
    return PIPELINES.made(key, lambda: _pipeline(kernel, entry_point, checked))


def _pipeline(kernel: Kernel, entry_point: str, checked: bool) -> wgpu.GPUComputePipeline:
    try:
        ours = kernel.version != kernel.name  # its versions store to each `var` before they read it
        text = kernel.source if ours else with_zeros(kernel.source)
        compiled = module(text, checked)  # first: the compiler explains a mistake best
        _require_portable(kernel, entry_point)
        layout = device().create_pipeline_layout(bind_group_layouts=[bind_group_layout(kernel.buffer_types)])
        compute = {"module": compiled, "entry_point": entry_point, "constants": dict(kernel.constants)}
        return device().create_compute_pipeline(layout=layout, compute=compute)
    except wgpu.GPUError as error:
        raise compile_error(kernel, dict(kernel.constants), entry_point, str(error)) from None


def _require_portable(kernel: Kernel, entry_point: str) -> None:
    """Refuse what wgpu lets pass where the size comes from an `override`, and what then hangs a real GPU."""
    if fault := limit_passed(kernel.workgroup_size(entry_point), kernel.workgroup_bytes):
        raise WgslError(fault, kernel.name)


_bind_groups: WeakValueDictionary[tuple, wgpu.GPUBindGroup] = WeakValueDictionary()


def bind_group(kernel: Kernel, buffers: tuple[wgpu.GPUBuffer | Slice, ...]) -> wgpu.GPUBindGroup:
    """The buffers at bindings 0, 1, 2, ... of a kernel; passes over the same buffers share one bind group.

    Raises GpuError where the buffers do not fit the kernel's bindings.
    """
    kinds = kernel.buffer_types
    if cached := _bind_groups.get((kinds, buffers)):
        return cached
    if len(buffers) != len(kinds):
        listed = ", ".join(kinds)
        raise GpuError(f"{kernel.name} has {len(kinds)} bindings ({listed}), and {len(buffers)} buffers were given")
    parts = [vars(part_of(buffer)) for buffer in buffers]  # buffer, offset and size, as WebGPU calls them, too
    entries = [{"binding": i, "resource": part} for i, part in enumerate(parts)]
    try:
        made = device().create_bind_group(layout=bind_group_layout(kinds), entries=entries)
    except wgpu.GPUError as error:
        raise GpuError(f"{kernel.name}: its buffers do not fit its bindings: {reason(error)}") from error
    _bind_groups[kinds, buffers] = made
    return made


SMALL_BUFFER = r"In bind group .* binding index (\d+) is bound with size (\d+) where the shader expects (\d+)"
ADVICE = "choose another kernel, a smaller problem or another adapter"


# --- Running --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pass:
    """One dispatch: a kernel over its buffers (in binding order), and the workgroups in x, y and z.

    `iterations` is an upper bound on the loop iterations of one thread, for the drivers that stop a thread after too
    many. `label` is what a GPU debugger calls this dispatch; one without a label shares a compute pass with its
    neighbors. Where it is not `checked`, the kernel runs without bounds checks: for measurements of kernels that are
    known to stay within their arrays.
    """

    kernel: Kernel
    buffers: tuple[wgpu.GPUBuffer | Slice, ...]
    workgroups: tuple[int, int, int]
    iterations: int = 0
    entry_point: str = "main"
    label: str = ""
    checked: bool = True

    def problem(self) -> str | None:
        """Why this pass cannot run on the adapter in use, or None."""
        if max(self.workgroups) > MAX_WORKGROUPS:
            rule = f"each number may be at most {MAX_WORKGROUPS:,}"
            return f"{self._name}: {self.workgroups} workgroups: {rule}: {ADVICE}"
        if self.iterations > CAP and loop_cap():
            return (
                f"{self._name}: a thread may loop {self.iterations:,} times, and this adapter's driver "
                f"({adapter_info().name}, {adapter_info().driver}) stops it after {loop_cap():,}: {ADVICE}"
            )

    @property
    def _name(self) -> str:
        return f"{self.kernel.name} {self.label}".strip()

    @cached_property
    def compiled(self) -> tuple[wgpu.GPUComputePipeline, wgpu.GPUBindGroup]:
        """Pipeline and bind group, made at the first use.

        Raises GpuError or WgslError where this pass cannot run.
        """
        if problem := self.problem():
            raise GpuError(problem)
        return pipeline(self.kernel, self.entry_point, self.checked), bind_group(self.kernel, self.buffers)


@dataclass(frozen=True)
class Copy:
    """One copy on the GPU, between two passes, from a buffer or a slice into another one of the same size."""

    source: wgpu.GPUBuffer | Slice
    target: wgpu.GPUBuffer | Slice

    def record(self, encoder: wgpu.GPUCommandEncoder) -> None:
        """Add it to an encoder."""
        source, target = part_of(self.source), part_of(self.target)
        encoder.copy_buffer_to_buffer(source.buffer, source.offset, target.buffer, target.offset, source.size)


def run(*passes: Pass | Copy) -> None:
    """Record the passes in one encoder and submit it once; a later pass sees what an earlier one wrote.

    Raises
    ------
    GpuError
        A pass asks for more than this adapter can do, or for buffers that do not fit; nothing was launched.
    WgslError
        A kernel does not compile.
    """
    for dispatch in passes:
        if isinstance(dispatch, Pass):
            _ = dispatch.compiled  # refuses, before anything is encoded
    submit(passes)


def submit(passes: Sequence[Pass | Copy], clock: wgpu.GPUQuerySet | None = None) -> None:
    """Encode and submit; with a `clock`, write its ticks 0 and 1 at the first begin and the last end."""
    gpu, batches = device(), _batches(passes)
    encoder = gpu.create_command_encoder()
    for i, batch in enumerate(batches):
        if isinstance(batch[0], Copy):
            batch[0].record(encoder)
            continue
        marks = {}
        if clock and i == 0:
            marks["beginning_of_pass_write_index"] = 0
        if clock and i == len(batches) - 1:
            marks["end_of_pass_write_index"] = 1
        writes = {"query_set": clock, **marks} if marks else None
        record(encoder.begin_compute_pass(label=batch[0].label, timestamp_writes=writes), batch)
    try:
        gpu.queue.submit([encoder.finish()])
    except wgpu.GPUError as error:
        why = re.sub(SMALL_BUFFER, r"the buffer at binding \1 has \2 bytes, and the kernel needs \3", reason(error))
        kernels = ", ".join(each.kernel.name for each in passes if isinstance(each, Pass))
        raise GpuError(f"{kernels}: {why}") from error


def submit_apart(groups: Sequence[Sequence[Pass]], clock: wgpu.GPUQuerySet) -> None:
    """Encode each group as a compute pass of its own, whose begin and end write two ticks, and submit all at once."""
    encoder = device().create_command_encoder()
    for i, group in enumerate(groups):
        marks = {"beginning_of_pass_write_index": 2 * i, "end_of_pass_write_index": 2 * i + 1}
        record(encoder.begin_compute_pass(timestamp_writes={"query_set": clock, **marks}), group)
    device().queue.submit([encoder.finish()])


def _batches(passes: Sequence[Pass | Copy]) -> list[list[Pass | Copy]]:
    """What shares a compute pass: neighbors without a label. Each one with a label has its own, and a copy has none."""
    batches, shared = [], False
    for each in passes:
        alone = isinstance(each, Copy) or bool(each.label)
        if alone or not shared:
            batches.append([each])
        else:
            batches[-1].append(each)
        shared = not alone
    return batches


def record(compute: wgpu.GPUComputePassEncoder, batch: Sequence[Pass]) -> None:
    """Record dispatches, and set only what differs from the one before.

    wgpu 0.32 looks for an error after each of its calls, which takes as long as the call: here, it looks after all.
    """
    dispatches = [(*each.compiled, each.workgroups) for each in batch]
    if NATIVE:
        from wgpu.backends.wgpu_native._api import libf

        libf._make_proxy_func("record", _record)(compute._internal, dispatches)
    else:
        _record_plainly(compute, dispatches)
    compute.end()


def _record(encoder: object, dispatches: Sequence[tuple]) -> None:
    from wgpu.backends.wgpu_native._api import ffi, lib

    last_pipeline = last_group = None
    for made, group, workgroups in dispatches:
        if made is not last_pipeline:
            lib.wgpuComputePassEncoderSetPipeline(encoder, made._internal)
        if group is not last_group:
            lib.wgpuComputePassEncoderSetBindGroup(encoder, 0, group._internal, 0, ffi.NULL)
        lib.wgpuComputePassEncoderDispatchWorkgroups(encoder, *workgroups)
        last_pipeline, last_group = made, group


def _record_plainly(compute: wgpu.GPUComputePassEncoder, dispatches: Sequence[tuple]) -> None:
    for made, group, workgroups in dispatches:
        compute.set_pipeline(made)
        compute.set_bind_group(0, group)
        compute.dispatch_workgroups(*workgroups)


# --- Arrays in, arrays out ----------------------------------------------------------------------------


def launch(
    kernel: str | Kernel, arrays: Sequence, workgroups: int | Sequence[int] = 1
) -> np.ndarray | tuple[np.ndarray, ...]:
    """Run a kernel's entry point `main` and return the arrays that it may write, as they are afterwards.

    Parameters
    ----------
    kernel : str or Kernel
        WGSL text.
    arrays : sequence
        In binding order: float32, int32 or uint32 arrays, and for a uniform a tuple of its u32 values.
        They are copied to the GPU, and stay as they are.
    workgroups : int or sequence of up to three int
        How many in x, y and z, each from 1 to 65,535.

    Returns the array at the kernel's one read_write binding, or a tuple where it has several of them.

    Raises
    ------
    WgslError
        The kernel does not compile.
    TypeError, ValueError
        An argument is of a wrong kind, dtype, length or size.
    GpuError
        An array is larger than one binding may hold, or smaller than the kernel declares.
    """
    if not isinstance(kernel, str | Kernel):
        raise TypeError(f"kernel is a {type(kernel).__name__}: it must be WGSL text or a Kernel")
    kernel = Kernel(kernel) if isinstance(kernel, str) else kernel
    pipeline(kernel, "main")  # first: where the text is wrong, the arrays may be right
    counts, arrays = _checked_workgroups(workgroups), _checked_arrays(kernel, arrays)
    buffers = tuple(
        uniform(array) if isinstance(array, tuple) else upload(array, f"arrays[{i}]") for i, array in enumerate(arrays)
    )
    run(Pass(kernel, buffers, counts))
    bindings = zip(kernel.buffer_types, buffers, arrays, strict=True)
    written = tuple(read(buffer, a.shape, a.dtype) for kind, buffer, a in bindings if kind == "storage")
    return written[0] if len(written) == 1 else written


def _checked_workgroups(workgroups: int | Sequence[int]) -> tuple[int, int, int]:
    """How many in x, y and z. Raises TypeError or ValueError where an axis has none or too many, or there are four."""
    counts = tuple(workgroups) if isinstance(workgroups, tuple | list) else (workgroups,)
    if not 1 <= len(counts) <= 3:
        raise ValueError(f"workgroups = {workgroups!r}: it must be one to three numbers, for x, y and z")
    for axis, count in zip("xyz", counts, strict=False):
        check_size(f"workgroups in {axis}" if len(counts) > 1 else "workgroups", as_int(count), largest=MAX_WORKGROUPS)
    return (*map(int, counts), 1, 1)[:3]


def _checked_arrays(kernel: Kernel, arrays: Sequence) -> tuple[np.ndarray | tuple[int, ...], ...]:
    """One array or tuple for each binding. Raises TypeError or ValueError, by the place in `arrays` and the rule."""
    if not isinstance(arrays, tuple | list) or len(arrays) != len(kernel.bindings):
        given = f"has {len(arrays)} entries" if isinstance(arrays, tuple | list) else f"is a {type(arrays).__name__}"
        listed = ", ".join(binding.name for binding in kernel.bindings)
        raise ValueError(
            f"arrays {given}: it must be a list with one for each of {len(kernel.bindings)} bindings, {listed}"
        )
    for i, (given, binding) in enumerate(zip(arrays, kernel.bindings, strict=True)):
        problem = f"arrays[{i}] is a {type(given).__name__}"
        if binding.space == "uniform":
            if not isinstance(given, tuple) or not given:
                raise TypeError(f"{problem}: the uniform `{binding.name}` takes a tuple of whole numbers, such as (3,)")
            for j, value in enumerate(given):
                check_size(f"arrays[{i}][{j}]", as_int(value), 0, 2**32 - 1)
        elif not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
            raise TypeError(f"{problem}: `{binding.name}` takes a plain NumPy array")
    return tuple(arrays)


# --- A fault of old drivers -----------------------------------------------------------------------------

CAP = 65_535  # iterations; a launch with fewer runs everywhere


def counting_pass() -> Pass:
    """One thread that counts to 300,000 and writes how far it came."""
    source = Path(__file__).with_name("loop_cap.wgsl").read_text(encoding="utf-8")
    return Pass(Kernel(source, "loop_cap"), (empty(4, "counted"),), (1, 1, 1))


@cache
def loop_cap() -> int | None:
    """How many loop iterations one thread may run in all before the driver stops it silently, or None.

    Mesa before 23 stops a software shader after 65,535 iterations and returns what it has: a wrong sum and no
    error. So a kernel counts to 300,000 once, and the driver is judged by what it does, not by its version.
    """
    counting = counting_pass()
    try:
        run(counting)
    except GpuError:  # the simulator does say so
        return CAP
    return None if read(counting.buffers[0], (1,), np.uint32)[0] == 300_000 else CAP
