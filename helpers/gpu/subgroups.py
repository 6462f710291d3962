"""Subgroups: their feature, the line that enables them, and what is said where an adapter has none.

WGSL asks for ``enable subgroups;``, and browsers want the line. naga 29, the compiler of wgpu 0.32, refuses it, and has
the functions without it.
"""

import re

from helpers.gpu.adapter import BROWSERS_SUBGROUPS, WGPUS_SUBGROUPS, GpuError, adapter_info, device
from wgsl.syntax.tokens import without_comments

FEATURES = frozenset({WGPUS_SUBGROUPS, BROWSERS_SUBGROUPS})
LINE = re.compile(r"\benable\s+subgroups\s*,?\s*;")


def enables_subgroups(source: str) -> re.Match[str] | None:
    """Return where a text enables subgroups, or None."""
    return LINE.search(without_comments(source))


def lacks_subgroups(source: str) -> bool:
    """Return True for a text that enables subgroups on an adapter without them."""
    return not FEATURES & set(device().features) and enables_subgroups(source) is not None


def require_subgroups(source: str) -> None:
    """Refuse a text that enables subgroups on an adapter without them. Raises GpuError."""
    if lacks_subgroups(source):
        raise GpuError(
            f"{adapter_info().name} has no subgroups, which this kernel uses: run it with `helpers.simulate`, which "
            "takes a `subgroup_size`"
        )


def without_enabling(source: str) -> str:
    """The same text with blanks in place of the line, so that all places stay."""
    line = enables_subgroups(source)
    if not line:
        return source
    blank = re.sub(r"\S", " ", source[line.start() : line.end()])
    return f"{source[: line.start()]}{blank}{source[line.end() :]}"
