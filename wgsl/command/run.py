"""`wgsl run`: run a kernel without a GPU, once or several times over the same buffers, and say what was found."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from wgsl.command import sizes
from wgsl.command.comments import EXPECT, Remark, remarks, run_kinds, slug
from wgsl.command.formats import FORMATS
from wgsl.command.launches import Launch, Launches
from wgsl.command.options import add_constants, pair
from wgsl.command.report import report, watched
from wgsl.command.verdicts import ERROR, Verdict, weighed
from wgsl.diagnostics import WgslError
from wgsl.kernel import Kernel
from wgsl.output import visible
from wgsl.problems import Problem
from wgsl.simulator.findings import Finding
from wgsl.simulator.run import overridden
from wgsl.simulator.subgroups import USUAL
from wgsl.simulator.trace import Trace
from wgsl.types.kinds import on_three_axes


def main(arguments: Sequence[str]) -> int:
    """Run a kernel; returns the exit status."""
    options = parser().parse_intermixed_args(arguments)
    try:
        return _run(options)
    except BrokenPipeError:
        raise
    except WgslError as error:
        print(error, file=sys.stderr)
    except (ValueError, TypeError, OSError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
    return 2


def _run(options: Namespace) -> int:
    kernel = Kernel(Path(options.file).read_text(encoding="utf-8", errors="replace"), options.file)
    kernel = overridden(kernel, dict(options.constants))
    launches = Launches(kernel, _dispatches(options, kernel), dict(options.buffers), options.seed)
    if options.subgroup_sizes:
        return _run_sizes(options, kernel, launches)
    shown = [(name, launches.place(name)) for name in options.show]
    saved = [(launches.place(name), path) for name, path in options.save]
    traces = launches.run(options.outputs, _settings(options))
    outcome = _outcome(kernel, [finding for trace in traces for finding in trace.findings], options.expect)
    if options.format == "text":
        reports = _reports(traces, outcome, options.lines)
        print(visible(outcome.text(kernel, reports), keep="\n\t"))
        for name, place in shown:
            array = launches.buffers[place]
            print(f"\n{name}, {array.dtype}, shape {array.shape}:\n{array}")
        _print_watched(traces)
    else:
        print(FORMATS[options.format]([outcome.verdict(kernel)]))
    for place, path in saved:
        np.save(path, launches.buffers[place])
    return outcome.status


def _run_sizes(options: Namespace, kernel: Kernel, launches: Launches) -> int:
    """Run a kernel with subgroups of several sizes; returns the exit status."""
    sizes.check_alone(options)
    settings = _settings(options)
    del settings["subgroup_size"]
    runs = launches.run_sizes(options.subgroup_sizes, options.outputs, settings)
    outcome = _outcome(kernel, [*sizes.found(runs)], options.expect)
    if options.format == "text":
        print(visible(outcome.text(kernel, [sizes.report(runs, outcome.left)]), keep="\n\t"))
    else:
        print(FORMATS[options.format]([outcome.verdict(kernel)]))
    return outcome.status


def _settings(options: Namespace) -> dict[str, Any]:
    """Return the arguments of `simulate` that are options of the same names."""
    settings = {name: getattr(options, name) for name in ("max_steps", "watch", "zero_initialized")}
    return {**settings, "subgroup_size": options.subgroup_size or USUAL}


def _dispatches(options: Namespace, kernel: Kernel) -> list[Launch]:
    """Return the dispatches that the command line asks for."""
    if not options.dispatch:
        entry_point = options.entry_point or _only_entry_point(kernel)
        return [Launch(entry_point, options.workgroups or (1, 1, 1))]
    if options.entry_point or options.workgroups:
        raise ValueError("--dispatch names entry point and workgroups: leave out --entry-point and --workgroups")
    return options.dispatch


def _only_entry_point(kernel: Kernel) -> str:
    names = kernel.entry_points
    if len(names) > 1:
        raise ValueError(f"{kernel.name} has the entry points {', '.join(names)}: choose one with --entry-point")
    return names[0] if names else "main"


# --- What counts --------------------------------------------------------------------------------------------------


class Outcome(NamedTuple):
    """The findings that comments neither allow nor expect, those that they allow, and what is wrong with comments."""

    left: list[Finding | Problem]
    allowed: list[Finding | Problem]
    complaints: list[Problem]

    @property
    def status(self) -> int:
        """The exit status."""
        return int(bool(self.left or self.complaints))

    def verdict(self, kernel: Kernel) -> Verdict:
        """Return the same in the form that `wgsl check` prints."""
        problems = sorted([*map(_problem, self.left), *self.complaints])
        levels = tuple((problem, ERROR) for problem in problems)
        return Verdict(kernel.name, kernel.source, levels, tuple(map(_problem, self.allowed)))

    def text(self, kernel: Kernel, reports: Sequence[str]) -> str:
        """Return reports with what is wrong with comments, and how much one allows."""
        complaints = [f"{kernel.name}:{one.line}:{one.column}: {one.kind}: {one.message}" for one in self.complaints]
        allowed = [f"{len(self.allowed)} allowed by a comment"] if self.allowed else []
        return "\n\n".join([*reports, *complaints, *allowed])


def _outcome(kernel: Kernel, found: Sequence[Finding | Problem], expect: bool) -> Outcome:
    return Outcome(*weighed(found, remarks(kernel.source), expect, _is_ours))


def _is_ours(remark: Remark) -> bool:
    """Return True for what this run alone decides: another one may show what a comment allows."""
    return remark.verb == EXPECT and remark.kind in run_kinds()


def _problem(finding: Finding | Problem) -> Problem:
    if isinstance(finding, Problem):
        return finding
    return Problem(finding.line, finding.column, finding.kind, finding.message, slug(finding.kind))


def _reports(traces: Sequence[Trace], outcome: Outcome, with_lines: bool) -> list[str]:
    """Return the findings and counts of each dispatch."""
    left = {id(finding) for finding in outcome.left}
    reports = []
    for trace in traces:
        findings = [finding for finding in trace.findings if id(finding) in left]
        reports.append(report(trace, findings, with_lines))
    return reports


def _print_watched(traces: Sequence[Trace]) -> None:
    for trace in traces:
        for named, variable in trace.log.watched.items():
            print(f"\n{variable}, after each statement that writes it:\n{watched(named, trace.watched[variable])}")


# --- Options --------------------------------------------------------------------------------------------------------

# What can be written on the command line.

EPILOG = """\
BUFFER is one of
  64, 4x16        the number of elements of an array declared without a length, or its shape. What
                  the kernel only reads gets whole numbers from -4 to 4 (their sums are exact), in
                  u32 from 0 to 4; what it writes, and atomics, start as 0
  64:1.5          as many elements, each with this value (nan and inf are values, too)
  1,2,3 or 5,     the values; of a struct, those of all its members in order, without padding
  numbers.npy     an array that NumPy has saved; @numbers for a file whose name ends otherwise
