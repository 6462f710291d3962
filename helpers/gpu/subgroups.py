"""The line that enables subgroups, taken out for a compiler that refuses it.

WGSL asks for ``enable subgroups;``. naga 29, the compiler of wgpu 0.32, has the functions without that line, and only
for a device with the feature "subgroup".
"""

import re

from wgsl.syntax.tokens import without_comments

FEATURE = "subgroup"
LINE = re.compile(r"\benable\s+subgroups\s*,?\s*;")


def without_enabling(source: str) -> str:
    """The same text with blanks in place of the line, so that all places stay."""
    line = LINE.search(without_comments(source))
    if not line:
        return source
    blank = re.sub(r"\S", " ", source[line.start() : line.end()])
    return f"{source[: line.start()]}{blank}{source[line.end() :]}"
