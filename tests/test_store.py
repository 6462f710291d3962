"""Storing a notebook gives the same bytes every time, or refuses and leaves the file alone."""

from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from support.notebook_gate import IGNORED
from support.sample import at_night, sample
from support.store import StoreError, keep_ignored, normalize, store

TOY = """\
import ipywidgets
import matplotlib.pyplot as plt
from IPython.display import display

slider = ipywidgets.IntSlider()
slider.observe(lambda change: print(change.new), "value")
display(slider)
slider.value = 3
plt.imshow([[0, 1]])
plt.show()
1 + 1"""
CLOCK = "import time\n\nprint(time.time_ns() / 1e9, 'seconds')"


def write(path: Path, cells: list[NotebookNode]) -> Path:
    """A notebook as an editor leaves it, with one machine's metadata."""
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "my venv"}
    nbformat.write(notebook, path)
    return path


@at_night
def test_store_writes_the_same_bytes_every_time(tmp_path):
    toy = v4.new_code_cell(TOY, metadata={"scrolled": True})
    clock = v4.new_code_cell(CLOCK, metadata={"tags": IGNORED})
    path = write(tmp_path / "toy.ipynb", [toy, clock])
    store(path)
    text = path.read_text(encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    cells[0].update(id="other", execution_count=7, metadata={"scrolled": True})
    store(write(path, cells))
    assert path.read_bytes() == text.encode()
    assert all(kept in text for kept in ('"2"', "seconds", "image/png"))
    assert not any(dropped in text for dropped in ("widget-view", "my venv", "scrolled"))


@pytest.mark.parametrize(("edited", "shown"), [(False, "1"), (True, "2")])
def test_an_ignored_cell_keeps_what_it_shows_until_it_is_edited(edited, shown):
    """With the new count of its cell."""

    def notebook(source: str, count: int) -> NotebookNode:
        result = v4.new_output("execute_result", {"text/plain": str(count)}, execution_count=count)
        cell = v4.new_code_cell(source, execution_count=count, outputs=[result], metadata={"tags": IGNORED})
        return v4.new_notebook(cells=[cell], metadata={"language_info": {"name": "python"}})

    before = notebook("1 + 1", 1)
    now = notebook("1 + 2" if edited else "1 + 1", 2)
    normalize(before)
    before.cells[0].source = now.cells[0].source  # an editor keeps the id
    normalize(now)
    keep_ignored(now, before)
    (output,) = now.cells[0].outputs
    assert (output.data["text/plain"], output.execution_count) == (shown, 2)


WRONG = {"careful": "import sys\nprint('careful', file=sys.stderr)", "Zero": "1 / 0", "died": "import os\nos._exit(3)"}


@pytest.mark.parametrize(("reason", "source"), sample([*WRONG.items()], 1))
def test_store_refuses(tmp_path, reason, source):
    path = write(tmp_path / "wrong.ipynb", [v4.new_code_cell(source)])
    before = path.read_bytes()
    with pytest.raises(StoreError, match=reason):
        store(path)
    assert path.read_bytes() == before
