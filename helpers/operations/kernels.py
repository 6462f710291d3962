"""The kernels in the folder `kernels/`, one file for each version of an operation; and in what two of them differ."""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from functools import cache
from pathlib import Path
from types import ModuleType

from wgsl import Kernel, without_comments

ROOT = Path(__file__).resolve().parents[2]
KERNELS = ROOT / "kernels"
MARK = "// unroll"  # the one comment that counts where kernels are compared, as the launcher obeys it
AROUND = 2  # lines that are the same above and below a change


def versions(operation: str) -> tuple[str, ...]:
    """The versions of an operation, simplest first: the file stems of its folder."""
    return tuple(sorted(path.stem for path in (KERNELS / operation).glob("*.wgsl")))


def schedules(operation: str, module: ModuleType) -> dict[str, Callable]:
    """How each version of an operation is dispatched: the function in a module that has its name without the number."""
    pairs = ((version, getattr(module, version.partition("_")[2], None)) for version in versions(operation))
    return {version: schedule for version, schedule in pairs if schedule}  # a copy of a file has none


def layer_constants(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, int]:
    """Those of a layer's sizes that a kernel, and the file of its version, declare as constants.

    One that only an edited text has is its writer's own, whatever its name.
    """
    file = kernel
    with suppress(ValueError):  # a text may have the version's name alone
        file = load(kernel.name)
    return {name: size for name, size in sizes.items() if kernel.kind(name) and file.kind(name)}


def load(operation: str, version: str = "") -> Kernel:
    """The kernel in ``kernels/<operation>/<version>.wgsl``, read again after the file has changed.

    A kernel's name has both: ``load("sum/2_tree")`` is ``load("sum", "2_tree")``.

    Raises ValueError where there is no such version; the message lists the versions that exist.
    """
    if not version:
        operation, _, version = operation.partition("/")
    path = f"{KERNELS}/{operation}/{version}.wgsl"  # joined as text: every call of a public function comes here
    try:
        return _read(path, os.stat(path).st_mtime_ns)
    except OSError:
        listed = ", ".join(versions(f"{operation:.100}")) or "no kernels"  # a file name has at most 255 letters
        raise ValueError(f"kernel = {version!r:.100}: {operation:.100} has {listed}") from None


@cache
def _read(path: str, modified: int) -> Kernel:
    file = Path(path)
    return Kernel(file.read_text(encoding="utf-8"), f"{file.parent.name}/{file.stem}")


# --- In what two kernels differ --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """Lines that begin with ``-`` where only the first kernel has them, with ``+`` where only the second has."""

    one: str
    other: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join([f"--- {self.one}", f"+++ {self.other}", *(self.lines or ["(no line of code differs)"])])

    def _repr_markdown_(self) -> str:
        return f"```diff\n{self!r}\n```"


def difference(operation: str, one: str | int | Kernel, other: str | int | Kernel) -> Difference:
    """In what two versions of an operation differ, declaration by declaration, as lines for a lesson.

    A declaration counts as the same wherever it stands, among a file's own or in a shared block. Comments are left out.

    Parameters
    ----------
    operation
        A folder in ``kernels``, such as ``"gemm_bias_act"``. Where both kernels are texts, it may be any words.
    one, other
        A version: its file stem, its number (``"4"`` or ``4``), or the text of a kernel.

    Raises
    ------
    ValueError
        There is no such operation or version.
    WgslError
        A text is not WGSL.

    Examples
    --------
    >>> helpers.difference("gemm_bias_act", "4", "5")
    """
    first, second = _kernel(operation, "one", one), _kernel(operation, "other", other)
    before, after = _declarations(first), _declarations(second)
    lines = []
    for name in dict.fromkeys([*after, *before]):
        _, _, *changed = [*unified_diff(before.get(name, []), after.get(name, []), lineterm="", n=AROUND)] or ["", ""]
        lines += [f"@@ {name} @@" if line.startswith("@@") else line for line in changed]
    return Difference(first.name, second.name, tuple(lines))


def _kernel(operation: str, argument: str, given: str | int | Kernel) -> Kernel:
    """The kernel that an argument stands for."""
    if isinstance(given, Kernel):
        return given
    if "\n" in str(given) or "{" in str(given):
        return Kernel(given, argument)
    operations = sorted(path.name for path in KERNELS.iterdir() if path.is_dir() and path.name != "shared")
    if operation not in operations:
        raise ValueError(f"operation = {operation!r:.100}: it must be one of {', '.join(operations)}")
    known = versions(operation)
    found = next((stem for stem in known if str(given) in (stem, stem.partition("_")[0])), None)
    if found is None:
        rule = "or a number of one of them, or a kernel's text"
        raise ValueError(f"{argument} = {given!r:.100}: it must be one of {', '.join(known)}, {rule}")
    return load(operation, found)


def _declarations(kernel: Kernel) -> dict[str, list[str]]:
    """The lines of code of each declaration, by its name, in the order of the text."""
    found = {}
    for node in kernel.module.declarations:
        text = kernel.source[node.at : node.end + kernel.source.startswith(";", node.end)]
        pairs = zip(text.split("\n"), without_comments(text).split("\n"), strict=True)
        lines = [f"{code.rstrip()}  {MARK}" if line.endswith(MARK) else code.rstrip() for line, code in pairs]
        found[str(getattr(node, "name", text))] = [line for line in lines if line]
    return found
