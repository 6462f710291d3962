"""The GPU: its adapter, buffers, passes and operations, and how long they take. Only this folder imports wgpu."""

from helpers.gpu.adapter import AdapterInfo, GpuError, adapter, adapter_info, device
from helpers.gpu.buffers import empty, read, uniform, upload
from helpers.gpu.operation import Operation
from helpers.gpu.passes import Pass, run

__all__ = [
    "AdapterInfo",
    "GpuError",
    "Operation",
    "Pass",
    "adapter",
    "adapter_info",
    "device",
    "empty",
    "read",
    "run",
    "uniform",
    "upload",
]
