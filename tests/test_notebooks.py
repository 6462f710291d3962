"""Stored notebooks keep the gate's rules, and both the gate and nbval turn red when something is wrong.

That the notebooks still compute what they show is nbval's part: `pytest --nbval notebooks`.
"""

import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4
from support.nbval_runs import PROJECT, nbval, red
from support.notebook_gate import (
    IGNORED,
    NOTEBOOKS,
    RULES,
    WIDGET_VIEW,
    Cell,
    Lesson,
    broken_rules,
    lessons_of,
    navigation_links,
    needed,
    texts,
)
from support.sample import sample

STORED = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = lessons_of(NOTEBOOKS)

# --- The gate --------------------------------------------------------------------------


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    broken = broken_rules(Lesson.read(path))
    assert not broken, "\n".join(broken)


PLACE = LESSONS[1]  # where the notebooks below stand in for a lesson, between two others


def lesson() -> NotebookNode:
    """A notebook that keeps every rule; its last code cell is the third."""
    picture = {"image/png": "iVBO", "text/plain": "A square of 4 white pixels."}
    setup = "from helpers import adapter_info\n\nadapter_info()"
    two = v4.new_output("execute_result", {"text/plain": "2"})
    kernel = 'kernel = """\n' + "@compute fn main() {}\n" * 30 + '"""\ndraw(kernel)'  # its text is not counted
    links = " · ".join(f"[{i}]({link})" for i, link in enumerate(navigation_links(PLACE)))
    return v4.new_notebook(
        cells=[
            v4.new_markdown_cell(f"# A lesson\n\nYou will see the GPU.\n\n{links}"),
            v4.new_code_cell(setup, execution_count=1, metadata={"tags": IGNORED}),
            v4.new_markdown_cell("## Numbers\n\nAdd two of them, as in [these](glossary.ipynb)."),
            v4.new_code_cell("1 + 1", execution_count=2, outputs=[two]),
            v4.new_markdown_cell("<details><summary>A hint</summary>\n\nLook at it.\n\n</details>"),
            v4.new_code_cell(kernel, execution_count=3, outputs=[v4.new_output("display_data", picture)]),
            v4.new_markdown_cell(f"The end.\n\n{links}"),
        ]
    )


def breaches(notebook: NotebookNode) -> set[str]:
    """Names of the rules that a notebook in the place of a lesson breaks."""
    return {line.split(": ")[1] for line in broken_rules(Lesson(PLACE, notebook))}


def test_gate_accepts_a_good_notebook():
    good = lesson()
    assert breaches(good) == set()
    code('import helpers\n\nhelpers.write("map")')(good)
    assert breaches(good) == set()


def stored(data: dict):
    """A sum with another result."""
    return lambda nb: nb.cells[3].outputs.append(v4.new_output("display_data", data))


def shows(text: str):
    """The notebook's sum shows `text`."""
    return stored({"text/plain": text})


def says(text: str):
    """The notebook's hint has `text` below it."""
    return lambda nb: nb.cells[4].update(source=nb.cells[4].source + "\n\n" + text)


def code(text: str, cell: int = 3):
    """The notebook's sum (or another cell) is written `text`."""
    return lambda nb: nb.cells[cell].update(source=text)


BREACHES = {
    "counts": [lambda nb, n=n: nb.cells[3].update(execution_count=n) for n in (None, 7)],
    "errors": [
        lambda nb: nb.cells[3].outputs.append(v4.new_output("error", ename="KeyError", evalue="1")),
        lambda nb: nb.cells[3].outputs.append(v4.new_output("stream", name="stderr", text="Warning")),
    ],
    "widget_state": [lambda nb: nb.metadata.update(widgets={}), stored({WIDGET_VIEW: {}})],
    "machine_facts": map(
        shows,
        ["at 0x7f3a12bc", "loaded /opt/lessons", r"C:\lessons", "LLVMpipe", "7 µs", "TFLOP/s", "1.2e-07"],
    ),
    "ignored_cells": [
        *map(code, ["# NBVAL_IGNORE_OUTPUT\n1 + 1", "# NBVAL_SKIP\n1 + 1", "# PYTEST_VALIDATE_IGNORE_OUTPUT\n1 + 1"]),
        lambda nb: nb.cells[3].metadata.update(tags=[*IGNORED, "nbval-skip"]),
        lambda nb: nb.cells.extend(v4.new_code_cell("1", metadata={"tags": IGNORED}) for _ in range(3)),
    ],
    "headings": [says("# Another lesson"), says("#### Too deep"), code("No heading here.", 0)],
    "setup_cell": [
        code("from helpers import adapter_info", 1),
        code("import numpy", 1),
        lambda nb: nb.cells[1].metadata.clear(),
        code("import numpy"),
        code("import helpers\n\nimport numpy"),
    ],
    "lengths": [code("a = 1\n" * 21), lambda nb: [nb.cells[i].update(source="a = 1\n" * 5) for i in (3, 5)]],
    "sentence_before_code": [lambda nb: nb.cells.pop(2), code("## Numbers", 2)],
    "plain_python": [code("1 + 1;"), code("%time 1 + 1")],
    "simulations_end": [code("helpers.simulate(1)"), code("helpers.simulate(1, max_steps=65536)")],
    "pictures_in_words": [
        stored({"image/png": "iVBO", "text/plain": "<Figure size 640x480 with 1 Axes>"}),
        shows("<img src='x.png'>"),
        says("![](glossary.ipynb)"),
    ],
    "size": [stored({"image/png": "A" * 3_000_000})],
    "characters": [code("a\N{NO-BREAK SPACE}= 1"), says("Zero\N{ZERO WIDTH SPACE}width"), says("\N{ROCKET}")],
    "links": [says("[gone](gone.md#top)"), says('<img alt="A digit" src="gone.png">')],
    "spoken": [says("See [here](glossary.ipynb)."), says("| a | |\n|---|---|\n| 1 | 2 |")],
    "navigation": [code("# A lesson", 0), code("The end.", 6)],
    "questions": [says("word " * 1501)],
}
TRIED = [(rule, breach) for rule, breaches in BREACHES.items() for breach in breaches]


