"""Hypothesis draws the same problems every time, so that a run can be repeated. What tests measure is printed last.

What tests grade is kept in a folder of its own, not among the reader's files.
"""

import gc
import hashlib
import json
import os
from collections import Counter
from collections.abc import Generator

import ipywidgets
import pytest
from hypothesis import settings
from support.sample import ALL

from helpers.grading import student_files

most = 50 if ALL else 8
settings.register_profile("convgrad", derandomize=True, database=None, deadline=None, max_examples=most)
settings.load_profile("convgrad")

_my = os.environ["CONVGRAD_MY"]  # an empty folder, by the plugin `readers_folder`


@pytest.fixture(autouse=True)
def _own_files(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide from each test what another one wrote and answered, in a file or where no file could be written."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()
    monkeypatch.setenv("CONVGRAD_MY", os.path.join(_my, name))
    monkeypatch.setattr(student_files, "_unwritten", {})
    monkeypatch.setattr(student_files, "_unwritten_answers", {})


_state = ipywidgets.Widget.get_state


def _plain_state(widget: ipywidgets.Widget, *names: object, **options: object) -> dict:
    """The state that a widget sends to the page.

    It must be plain: in a browser's Python, a number of NumPy does not arrive.
    """
    state = _state(widget, *names, **options)
    json.dumps(state)
    return state


ipywidgets.Widget.get_state = _plain_state  # of every widget in every test


# For other processes:
WAITING = (
    "test_browser",
    "07_train",
    "test_notebooks",
    "test_nbval",
    "test_readers",
    "test_converted",
    "test_sandbox",
    "test_filled",
    "test_additions",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage in what is collected, which stays to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items) -> None:
    """Mix the files that mostly wait with those that compute: while one waits, another has the processor.

    Those that wait come in the order of `WAITING`, the others by their number of tests, so that none of the long ones
    is left for the end.
    """
    tests = Counter(item.path for item in items)
    files = [file for file, _ in tests.most_common()]
    waiting = []
    for start in WAITING:
        waiting += [file for file in files if file.name.startswith(start)]
    others = [file for file in files if file not in waiting]
    place = {}
    for group in waiting, others:
        for i, file in enumerate(group):
            place[file] = i / len(group)
    items.sort(key=lambda item: place[item.path])


def pytest_terminal_summary(terminalreporter) -> None:
    """Print what tests measured and recorded as "told", whichever process they ran in."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "told":
                terminalreporter.write_line(value)
