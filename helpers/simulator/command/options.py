"""What can be written on the command line."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter

EPILOG = """\
BUFFER is one of
  64, 4x16        the number of elements of an array declared without a length, or its shape. What
                  the kernel only reads gets whole numbers from -4 to 4 (their sums are exact), in
                  u32 from 0 to 4; what it writes, and atomics, start as 0
  64:1.5          as many elements, each with this value (nan and inf are values, too)
  1,2,3 or 5,     the values; of a struct, those of all its members in order, without padding
  @numbers.npy    an array that NumPy has saved
A uniform needs values. Other bindings of a fixed size, and those that the entry point does not
touch, can be left out.

examples:
  python -m helpers.simulator kernels/sum/2_tree.wgsl input=1000 total=1 params=1000
  python -m helpers.simulator kernels/gemm_bias_act/2_tiled.wgsl -D TILE=8 --workgroups 5x4 \\
      a=32x24 b=24x40 bias=40 output=32x40 params=32,24,40,1,1,0,0,0 --lines

The exit status is 0 without a finding, 1 with one, and 2 where nothing was run."""


def parser() -> ArgumentParser:
    """The command line."""
    line = ArgumentParser(
        prog="python -m helpers.simulator",
        description="Run a WGSL compute kernel without a GPU. Every access is watched: races, indices out of range, "
        "barriers that are missed, endless loops, outputs left unwritten and NaN are found, and the cost is counted.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = line.add_argument
    add("file", metavar="FILE", help="the WGSL text")
    add("buffers", metavar="NAME=BUFFER", nargs="*", type=_pair, help="a binding's size or values (see below)")
    add("-w", "--workgroups", metavar="XxYxZ", type=_workgroups, default="1", help="such as 4 or 4x4; 1 by default")
    add("-e", "--entry-point", metavar="NAME", help="the function to run, where there are several")
    add("-D", dest="constants", metavar="NAME=VALUE", type=_constant, action="append", default=[], help="an override")
    add("--outputs", metavar="NAMES", type=_names, help="what must be written whole, as in a,b; by default all outputs")
    steps = "loop rounds of a thread, 65,536 by default; a longer loop is reported as endless"
    add("--max-steps", metavar="N", type=int, help=steps)
    add("--seed", metavar="N", type=int, default=0, help="of the random numbers; 0 by default")
    add("--lines", action="store_true", help="count for each line of the text, too")
    add("--show", metavar="NAME", type=lambda name: (name,), action="append", default=[], help="print a buffer")
    add("--save", metavar="NAME=FILE", type=_pair, action="append", default=[], help="save a buffer for NumPy")
    return line


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=...")
    return name, value


def _workgroups(text: str) -> tuple[int, int, int]:
    if not re.fullmatch(r"\d+(x\d+){0,2}", text):
        raise ArgumentTypeError(f"{text!r} is not one to three numbers with x between them, such as 4x4")
    return (*map(int, text.split("x")), 1, 1)[:3]


def _constant(text: str) -> tuple[str, float]:
    name, value = _pair(text)
    number = {"true": "1", "false": "0"}.get(value, value)
    try:
        return name, int(number) if re.fullmatch(r"-?\d+", number) else float(number)
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: the value of an override is a number, true or false") from None


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
