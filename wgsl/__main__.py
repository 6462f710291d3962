"""The command line: run a WGSL file without a GPU, and print what the simulator found and counted.

``python -m wgsl --help`` explains it. The exit status is 0 without a finding, 1 with one, and 2 where
nothing was run: the arguments do not fit, or the text does not compile.
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from wgsl.diagnostics import WgslError
from wgsl.kernel import Kernel
from wgsl.output import escape_what_cannot_be_printed, visible
from wgsl.simulator.buffer_arguments import buffers_for
from wgsl.simulator.counts import KEYS, MEANINGS
from wgsl.simulator.findings import Finding
from wgsl.simulator.run import compiled, overridden, simulate
from wgsl.simulator.trace import Trace
from wgsl.simulator.watched import Named, numbers_of
from wgsl.types.kinds import on_three_axes
from wgsl.types.program import Program


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    escape_what_cannot_be_printed()
    options = parser().parse_intermixed_args(arguments)
    try:
        return _run(options)
    except WgslError as error:
        print(error, file=sys.stderr)
    except (ValueError, TypeError, OSError) as error:
        print(f"{options.file}: {error}", file=sys.stderr)
    return 2


def _run(options: Namespace) -> int:
    kernel = Kernel(Path(options.file).read_text(encoding="utf-8", errors="replace"), options.file)
    kernel = overridden(kernel, dict(options.constants))
    entry_point = options.entry_point or _only_entry_point(kernel)
    program = compiled(kernel, entry_point)
    outputs = None if options.outputs is None else [_binding(program, name) for name in options.outputs]
    shown = [_binding(program, name) for name in options.show]
    saved = [(_binding(program, name), path) for name, path in options.save]
    trace = simulate(
        kernel,
        buffers_for(program, dict(options.buffers), options.seed),
        options.workgroups,
        entry_point=entry_point,
        outputs=outputs,
        max_steps=options.max_steps,
        watch=options.watch,
    )
    print(visible(report(trace, options.lines), keep="\n\t"))
    for binding in shown:
        array = trace.buffers[binding]
        print(f"\n{program.bindings[binding].name}, {array.dtype}, shape {array.shape}:\n{array}")
    for named, name in trace.log.watched.items():
        print(f"\n{name}, after each statement that writes it:\n{_watched(named, trace.watched[name])}")
    for binding, path in saved:
        np.save(path, trace.buffers[binding])
    return int(bool(trace.findings))


def _only_entry_point(kernel: Kernel) -> str:
    names = kernel.entry_points
    if len(names) > 1:
        raise ValueError(f"{kernel.name} has the entry points {', '.join(names)}: choose one with --entry-point")
    return names[0] if names else "main"


def _binding(program: Program, name: str) -> int:
    names = [variable.name for variable in program.bindings]
    if name not in names:
        raise ValueError(f"{name!r} is no binding of the kernel, which has {', '.join(names)}")
    return names.index(name)


# --- Options --------------------------------------------------------------------------------------------------------

# What can be written on the command line.

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
  python -m wgsl kernels/sum/2_tree.wgsl input=1000 total=1 params=1000
  python -m wgsl kernels/gemm_bias_act/2_tiled.wgsl -D TILE=8 --workgroups 5x4 \\
      a=32x24 b=24x40 bias=40 output=32x40 params=32,24,40,1,1,0,0,0 --lines

The exit status is 0 without a finding, 1 with one, and 2 where nothing was run."""


