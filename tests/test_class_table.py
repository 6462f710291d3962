"""The table of results: the files that students handed in are read and judged, and the command prints the table."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from threading import Barrier
from unittest.mock import Mock

import pytest
from support.classes import hand_in
from support.notebook_gate import NOTEBOOKS
from support.sample import at_night

import helpers
from helpers.classroom import class_table, handed_in
from helpers.classroom import gradebook as command
from helpers.gpu import GpuError
from helpers.grading import student_files
from helpers.grading.verdict import RIGHT, WRONG, Grades, Verdict
from helpers.lessons.exercises import PUZZLES, PYTHON_PUZZLES


def run(folder: Path, *options: object, **environment: str) -> subprocess.CompletedProcess:
    """The command, as a teacher types it."""
    line = [sys.executable, "-m", "helpers.gradebook", str(folder), *map(str, options)]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    done = subprocess.run(line, cwd=NOTEBOOKS.parent, capture_output=True, env=env, encoding="utf-8", timeout=600)
    assert done.returncode == 0, done.stderr
    return done


def graded(*outcomes: str) -> Grades:
    return Grades(Verdict(f"test_{i}", outcome) for i, outcome in enumerate(outcomes))


# --- The command --------------------------------------------------------------------------------------------


GUARD = PUZZLES["guard"]
ENDLESS = GUARD.solution.text.replace("if (", "while (true) {}\n  if (", 1)
QUESTIONS = sum(class_table.lesson(NOTEBOOKS / "00_meet_the_gpu.ipynb").values())
ASK = 'ask for the file that helpers.hand_in("name") makes'
EDIT = ["oh * params.stride", "oh * 2u"]
SPLIT = PYTHON_PUZZLES["split_batch"].solution.text
OUTCOMES = {"anna": "right", "cem": "not attempted", "dora/late": f"0/{len(GUARD.tests)}"}
NOTES = [
    f"no.json: it is not JSON: {ASK}",
    "folder.json: it is an empty folder",
    f"cem/00.IPYNB: it is a notebook: {ASK}",
    f"Eve Lovelace.JSON: it is JSON of another kind: {ASK}",
    "fay.json: it is not UTF-8 (byte 15): ask for the file as helpers.hand_in made it",
    "anna/.ipynb_checkpoints/00.ipynb was not read: hidden files are left out",
]


def test_a_class_of_students(tmp_path, monkeypatch):
    """The whole way, each kernel in a separate process, an endless one among them."""
    put_hand_ins(tmp_path, monkeypatch)
    put_other_files(tmp_path)
    printed = run(tmp_path, "--csv", tmp_path / "results.csv").stdout
    table = {line.split()[0]: re.split("  +", line.strip())[1:] for line in printed.splitlines() if line}
    assert table["file"] == ["student", "guard", "questions"]
    assert QUESTIONS != 1  # all questions of the lesson count, and not only the one that was answered
    for student, outcome in OUTCOMES.items():
        name = f"{student}/my/hand_in_{student.replace('/', '_')}.json"
        assert table[name] == [student, outcome, f"0/{QUESTIONS}"]
    for note in NOTES:
        assert note in printed
    same = "a hand-in in the same folder has the same texts and answers"
    assert printed.endswith(f"anna/my/answers/idle_threads.txt and 5 more were not read: {same}\n")
    require_rows(tmp_path / "results.csv")


def put_hand_ins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hand in the work of three students: a right kernel, none, and one that never ends."""
    texts = {"anna": GUARD.solution.text, "cem": GUARD.skeleton, "dora/late": ENDLESS}
    for student, text in texts.items():
        monkeypatch.setenv("CONVGRAD_MY", str(folder / student / "my"))
        student_files.keep("guard", text)
        student_files.keep_answer("idle_threads", 1)
        helpers.hand_in(student)


def put_other_files(folder: Path) -> None:
    """Put files beside the hand-ins that are none."""
    (folder / "anna" / ".ipynb_checkpoints").mkdir()
    files = {"no.json": "{", "cem/00.IPYNB": "", "Eve Lovelace.JSON": "{}", "anna/.ipynb_checkpoints/00.ipynb": ""}
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "fay.json").write_bytes('{"student": "Zoë"}'.encode("latin-1"))
    (folder / "folder.json").mkdir()


