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
    names = set().union(*map(imported, FOLDER.rglob("*.py")))
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


# --- Installed ------------------------------------------------------------------------------------------------------


def ran(command: Sequence[object], folder: Path) -> str:
    """Return what a command prints in a folder that has nothing of the project."""
    done = subprocess.run([*map(str, command)], cwd=folder, capture_output=True, text=True, timeout=300)
    if done.returncode and re.search(OFFLINE, done.stderr):
        pytest.skip("pip has no network")
    assert done.returncode < 2, done.stderr
    return done.stdout


@at_night
def test_pip_installs_it_into_an_empty_environment_with_numpy_alone(tmp_path):
    venv.create(tmp_path / "empty")
    program = tmp_path / "empty" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", program, "--disable-pip-version-check"]
    before = {path: path.stat().st_mtime_ns for path in FOLDER.rglob("*") if "__pycache__" not in path.parts}
    ran([*pip, "install", "-q", "--no-compile", FOLDER], tmp_path)
    assert before == {path: path.stat().st_mtime_ns for path in before}  # it leaves nothing there
    installed = json.loads(ran([*pip, "list", "--format=json"], tmp_path))
    assert {package["name"] for package in installed} == {"wgsl", "numpy"}
    assert "data race" in ran([program, "-I", "-m", "wgsl", FOLDER / "race.wgsl", "input=64", "total=1"], tmp_path)
    code = f"import wgsl, wgsl.adapter; print(wgsl.__file__, wgsl.check(open({str(FOLDER / 'race.wgsl')!r}).read()))"
    where, problems = ran([program, "-I", "-c", code], tmp_path).split(" ", 1)
    assert Path(where).is_relative_to(tmp_path)
    assert problems == "()\n"
