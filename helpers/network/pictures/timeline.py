"""Where the time of one step of training goes: each kernel, the pauses between them, and the host."""

import json
from collections.abc import Mapping
from itertools import accumulate, pairwise
from pathlib import Path

from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, PAPER, WIDTH, Box, Picture
from helpers.pictures.charts import Axes

RECORDED = Path(__file__).parents[1] / "recorded" / "nvidia_h200.json"  # what helpers.bench.training wrote on that GPU
LEFT, RIGHT, TOP, ROW, BAR = 252, WIDTH - 60, 62, 16, 10  # CSS pixels: of the bars, of a row and of a bar in it
TICKS = 50, 100  # microseconds between two lines of the grid, where a step is short and where it is long
SHORT = 450  # microseconds


class TimelinePicture(Picture):
    """A row for each kernel of a step, from its begin to its end on the GPU's clock; below them, the step as a whole.

    `line` and `sides` are one batch's timeline and times of a step, as `helpers.bench.training` writes them.
    """

    def __init__(self, line: Mapping[str, object], sides: Mapping[str, Mapping], adapter: str) -> None:
        rows = self.rows = line["steps"]
        bottom = TOP + ROW * (len(rows) + 3) + 8  # of the grid
        super().__init__(bottom + 24)
        self.end = max(rows[-1]["end"], sum(line["host"].values()))
        self.bold(MARGIN, 18, f"one step of training with {line['batch']} digits, {adapter}", 15)
        said = "microseconds; each kernel in a compute pass of its own, so that the GPU can time it"
        self.write(MARGIN, 40, said, 13, GRAY)
        self.axes = Axes(self, Box(LEFT, TOP - 4, RIGHT - LEFT, bottom - TOP + 4), (0, self.end), (0, 1))
        times = range(0, int(self.end) + 1, TICKS[self.end > SHORT])
        self.axes.columns({time: f"{time}" for time in times}, 12, 0.8)
        backward = next(i for i, row in enumerate(rows) if "backward" in row["name"])
        for i, row in enumerate(rows):
            color = INK if row["name"].startswith("update") else ORANGE if i >= backward else BLUE
            self._bar(i, row["name"], [(row["begin"], row["end"])], color)
        below = len(rows) + 1
        self._bar(below, "all of it in one pass", [(0, line["one_pass"])], INK)
        ends = accumulate(line["host"].values(), initial=0.0)
        self._bar(below + 1, f"the host: {', '.join(line['host'])}", [*pairwise(ends)], GRAY)
        ours, eager, graph = (sides[name]["step"] for name in ("ours", "PyTorch CUDA", "PyTorch CUDA graph"))
        end, kernels = rows[-1]["end"] / 100, sum(row["end"] - row["begin"] for row in rows)
        self.sentence = (
            f"The {len(rows)} operations of a step with {line['batch']} digits, each in a pass of its own: "
            f"{kernels / end:.0f} % of the time is theirs, and {100 - kernels / end:.0f} % goes by between them. "
            f"In one pass, all take {line['one_pass'] / end:.0f} % of that time. By a clock outside the GPU, a step of "
            f"PyTorch takes {eager / ours:.2f} times as long as ours, and {graph / ours:.2f} times from a CUDA graph."
        )

    def _bar(self, row: int, name: str, spans: list[tuple[float, float]], color: str) -> None:
        """A row of the picture: its name, its bars and, behind them, the microseconds that they take."""
        y = TOP + ROW * row
        self.write(LEFT - 10, y + ROW / 2, name, 13, color, align="right")
        places = [self.axes.x(span) for span in spans]
        boxes = [Box(begin, y + 3, end - begin, BAR) for begin, end in places]
        self.boxes(boxes, PAPER, color, 0.6)
        self.write(places[-1][1] + 5, y + ROW / 2, f"{sum(b - a for a, b in spans):.0f}", 13, color)


def recorded(batch: int = 32) -> TimelinePicture:
    """Where the time of one step went on the recorded GPU, with 32 digits or with 256. Raises ValueError for others."""
    run = json.loads(RECORDED.read_text(encoding="utf-8"))
    lines = {line["batch"]: line for line in run["timelines"]}
    if batch not in lines:
        raise ValueError(f"batch = {batch!r}: measured were {' and '.join(map(str, lines))}")
    return TimelinePicture(lines[batch], run["speed"][str(batch)], run["adapter"])
