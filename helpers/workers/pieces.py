"""A piece of a job, and the versions that must be alike in all processes that compute pieces."""

import hashlib
import json
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module, metadata

from helpers.operations.kernels import ROOT

FOLDERS = "helpers", "kernels", "tests", "wgsl"  # a result depends on them,
PACKAGES = "distributed", "hypothesis", "numpy", "torch", "wgpu"  # and on these packages

Plain = dict | list | str | float | None  # what JSON has
Versions = dict[str, str | None]


class WorkersError(RuntimeError):
    """Some pieces were not computed; the message says why, and what to do about it.

    `workers` are those that cannot be used, as the option takes them, where they are the reason.
    """

    def __init__(self, why: str, workers: str | None = None) -> None:
        super().__init__(why, workers)
        self.why = why
        self.workers = workers

    def __str__(self) -> str:
        return self.why if self.workers is None else f"--workers {self.workers}: {self.why}"


def called(function: str, text: str) -> str:
    """The result of ``module:function`` for one piece; both are JSON."""
    module, name = function.split(":")
    compute = getattr(import_module(module), name)
    return json.dumps(compute(json.loads(text)))


@cache
def versions() -> Versions:
    """The versions that must be the same everywhere: a hash of this tree, and those of Python and of the packages."""
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    packages = {name: _version(name) for name in PACKAGES}
    return {"tree": _hash_of_tree(), "Python": python, **packages}


def _hash_of_tree() -> str:
    """A hash of the files on which a result depends."""
    paths = []
    for folder in FOLDERS:
        paths += (ROOT / folder).rglob("*")
    tree = hashlib.sha256()
    for path in sorted(paths):
        if path.is_file() and path.parent.name != "__pycache__" and path.suffix != ".md":
            tree.update(f"\n{path.relative_to(ROOT).as_posix()}\n".encode())
            tree.update(path.read_bytes().replace(b"\r\n", b"\n"))
    return tree.hexdigest()[:12]


def _version(package: str) -> str | None:
    with suppress(metadata.PackageNotFoundError):
        return metadata.version(package)
