"""Time every version of every operation on named layers, beside the libraries that are installed.

Each version is first found right on the layer itself. A version that is wrong is not timed, and the exit status is 1.
Without a word all versions are timed; `host` shows what a launch costs the host, `start` how long a first gradient
takes from an empty process.
"""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from helpers import gpu
from helpers.bench import host, libraries, report
from helpers.bench.contenders import BUDGET
from helpers.bench.libraries import Library
from helpers.bench.suite import Suite
from helpers.gpu import timing
from helpers.gpu.passes import counting_pass
from helpers.speed.layers import LAYERS, OPERATIONS_OF, Layer, multiply_adds, select

ROOT = Path(__file__).resolve().parents[2]
OUTPUT = ROOT / "measurements"
PACKAGES = ("wgpu", "numpy", "scipy", "torch")


def main(words: Sequence[str] | None = None) -> int:
    """Measure, print and write; returns the exit status."""
    parser = _parser()
    options = parser.parse_args(words)
    print(f"Adapter: {gpu.adapter_info().summary}, {gpu.adapter_info().driver}.", flush=True)
    status = 0
    for what in [options.tables] if isinstance(options.tables, str) else options.tables:
        if what != "versions":
            print(*host.TABLES[what](), sep="\n", flush=True)
            continue
        try:
            asked = chosen(options)
        except ValueError as error:
            parser.error(str(error))
        status = versions(options, *asked)
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m helpers.bench", description=__doc__)
    tables = {"choices": ["versions", *host.TABLES], "metavar": "table"}
    parser.add_argument("tables", nargs="*", default="versions", help="versions (the default), host or start", **tables)
    parser.add_argument("--layers", nargs="+", default=[], metavar="NAME", help="layers by names or parts of names")
    parser.add_argument("--operation", nargs="+", default=[], metavar="NAME", help="operations, likewise")
    parser.add_argument("--beside", nargs="+", default=[], metavar="NAME", help="libraries, likewise, or none")
    parser.add_argument("--quick", action="store_true", help="three small layers only")
    parser.add_argument("--unchecked", action="store_true", help="time each version without bounds checks, too")
    parser.add_argument(
        "--output", type=Path, default=OUTPUT, metavar="FOLDER", help="for bench.json, table.json and pictures"
    )
    parser.add_argument("--compare", type=Path, metavar="FILE", help="say what is slower than before, and add this run")
    parser.add_argument("--slower", type=float, default=report.SLOWER, metavar="TIMES", help="from when on it says so")
    return parser


def chosen(options: argparse.Namespace) -> tuple[list[Layer], list[str], list[Library]]:
    """The layers, operations and libraries that are asked for. Raises ValueError for a name that there is not."""
    fits = [layer for layer in LAYERS if layer.quick or not options.quick]
    if not options.layers and gpu.adapter_info().kind == "software":
        fits = [layer for layer in fits if layer.small]
    names = select(options.layers, [layer.name for layer in fits], "--layers")
    every = [name for group in OPERATIONS_OF.values() for name in group]
    operations = select(options.operation, every, "--operation")
    beside = libraries.found(options.beside)
    if options.quick and not options.beside:  # importing SciPy takes as long as the rest
        beside = [each for each in beside if each.name != "SciPy"]
    return [layer for layer in fits if layer.name in names], operations, beside


def versions(
    options: argparse.Namespace, layers: Sequence[Layer], operations: Sequence[str], beside: Sequence[Library]
) -> int:
    """Check, time, print and write all that was asked for."""
    suite = Suite(beside, options.unchecked, _budget(options.quick))
    about = _about()
    cases = [(operation, layer) for operation in operations for layer in _by_work(operation, layers)]
    for i, (operation, layer) in enumerate(cases, 1):
        _say(f"{i} of {len(cases)}: {operation}, {layer.name}")
        suite.measure(operation, layer)
        result = _result(about, suite, layers)
        report.write(options.output, result, suite.rows)
    if not cases:
        print("No operation takes one of these layers.")
        return 0
    for line in _lines(suite, result):
        print(line)
    paths = report.draw(suite.rows, options.output, about)
    print(
        "\nWritten:",
        *(str(path) for path in [*(options.output / name for name in ("bench.json", "table.json")), *paths]),
        sep="\n  ",
    )
    if options.compare:
        _compare(options, report.summary(result, suite.rows))
    return int(any(row.wrong for row in suite.rows))


def _by_work(operation: str, layers: Sequence[Layer]) -> list[Layer]:
    """The layers of an operation, small ones first: their rate predicts how long the next one takes."""
    return sorted(
        (each for each in layers if operation in each.operations), key=lambda each: multiply_adds(operation, each.shape)
    )


def _budget(quick: bool) -> float:
    """Seconds for the samples of each contender."""
    return BUDGET / 10 if quick else BUDGET / 2 if gpu.adapter_info().kind == "software" else BUDGET


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _lines(suite: Suite, result: dict[str, object]) -> list[str]:
    rows, library = suite.rows, result["library"]
    return [
        "",
        *report.correctness_lines(rows),
        *report.tables(rows, library),
        "\n* what a call without `kernel=` takes here",
        *report.ratio_lines(result["ratios"], library),
        *report.bandwidths(rows),
        *report.skipped_lines(rows),
    ]


def _compare(options: argparse.Namespace, now: dict[str, object]) -> None:
    before = report.earlier(options.compare, now)
    found = report.slower(before, now, options.slower) if before else {}
    print("", *report.slower_lines(before, found, options.slower), sep="\n")
    report.add(options.compare, now)


# --- What is written ------------------------------------------------------------------------------------------


def _about() -> dict[str, object]:
    """Where and when."""
    info = gpu.adapter_info()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "adapter": info.name,
        "backend": info.backend,
        "kind": info.kind,
        "driver": info.driver,
        "clock": timing.measure(counting_pass(), repeats=1, awake=0).clock,
        "system": f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores",
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "command": " ".join(["python -m helpers.bench", *sys.argv[1:]]),
    }


def _commit() -> str:
    """The commit of this project, or "" where git does not say."""
    try:
        asked = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return asked.stdout.strip() if asked.returncode == 0 else ""


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _result(about: dict[str, object], suite: Suite, layers: Sequence[Layer]) -> dict[str, object]:
    library = report.compare_with_library(suite.rows)
    sizes = {layer.name: {"sizes": asdict(layer.shape), "tuned": layer.tuned} for layer in layers}
    found = {"library": library, "ratios": report.ratios(suite.rows, layers), "layers": sizes}
    return about | found | {"rows": [asdict(row) for row in suite.rows]}


if __name__ == "__main__":
    sys.exit(main())
