"""A notebook that a program runs, such as nbconvert, shows each widget's picture or words, and no blank."""

import subprocess
import sys

import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat import NotebookNode, v4
from support.notebook_gate import NOTEBOOKS, WIDGET_VIEW, lessons_of
from support.sample import at_night

EXPLORER = "explorers.weight_gradient()"
SHOWN_AS = {  # one widget of each kind
    EXPLORER: "image/png",
    'helpers.ask("pixels_of_a_weight")': "text/html",
    'helpers.write("weight_window")': "text/html",
    'helpers.mark("pixels_of_dW[0,1]")': "image/png",
}
IMPORTS = "import helpers\nfrom helpers.lessons.weight_gradient import explorers"


@pytest.fixture(scope="module")
def run() -> NotebookNode:
    """A notebook with these widgets as nbconvert runs it, and in its last cell the first of them as JupyterLab does."""
    cells = [v4.new_code_cell(source) for source in (IMPORTS, *SHOWN_AS, EXPLORER)]
    notebook = v4.new_notebook(cells=cells)
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOKS)}})
    with client.setup_kernel():
        for i, cell in enumerate(notebook.cells):
            client.kc.allow_stdin = cell is notebook.cells[-1]  # where a reader is, who can type
            client.execute_cell(cell, i)
    client.set_widgets_metadata()  # as nbconvert does, which then prefers a widget to its picture
    return notebook


def kinds(cell: NotebookNode) -> set[str]:
    """The kinds of what a cell shows."""
    (output,) = cell.outputs
    return {*output.data}


def test_where_a_program_runs_a_notebook_each_widget_is_its_picture_or_its_words(run):
    _, *shown, _ = run.cells
    assert [cell.source for cell in shown] == list(SHOWN_AS)
    for cell in shown:
        assert kinds(cell) == {"text/plain", SHOWN_AS[cell.source]}


def test_where_a_reader_runs_it_the_widget_is_live(run):
    assert kinds(run.cells[-1]) == {"text/plain", "image/png", WIDGET_VIEW}


def test_a_converted_page_shows_them(run):
    page, _ = HTMLExporter().from_notebook_node(run)
    for cell in run.cells[1:-1]:
        assert cell.outputs[0].data[SHOWN_AS[cell.source]] in page


@at_night
@pytest.mark.parametrize("path", lessons_of(NOTEBOOKS), ids=lambda path: path.stem)
def test_a_lesson_is_run_and_converted_from_another_folder(tmp_path, path):
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", "--output-dir", tmp_path, path]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
    page = (tmp_path / path.name).with_suffix(".html").read_text(encoding="utf-8")
    assert f'<script type="{WIDGET_VIEW}">' not in page
    assert "data:image/png;base64," in page
