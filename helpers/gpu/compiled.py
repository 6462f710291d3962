"""Modules, pipelines and bind groups, each made once.

Compiled modules are cached by their source, pipelines by source, entry point and constants, both for as long as a pass
uses them, and the last used ones beyond that. Layouts are cached by the buffer types that they list, and a bind group
for as long as a pass over the same buffers lives.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from typing import TypeVar
from weakref import WeakValueDictionary

import wgpu

from helpers.gpu.adapter import MAKING, NATIVE, WGPUS_SUBGROUPS, GpuError, device, reason
from helpers.gpu.buffers import Slice, part_of
from helpers.gpu.subgroups import require_subgroups, without_enabling
from helpers.gpu.zeros import with_zeros
from wgsl import Kernel, WgslError, limit_passed
from wgsl.diagnostics import NotWgsl, Unsupported
from wgsl.kernel import parsed
from wgsl.suggestions import compile_error, wgsl_error
from wgsl.types.declarations import Declarations, check
from wgsl.types.limits import check_thread_memory, too_long

IDLE = 128  # modules, and pipelines, that are cached although nothing uses them; a text takes up to some megabytes
Made = TypeVar("Made")


class Cache(WeakValueDictionary[Hashable, Made]):
    """Things that were made, by a key: all that are in use somewhere, and of the rest the IDLE last used ones."""

    def __init__(self) -> None:
        super().__init__()
        self._recent: OrderedDict[Hashable, Made] = OrderedDict()

    def made(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The thing with this key; it is made where it does not exist. Other threads wait for it."""
        with MAKING:
            made = self.get(key)
            if made is None:
                made = make()
                self[key] = made
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
    if WGPUS_SUBGROUPS in device().features:
        code = without_enabling(code)
    if NATIVE and not checked:
        return _unchecked_module(code)
    return device().create_shader_module(code=code)


def _unchecked_module(code: str) -> wgpu.GPUShaderModule:
    """A module without bounds checks, by a function of wgpu-native that wgpu 0.32 does not wrap."""
    from wgpu.backends.wgpu_native import _api as native

    text = native.new_struct_p("WGPUShaderSourceWGSL *", code=native.to_c_string_view(code))
    text[0].chain.next = native.ffi.NULL
    text[0].chain.sType = native.lib.WGPUSType_ShaderSourceWGSL
    chained = native.ffi.cast("WGPUChainedStruct *", text)
    label = native.to_c_string_view("unchecked")
    description = native.new_struct_p("WGPUShaderModuleDescriptor *", nextInChain=chained, label=label)
    module = native.lib.wgpuDeviceCreateShaderModuleTrusted(device()._internal, description, 0)
    return native.GPUShaderModule("unchecked", module, device())


@cache
def bind_group_layout(kinds: tuple[str, ...]) -> wgpu.GPUBindGroupLayout:
    """The layout of one bind group: buffers of these kinds at bindings 0, 1, 2, ..."""
    entries = []
    for i, kind in enumerate(kinds):
        entries.append({"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}})
    return device().create_bind_group_layout(entries=entries)


def pipeline(kernel: Kernel, entry_point: str, checked: bool = True) -> wgpu.GPUComputePipeline:
    """The pipeline of one entry point of a kernel.

    Raises
    ------
    WgslError
        The kernel does not compile (says where, and what the compiler expected), or takes more than every WebGPU
        adapter offers.
    GpuError
        The kernel uses subgroups, and the adapter has none.
    """
    key = kernel.source, entry_point, kernel.constants, checked
    return PIPELINES.made(key, lambda: _pipeline(kernel, entry_point, checked))


def _pipeline(kernel: Kernel, entry_point: str, checked: bool) -> wgpu.GPUComputePipeline:
    require_subgroups(kernel.source)
    try:
        text = kernel.source
        official = kernel.version != kernel.name  # a file's kernel stores to each `var` before it reads it
        if not official:
            text = with_zeros(text)
        compiled = module(text, checked)  # first: the compiler explains a mistake best
        _require_portable(kernel, entry_point)
        if not official:
            _require_short_arrays(kernel, entry_point)
        layout = device().create_pipeline_layout(bind_group_layouts=[bind_group_layout(kernel.buffer_types)])
        compute = {"module": compiled, "entry_point": entry_point, "constants": dict(kernel.constants)}
        return device().create_compute_pipeline(layout=layout, compute=compute)
    except wgpu.GPUError as error:
        raise compile_error(kernel, dict(kernel.constants), entry_point, str(error)) from None


def _require_portable(kernel: Kernel, entry_point: str) -> None:
    """Refuse sizes that wgpu lets pass where they come from an `override`, and that then hang a real GPU."""
    fault = limit_passed(kernel.workgroup_size(entry_point), kernel.workgroup_bytes)
    if fault:
        raise WgslError(fault, kernel.name)


def _require_short_arrays(kernel: Kernel, entry_point: str) -> None:
    """Refuse more memory of a thread than every compiler offers: the driver's takes minutes for it."""
    try:
        check_thread_memory(check(Declarations(parsed(kernel.source), dict(kernel.constants)), entry_point))
    except NotWgsl as fault:
        if limit := too_long(fault):
            raise wgsl_error(kernel, limit) from None
    except (Unsupported, ValueError):  # the compiler, which has taken it, has the last word
        return


_bind_groups: WeakValueDictionary[tuple, wgpu.GPUBindGroup] = WeakValueDictionary()


def bind_group(kernel: Kernel, buffers: tuple[wgpu.GPUBuffer | Slice, ...]) -> wgpu.GPUBindGroup:
    """The buffers at bindings 0, 1, 2, ... of a kernel; passes over the same buffers share one bind group.

    Raises GpuError where the buffers do not fit the kernel's bindings.
    """
    kinds = kernel.buffer_types
    cached = _bind_groups.get((kinds, buffers))
    if cached:
        return cached
    if len(buffers) != len(kinds):
        listed = ", ".join(kinds)
        raise GpuError(f"{kernel.name} has {len(kinds)} bindings ({listed}), and {len(buffers)} buffers were given")
    entries = []
    for i, buffer in enumerate(buffers):
        part = vars(part_of(buffer))  # buffer, offset and size, as WebGPU calls them, too
        entries.append({"binding": i, "resource": part})
    try:
        group = device().create_bind_group(layout=bind_group_layout(kinds), entries=entries)
    except wgpu.GPUError as error:
        raise GpuError(f"{kernel.name}: its buffers do not fit its bindings: {reason(error)}") from error
    _bind_groups[kinds, buffers] = group
    return group
