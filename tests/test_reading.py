"""What is read of students' notebooks: the last value of an argument, or none where it may be an old one."""

import pytest

from helpers.grading import reading


def read(*cells: str) -> list[tuple]:
    """What is read of some cells, without the names."""
    return [call.arguments for call in reading.calls(cells)]


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


LITERALS = {
    "-4": -4,
    "28 - 5 + 1": 24,
    "(5 - 3) // 2 * 1.5 % 2": 1.5,
    "2**24": 2**24,
    "(1, 2 * 3)": (1, 6),
    "[1, (2, 3)]": [1, (2, 3)],
    "'same'": "same",
    "None": None,
}


@pytest.mark.parametrize("text", LITERALS)
def test_literals_and_their_arithmetic_are_read(text):
    assert read(f"x = {text}\n{ASK}") == [(LITERALS[text],)]


UNREADABLE = ["f'{1}'", "'a' + 'b'", "'a' * 9", "open('here', 'w')", "y", "helpers.skeleton('map')", "'a'.strip()"]
UNREADABLE += ["1 / 0", "9**9**9", "2**65", "[y for y in (1,)]", "1 if True else 2", "-'a'", "(y := 4)", "1 or 2"]
UNREADABLE += ["+".join(["1"] * 5000), "1" + "0" * 400, "-1e999", "(" * 60 + "0" + ",)" * 60 + ", " + "1, " * 900]


@pytest.mark.parametrize("text", UNREADABLE, ids=[text[:20] for text in UNREADABLE])
def test_anything_else_is_not_readable(text):
    assert read(f"x = 1\nx = {text}\n{ASK}") == [None]


UNSEEN = ["x += 1", "for x in (1, 2): pass", "x, y = 1, 2", "del x", "if y: x = 3", "x: int = 5"]
UNSEEN += ["from answers import x", "from a import b as x", "import x.y", "from a import *", "def x(): pass"]
UNSEEN += ["class x: pass", "try: y\nexcept E as x: pass", "match 3:\n  case x: pass", "match 3:\n  case [*x]: pass"]
UNSEEN += [
    "match 3:\n  case {**x}: pass",
    "exec('x = 2')",
    "%run answers.py",
    "%time x = 2",
    "x = !ls",
    "if (x := 3): pass",
]
UNSEEN += ["%%bash\nls", "not a program"]


@pytest.mark.parametrize("cell", UNSEEN)
def test_a_name_that_may_have_got_another_value_is_not_readable(cell):
    assert read(f"x = 1\n{ASK}", cell, ASK) == [(1,), None]
    assert read("x = 1", cell, f"x = 2\n{ASK}") == [(2,)]


@pytest.mark.parametrize(
    "text",
    [
        *("if True:\n  x = 2\n  {}", "with y:\n  x = 2\n  {}", "try:\n  x = 2\n  {}\nfinally: pass"),
        *("for x in (1, 2):\n  {}", "while y:\n  {}\n  x += 1", "def f():\n  {}", "def f(x):\n  {}"),
        *("f = lambda: {}", "y = (x := 3), {}"),
    ],
)
def test_a_value_from_before_a_compound_statement_is_not_read_in_it(text):
    assert read("x = None", text.format(ASK)) == [None]
    assert read("x = None", text.format(ASK.replace("x", "7"))) == [(7,)]


@pytest.mark.parametrize("line", ["x.append(2)", "x[0] = 2", "x += [2]", "y = x\ny.append(2)", "f(x)", "del x[0]"])
def test_a_list_that_may_have_been_changed_is_not_readable(line):
    assert read(f"x = [1]\n{ASK}\n{ASK}\n{line}\n{ASK}") == [([1],), ([1],), None]
    assert read(f"x = ([1], 2)\n{line}\n{ASK}") == [None]
    assert read("x = y = [1]\nx.append(2)", 'mark("m", y)') == [None]
    assert read("x = y = [1]\nx += [2]", 'mark("m", y)') == [None]
    assert read("x = (1,)\nprint(x[0])", ASK) == [((1,),)]  # what cannot be changed may be used


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
    assert read(f"%%time\nx = 5\nhelpers.grade?\n{ASK}", f"?x\n{ASK}") == [(5,), (5,)]
    assert read(f"files = !ls\nx = 5\n{ASK}", f"%%bash\n{ASK}") == [(5,), None]
    assert read('y = """\n% y\n"""\nx = y\n!ls\n' + ASK) == [("\n% y\n",)]


def test_an_exercise_may_be_named_by_its_keyword_or_by_a_variable():
    assert list(reading.calls(['grade(puzzle="map", source="a")', 'n = "sum"\ngrade(n, "b")', "grade(m, 'c')"])) == [
        ("grade", "map", ("a",)),
        ("grade", "sum", ("b",)),
    ]
    assert list(reading.calls(['if\ngrade(puzzle="map", source="a")'])) == [("grade", "map", None)]
    assert read('predict("q", anwser=3)', 'predict(**{"question": "q"})') == [None]


@pytest.mark.parametrize("step", ["y = x * x\nx = y * y\n", "y = (x, x)\nx = (y, y)\n", "y = [x, x]\nx = (y, y, 1)\n"])
def test_values_that_double_do_not_fill_the_memory(step):
    assert read("x = 9\n" + step * 13 + ASK) == [None]
