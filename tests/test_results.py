"""The table of results: what is read of students' notebooks, what it is worth, and the command."""

import csv
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import nbformat
import pytest
from support.filled import in_quotes
from support.notebook_gate import NOTEBOOKS

from helpers import gradebook as command
from helpers.exercises import PUZZLES
from helpers.gpu import GpuError
from helpers.grading import reading, results
from helpers.grading.grader import grade
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict


def write(path: Path, cells: list[str]) -> Path:
    """A notebook with these code cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, path)
    return path


def run(folder: Path, *options: object, **environment: str) -> subprocess.CompletedProcess:
    """The command, as a teacher types it."""
    line = [sys.executable, "-m", "helpers.gradebook", str(folder), *map(str, options)]
    env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
    done = subprocess.run(line, cwd=NOTEBOOKS.parent, capture_output=True, env=env, encoding="utf-8", timeout=120)
    assert done.returncode == 0, done.stderr
    return done


# --- Rows ---------------------------------------------------------------------------------------------------


ASK = 'helpers.predict("q", x)'


def test_of_several_calls_the_last_one_counts(tmp_path):
    graders = {"predict": {"q": lambda answer: Verdict("q", RIGHT if answer == 2 else WRONG)}}
    for answers, right in ((["1", "2"], "1/1"), (["2", "1"], "0/1"), (["2", "f()"], "0/1")):
        path = write(tmp_path / "a.ipynb", [f"x = {answer}\n{ASK}" for answer in answers])
        assert results.notebook_row("a", path, graders).questions == right


# --- Outcomes -----------------------------------------------------------------------------------------------


def graded(*outcomes: str) -> Grades:
    return Grades(Verdict(f"test_{i}", outcome) for i, outcome in enumerate(outcomes))


def test_outcomes_are_short():
    assert results.summary(graded(RIGHT, RIGHT)) == "right"
    assert results.summary(graded(NOT_ATTEMPTED, NOT_ATTEMPTED)) == "not attempted"
    assert results.summary(Grades.alike(["a", "b"], "does not compile", "line 3")) == "does not compile"
    assert results.summary(graded(RIGHT, WRONG, UNSAFE)) == "1/3"
    assert results.summary(graded(WRONG)) == "0/1"
    assert results.summary(graded(RIGHT, UNSAFE)) == "1/2 unsafe"


MAP = PUZZLES["map"].solution.text
ANSWERS = [
    (f"grade('map', {MAP!r})", "right"),
    ("grade('map', f'')", "not readable"),
    ("grade('map', 5)", "not readable"),
    (f"grade('map', {MAP.replace(';', '', 1)!r})", "does not compile"),
    ("predict('dW[0,1]', 18)", "right"),
    ("predict('dW[0,1]', 17)", "wrong"),
    ("predict('dW[0,1]', 'b')", "not readable"),
    ("mark('pixels_of_dW[0,1]', 'n m l i h g d c b')", "right"),
    ("mark('pixels_of_dW[0,1]', [(0, 1)])", "wrong"),
    ("mark('pixels_of_dW[0,1]')", "not attempted"),
    ("find_fault('fault_in_the_bias_gradient', 55)", "line found"),
    ("find_fault('fault_in_the_bias_gradient', 30)", "wrong"),
    ("find_fault('fault_in_the_bias_gradient', 56.5)", "not readable"),
]


@pytest.mark.parametrize(("cell", "outcome"), ANSWERS)
def test_every_kind_of_answer_gets_its_outcome(cell, outcome, monkeypatch):
    # Quick, in this process:
    monkeypatch.setattr(command, "_grade_kernel", lambda name, source: grade(PUZZLES[name], source))
    (call,) = reading.calls([f"helpers.{cell}"])
    assert results.outcome(call, command.GRADERS[call.function][call.exercise]) == outcome


# --- The command --------------------------------------------------------------------------------------------


def test_a_class_of_students(tmp_path):
    """The whole way, each kernel in a process of its own, an endless one among them."""
    guard = PUZZLES["guard"]
    endless = guard.solution.text.replace("if (", "while (true) {}\n  if (", 1)
    texts = {"anna": guard.solution.text, "cem": guard.skeleton, "dora/late": endless}
    for student, text in texts.items():
        cells = [f"my = {in_quotes(text)}", 'helpers.grade("guard", my)', 'x = 1\nhelpers.predict("idle_threads", x)']
        write(tmp_path / student / "00.ipynb", cells)
    write(tmp_path / "anna" / ".ipynb_checkpoints" / "00.ipynb", ["1"])
    for name, text in {"no": "{", "old": '{"worksheets": []}'}.items():
        (tmp_path / f"{name}.ipynb").write_text(text)
    (tmp_path / "folder.ipynb").mkdir()
    done = run(tmp_path, "--csv", tmp_path / "results.csv")
    wrong = f"0/{sum(function == 'predict' for function, _ in results.lesson(NOTEBOOKS / '00_meet_the_gpu.ipynb'))}"
    assert wrong != "0/1"
    table = {line.split()[0]: re.split("  +", line.strip())[1:] for line in done.stdout.splitlines() if line}
    assert table["notebook"] == ["guard", "questions"]
    outcomes = {"anna": "right", "cem": "not attempted", "dora/late": f"0/{len(guard.tests)}"}
    for student, outcome in outcomes.items():
        assert table[f"{student}/00.ipynb"] == [outcome, wrong]
    for note in ("no.ipynb: it is not JSON", "old.ipynb: it has no cells", "folder.ipynb: it is not a file"):
        assert note in done.stdout
    assert "checkpoint" not in done.stdout
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = {row["notebook"]: row for row in csv.DictReader(file)}
    assert rows["anna/00.ipynb"] == {"notebook": "anna/00.ipynb", "guard": "right", "questions": wrong, "problem": ""}
    assert rows["no.ipynb"]["problem"] == "it is not JSON"


def test_a_folder_that_cannot_be_read_is_refused(tmp_path, capsys):
    for folder, words in ((tmp_path / "none", "is not a folder"), (tmp_path, "holds no notebooks")):
        with pytest.raises(SystemExit) as stopped:
            command.main([str(folder)])
        assert stopped.value.code == 2
        assert words in capsys.readouterr().err


def test_a_machine_that_runs_no_kernel_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "_grade_in_own_process", Mock(side_effect=GpuError("no adapter")))
    write(tmp_path / "a.ipynb", ['helpers.grade("map", "fn main() {}")'])
    assert command.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "no adapter"


def test_one_student_does_not_cost_the_others_their_table(tmp_path, monkeypatch, capsys):
    outcomes = [graded(RIGHT), GpuError("lost\n" * 99), graded(RIGHT), KeyError("main")]
    # After a GpuError, the GPU is tried:
    monkeypatch.setattr(command, "_grade_in_own_process", Mock(side_effect=outcomes))
    for student in ("anna", "ben", "cem"):
        write(tmp_path / f"{student}.ipynb", [f"helpers.grade('map', {student!r})"])
    assert command.main([str(tmp_path)]) == 0
    _, *rows, _, ben, cem = capsys.readouterr().out.splitlines()
    assert [re.split("  +", row)[1] for row in rows] == ["right", "not graded", "not graded"]
    assert re.fullmatch(r"ben.ipynb: map was not graded: RuntimeError: (lost )+.{,4}\.\.\.", ben)
    assert cem == "cem.ipynb: map was not graded: KeyError: 'main'"


def test_names_that_the_output_cannot_show_are_written_in_another_way(tmp_path):
    write(tmp_path / "a.ipynb", ['helpers.predict("dW[0,1]", 18)'])
    try:
        os.rename(tmp_path / "a.ipynb", os.fsencode(tmp_path) + b"/\xc4\x8d\xfc.ipynb")  # a č, and half a letter
    except OSError:
        pytest.skip("this file system has no such names")
    done = run(tmp_path, "--csv", tmp_path / "a.csv", PYTHONIOENCODING="cp1252")
    assert "\\u010d\\udcfc.ipynb  1/" in done.stdout
    assert "\nč\\udcfc.ipynb,1/" in (tmp_path / "a.csv").read_text(encoding="utf-8")


def test_files_that_would_keep_the_table_waiting_are_named(tmp_path):
    with (tmp_path / "big.ipynb").open("wb") as file:
        file.truncate(reading.LARGEST_FILE + 1)
    made = results.notebook_row("big", tmp_path / "big.ipynb", {})
    assert made.problem == "it is larger than 20 MB; clear its outputs"
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.ipynb")
        assert results.notebook_row("pipe", tmp_path / "pipe.ipynb", {}).problem == "it is not a file"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_notebooks_in_other_encodings_are_read(encoding, tmp_path):
    path = write(tmp_path / "a.ipynb", [f"x = 'č'\n{ASK}"])
    path.write_text(path.read_text(encoding="utf-8"), encoding=encoding)
    assert [call.arguments for call in reading.calls(reading.code_cells(path))] == [("č",)]


def test_unknown_names_are_a_note_and_no_column(tmp_path):
    name = "=cmd|' /C calc'!A0"
    cells = [f'helpers.mark("{name}", "a")', 'helpers.grade("mop", f())', "helpers.predict('dW[0,1]', 18)"]
    made = results.notebook_row("=a", write(tmp_path / "a.ipynb", cells), command.GRADERS)
    assert (made.outcomes, made.questions) == ({}, "1/1")
    assert made.problem == f"no exercise is named {name!r}, 'mop'"
    assert results.as_csv([made]).splitlines() == [
        "notebook,questions,problem",
        f'\'=a,1/1,"no exercise is named ""{name}"", \'mop\'"',
    ]
    assert results.tables([made]).endswith(f"\n\n=a: {made.problem}")


def test_a_question_that_was_taken_out_counts(tmp_path):
    lessons = [
        results.lesson(write(tmp_path / "l.ipynb", [f"helpers.predict('{name}', None)" for name in ("p", "q", "r")])),
        results.lesson(write(tmp_path / "m.ipynb", ["helpers.predict('s', None)", "helpers.grade('map', None)"])),
    ]
    graders = {"predict": {name: lambda answer: Verdict("", RIGHT) for name in "pqrs"}}
    path = write(tmp_path / "a.ipynb", ["helpers.predict('p', 1)"])
    assert results.notebook_row("a", path, graders, lessons).questions == "1/3"
    assert results.notebook_row("a", path, graders, lessons[1:]).questions == "1/1"


def test_marks_that_were_only_clicked_are_spoken_of(tmp_path, capsys):
    for name, exercise in {"mark": "pixels_of_an_output", "predict": "counted"}.items():
        write(tmp_path / name / "a.ipynb", [f"helpers.{name}({exercise!r})"])
        assert command.main([str(tmp_path / name)]) == 0
        assert ("clicks" in capsys.readouterr().out) == (name == "mark")
    assert "clicks" in " ".join(run(tmp_path, "--help").stdout.split())


def test_the_notebooks_of_a_lesson_share_a_table():
    rows = [
        results.Row("a/01", {"map": "right"}, {"p": True, "q": False}),
        results.Row("a/02", {"sum": "0/3"}),
        results.Row("b/01", {"map": "1/2"}, {"q": True}),
        results.Row("b/02", {"sum": "right", "tile": "not readable"}),
        results.Row("c", problem="it is not JSON"),
    ]
    assert results.tables(rows).splitlines() == [
        "notebook  map    questions",
        "a/01      right  1/2",
        "b/01      1/2    1/1",
        "",
        "notebook  sum    tile          questions",
        "a/02      0/3",
        "b/02      right  not readable",
        "",
        "c: it is not JSON",
    ]
    assert results.as_csv(rows).startswith("notebook,map,sum,tile,questions,problem\n")
