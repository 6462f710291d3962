"""What convgrad uses of the package wgpu, on the WebGPU of the browser in which Python runs (with Pyodide).

Python waits for the GPU by JavaScript Promise Integration, so all calls are synchronous, as in wgpu. Objects of the
browser are wrapped with wgpu's names of methods and arguments, and nothing is checked that the browser checks.
Where there is no GPU that Python can use, `simulated` takes the place of these objects.

It can be dropped for wgpu's own backend for browsers (wgpu-py, pull request 753) once that runs in a worker and raises
the browser's errors.
"""

import sys

from wgpu.enums import BufferUsage, MapMode, ShaderStage
from wgpu.errors import GPUError, GPUOutOfMemoryError, GPUValidationError

if sys.platform == "emscripten":
    from wgpu.objects import (
        GPUAdapter,
        GPUBindGroup,
        GPUBindGroupLayout,
        GPUBuffer,
        GPUCommandEncoder,
        GPUComputePassEncoder,
        GPUComputePipeline,
        GPUDevice,
        GPUPipelineLayout,
        GPUQuerySet,
        GPUQueue,
        GPUShaderModule,
        gpu,
    )
else:  # a test without a browser
    from wgpu.simulated import (
        GPUAdapter,
        GPUBindGroup,
        GPUBindGroupLayout,
        GPUBuffer,
        GPUCommandEncoder,
        GPUComputePassEncoder,
        GPUComputePipeline,
        GPUDevice,
        GPUPipelineLayout,
        GPUQuerySet,
        GPUQueue,
        GPUShaderModule,
        gpu,
    )

__version__ = "0.32.0"  # the version whose names it has

__all__ = [
    "BufferUsage",
    "GPUAdapter",
    "GPUBindGroup",
    "GPUBindGroupLayout",
    "GPUBuffer",
    "GPUCommandEncoder",
    "GPUComputePassEncoder",
    "GPUComputePipeline",
    "GPUDevice",
    "GPUError",
    "GPUOutOfMemoryError",
    "GPUPipelineLayout",
    "GPUQuerySet",
    "GPUQueue",
    "GPUShaderModule",
    "GPUValidationError",
    "MapMode",
    "ShaderStage",
    "gpu",
]