def require_rows(path: Path) -> None:
    """Require the row of a student, and that of a file that cannot be read."""
    with path.open(newline="") as file:
        rows = {row["file"]: row for row in csv.DictReader(file)}
    name = "anna/my/hand_in_anna.json"
    questions = f"0/{QUESTIONS}"
    assert rows[name] == {"file": name, "student": "anna", "guard": "right", "questions": questions, "problem": ""}
    assert rows["no.json"]["problem"] == f"it is not JSON: {ASK}"


def test_nothing_that_a_student_wrote_is_run_or_interpreted_here(tmp_path, monkeypatch, capsys):
    """Kernels, lines of Python and planted faults go to the process apart; what would try them here is shut."""
    tried = []

    def apart(exercise: str, source: str) -> Grades:
        tried.append((exercise, source))
        return Grades([Verdict(exercise, RIGHT)])

    monkeypatch.setattr(command, "_grade_in_own_process", apart)
    for place in ("helpers.grading.python_lines.Program.run", "helpers.lessons.shared.planted.plant"):
        monkeypatch.setattr(place, Mock(side_effect=AssertionError(place)))
    answers = {"fault_that_the_hard_case_misses": EDIT}
    hand_in(tmp_path / "a.json", {"map": "fn", "split_batch": SPLIT}, answers)
    assert command.main([str(tmp_path)]) == 0
    head, row = (re.split("  +", line) for line in capsys.readouterr().out.splitlines())
    columns = ["map", "split_batch", "fault_that_the_hard_case_misses"]
    assert head == ["file", "student", *columns, "questions"]
    assert row[2:5] == ["right"] * 3
    assert sorted(tried) == sorted(
        [("map", "fn"), ("split_batch", SPLIT), ("fault_that_the_hard_case_misses", json.dumps(EDIT))]
    )


@at_night
def test_lines_of_python_and_planted_faults_are_tried_apart(tmp_path):
    """The whole way: a right text, one that is refused, and an edit that is the fault that was asked for."""
    answers = {"fault_that_the_hard_case_misses": EDIT}
    hand_in(tmp_path / "a.json", {"split_batch": SPLIT, "break_even": "import os"}, answers)
    _, row = (re.split("  +", line) for line in run(tmp_path).stdout.splitlines())
    assert row[2:5] == ["right", "does not compile", "right"]


def test_what_was_written_last_is_handed_in(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    student_files.keep("map", "in the file")
    student_files.keep_attempt("guard", "in a cell")

    def kernels() -> dict[str, str]:
        return handed_in.work(helpers.hand_in("Zoë O'Hara").file).kernels

    assert kernels() == {"map": "in the file", "guard": "in a cell"}
    student_files.keep_attempt("map", "in a cell, later")
    os.utime(student_files.path_of("map"), ns=(1, 1))
    assert kernels()["map"] == "in a cell, later"
    assert (tmp_path / "hand_in_Zoë_O_Hara.json").is_file()
    assert repr(helpers.hand_in("Zoë")) == (
        f"2 kernels and 0 answers are in {tmp_path / 'hand_in_Zoë.json'}: send this file to your teacher"
    )


def test_what_no_file_could_take_is_handed_in(tmp_path, monkeypatch):
    """In a browser, where the storage is full, it comes with the download."""
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "my"))
    monkeypatch.setattr(student_files, "IN_A_BROWSER", True)

    def kernels() -> dict[str, str]:
        return json.loads(helpers.hand_in("Zoë").text)["kernels"]

    student_files.keep("map", "in the file")
    (tmp_path / "my").rename(tmp_path / "old")
    (tmp_path / "my").write_text("no folder can be made here")
    assert "cannot be written" in student_files.keep("map", "in the editor")
    assert kernels() == {"map": "in the editor"}
    student_files.keep_attempt("map", "in a cell, later")
    assert kernels() == {"map": "in a cell, later"}
    student_files.keep("map", "in the editor, later still")
    assert kernels() == {"map": "in the editor, later still"}
    (tmp_path / "my").unlink()
    student_files.keep("map", "in the file again")
    assert kernels() == {"map": "in the file again"}


def test_what_cannot_be_handed_in_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    with pytest.raises(TypeError, match="student is a int: it must be your name, as text"):
        helpers.hand_in(5)
    with pytest.raises(ValueError, match="student = ' / ': it must be your name"):
        helpers.hand_in(" / ")
    student_files.path_of("map").write_bytes(b"\xff")
    with pytest.raises(student_files.StudentFileError, match=r"map.wgsl is not UTF-8"):
        helpers.hand_in("Ada")
    student_files.keep("map", "mine")
    assert repr(helpers.hand_in("Your name ")) == (
        'Nothing is handed in yet: write your own name in the place of "your name", and run the cell again.'
    )
    assert not [*tmp_path.glob("hand_in*")]
    monkeypatch.setattr("os.replace", lambda *paths: (tmp_path / "none").stat())
    with pytest.raises(student_files.StudentFileError, match=r"hand_in_Ada.json cannot be written \(No such file"):
        helpers.hand_in("Ada")


