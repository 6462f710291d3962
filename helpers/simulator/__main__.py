"""The command line: run a WGSL file without a GPU, and print what the simulator found and counted.

``python -m helpers.simulator --help`` explains it. The exit status is 0 without a finding, 1 with one, and 2 where
nothing was run: the arguments do not fit, or the text does not compile.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from helpers.simulator import launch
from helpers.simulator.command.buffers import buffers_for
from helpers.simulator.command.options import parser
from helpers.simulator.command.report import array_text, report
from helpers.simulator.run import simulate
from helpers.simulator.types.program import Program
from helpers.wgsl import ENTRY_POINT, Kernel, WgslError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    line = parser()
    options = line.parse_intermixed_args(arguments)
    try:
        return _run(options)
    except WgslError as error:
        print(error, file=sys.stderr)
        return 2
    except (ValueError, TypeError, OSError) as error:
        line.error(str(error))


def _run(options: Namespace) -> int:
    kernel = Kernel(Path(options.file).read_text(encoding="utf-8", errors="replace"), options.file)
    entry_point, constants = options.entry_point or _only_entry_point(kernel), dict(options.constants)
    program = launch.compiled(kernel, entry_point, constants)
    outputs = None if options.outputs is None else [_binding(program, name) for name in options.outputs]
    shown, saved = ([(_binding(program, name), *rest) for name, *rest in each] for each in (options.show, options.save))
    trace = simulate(
        kernel,
        buffers_for(program, dict(options.buffers), options.seed),
        options.workgroups,
        entry_point=entry_point,
        constants=constants,
        outputs=outputs,
        max_steps=options.max_steps,
    )
    print(report(trace, options.lines))
    for (binding,) in shown:
        print(f"\n{array_text(program.bindings[binding].name, trace.buffers[binding])}")
    for binding, path in saved:
        np.save(path, trace.buffers[binding])
    return int(bool(trace.findings))


def _only_entry_point(kernel: Kernel) -> str:
    names = [name for _, name in ENTRY_POINT.findall(kernel.code)]
    if len(names) > 1:
        raise ValueError(f"{kernel.name} has the entry points {', '.join(names)}: choose one with --entry-point")
    return names[0] if names else "main"


def _binding(program: Program, name: str) -> int:
    names = [variable.name for variable in program.bindings]
    if name not in names:
        raise ValueError(f"{name!r} is no binding of the kernel, which has {', '.join(names)}")
    return names.index(name)


if __name__ == "__main__":
    sys.exit(main())
