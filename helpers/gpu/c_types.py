"""How wgpu's types of C are read: with the names that matter, and not each time with all of wgpu's names.

cffi reads each type that wgpu uses, such as ``WGPUBufferDescriptor *``, with a parser of C, to which it first tells all
names of types that wgpu has. A name that does not occur in what is read makes no difference to it. wgpu's header is
parsed once, and kept.

The first call of a process takes 0.36 s of the processor with this file and 1.13 s without it (from `import helpers` to
the output of a `conv2d`; medians of five in turns, wgpu 0.32 and cffi 2.1 on two cores of an EPYC).
"""

import pickle
import re
from contextlib import suppress
from pathlib import Path

import cffi
from cffi.cparser import Parser, pycparser

from helpers.data.files import write_whole

TESTED = 2, 1  # this version of cffi; another one may read in another way
KEPT = Path(__file__).parent / "__pycache__/header.pickle"
_told_all = getattr(Parser, "_parse", None)


def _told_what_occurs(parser: Parser, text: str) -> tuple:
    """What cffi's parser makes of a text, told only the names of types that occur in it."""
    known, words = parser._declarations, set(re.findall(r"\w+", text))
    parser._declarations = {name: kind for name, kind in known.items() if name.removeprefix("typedef ") in words}
    try:
        return _told_all(parser, text)
    finally:
        parser._declarations = known


def _remembered(parser: Parser, text: str) -> tuple:
    """What the parser makes of a text; of a long one, it is kept beside the byte code, where that can be written."""
    if len(text) < 10_000:
        return _told_what_occurs(parser, text)
    by = text, pycparser.__version__
    with suppress(Exception):  # none was kept of this text
        return pickle.loads(KEPT.read_bytes())[by]
    parsed = _told_what_occurs(parser, text)
    with suppress(OSError):
        write_whole(KEPT, pickle.dumps({by: parsed}))
    return parsed


def declare_only_used_types() -> None:
    """Read types in the quick way from now on, with the version of cffi for which that was tested."""
    if cffi.__version_info__[:2] == TESTED:
        Parser._parse = _remembered
