"""The table of results: what is read of students' notebooks, what it is worth, and the command."""

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from support.filled import in_quotes
from support.notebook_gate import NOTEBOOKS

from helpers.exercises import PUZZLES
from helpers.gpu import GpuError
from helpers.grading import __main__ as command
from helpers.grading import results
from helpers.grading.judge import judged
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG, Grades, Verdict


def write(path: Path, cells: list[str]) -> Path:
    """A notebook with these code cells."""
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, path)
    return path


def run(folder: Path, *options: object) -> subprocess.CompletedProcess:
    """The command, as a teacher types it."""
    line = [sys.executable, "-m", "helpers.grading", str(folder), *map(str, options)]
    return subprocess.run(line, cwd=NOTEBOOKS.parent, capture_output=True, encoding="utf-8", timeout=120)


# --- Reading ------------------------------------------------------------------------------------------------


def read(*cells: str) -> list[tuple]:
    """What is read of some cells, without the names."""
    return [call.arguments for call in results.calls(cells)]


ASK = 'helpers.predict("q", x)'


def test_the_last_assignment_before_the_call_counts():
    assert read("x = 1", f"x = 2\n{ASK}\nx = 3", ASK) == [(2,), (3,)]
    assert read(f"x = y = 4\n{ASK}", f"x = y\n{ASK}") == [(4,), (4,)]
    assert read('helpers.grade("map", """\nfn % main\n""")', 'grade("map", source="a" "b")') == [
        ("\nfn % main\n",),
        ("ab",),
    ]
    assert read('helpers.find_fault("f")', 'helpers.find_fault("f", 3, correction="x")', 'helpers.mark("m")') == [
        (None, ""),
        (3, "x"),
        ("",),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-4", -4),
        ("28 - 5 + 1", 24),
        ("(5 - 3) // 2 * 1.5 % 2", 1.5),
        ("2**24", 2**24),
        ("(1, 2 * 3)", (1, 6)),
        ("[1, (2, 3)]", (1, (2, 3))),
        ("'same'", "same"),
        ("None", None),
    ],
)
def test_literals_and_their_arithmetic_are_read(text, value):
    assert read(f"x = {text}\n{ASK}") == [(value,)]


UNREADABLE = ["f'{1}'", "'a' + 'b'", "'a' * 9", "open('here', 'w')", "y", "helpers.skeleton('map')", "'a'.strip()"]
UNREADABLE += ["1 / 0", "9**9**9", "2**65", "[y for y in (1,)]", "1 if True else 2", "-'a'", "(y := 4)", "1 or 2"]
UNREADABLE += ["+".join(["1"] * 5000)]


@pytest.mark.parametrize("text", UNREADABLE, ids=[text[:20] for text in UNREADABLE])
def test_anything_else_is_not_readable(text):
    assert read(f"x = 1\nx = {text}\n{ASK}") == [None]


@pytest.mark.parametrize(
    "line", ["x += 1", "for x in (1, 2): pass", "x, y = 1, 2", "del x", "if y: x = 3", "x: int = 5"]
)
def test_a_name_that_is_assigned_in_another_way_is_not_readable(line):
    assert read(f"x = 1\n{ASK}\n{line}\n{ASK}") == [(1,), None]


def test_nothing_of_a_notebook_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["open('made', 'w')", "while True: pass", "import sys; sys.exit(3)", f"x = 5\n{ASK}"]
    assert read(*cells) == [(5,)]
    assert list(tmp_path.iterdir()) == []


def test_lines_of_ipython_and_cells_that_are_no_python():
    assert read(f"%matplotlib inline\n!ls\nx = 5\n{ASK}\n?x") == [(5,)]
    assert read(f"x = 5\n{ASK}\nif x") == [None]
    assert read('%%time\nx = "\nhelpers.grade("map", x)') == [None]
    assert read("\0", "\\d = '", "((" * 300) == []


def test_of_several_calls_the_last_one_counts_that_can_be_read(tmp_path):
    judges = {"predict": lambda name, answer: Verdict(name, RIGHT if answer == 2 else WRONG)}
    for answers, right in ((["1", "2", "f()"], "1/1"), (["2", "1"], "0/1"), (["f()"], "0/1")):
        path = write(tmp_path / "a.ipynb", [f"x = {answer}\n{ASK}" for answer in answers])
        assert results.row("a", path, judges).questions == right


# --- Outcomes -----------------------------------------------------------------------------------------------


def graded(*outcomes: str) -> Grades:
    return Grades(Verdict(f"test_{i}", outcome) for i, outcome in enumerate(outcomes))


def test_outcomes_are_short():
    assert results.in_short(graded(RIGHT, RIGHT)) == "right"
    assert results.in_short(graded(NOT_ATTEMPTED, NOT_ATTEMPTED)) == "not attempted"
    assert results.in_short(Grades.alike(["a", "b"], "does not compile", "line 3")) == "does not compile"
    assert results.in_short(graded(RIGHT, WRONG, UNSAFE)) == "1/3"
    assert results.in_short(graded(WRONG)) == "0/1"
    assert results.in_short(graded(RIGHT, UNSAFE)) == "1/2 unsafe"


