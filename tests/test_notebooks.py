"""Stored notebooks keep the gate's rules, and both the gate and nbval turn red when something is wrong.

That the notebooks still compute what they show is nbval's part: `pytest --nbval notebooks`.
"""

import re
import shutil
from itertools import chain
from pathlib import Path

import nbformat
import pytest
from support.messages import stored
from support.nbval_runs import nbval, red
from support.notebook_gate import NOTEBOOKS, RULES, Cell, Lesson, broken_rules, lessons_of, needed
from support.sample import sample

from helpers.operations.kernels import ROOT

STORED = sorted(NOTEBOOKS.glob("*.ipynb"))
LESSONS = lessons_of(NOTEBOOKS)

# --- The gate --------------------------------------------------------------------------


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_notebook_keeps_the_rules(path):
    broken = broken_rules(Lesson.read(path))
    assert not broken, "\n".join(broken)


def test_every_rule_of_the_gate_is_tried():
    """On a small notebook: what is said of each breach is stored."""
    tried = set()
    for *_, message in stored("notebook_rules"):
        tried |= {line.partition(": ")[0] for line in message.split("\n")}
    assert {"it keeps every rule", *(rule.__name__ for rule in RULES)} <= tried


# --- nbval ------------------------------------------------------------------------------

LOAD = re.compile(r'(\w+) = (?:helpers\.)?load\("(\w+)", "(\w+)"\)')  # how a lesson names a kernel


def loaded(lesson: Lesson) -> list[tuple[str, str, str]]:
    """The variable, operation and version of each kernel that a lesson loads."""
    return [*chain.from_iterable(LOAD.findall(cell.source) for cell in lesson.code)]


def speaks_of(cell: Cell, variable: str, version: str) -> bool:
    """Does a cell name a kernel, the variable that holds it, or the dictionary of kernels that it may be in?"""
    return bool(re.search(rf"\b({variable}|{version}|kernels)\b", cell.source))


def shown(path: Path, variable: str, operation: str, version: str) -> bool:
    """Does a lesson show what a kernel computes? One that only gives its bindings is not run."""
    return any(cell.outputs for cell in Lesson.read(path).code if speaks_of(cell, variable, version))


LOADING = [path for path in LESSONS if loaded(Lesson.read(path))]
SHORTEST = min(LESSONS, key=lambda path: len(Lesson.read(path).code))
LOADED = []
for loading in sample(LOADING, 1):
    LOADED += [(loading, *names) for names in loaded(Lesson.read(loading)) if shown(loading, *names)]
RIGHT, WRONG = "var sum = ", "var sum = 1.0 + "  # how every kernel that adds begins its sum


def copy(tree: Path, lesson: Path) -> Path:
    """Copy what the lesson needs to `tree`; the path of its notebook there, named like `tree`."""
    for part in "helpers", "wgsl", "kernels", "tests":
        shutil.copytree(ROOT / part, tree / part)
    (tree / "notebooks").mkdir()
    shutil.copy(ROOT / "notebooks" / "helpers.py", tree / "notebooks")
    return Path(shutil.copy(lesson, tree / "notebooks" / f"{tree.name}.ipynb"))


def change_an_output(path: Path) -> int:
    """Change the last stored result that nbval compares; return the number of its code cell, counted from 0."""
    lesson = Lesson.read(path)
    for i, cell in enumerate(lesson.code):
        if not cell.ignored and any("data" in output for output in cell.outputs):
            last = i
    lesson.code[last].outputs[0].data["text/plain"] += "0"
    nbformat.write(lesson.notebook, path)
    return last


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
    speak = []
    for name, _, version in loaded(lesson):
        speak += [cell for cell in lesson.code if speaks_of(cell, name, version)]
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
    listings = {i for i, cell in code if RIGHT in "\n".join(cell.texts)}
    assert red(copies[1][path.stem]) & {i for i, cell in code if speaks_of(cell, variable, version)} - listings
