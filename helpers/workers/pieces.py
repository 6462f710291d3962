"""A piece of a job, and what must be alike in all processes that compute pieces."""

import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata

from helpers.operations.kernels import ROOT

FOLDERS = "helpers", "kernels", "tests", "wgsl"  # what a result depends on,
PACKAGES = "distributed", "hypothesis", "lark", "numpy", "torch", "wgpu"  # and on which packages

Plain = dict | list | str | float | None  # what JSON has
Versions = dict[str, str | None]


class WorkersError(RuntimeError):
    """Why the pieces were not all computed, and what to do about it."""


def called(function: str, text: str) -> str:
    """The result of ``module:function`` for one piece; both are JSON."""
    module, name = function.split(":")
    return json.dumps(getattr(import_module(module), name)(json.loads(text)))


@cache
def versions() -> Versions:
    """What must be the same everywhere: a hash of this tree, and the versions of Python and of the packages."""
    tree = hashlib.sha256()
    for path in sorted(path for folder in FOLDERS for path in ROOT.joinpath(folder).rglob("*")):
        if path.is_file() and path.parent.name != "__pycache__" and path.suffix != ".md":
            tree.update(f"\n{path.relative_to(ROOT).as_posix()}\n".encode())
            tree.update(path.read_bytes().replace(b"\r\n", b"\n"))
    found = {"tree": tree.hexdigest()[:12], "Python": "{}.{}".format(*sys.version_info)}
    return found | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
