"""Record the small pictures of the lessons, so that they answer before Python is there.

PYTHONPATH=browser python -m browser.lesson_pictures FOLDER      on the simulator, which needs no GPU
"""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

from browser import paths
from browser.recorder import Recording, compact

# Not recorded are pictures with more than 450 states or 2,000 images, those in which the reader changes numbers,
# those that remember what was seen before, and those that tell of the reader's own adapter.
RECORDED = {
    "meet_the_gpu": ["swap"],
    "weight_gradient": ["weight_gradient", "threads"],
    "input_gradient": ["scatter_and_gather", "input_gradient"],
    "bias_gradient": ["tree", "bias_gradient"],
    "trusting_a_gradient": ["step_size"],
    "fused_gemm_backward": ["gradients"],
    "the_speed_ladder": ["tile_sizes", "ladder"],
    "many_gpus": ["shared_batch", "part_tree"],
    "simulator": ["lanes", "orders", "shadow"],
    "order_of_a_sum": ["errors"],
}
LESSON = re.compile(r"from helpers\.lessons\.(\w+) import .*\bexplorers\b")
SHOWN = re.compile(r"explorers\.(\w+)\(\)$")  # the end of a cell that shows a picture


def cells() -> dict[str, dict[str, str]]:
    """The cells of each lesson that show a recorded picture: the name of the recording by the cell's own."""
    found: dict[str, dict[str, str]] = {}
    for path in sorted((paths.ROOT / "notebooks").glob("*.ipynb")):
        sources = {}
        for cell in json.loads(path.read_bytes())["cells"]:
            if cell["cell_type"] == "code":
                sources[cell["id"]] = "".join(cell["source"]).rstrip()
        lesson = LESSON.search("\n".join(sources.values()))
        for place, source in sources.items():
            shown = SHOWN.search(source)
            if lesson and shown and shown[1] in RECORDED.get(lesson[1], ()):
                found.setdefault(path.name, {})[place] = f"{lesson[1]}.{shown[1]}"
    return found


def main(folder: Path) -> None:
    """Write the recordings, and the list of the cells that show them."""
    folder.mkdir(exist_ok=True)
    (folder / "cells.json").write_text(compact(cells()), "utf-8")
    for lesson, names in RECORDED.items():
        explorers = import_module(f"helpers.lessons.{lesson}.explorers")
        for name in names:
            recording = Recording(getattr(explorers, name)()).data()
            (folder / f"{lesson}.{name}.json").write_text(compact(recording), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
