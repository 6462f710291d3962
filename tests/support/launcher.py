"""Help for the tests of the launcher: small kernels, and a count of calls to wgpu."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
import wgpu

from helpers import gpu
from helpers.operations.kernels import ROOT
from wgsl import Kernel


class CallCounter(Counter):
    """Counts calls to methods of wgpu's objects, and lets them through."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        super().__init__()
        self.patch = patch

    def on(self, target: object, *names: str) -> "CallCounter":
        for name in names:
            self.patch.setattr(target, name, self._counting(name, getattr(target, name)))
        return self

    def _counting(self, name: str, method):
        def counted(*args, **kwargs):
            self[name] += 1
            return method(*args, **kwargs)

        return counted


def adder(amount: int) -> Kernel:
    """A kernel that adds `amount` to each of 64 numbers."""
    return Kernel(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;  // (64)\n"
        "@compute @workgroup_size(64)\n"
        "fn main(@builtin(local_invocation_index) i: u32) {\n"
        f"  data[i] += {amount}.0;\n"
        "}\n",
        f"adder/{amount}",
    )


def numbers() -> wgpu.GPUBuffer:
    """A buffer of 64 zeros."""
    return gpu.upload(np.zeros(64, np.float32), "numbers")


def python(code: str, **environment: str) -> str:
    """Return the output of `code` in a fresh process, where nothing was imported and no GPU opened yet."""
    options = {"cwd": ROOT, "env": {**os.environ, **environment}, "capture_output": True, "text": True, "timeout": 300}
    done = subprocess.run([sys.executable, "-c", code], **options)
    assert done.returncode == 0, done.stderr
    return done.stdout
