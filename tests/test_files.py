"""Files that are written: whole, with the rights of ordinary ones; and names and signs that a locale cannot show."""

import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import wgpu

import helpers
from helpers.data.files import write_whole
from helpers.grading import student_files
from helpers.grading.verdict import RIGHT, Grades
from helpers.lessons.exercises import WORKER
from helpers.operations.kernels import ROOT

modes = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")


def mode(path: Path) -> int:
    """The rights of a file."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o022, 0o027, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """A mask for the rights of new files; the one before comes back."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


# --- Rights and links ---------------------------------------------------------------------------------------


@modes
def test_all_that_a_learner_keeps_has_the_rights_of_ordinary_files(umask, tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "my"))
    monkeypatch.setattr(WORKER, "grade", lambda puzzle, source, tests, seed: Grades.alike(tests, RIGHT))
    student_files.keep("map", "mine")
    helpers.grade("map")
    student_files.keep_answer("idle_threads", 1)
    helpers.hand_in("Ada")
    kept = {path.name: mode(path) for path in (tmp_path / "my").rglob("*") if path.is_file()}
    names = {"map.wgsl", "map_1.wgsl", "idle_threads.txt", "outcomes.txt", "hand_in_Ada.json"}
    assert kept == dict.fromkeys(names, 0o666 & ~umask)


@modes
def test_a_file_that_is_written_again_keeps_its_rights(umask, tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o640)
    if os.geteuid() == 0:  # others may not give a file away
        os.chown(path, 1234, 5678)
    before = path.stat()
    write_whole(path, b"new")
    after = path.stat()
    assert path.read_bytes() == b"new"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)


@modes
def test_a_link_stays_and_its_file_is_written(tmp_path):
    shared = tmp_path / "shared"
    my = tmp_path / "my"
    shared.mkdir()
    my.mkdir()
    (shared / "map.wgsl").write_bytes(b"old")
    (my / "map.wgsl").symlink_to("../shared/map.wgsl")
    (my / "guard.wgsl").symlink_to(shared / "guard.wgsl")  # which is not there yet
    for name in ("map.wgsl", "guard.wgsl"):
        write_whole(my / name, name.encode())
        assert (my / name).is_symlink()
        assert (shared / name).read_text() == name
    for folder in (shared, my):
        assert {path.name for path in folder.iterdir()} == {"map.wgsl", "guard.wgsl"}


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt, UnicodeEncodeError("ascii", "Ü", 0, 1, "not in range")])
def test_a_file_that_cannot_be_finished_is_as_it_was(error, tmp_path, monkeypatch):
    def fail(*paths: object) -> None:
        raise error

    path = tmp_path / "a"
    path.write_bytes(b"old")
    monkeypatch.setattr("os.replace", fail)
    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind):
        write_whole(path, b"new")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"old"


def sources() -> dict[str, str]:
    """The texts of the code that is run outside of the tests, by their paths."""
    texts = {}
    for folder in ("helpers", "wgsl", "browser"):
        for path in (ROOT / folder).rglob("*.py"):
            if not path.name.startswith("test_"):
                texts[path.relative_to(ROOT).as_posix()] = path.read_text(encoding="utf-8")
    assert len(texts) > 200
    return texts


def test_files_are_exchanged_in_one_place():
    exchange = re.compile(r"os\.(replace|rename)\(|mkstemp|NamedTemporaryFile")
    assert [name for name, text in sources().items() if exchange.search(text)] == ["helpers/data/files.py"]


# --- The place of a file ------------------------------------------------------------------------------------


def test_the_place_of_a_file_is_said_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    editor = helpers.write("map")
    assert f"or in {tmp_path / 'map.wgsl'} with any editor" in repr(editor)
    editor.keep("mine")
    assert editor.state == f"kept in {tmp_path / 'map.wgsl'}"
    assert f"are in {tmp_path / 'hand_in_Ada.json'}: send" in repr(helpers.hand_in("Ada"))
    monkeypatch.setenv("CONVGRAD_MY", os.path.relpath(ROOT / "elsewhere"))
    assert "or in elsewhere/map.wgsl with" in repr(editor)
    monkeypatch.delenv("CONVGRAD_MY")
    assert "or in notebooks/my/map.wgsl with" in repr(editor)


# --- A locale without umlauts -------------------------------------------------------------------------------

IN_ASCII = r"""
import json, helpers, wgsl
from pathlib import Path
from helpers.gpu import doctor
from helpers.grading import student_files
student_files.keep_answer("idle_threads", 1)
for student in ("\xdcnal \xc7elik", "\u674e", "Ada"):
    file = helpers.hand_in(student).file
    print(file.name, json.loads(file.read_text())["student"] == student)
print(sorted({path.suffix for path in file.parent.iterdir() if path.is_file()}))
print(wgsl.check("const N = 1;"))
print("status", doctor.main())
print("\xb5")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere, the names of files do not depend on the locale")
def test_in_a_locale_without_umlauts(tmp_path):
    """In a folder that has one in its name, from which wgpu's library cannot be loaded."""
    folder = tmp_path / "Müller"
    folder.mkdir()
    for name in ("helpers", "wgsl", "kernels"):
        (folder / name).symlink_to(ROOT / name)
    (folder / "wgpu").symlink_to(Path(wgpu.__file__).parent)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "WGPU", "PYTHON"))}
    ascii_alone = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    env = {**kept, **ascii_alone, "PYTHONPATH": str(folder), "CONVGRAD_MY": str(tmp_path / "my")}
    done = subprocess.run([sys.executable, "-c", IN_ASCII], env=env, cwd=tmp_path, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    *handed_in, kinds, findings, report, adapters, _, _, status, sign = done.stdout.decode("ascii").splitlines()
    assert handed_in == ["hand_in_Unal_Celik.json True", "hand_in_u674e.json True", "hand_in_Ada.json True"]
    assert (kinds, findings, status, sign) == ("['.json']", "()", "status 1", r"\xb5")
    assert report == (
        "BROKEN   GpuError: this process cannot read the name of the folder "
        f"{ascii(str(folder))[1:-1]}/wgpu, as the encoding of its locale is ascii: "
        "set the environment variable PYTHONUTF8=1, then start Python again"
    )
    assert adapters == "adapters none"


def test_every_command_prints_in_any_locale():
    commands = [
        name
        for name, text in sources().items()
        if ('__name__ == "__main__"' in text or "\ndef main(" in text)
        and re.search(r"^ +print\((?!.*file=)", text, re.MULTILINE)
    ]
    assert "helpers/classroom/gradebook.py" in commands
    ready = [name for name, text in sources().items() if "escape_what_cannot_be_printed()" in text]
    if "wgsl/command/__init__.py" in ready:  # it calls those beside it
        ready += ["wgsl/command/check.py", "wgsl/command/run.py"]
    assert {*commands} <= {*ready}