@pytest.mark.parametrize(("rule", "breach"), TRIED)
def test_gate_sees_a_breach(rule, breach):
    notebook = lesson()
    breach(notebook)
    assert rule in breaches(notebook)


def test_every_rule_of_the_gate_is_tried():
    assert [*BREACHES] == [rule.__name__ for rule in RULES]


# --- nbval ------------------------------------------------------------------------------

LOAD = re.compile(r'(\w+) = (?:helpers\.)?load\("(\w+)", "(\w+)"\)')  # how a lesson names a kernel


def loaded(lesson: Lesson) -> list[tuple[str, str, str]]:
    """The variable, operation and version of each kernel that a lesson loads."""
    return [names for cell in lesson.code for names in LOAD.findall(cell.source)]


def speaks_of(cell: Cell, variable: str, version: str) -> bool:
    """Does a cell name a kernel, the variable that holds it, or the dictionary of kernels that it may be in?"""
    return bool(re.search(rf"\b({variable}|{version}|kernels)\b", cell.source))


def shown(path: Path, variable: str, operation: str, version: str) -> bool:
    """Does a lesson show what a kernel computes? One that only gives its bindings is not run."""
    return any(cell.outputs for cell in Lesson.read(path).code if speaks_of(cell, variable, version))


LOADING = [path for path in LESSONS if loaded(Lesson.read(path))]
SHORTEST = min(LESSONS, key=lambda path: len(Lesson.read(path).code))
LOADED = [(path, *names) for path in sample(LOADING, 1) for names in loaded(Lesson.read(path)) if shown(path, *names)]
RIGHT, WRONG = "var sum = ", "var sum = 1.0 + "  # how every kernel that adds begins its sum


def copy(tree: Path, lesson: Path) -> Path:
    """Copy what the lesson needs to `tree`; the path of its notebook there, named like `tree`."""
    for part in "helpers", "wgsl", "kernels", "tests":
        shutil.copytree(PROJECT / part, tree / part)
    (tree / "notebooks").mkdir()
    shutil.copy(PROJECT / "notebooks" / "helpers.py", tree / "notebooks")
    return Path(shutil.copy(lesson, tree / "notebooks" / f"{tree.name}.ipynb"))


def change_an_output(path: Path) -> int:
    """Change the last stored result that nbval compares; which code cell it is of, counted from 0."""
    lesson = Lesson.read(path)
    compared = [i for i, cell in enumerate(lesson.code) if not cell.ignored and any("data" in o for o in cell.outputs)]
    lesson.code[compared[-1]].outputs[0].data["text/plain"] += "0"
    nbformat.write(lesson.notebook, path)
    return compared[-1]


def change_kernels(path: Path) -> None:
    """Another constant in each kernel that the lesson loads, and of the lesson only what speaks of these kernels."""
    lesson = Lesson.read(path)
    for _, operation, version in loaded(lesson):
        kernel = path.parents[1] / "kernels" / operation / f"{version}.wgsl"
        kernel.write_text(kernel.read_text(encoding="utf-8").replace(RIGHT, WRONG), encoding="utf-8")
    lesson.notebook.cells = [cell.node for cell in speaking(lesson)]
    nbformat.write(lesson.notebook, path)


def speaking(lesson: Lesson) -> list[Cell]:
    """The code cells that speak of a kernel that the lesson loads, and those that make what they use."""
    speak = [cell for cell in lesson.code for name, _, version in loaded(lesson) if speaks_of(cell, name, version)]
    return needed(lesson, speak)


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Copies of the project with an output or the kernels changed: the cell, and what nbval says of each lesson."""
    folder = tmp_path_factory.mktemp("copies")
    changed = change_an_output(copy(folder / "changed", SHORTEST))
    for path in dict.fromkeys(path for path, *_ in LOADED):
        change_kernels(copy(folder / path.stem, path))
    return changed, nbval(folder)


def test_only_a_changed_output_is_red(copies):
    changed, outcomes = copies
    assert len(outcomes["changed"]) == len(Lesson.read(SHORTEST).code)
    assert red(outcomes["changed"]) == {changed}


@pytest.mark.parametrize(("path", "names"), [pytest.param(path, names, id="-".join(names)) for path, *names in LOADED])
def test_a_changed_kernel_is_red_where_it_computes(copies, path, names):
    variable, _, version = names
    code = list(enumerate(speaking(Lesson.read(path))))
    listings = {i for i, cell in code if any(RIGHT in text for o in cell.outputs for text in texts(o))}
    assert red(copies[1][path.stem]) & {i for i, cell in code if speaks_of(cell, variable, version)} - listings