def parser() -> ArgumentParser:
    """The command line."""
    line = ArgumentParser(
        prog="python -m wgsl",
        usage="python -m wgsl FILE NAME=BUFFER ... (--help explains more)",
        description="Run a WGSL compute kernel without a GPU. Every access is watched: races, indices out of range, "
        "barriers that are missed, endless (infinite) loops, outputs left unwritten and NaN are found, and the cost is "
        "counted.",
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
    steps = "loop iterations of a thread, 65,536 by default; a longer loop is reported as endless"
    add("--max-steps", metavar="N", type=int, help=steps)
    add("--seed", metavar="N", type=int, default=0, help="of the random numbers; 0 by default")
    add("--lines", action="store_true", help="count for each line of the text, too")
    add("--show", metavar="NAME", action="append", default=[], help="print a buffer")
    add("--watch", metavar="NAME", action="append", default=[], help="print the values of a thread's own variable")
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
    return on_three_axes([int(size) for size in text.split("x")])


def _constant(text: str) -> tuple[str, float]:
    name, value = _pair(text)
    number = {"true": "1", "false": "0"}.get(value, value)
    try:
        return name, int(number) if re.fullmatch(r"-?\d+", number) else float(number)
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: the value of an override is a number, true or false") from None


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


# --- Report ---------------------------------------------------------------------------------------------------------

# What the command line prints: findings with their place in the text, and counts in a table.


def report(trace: Trace, with_lines: bool) -> str:
    """Findings, what was run, and the counts; of each line of the text, too, if they are wanted."""
    parts = [_finding(trace.kernel.name, finding) for finding in trace.findings]
    parts += [_summary(trace), _counts(trace), *([_counts_by_line(trace)] if with_lines else ())]
    return "\n\n".join(parts)


# --- Findings -------------------------------------------------------------------------------------------------


def _finding(file: str, finding: Finding) -> str:
    before = finding.source_line[: finding.column - 1]
    caret = re.sub(r"[^\t]", " ", visible(before, keep="\t")) + "^"
    rows = [f"{file}:{finding.line}:{finding.column}: {finding.kind}: {finding.message}", finding.source_line, caret]
    if finding.invocations:
        named = "; ".join(_threads_in_words(*pair) for pair in groupby(finding.invocations, key=lambda who: who[0]))
        among = f"{finding.count:,} times, among them " if finding.count > len(finding.invocations) else ""
        rows.append(f"{among}{named}")
    return "\n  ".join(rows)


def _threads_in_words(group: tuple[int, int, int], invocations: Iterable[tuple]) -> str:
    threads = [str(thread) for _, thread in invocations]
    return f"thread{'s' if len(threads) > 1 else ''} {', '.join(threads)} of workgroup {group}"


def _summary(trace: Trace) -> str:
    groups = " x ".join(map(str, trace.workgroups))
    threads = " x ".join(map(str, trace.workgroup_size))
    number = len(trace.findings)
    ending = f"{number or 'no'} finding{'s' if number > 1 else ''}"
    return f"{trace.kernel.name}: {trace.entry_point}, {groups} workgroups of {threads} threads: {ending}"


def _watched(named: Named, rows: np.ndarray) -> str:
    lines = []
    for row, numbers in zip(rows, numbers_of(named, rows["value"]), strict=True):
        who = _threads_in_words(tuple(row["workgroup"].tolist()), [(None, row["invocation"])])
        value = ", ".join(f"{number:.9g}" for number in numbers)
        lines.append(f"step {row['step']}, line {row['line']}, {who}: {value}")
    return "\n".join(lines)


# --- Counts ---------------------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _counts(trace: Trace) -> str:
    numbers = {key: _number(value) for key, value in trace.counts.total.items()}
    wide = max(map(len, numbers.values()))
    return "\n".join(
        f"{key:{max(map(len, KEYS))}}  {number:>{wide}}  {MEANINGS[key]}" for key, number in numbers.items()
    )


def _counts_by_line(trace: Trace) -> str:
    """A row for each line that runs, with a column for each key that is not 0 everywhere."""
    keys = [key for key, number in trace.counts.total.items() if number]
    lines = trace.kernel.source.split("\n")
    first, second = zip(*(key.partition("_")[::2] for key in keys), strict=True)
    table = [[*first, "", ""], [*second, "line", ""]]
    for line, counts in trace.counts.by_line.items():
        numbers = [_number(counts[key]) if counts.get(key) else "" for key in keys]
        table.append([*numbers, str(line), lines[line - 1].rstrip("\r")])
    *columns, _ = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(_aligned(row, widths) for row in table)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """A row of the table: its numbers to the right of their columns, and the code after them."""
    *numbers, code = row
    cells = [f"{number:>{width}}" for number, width in zip(numbers, widths, strict=True)]
    return "  ".join([*cells, code]).rstrip()


if __name__ == "__main__":
    sys.exit(main())
