"""The part of the package wgpu that convgrad uses, on the WebGPU of the browser in which Python runs (with Pyodide).

Python waits for the GPU by JavaScript Promise Integration, so all calls are synchronous, as in wgpu. Objects of the
browser are wrapped with wgpu's names of methods and arguments, and nothing is checked that the browser checks.
Where there is no GPU that Python can use, `wgsl.adapter` takes the place of these objects.

It can be dropped for wgpu's own backend for browsers (wgpu-py, pull request 753) once that runs in a worker and raises
the browser's errors.
"""

import sys
from importlib import import_module
from typing import Any

from wgpu.enums import BufferUsage, MapMode, ShaderStage
from wgsl.adapter import GPUError, GPUOutOfMemoryError, GPUValidationError

__all__ = ["BufferUsage", "GPUError", "GPUOutOfMemoryError", "GPUValidationError", "MapMode", "ShaderStage"]
__version__ = "0.32.0"  # the version whose names it has

_objects = import_module("wgpu.objects" if sys.platform == "emscripten" else "wgsl.adapter")  # or a test outside one


def __getattr__(name: str) -> Any:
    """All the other names: the classes, and `gpu`."""
    return getattr(_objects, name)
