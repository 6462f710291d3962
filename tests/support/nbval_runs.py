"""Run nbval over notebooks made by a test, and say what it said about each cell."""

import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from helpers.operations.kernels import ROOT

QUIET = ["-p", "no:cacheprovider", "-p", "no:hypothesispytest"]  # the second one only costs time here


def nbval(folder: Path, *options: str) -> dict[str, list[str]]:
    """Run nbval over all notebooks below `folder`, from another working folder.

    pytest gets this project's settings and no more, as when a reader types `pytest --nbval notebooks`.

    Returns
    -------
    dict
        For the stem of each notebook's file name, why each of its code cells is red, or "" where it is not.
    """
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "PYTHONPATH"))}
    command = [sys.executable, "-m", "pytest", *QUIET, "--nbval", *options, "--junitxml=report.xml"]
    notebooks = sorted(folder.rglob("*.ipynb"))
    subprocess.run([*command, *map(str, notebooks)], cwd=elsewhere, env=env, check=False, timeout=300)
    failures = defaultdict(list)
    for case in ElementTree.parse(elsewhere / "report.xml").iter("testcase"):
        failure = "".join(str(node.text) for node in case if node.tag in ("failure", "error"))
        failures[case.get("classname").split(".")[-2]].append(failure)
    return dict(failures)


def red(failures: list[str]) -> set[int]:
    """The numbers of the code cells that failed, counted from 0 as nbval does."""
    return {i for i, failure in enumerate(failures) if failure}
