"""The kernels in the folder `kernels/`: one folder for each operation, one file for each version."""

import os
from functools import cache
from pathlib import Path

from wgsl import Kernel

KERNELS = Path(__file__).resolve().parents[1] / "kernels"


def versions(operation: str) -> tuple[str, ...]:
    """The versions of an operation, simplest first: the file stems of its folder."""
    return tuple(sorted(path.stem for path in (KERNELS / operation).glob("*.wgsl")))


def load(operation: str, version: str) -> Kernel:
    """The kernel in ``kernels/<operation>/<version>.wgsl``, read again after the file has changed.

    Raises ValueError where there is no such version; the message lists the versions that exist.
    """
    path = f"{KERNELS}/{operation}/{version}.wgsl"  # joined as text: every call of a public function comes here
    try:
        return _read(path, os.stat(path).st_mtime_ns)
    except OSError:
        listed = ", ".join(versions(operation)) or "no kernels"
        raise ValueError(f"kernel = {version!r}: {operation} has {listed}") from None


@cache
def _read(path: str, modified: int) -> Kernel:
    file = Path(path)
    return Kernel(file.read_text(encoding="utf-8"), f"{file.parent.name}/{file.stem}")
