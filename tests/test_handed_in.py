"""What is read of what students handed in: the last text of a kernel, or none where it may be an old one."""

import json

import pytest

from helpers.grading import handed_in


def read(*cells: str) -> object:
    """What is read of the puzzle `map` in some cells; a word where nothing is."""
    return handed_in.kernels(cells).get("map", "nothing")


GRADE = 'helpers.grade("map", x)'


def test_the_last_assignment_before_the_last_call_counts():
    assert read("x = 'a'", f"x = 'b'\n{GRADE}\nx = 'c'") == "b"
    assert read(f"x = 'b'\n{GRADE}\nx = 'c'", GRADE) == "c"
    assert read(f"x = y = 'd'\n{GRADE}", f"x = y\n{GRADE}") == "d"
    assert read('helpers.grade("map", """\nfn % main\n""")') == "\nfn % main\n"
    assert read('grade("map", source="a" "b")') == "ab"
    assert read('helpers.grade("map")', "x = 5") == "nothing"  # the text is in the learner's file


UNREADABLE = ["f'{1}'", "'a' + 'b'", "'a' * 9", "open('here', 'w')", "y", "helpers.skeleton('map')", "'a'.strip()"]
UNREADABLE += ["5", "('a',)", "'a' if True else 'b'", "(y := 'a')", "'a' or 'b'", "+".join(["'a'"] * 5000)]


@pytest.mark.parametrize("text", UNREADABLE, ids=[text[:20] for text in UNREADABLE])
def test_anything_but_a_literal_is_not_readable(text):
    assert read(f"x = 'a'\nx = {text}\n{GRADE}") is None


UNSEEN = ["x += 'b'", "for x in ('b', 'c'): pass", "x, y = 'b', 'c'", "del x", "if y: x = 'b'", "x: str = 'b'"]
UNSEEN += ["from answers import x", "from a import b as x", "import x.y", "from a import *", "def x(): pass"]
UNSEEN += ["class x: pass", "try: y\nexcept E as x: pass", "match 3:\n  case x: pass", "match 3:\n  case [*x]: pass"]
UNSEEN += ["match 3:\n  case {**x}: pass", "exec('x = 2')", "%run answers.py", "%time x = 'b'", "x = !ls"]
UNSEEN += ["if (x := 'b'): pass", "%%bash\nls", "not a program", "async def x(): pass", "def f():\n  global x\n  x = 1"]


@pytest.mark.parametrize("cell", UNSEEN)
def test_a_name_that_may_have_got_another_value_is_not_readable(cell):
    assert read("x = 'a'", cell, GRADE) is None
    assert read("x = 'a'", cell, f"x = 'b'\n{GRADE}") == "b"


@pytest.mark.parametrize(
    "text",
    [
        *("if True:\n  x = 'b'\n  {}", "with y:\n  x = 'b'\n  {}", "try:\n  x = 'b'\n  {}\nfinally: pass"),
        *("for x in ('b', 'c'):\n  {}", "while y:\n  {}\n  x += 'b'", "def f():\n  {}", "def f(x):\n  {}"),
        *("f = lambda: {}", "y = (x := 'b'), {}"),
    ],
)
def test_a_value_from_before_a_compound_statement_is_not_read_in_it(text):
    assert read("x = 'a'", text.format(GRADE)) is None
    assert read("x = 'a'", text.format(GRADE.replace("x", "'c'"))) == "c"


def test_nothing_of_a_notebook_is_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cells = ["open('made', 'w')", "while True: pass", "import sys; sys.exit(3)", f"x = 'a'\n{GRADE}"]
    assert read(*cells) == "a"
    assert list(tmp_path.iterdir()) == []


def test_lines_of_ipython_and_cells_that_are_no_python():
    assert read(f"%matplotlib inline\n!ls\nx = 'a'\n{GRADE}\n?x") == "a"
    assert read(f"x = 'a'\n{GRADE}\nif x") is None
    assert read('%%time\nx = "\nhelpers.grade("map", x)') is None
    assert read("\0", "\\d = '", "((" * 300) == "nothing"
    assert read(f"%%time\nx = 'a'\nhelpers.grade?\n{GRADE}") == "a"
    assert read(f"x = 'a'\n{GRADE}", f"%%bash\n{GRADE}") is None
    assert read('y = """\n% y\n"""\nx = y\n!ls\n' + GRADE) == "\n% y\n"


def test_a_puzzle_may_be_named_by_its_keyword_or_by_a_variable():
    cells = ['grade(puzzle="map", source="a")', 'n = "sum"\ngrade(n, "b")', "grade(m, 'c')"]
    assert handed_in.kernels(cells) == {"map": "a", "sum": "b"}
    assert handed_in.kernels(['if\ngrade(puzzle="map", source="a")']) == {"map": None}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON"),
        ("[1]", "it is not a file that helpers.hand_in made"),
        ('{"format": "another", "kernels": {}, "answers": {}}', "it is not a file that helpers.hand_in made"),
        ('{"format": "convgrad hand-in 1", "kernels": [], "answers": {}}', "it is not a file that helpers.hand_in"),
        ("[" * 100_000, "it is not JSON"),
    ],
)
def test_a_file_that_is_no_hand_in_says_so(text, words, tmp_path):
    (tmp_path / "hand_in.json").write_text(text)
    with pytest.raises(handed_in.FileError, match=words):
        handed_in.work(tmp_path / "hand_in.json")


def test_a_kernel_of_a_hand_in_that_is_no_text_is_not_readable(tmp_path):
    content = {"format": handed_in.FORMAT, "kernels": {"map": 5, "sum": "a"}, "answers": {"q": [1]}}
    (tmp_path / "hand_in.json").write_text(json.dumps(content))
    assert handed_in.work(tmp_path / "hand_in.json") == ({"map": None, "sum": "a"}, {"q": [1]}, "")
