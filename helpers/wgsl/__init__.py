"""WGSL as text: what a kernel declares, its tree, its names and types, and what is wrong with it.

`kernel` loads a text, `specialize` writes the sizes of a layer into it. `syntax` reads it as a tree, `types` settles
its names and types, `arithmetic` computes what is known before a run. All of them refuse a text by a diagnostic.
"""

from helpers.wgsl.diagnostics import UnsupportedWgsl, WgslError
from helpers.wgsl.kernel import KERNELS, PART, SHARED, Bound, Kernel, Listing, load, versions
from helpers.wgsl.syntax.tokens import without_comments
from helpers.wgsl.types.kinds import MAX_THREADS, MAX_THREADS_Z, MAX_WORKGROUP_BYTES, limit_passed

__all__ = [
    "KERNELS", "MAX_THREADS", "MAX_THREADS_Z", "MAX_WORKGROUP_BYTES", "PART", "SHARED",
    "Bound", "Kernel", "Listing", "UnsupportedWgsl", "WgslError",
    "limit_passed", "load", "versions", "without_comments",
]  # fmt: skip
