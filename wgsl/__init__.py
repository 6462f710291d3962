"""WGSL without a GPU: check a compute kernel's text, and run it while every access is watched.

    wgsl.check(text)                            what is wrong with a text, as a tuple of problems
    wgsl.simulate(text, buffers, (x, y, z))     a run: buffers, findings, counts, accesses
    wgsl.subgroup_sizes(text, buffers, (x, y, z))   the runs with subgroups of every size
    wgsl check FILE, wgsl run FILE NAME=BUFFER  the same from a terminal, as is python -m wgsl

Below `command`, which is that command, `kernel` is a text and what it declares, `specialize` writes sizes into it.
`syntax` reads it as a tree, `types` settles its names and types, `arithmetic` computes on numbers and arrays,
`suggestions` says what to write instead, and `simulator` runs it. What is found or refused is a record of `facts`, and
`words` makes its sentence, last. `adapter` is the simulator under the names of the package wgpu.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from wgsl.diagnostics import UnsupportedWgsl, WgslError
from wgsl.kernel import PART, SECTION, SHARED, Binding, Kernel, Listing
from wgsl.syntax.tokens import without_comments
from wgsl.types.kinds import MAX_THREADS, MAX_THREADS_Z, MAX_WORKGROUP_BYTES, limit_passed
from wgsl.version import VERSION

if TYPE_CHECKING:
    from wgsl.problems import Problem as Problem
    from wgsl.problems import check as check
    from wgsl.simulator.findings import Finding as Finding
    from wgsl.simulator.run import simulate as simulate
    from wgsl.simulator.sizes import subgroup_sizes as subgroup_sizes
    from wgsl.simulator.trace import Trace as Trace

__version__ = VERSION
_HOME = {  # of what is loaded when it is first used, as not everyone runs a kernel
    "Finding": "wgsl.simulator.findings",
    "Problem": "wgsl.problems",
    "Trace": "wgsl.simulator.trace",
    "check": "wgsl.problems",
    "simulate": "wgsl.simulator.run",
    "subgroup_sizes": "wgsl.simulator.sizes",
}
__all__ = [
    "MAX_THREADS", "MAX_THREADS_Z", "MAX_WORKGROUP_BYTES", "PART", "SECTION", "SHARED",
    "Binding", "Kernel", "Listing", "UnsupportedWgsl", "WgslError",
    "limit_passed", "without_comments",
]  # fmt: skip
__all__ += _HOME


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'wgsl' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME[name]), name)  # found at once the next time
    return value
