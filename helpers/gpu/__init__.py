"""The GPU: its adapter, buffers, passes and operations, and how long they take. Only this folder imports wgpu."""

from helpers.gpu.adapter import GpuError, adapter, adapter_info, device
from helpers.gpu.arrays import launch
from helpers.gpu.buffers import empty, read, uniform, upload
from helpers.gpu.passes import Pass, run

__all__ = [
    "GpuError",
    "Pass",
    "adapter",
    "adapter_info",
    "device",
    "empty",
    "launch",
    "read",
    "run",
    "uniform",
    "upload",
]