NAME is the name of a variable, or its group and binding, as in 1:3=64. A uniform needs values. Other
bindings of a fixed size, and those that the entry point does not touch, can be left out.

examples:
  wgsl run kernels/sum/2_tree.wgsl input=1000 total=1 params=1000
  wgsl run kernels/gemm_bias_act/2_tiled.wgsl -D TILE=8 --workgroups 5x4 \\
      a=32x24 b=24x40 bias=40 output=32x40 params=32,24,40,1,1,0,0,0 --lines

The exit status is 0 without a finding, 1 with one, and 2 where nothing was run."""


def parser() -> ArgumentParser:
    """The command line."""
    line = ArgumentParser(
        prog="wgsl run",
        usage="wgsl run FILE NAME=BUFFER ... (--help explains more)",
        description="Run a WGSL compute kernel without a GPU. Every access is watched: races, indices out of range, "
        "barriers that are missed, endless (infinite) loops, outputs left unwritten and NaN are found, and the cost is "
        "counted.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    _add_what_is_run(line.add_argument)
    add_constants(line)
    _add_what_is_said(line.add_argument)
    return line


def _add_what_is_run(add: Callable[..., object]) -> None:
    add("file", metavar="FILE", help="the WGSL text")
    add("buffers", metavar="NAME=BUFFER", nargs="*", type=pair, help="a binding's size or values (see below)")
    add("-w", "--workgroups", metavar="XxYxZ", type=_workgroups, help="such as 4 or 4x4; 1 by default")
    add("-e", "--entry-point", metavar="NAME", help="the function to run, where there are several")
    dispatch = "instead of both, as in sum:8,1,1; where it is repeated, they run one after another on the same buffers"
    add("--dispatch", metavar="NAME:X,Y,Z", type=_dispatch, action="append", default=[], help=dispatch)
    steps = "loop iterations of a thread, 65,536 by default; a longer loop is reported as endless"
    add("--max-steps", metavar="N", type=int, help=steps)
    zeros = "trust that workgroup memory begins with 0, as WGSL promises"
    add("--zero-initialized", action="store_true", help=zeros)
    size = "threads of a subgroup, a power of two from 4 to 128; 32 by default"
    add("--subgroup-size", metavar="N", type=int, help=size)
    several = "run it with subgroups of all sizes, or of those such as 16,32, and compare the outputs"
    add("--subgroup-sizes", metavar="all", type=sizes.sizes_of, help=several)
    add("--seed", metavar="N", type=int, default=0, help="of the random numbers; 0 by default")


def _add_what_is_said(add: Callable[..., object]) -> None:
    add("--outputs", metavar="NAMES", type=_names, help="what must be written whole, as in a,b; by default all outputs")
    add("--lines", action="store_true", help="count for each line of the text, too")
    add("--show", metavar="NAME", action="append", default=[], help="print a buffer")
    add("--watch", metavar="NAME", action="append", default=[], help="print the values of a thread's own variable")
    add("--save", metavar="NAME=FILE", type=pair, action="append", default=[], help="save a buffer for NumPy")
    add("--expect", action="store_true", help="what // expect: comments name must be found, and nothing else")
    add("--format", choices=FORMATS, default="text", help="text, json, sarif (2.1.0) or github; text by default")


def _workgroups(text: str) -> tuple[int, int, int]:
    if not re.fullmatch(r"\d+(x\d+){0,2}", text):
        raise ArgumentTypeError(f"{text!r} is not one to three numbers with x between them, such as 4x4")
    return on_three_axes([int(size) for size in text.split("x")])


def _dispatch(text: str) -> Launch:
    match = re.fullmatch(r"(\w+):(\d+(?:[,x]\d+){0,2})", text)
    if not match:
        raise ArgumentTypeError(f"{text!r} is not an entry point and its workgroups, such as main:8,1,1")
    return Launch(match[1], on_three_axes([int(size) for size in re.split("[,x]", match[2])]))


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]
