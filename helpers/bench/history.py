"""Earlier runs, one line of JSON each, and which figures became slower since."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

SLOWER = 1.2  # times the earlier figure: less is noise


def entry(result: dict[str, object]) -> dict[str, object]:
    """What a history keeps of a run: where and when it was, and the kernel time of each version."""
    about = {name: result[name] for name in ("date", "commit", "adapter", "driver", "clock")}
    rows = [row for row in result["rows"] if row["kind"] == "version" and row["kernel_us"]]
    kept = ("operation", "layer", "name", "checked", "kernel_us")
    return about | {"rows": [{name: row[name] for name in kept} for row in rows]}


def earlier(path: Path, now: dict[str, object]) -> dict[str, object] | None:
    """The last run in a file that was on the same adapter with the same clock, or None."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    runs = [json.loads(line) for line in lines if line.strip()]
    alike = [run for run in runs if (run["adapter"], run["clock"]) == (now["adapter"], now["clock"])]
    return alike[-1] if alike else None


def slower(before: dict[str, object], now: dict[str, object], factor: float = SLOWER) -> list[tuple[dict, float]]:
    """The rows that take more than `factor` times as long as before, and how many times, the worst first."""
    times = {_key(row): row["kernel_us"] for row in before["rows"]}
    found = [(row, row["kernel_us"] / times[_key(row)]) for row in now["rows"] if _key(row) in times]
    return sorted(((row, times) for row, times in found if times > factor), key=lambda each: -each[1])


def _key(row: dict[str, object]) -> tuple[object, ...]:
    return row["operation"], row["layer"], row["name"], row["checked"]


def add(path: Path, now: dict[str, object]) -> None:
    """Append a run to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(now) + "\n")


def lines(before: dict[str, object] | None, found: Sequence[tuple[dict, float]], factor: float) -> Iterator[str]:
    """What the comparison says."""
    if before is None:
        yield "No earlier run on this adapter; this one was added."
        return
    since = " ".join(filter(None, [before["date"], before["commit"], before["driver"]]))
    yield f"{len(found)} of the versions that were timed before take more than {factor:g} times as long as on {since}:"
    for row, times in found:
        bounds = "" if row["checked"] else ", unchecked"
        yield f"  {times:.2f} times  {row['operation']}, {row['layer']}, {row['name']}{bounds}"
