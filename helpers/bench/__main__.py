"""Time every version of every operation on named layers, beside the libraries that are installed.

Each version is first found right on the layer itself. A version that is wrong is not timed, and the exit status is 1.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path

from helpers import gpu
from helpers.bench import libraries, report
from helpers.bench.candidates import BUDGET
from helpers.bench.layers import LAYERS, OPERATIONS_OF, Layer, multiply_adds, select
from helpers.bench.libraries import Numpy, Torch
from helpers.bench.run_metadata import OUTPUT, run_metadata
from helpers.bench.suite import Suite
from wgsl.output import escape_what_cannot_be_printed


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; returns the exit status."""
    escape_what_cannot_be_printed()
    parser = _parser()
    options = parser.parse_args(words)
    print(f"Adapter: {gpu.adapter_info().summary}, {gpu.adapter_info().driver}.", flush=True)
    try:
        layers, operations, beside = chosen(options)
    except ValueError as error:
        parser.error(str(error))
    suite = Suite(beside, options.unchecked, _budget(options.quick))
    metadata = run_metadata("helpers.bench")
    cases = _cases(operations, layers)
    for i, (operation, layer) in enumerate(cases, 1):
        print(f"{i} of {len(cases)}: {operation}, {layer.name}", file=sys.stderr, flush=True)
        suite.measure(operation, layer)
        result = _result(metadata, suite, layers)
        report.write(options.output, result, suite.rows)
    if not cases:
        print("No operation takes one of these layers.")
        return 0
    print(*_lines(suite, result), sep="\n")
    print("\nWritten:", options.output / "bench.json", options.output / "table.json", sep="\n  ")
    return 1 if any(row.wrong for row in suite.rows) else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m helpers.bench", description=__doc__)
    names = {"nargs": "+", "default": [], "metavar": "NAME"}
    parser.add_argument("--layers", **names, help="layers by names or parts of names")
    parser.add_argument("--operation", **names, help="operations, likewise")
    parser.add_argument("--beside", **names, help="libraries, likewise, or none")
    parser.add_argument("--quick", action="store_true", help="three small layers only")
    parser.add_argument("--unchecked", action="store_true", help="time each version without bounds checks, too")
    parser.add_argument("--output", type=Path, default=OUTPUT, metavar="FOLDER", help="for the tables")
    return parser


def chosen(options: argparse.Namespace) -> tuple[list[Layer], list[str], list[Numpy | Torch]]:
    """The layers, operations and libraries that the options name. Raises ValueError for a name that does not exist."""
    layers = list(LAYERS)
    if options.quick:
        layers = [layer for layer in layers if layer.quick]
    if not options.layers and gpu.adapter_info().kind == "software":
        layers = [layer for layer in layers if layer.small]
    names = select(options.layers, [layer.name for layer in layers], "--layers")
    layers = [layer for layer in layers if layer.name in names]
    operations = select(options.operation, list(chain(*OPERATIONS_OF.values())), "--operation")
    return layers, operations, libraries.installed(options.beside)


def _cases(operations: Sequence[str], layers: Sequence[Layer]) -> list[tuple[str, Layer]]:
    """Each operation on each of its layers, small ones first: their rate predicts how long the next one takes."""
    cases = []
    for operation in operations:
        of_operation = [layer for layer in layers if operation in layer.operations]
        of_operation.sort(key=partial(_work, operation))
        cases += [(operation, layer) for layer in of_operation]
    return cases


def _work(operation: str, layer: Layer) -> int:
    return multiply_adds(operation, layer.shape)


def _budget(quick: bool) -> float:
    """Seconds for the samples of each candidate."""
    if quick:
        return BUDGET / 10
    if gpu.adapter_info().kind == "software":
        return BUDGET / 2
    return BUDGET


def _lines(suite: Suite, result: dict[str, object]) -> list[str]:
    rows = suite.rows
    library = result["library"]
    return [
        "",
        *report.correctness_lines(rows),
        *report.tables(rows, library),
        "\n* what a call without `kernel=` takes here",
        *report.ratio_lines(result["ratios"], library),
        *report.skipped_lines(rows),
    ]


# --- The file of the figures ----------------------------------------------------------------------------------


def _result(metadata: dict[str, object], suite: Suite, layers: Sequence[Layer]) -> dict[str, object]:
    library = report.compare_with_library(suite.rows)
    return {
        **metadata,
        "library": library,
        "ratios": report.ratios(suite.rows, layers),
        "layers": {layer.name: {"sizes": asdict(layer.shape), "tuned": layer.tuned} for layer in layers},
        "rows": [asdict(row) for row in suite.rows],
    }


if __name__ == "__main__":
    sys.exit(main())
