"""The kernels in the folder `kernels/`, one file for each version of an operation; and the differences of two."""

import os
from collections.abc import Callable, Mapping
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
    """The schedule of each version of an operation: the function in a module with its name without the number."""
    functions = {}
    for version in versions(operation):
        _, _, name = version.partition("_")
        function = getattr(module, name, None)
        if function:  # a copy of a file has none
            functions[version] = function
    return functions


def layer_constants(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, int]:
    """Those of a layer's sizes that a kernel, and the file of its version, declare as constants.

    One that only an edited text has is its writer's own, whatever its name.
    """
    try:
        file = load(kernel.name)
    except ValueError:  # the text has the name of no version
        file = kernel
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


# --- The differences of two kernels ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """Lines that begin with ``-`` where only the first kernel has them, with ``+`` where only the second has."""

    one: str
    other: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        lines = self.lines or ["(no line of code differs)"]
        return "\n".join([f"--- {self.one}", f"+++ {self.other}", *lines])

    def _repr_markdown_(self) -> str:
        return f"```diff\n{self!r}\n```"


def difference(operation: str, one: str | int | Kernel, other: str | int | Kernel) -> Difference:
    """The differences of two versions of an operation, declaration by declaration, as lines for a lesson.

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
    first = _kernel(operation, "one", one)
    second = _kernel(operation, "other", other)
    before = _declarations(first)
    after = _declarations(second)
    lines = []
    for name in dict.fromkeys([*after, *before]):
        lines += _changed_lines(name, before.get(name, []), after.get(name, []))
    return Difference(first.name, second.name, tuple(lines))


def _changed_lines(name: str, before: list[str], after: list[str]) -> list[str]:
    """The lines in which a declaration differs, with those around them, below a line with its name."""
    lines = []
    for line in list(unified_diff(before, after, lineterm="", n=AROUND))[2:]:  # the first two name files
        if line.startswith("@@"):
            lines.append(f"@@ {name} @@")
        else:
            lines.append(line)
    return lines


def _kernel(operation: str, argument: str, value: str | int | Kernel) -> Kernel:
    """The kernel that an argument's value names, or is."""
    if isinstance(value, Kernel):
        return value
    if "\n" in str(value) or "{" in str(value):
        return Kernel(value, argument)
    operations = sorted(path.name for path in KERNELS.iterdir() if path.is_dir() and path.name != "shared")
    if operation not in operations:
        raise ValueError(f"operation = {operation!r:.100}: it must be one of {', '.join(operations)}")
    known = versions(operation)
    for version in known:
        number, _, _ = version.partition("_")
        if str(value) in (version, number):
            return load(operation, version)
    rule = "or a number of one of them, or a kernel's text"
    raise ValueError(f"{argument} = {value!r:.100}: it must be one of {', '.join(known)}, {rule}")


def _declarations(kernel: Kernel) -> dict[str, list[str]]:
    """The lines of code of each declaration, by its name, in the order of the text."""
    declarations = {}
    for node in kernel.module.declarations:
        end = node.end
        if kernel.source.startswith(";", end):
            end += 1
        text = kernel.source[node.at : end]
        name = str(getattr(node, "name", text))
        declarations[name] = _lines_of_code(text)
    return declarations


def _lines_of_code(text: str) -> list[str]:
    """The lines of a text that have code, without comments but the one that counts."""
    lines = []
    for line, code in zip(text.split("\n"), without_comments(text).split("\n"), strict=True):
        code = code.rstrip()
        if line.endswith(MARK):
            code = f"{code}  {MARK}"
        if code:
            lines.append(code)
    return lines
