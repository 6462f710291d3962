"""A notebook whose kernel dies or hangs is red in seconds, and its later cells do not wait again."""

import nbformat
import pytest
from nbformat import v4
from support.nbval_runs import Outcome, nbval
from support.sample import ALL

SICK = {
    "exits": "os._exit(3)",
    "hangs": "time.sleep(1000)",
    "stubborn": "while True:\n    with suppress(KeyboardInterrupt):\n        time.sleep(1000)",  # as a hung GPU is
}
if not ALL:
    del SICK["hangs"]  # the stubborn one hangs too


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Outcome]]:
    """Notebooks whose second cell, and third, breaks the kernel: what nbval says with a cell timeout of 3 seconds."""
    folder = tmp_path_factory.mktemp("sick")
    for name, source in SICK.items():
        sources = ["import os, time\nfrom contextlib import suppress", source, source]
        cells = [v4.new_code_cell(text, execution_count=i) for i, text in enumerate(sources, 1)]
        nbformat.write(v4.new_notebook(cells=cells), folder / f"{name}.ipynb")
    return nbval(folder, "--nbval-cell-timeout", "3")


@pytest.mark.parametrize("name", SICK)
def test_a_sick_kernel_is_red_soon_and_once(sick: dict[str, list[Outcome]], name: str) -> None:
    died = "the kernel process died (exit code 3) while running this cell"
    healthy, broken, later = sick[name]
    assert not healthy.failure
    assert (died if name == "exits" else "Timeout of 3 seconds exceeded") in broken.failure
    assert SICK[name] in broken.failure
    assert broken.seconds < 15
    assert later.seconds < 2  # and not 3 again
