"""Lesson 08: the table of both versions is that of the recorded run."""

from math import prod

from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.bench.layers import SHAPES
from helpers.bench.recorded import recorded

LESSON = Lesson.read(NOTEBOOKS / "08_the_speed_ladder.ipynb")
ONE, MANY = "1_thread_per_weight", "2_workgroup_per_weight"
LAYERS = {  # of the lesson's table of both versions, by their names there
    "LeNet conv1, 1 image": "LeNet conv1, 1 image",
    "LeNet conv1, 256 images": "LeNet conv1, 256 images",
    "32 × 64 × 56 × 56, 3 × 3 filters": "32x64x56x56 to 64, k3 s1 p1",
    "32 × 256 × 14 × 14, 3 × 3 filters": "32x256x14x14 to 256, k3 s1 p1",
}


def times(layer: str) -> tuple[float, float, float]:
    """The times of both versions and of the library in the recorded run, in milliseconds."""
    run = recorded()[-1]
    versions, libraries = (run.microseconds(kind, "conv2d_grad_weight", layer) for kind in ("versions", "libraries"))
    return versions[ONE] / 1e3, versions[MANY] / 1e3, libraries[run.table["library"]] / 1e3


def figure(value: float, digits: int = 3) -> str:
    """A number with this many digits, as the table has it."""
    return f"{value:#.{digits}g}".rstrip(".")


def test_the_table_of_both_versions_is_that_of_the_recorded_run():
    (prose,) = (cell.source for cell in LESSON.prose if "version&nbsp;1" in cell.source)
    rows = [line.strip("| ").split(" | ") for line in prose.splitlines() if line.startswith("|")][2:]
    assert [row[0] for row in rows] == list(LAYERS)
    for name, *cells in rows:
        one, many, library = times(LAYERS[name])
        assert cells == [
            f"{prod(SHAPES[LAYERS[name]].weight):,}",  # weights
            f"{figure(one)} ms",
            f"{figure(many)} ms",
            figure(one / many),
            f"{figure(library)} ms",
            figure(min(one, many) / library, 2),
        ]
