"""A quicker way to read wgpu's types of C: with the names that matter, and not each time with all of wgpu's names.

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
_parse_with_all_names = getattr(Parser, "_parse", None)


def _parse_with_names_in(parser: Parser, text: str) -> tuple:
    """Return the result of cffi's parser, which is told only the names of types that occur in the text."""
    all_declarations = parser._declarations
    words = set(re.findall(r"\w+", text))
    occurring = {}
    for name, kind in all_declarations.items():
        if name.removeprefix("typedef ") in words:
            occurring[name] = kind
    parser._declarations = occurring
    try:
        return _parse_with_all_names(parser, text)
    finally:
        parser._declarations = all_declarations


def _parse_once(parser: Parser, text: str) -> tuple:
    """Return the parser's result; of a long text, it is kept beside the byte code, where that can be written."""
    if len(text) < 10_000:
        return _parse_with_names_in(parser, text)
    key = text, pycparser.__version__
    with suppress(Exception):  # none was kept of this text
        return pickle.loads(KEPT.read_bytes())[key]
    parsed = _parse_with_names_in(parser, text)
    with suppress(OSError):
        write_whole(KEPT, pickle.dumps({key: parsed}))
    return parsed


def declare_only_used_types() -> None:
    """Read types in the quick way from now on, with the version of cffi for which that was tested."""
    if cffi.__version_info__[:2] == TESTED:
        Parser._parse = _parse_once