def test_every_kind_of_answer_gets_its_outcome(monkeypatch):
    monkeypatch.setattr(command, "_alone", lambda name, source: judged(PUZZLES[name], source))  # quick, in this process
    solution = PUZZLES["map"].solution.text
    for cell, said in {
        f"helpers.grade('map', {solution!r})": "right",
        "helpers.grade('map', 5)": "not readable",
        "helpers.grade('map', f'')": "not readable",
        "helpers.grade('mop', 'fn main')": "no such exercise",
        f"helpers.grade('map', {solution.replace(';', '', 1)!r})": "does not compile",
        "helpers.predict('dW[0,1]', 18)": "right",
        "helpers.predict('dW[0,1]', 17)": "wrong",
        "helpers.predict('dW[0,1]', 'b')": "not readable",
        "helpers.mark('pixels_of_dW[0,1]', 'n m l i h g d c b')": "right",
        "helpers.mark('pixels_of_dW[0,1]', [(0, 1)])": "wrong",
        "helpers.mark('pixels_of_dW[0,1]')": "not attempted",
        "helpers.find_fault('fault_in_the_bias_gradient', 55)": "line found",
        "helpers.find_fault('fault_in_the_bias_gradient', 30)": "wrong",
        "helpers.find_fault('fault_in_the_bias_gradient', '56')": "not readable",
        "helpers.find_fault('fault_in_the_bias_gradient', 56.5)": "not readable",
    }.items():
        (call,) = results.calls([cell])
        assert results.outcome(call, command.JUDGES[call.function]) == said, cell


# --- The command --------------------------------------------------------------------------------------------


def test_a_class_of_students(tmp_path):
    """The whole way, each kernel in a process of its own, an endless one among them."""
    guard = PUZZLES["guard"]
    slips = [guard.official.edit(slip.old, slip.new).source for slip in guard.slips[:1]]
    endless = guard.solution.text.replace("if (", "loop {}\n  if (", 1)
    texts = {"anna": guard.solution.text, "ben": slips[0], "cem": guard.skeleton, "dora/late": endless}
    for student, text in texts.items():
        cells = [f"my = {in_quotes(text)}", 'helpers.grade("guard", my)', f"x = 1\n{ASK}"]
        write(tmp_path / student / "00.ipynb", cells)
    write(tmp_path / "eve.ipynb", ['my = f"""{x}"""\nhelpers.grade("guard", my)'])
    write(tmp_path / "anna" / ".ipynb_checkpoints" / "00.ipynb", ["1"])
    (tmp_path / "no.ipynb").write_text("{")
    (tmp_path / "old.ipynb").write_text('{"worksheets": []}')
    (tmp_path / "folder.ipynb").mkdir()
    done = run(tmp_path, "--csv", tmp_path / "results.csv")
    assert done.returncode == 0, done.stderr
    outcomes = {"anna": "right", "cem": "not attempted", "dora/late": f"0/{len(guard.tests)}"}
    lines = [line.split("  ") for line in done.stdout.splitlines()]
    table = {line[0]: [cell.strip() for cell in line[1:] if cell.strip()] for line in lines}
    assert table["notebook"] == ["guard", "questions"]
    for student, outcome in outcomes.items():
        assert table[f"{student}/00.ipynb"] == [outcome, "0/1"]
    assert re.fullmatch(rf"\d/{len(guard.tests)}( unsafe)?", table["ben/00.ipynb"][0])
    assert table["eve.ipynb"] == ["not readable"]
    assert "no.ipynb: it is not JSON" in done.stdout
    assert "old.ipynb: it has no cells" in done.stdout
    assert "folder.ipynb: it cannot be opened" in done.stdout
    assert "checkpoint" not in done.stdout
    assert done.stderr.splitlines()[0] == "1 of 8: anna/00.ipynb"
    with (tmp_path / "results.csv").open(newline="") as file:
        rows = {row["notebook"]: row for row in csv.DictReader(file)}
    assert rows["anna/00.ipynb"] == {"notebook": "anna/00.ipynb", "guard": "right", "questions": "0/1", "problem": ""}
    assert rows["no.ipynb"]["problem"] == "it is not JSON"


def test_a_folder_that_cannot_be_read_is_refused(tmp_path, capsys):
    for folder, words in ((tmp_path / "none", "is not a folder"), (tmp_path, "holds no notebooks")):
        with pytest.raises(SystemExit) as stopped:
            command.main([str(folder)])
        assert stopped.value.code == 2
        assert words in capsys.readouterr().err


def test_a_machine_that_runs_no_kernel_is_named(tmp_path, monkeypatch, capsys):
    def fail(name: str, source: str) -> Grades:
        raise GpuError("no adapter")

    monkeypatch.setattr(command, "_alone", fail)
    write(tmp_path / "a.ipynb", ['helpers.grade("map", "fn main() {}")'])
    assert command.main([str(tmp_path)]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "no adapter"


def test_the_notebooks_of_a_lesson_share_a_table():
    rows = [
        results.Row("a/01", {"map": "right"}, {"p": True, "q": False}),
        results.Row("a/02", {"sum": "0/3"}),
        results.Row("b/01", {"map": "1/2"}, {"q": True}),
        results.Row("b/02", {"sum": "right", "tile": "not readable"}),
        results.Row("c", problem="it is not JSON"),
        results.Row("d"),
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
        "notebook  questions",
        "d",
        "",
        "c: it is not JSON",
    ]
    assert json.loads(json.dumps(results.as_csv(rows))).startswith("notebook,map,sum,tile,questions,problem\n")