def test_a_folder_that_cannot_be_read_is_refused(tmp_path, capsys):
    for folder, words in ((tmp_path / "none", "is not a folder"), (tmp_path, "has no file to read")):
        with pytest.raises(SystemExit) as stopped:
            command.main([str(folder)])
        assert stopped.value.code == 2
        assert words in capsys.readouterr().err


def test_a_machine_that_runs_no_kernel_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "_grade_in_own_process", Mock(side_effect=GpuError("no adapter")))
    hand_in(tmp_path / "a.json", {"map": "fn main() {}"}, {})
    assert command.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "no adapter"


def test_students_are_graded_side_by_side_and_listed_in_order(tmp_path, monkeypatch, capsys):
    side_by_side = Barrier(2)

    def outcome(exercise, source):
        side_by_side.wait(20)
        if source == "a":
            time.sleep(0.1)
            return graded(RIGHT, RIGHT)
        return graded(RIGHT, WRONG)

    monkeypatch.setattr(command, "_grade_in_own_process", outcome)
    monkeypatch.setattr(command, "AT_ONCE", 2)
    for student in "abcd":
        hand_in(tmp_path / f"hand_in_{student}.json", {"map": student}, {})
    assert command.main([str(tmp_path)]) == 0
    _, *rows = capsys.readouterr().out.splitlines()
    assert [row.split()[:3] for row in rows] == [
        ["hand_in_a.json", "hand_in_a", "right"],
        ["hand_in_b.json", "hand_in_b", "1/2"],
        ["hand_in_c.json", "hand_in_c", "1/2"],
        ["hand_in_d.json", "hand_in_d", "1/2"],
    ]


def test_names_that_the_output_cannot_show_are_written_in_another_way(tmp_path):
    hand_in(tmp_path / "a.json", {}, {"dW[0,1]": 18})
    try:
        os.rename(tmp_path / "a.json", os.fsencode(tmp_path) + b"/hand_in\xc4\x8d\xfc.json")  # a č, and half a letter
    except OSError:
        pytest.skip("this file system has no such names")
    done = run(tmp_path, "--csv", tmp_path / "a.csv", PYTHONIOENCODING="cp1252")
    assert "hand_in\\u010d\\udcfc.json  a        1/" in done.stdout
    assert '\n"hand_inč\\udcfc.json","a","1/' in (tmp_path / "a.csv").read_text(encoding="utf-8")


def test_files_that_would_keep_the_table_waiting_are_named(tmp_path):
    with (tmp_path / "big.json").open("wb") as file:
        file.truncate(handed_in.LARGEST_FILE + 1)
    made = class_table.row("big", tmp_path / "big.json", {})
    assert made.problem == "it is larger than 20 MB; a hand-in has less than 1 MB: ask for a new one"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.json")
        assert class_table.row("pipe", tmp_path / "pipe.json", {}).problem == "it is not a file"


def test_folders_that_are_not_searched_are_named(tmp_path, monkeypatch):
    hand_in(tmp_path / "elsewhere" / "a.json", {}, {})
    hand_in(tmp_path / "class" / "closed" / "b.json", {}, {})
    (tmp_path / "class" / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)

    def closed(name: str) -> None:
        opened = getattr(os, name)

        def refused(path: object = ".") -> object:
            if os.fspath(path).endswith("closed"):  # root may open every folder
                raise PermissionError(13, "Permission denied", os.fspath(path))
            return opened(path)

        monkeypatch.setattr(os, name, refused)

    closed("scandir")
    closed("listdir")
    paths = class_table.find(tmp_path / "class").files
    assert {path.name: class_table.row("", path, {}).problem for path in paths} == {
        "closed": "it cannot be opened: Permission denied",
        "link": "it links to a folder, which was not searched: run this command on that folder, too",
    }


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_files_in_other_encodings_are_read(encoding, tmp_path):
    path = hand_in(tmp_path / "a.json", {"map": "č"}, {})
    path.write_text(path.read_text(encoding="utf-8"), encoding=encoding)
    assert handed_in.work(path).kernels == {"map": "č"}
