"""The package by itself: what it imports, and how it is installed where nothing else is."""

import ast
import json
import os
import re
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.launcher import python
from support.sample import at_night
from support.terminal_picture import picture

import helpers
import wgsl

FOLDER = Path(wgsl.__file__).parent
OFFLINE = "Temporary failure in name resolution|Failed to establish a new connection|getaddrinfo failed"


def imported(path: Path) -> set[str]:
    """The modules from which a file imports, types that only a checker reads among them."""
    nodes = [*ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    names = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    for node in nodes:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def test_it_needs_numpy_alone():
    """And no part imports from the whole, which imports the parts; `test_house.py` looks for other circles."""
    alone = "pytest_plugin.py", "ask_naga.py"  # which pytest imports, and a process of its own
    paths = [path for path in FOLDER.rglob("*.py") if path.name not in alone]
    names = set().union(*map(imported, paths))
    assert {name.split(".")[0] for name in names} - {"wgsl", *sys.stdlib_module_names} == {"numpy"}
    assert "wgsl.syntax.tree" in names
    assert "wgsl" not in names


def test_the_names_of_helpers_are_the_same_classes():
    for name in ("Kernel", "WgslError", "UnsupportedWgsl", "simulate"):
        assert getattr(helpers, name) is getattr(wgsl, name)


def test_a_notebook_finds_it_as_it_finds_helpers():
    code = "import sys\nsys.path[:] = [path for path in sys.path if path not in ('', {root!r})]\n"
    code += "sys.path.insert(0, {notebooks!r})\nimport wgsl\nprint(wgsl.__file__)"
    paths = {"root": str(FOLDER.parent), "notebooks": str(FOLDER.parent / "notebooks")}
    assert python(code.format(**paths)).strip() == wgsl.__file__


def test_the_picture_is_what_the_command_prints():
    assert (FOLDER / "race.svg").read_text(encoding="utf-8") == picture()


def test_its_license_is_that_of_the_whole():
    assert (FOLDER / "LICENSE").read_bytes() == (FOLDER.parent / "LICENSE").read_bytes()


def test_a_checker_of_types_sees_what_is_loaded_when_it_is_first_used():
    tree = ast.parse((FOLDER / "__init__.py").read_text(encoding="utf-8"))
    (block,) = [node for node in tree.body if isinstance(node, ast.If)]
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    imports = {node.names[0].name: node.module for node in block.body}
    assert imports == wgsl._HOME
    assert {node.names[0].asname for node in block.body} == set(imports)  # else the names are private to it


# --- Installed ------------------------------------------------------------------------------------------------------


def ran(command: Sequence[object], folder: Path) -> str:
    """Return what a command prints in a folder that has nothing of the project."""
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode and re.search(OFFLINE, done.stderr):
        pytest.skip("pip has no network")
    assert done.returncode < 2, done.stderr
    return done.stdout


EXAMPLES = FOLDER / "examples"


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> tuple[Path, Path]:
    """A folder with nothing of the project, and that of the programs of an environment with the package alone.

    It is installed as pre-commit does it, from the root, where nothing is to install, with ./wgsl.
    """
    folder = tmp_path_factory.mktemp("elsewhere")
    venv.create(folder / "empty")
    programs = folder / "empty" / ("Scripts" if os.name == "nt" else "bin")
    pip = [sys.executable, "-m", "pip", "--python", programs / "python", "--disable-pip-version-check"]
    before = {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*") if "__pycache__" not in path.parts}
    ran([*pip, "install", "-q", "--no-compile", ".", "./wgsl"], FOLDER.parent)
    assert before == {path: path.stat().st_mtime_ns for path in before}  # it leaves nothing there
    assert [*FOLDER.parent.glob("*.egg-info"), *FOLDER.parent.glob("build")] == []
    packages = json.loads(ran([*pip, "list", "--format=json"], folder))
    assert {package["name"] for package in packages} == {"convgrad", "wgsl", "numpy"}
    return folder, programs


@at_night
def test_pip_installs_it_into_an_empty_environment_with_numpy_alone(installed):
    folder, programs = installed
    assert "data race" in ran([programs / "wgsl", "run", EXAMPLES / "race.wgsl", "input=64", "total=1"], folder)
    assert ran([programs / "wgsl", "--version"], folder) == f"wgsl {wgsl.__version__}\n"
    code = "import wgsl, wgsl.adapter, importlib.metadata as m; print(wgsl.__file__, *m.files('wgsl'), sep='\\n')"
    where, *files = ran([programs / "python", "-I", "-c", code], folder).split("\n")
    assert Path(where).is_relative_to(folder)
    assert {"wgsl/py.typed", "wgsl/examples/race.wgsl", "wgsl/examples/sum.wgsl"} <= {*files}
    assert any(file.endswith("dist-info/licenses/LICENSE") for file in files)
    assert ran([programs / "wgsl", "check", Path(where).parent / "examples"], folder) == "2 texts: no problems\n"
