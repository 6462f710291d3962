"""The cells that a stored widget asks for before it is used, and those to which the first screen's *Write it* leads."""

import re
from types import SimpleNamespace

import pytest
from support.notebook_gate import NOTEBOOKS, Cell, Lesson

from helpers import widgets
from helpers.widgets import ALONE, WAKE, stands_alone, wake

PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
every_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
WRITE_IT = re.compile(r"\[Write it\]\(#(.*?)\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
ALONE_OR_NOT = {
    'import helpers\nhelpers.write("map")': True,
    'helpers.write("map")': False,
    "import numpy as np\nimport os.path\n[np.abs(i) for i in range(3)], os": True,
    "def double(x):\n  return 2 * x\ndouble(image)": False,
    "class A:\n  pass\nprint(A())": True,
    "": False,
    "this is no Python": False,
}


@pytest.mark.parametrize("code", ALONE_OR_NOT)
def test_a_cell_that_makes_all_that_it_uses_stands_alone(code, monkeypatch):
    assert stands_alone(code) == ALONE_OR_NOT[code]
    shell = SimpleNamespace(parent_header={"content": {"code": code}})
    monkeypatch.setattr(widgets, "get_ipython", lambda: shell)
    assert wake() == (ALONE if ALONE_OR_NOT[code] else WAKE)


@every_notebook
def test_a_stored_widget_asks_for_the_cells_that_it_needs(path):
    """In a picture the words are drawn, and cannot be read here."""
    for cell in Lesson.read(path).code:
        words = [text for text in cell.texts if ALONE in text or WAKE in text]
        asked = ALONE if stands_alone(cell.source) else WAKE
        assert all(asked in text for text in words), cell


def blank_page(lesson: Lesson) -> list[Cell]:
    """Return the code cells below the heading to which the first screen's *Write it* leads; none without a link."""
    link = WRITE_IT.search(lesson.cells[0].source)
    is_below = False
    found = []
    for cell in lesson.cells:
        if cell.is_code and is_below:
            found.append(cell)
        headings = [] if cell.is_code else HEADING.findall(cell.source)
        if link and headings:
            is_below = link[1] in [heading.replace(" ", "-") for heading in headings]
    return found


@every_notebook
def test_the_cells_of_a_blank_page_stand_alone(path):
    lesson = Lesson.read(path)
    cells = blank_page(lesson)
    if WRITE_IT.search(lesson.cells[0].source):
        assert any("helpers.write(" in cell.source for cell in cells)
    assert [str(cell) for cell in cells if not stands_alone(cell.source)] == []
