"""A notebook whose kernel dies or hangs is red soon, and its later cells do not wait again."""

import os
from pathlib import Path

import nbformat
import pytest
from nbformat import v4
from support import nbval_liveness
from support.nbval_runs import nbval
from support.sample import ALL

IMPORTS = "import os, time\nfrom contextlib import suppress\n"
SOON = "--nbval-cell-timeout", "1"  # seconds; without it, nbval would wait for minutes
LATE = "Timeout of 1 seconds exceeded"
SICK = {  # what breaks the kernel, options, and what nbval says
    "exits": ("os._exit(3)", (), "the kernel process died (exit code 3) while running this cell"),
    "hangs": ("time.sleep(1000)", SOON, LATE),
    "stubborn": ("while True:\n    with suppress(KeyboardInterrupt):\n        time.sleep(1000)", SOON, LATE),
}
if not ALL:
    del SICK["stubborn"]  # as a hung GPU is; nbval stops it by itself


@pytest.mark.parametrize("name", SICK)
def test_a_sick_kernel_is_red_soon_and_once(tmp_path: Path, name: str) -> None:
    source, options, reason = SICK[name]
    cells = [v4.new_code_cell(text, execution_count=i) for i, text in enumerate((IMPORTS + source, source), 1)]
    nbformat.write(v4.new_notebook(cells=cells), tmp_path / "sick.ipynb")
    broken, later = nbval(tmp_path, "--runxfail", *options)["sick"]
    assert reason in broken
    assert source in broken
    assert "Kernel dead on test start" in later  # and it does not wait again


@pytest.mark.parametrize("name", ["helpers", "wgsl"])
def test_a_package_that_hides_the_lessons_is_named(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / name / "__init__.py"
    other.parent.mkdir()
    monkeypatch.setenv("PYTHONPATH", f"{nbval_liveness.ROOT}{os.pathsep}{tmp_path}")
    nbval_liveness.pytest_configure()  # a folder without a file hides nothing, nor one that comes later
    other.touch()
    nbval_liveness.pytest_configure()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(pytest.UsageError) as refused:
        nbval_liveness.pytest_configure()
    assert str(other) in str(refused.value)
    assert str(nbval_liveness.ROOT / name) in str(refused.value)
