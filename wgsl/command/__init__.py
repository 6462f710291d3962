"""The command `wgsl`: `check` reads texts, and `run` runs one.

- `files` finds the texts, `comments` reads what they allow and expect, `verdicts` puts both beside what was found;
- `formats` and `sarif` write what is left;
- `run` makes buffers of its arguments, and `report` prints what a run found and counted.

The exit status is 0 where nothing is wrong, 1 where something is, and 2 where the arguments do not fit.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from wgsl.output import escape_what_cannot_be_printed
from wgsl.version import VERSION

EXAMPLES = Path(__file__).parents[1] / "examples"
EXPLAINED = f"`wgsl check --help` and `wgsl run --help` explain them. Kernels to try are in {EXAMPLES}"
COMMANDS = {
    "check": "say what is wrong with texts, without a run",
    "run": "run a compute kernel without a GPU, and say what was found",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    escape_what_cannot_be_printed()
    words = [*(sys.argv[1:] if arguments is None else arguments)]
    if words and words[0] in COMMANDS:
        return _ran(words)
    line = _parser()
    if not words:
        line.print_usage(sys.stderr)
        return 2
    name = line.parse_known_args(words)[0].command
    if name and name.endswith(".wgsl"):
        line.error(f"{name!r} is no command: write `wgsl run {name}` or `wgsl check {name}`")
    line.error(f"{name!r} is no command; the commands are {' and '.join(COMMANDS)}")


def _ran(words: Sequence[str]) -> int:
    try:
        status = import_module(f"wgsl.command.{words[0]}").main(words[1:])
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads the rest, as with `wgsl run ... | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status


def _parser() -> ArgumentParser:
    rows = [f"  wgsl {name:8}{explained}" for name, explained in COMMANDS.items()]
    line = ArgumentParser(
        prog="wgsl",
        usage="wgsl check FILE ... | wgsl run FILE NAME=BUFFER ...",
        description="Check and run WGSL compute kernels, without a GPU.",
        epilog="\n".join(["commands:", *rows, "", EXPLAINED]),
        formatter_class=RawDescriptionHelpFormatter,
    )
    line.add_argument("--version", action="version", version=f"wgsl {VERSION}")
    line.add_argument("command", metavar="COMMAND", nargs="?", help="check or run")
    return line
