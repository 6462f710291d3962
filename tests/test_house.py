"""The house stays small: few rooms, no circle of imports, none that climbs, and no lesson that imports another.

What sets up needs no package, as none is installed yet.

That these checks can fail is in messages/house_rules.txt, and below for the rules of style.
"""

import ast
import subprocess
import sys

import pytest
from support.imports import arrows, between_lessons, circle, climbing, modules, order
from support.sample import at_night
from support.style import breaches, is_long, python_files
from support.tokens import ROOT, above, by_folder, ceilings, rooms

MOST_ROOMS, MOST_ARROWS, MOST_FLOORS = 14, 60, 9


def test_there_are_few_rooms_floors_and_arrows():
    assert len(rooms(by_folder(ROOT))) <= MOST_ROOMS
    assert len(arrows(modules(ROOT, "helpers"))) <= MOST_ARROWS
    assert len({*order((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")).values()}) <= MOST_FLOORS


def test_no_import_climbs_or_goes_round_in_a_circle():
    graph = modules(ROOT, "helpers", "wgsl")
    assert circle(graph) == []
    assert climbing(graph, order((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))) == []


def test_no_lesson_imports_another():
    assert between_lessons(modules(ROOT, "helpers")) == []


GRADED = """
import sys, helpers
print(helpers.grade("map", helpers.skeleton("map").replace("output[i] =", "output[i] = 2.0 +")).passed)
folders = {name.split(".")[2] for name in sys.modules if name.startswith("helpers.lessons.") and name.count(".") > 2}
print(*sorted(folders - {"shared"}))
"""


def test_to_grade_a_text_imports_one_lesson():
    """Grading in this process, as the process apart does it, and in the notebook's."""
    here = GRADED.replace("helpers.grade(", "__import__('helpers.lessons.exercises').lessons.exercises.work(")
    for code in GRADED, here:
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.split("\n")[1] == "meet_the_gpu"


def test_a_file_holds_one_idea():
    assert [name for name, text in python_files(ROOT).items() if is_long(text)] == []


def test_a_long_file_is_noticed():
    assert is_long("x = 1\n" * 401)
    assert not is_long("x = 1\n" * 400)


def test_code_keeps_the_rules_of_style():
    broken = []
    for name, text in python_files(ROOT).items():
        broken += [f"{name}, {breach}" for breach in breaches(text)]
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('"""What it does."""', ["line 1: the docstring begins with a question word"]),
        ('class A:\n    """Which one."""', ["line 1: the docstring begins with a question word"]),
        ('def f():\n    """Whether it is."""', ["line 1: the docstring begins with a question word"]),
        ('def f():\n    """Whatever it is."""', []),
        ('x = 1\ny = "s" * (n > 1)', ["line 2: a string is multiplied by a condition"]),
        ('y = (n > 1) * f"{n}s"', ["line 1: a string is multiplied by a condition"]),
        ('y = "s" * bool(n)', ["line 1: a string is multiplied by a condition"]),
        ('y = "s" * (a or b)', ["line 1: a string is multiplied by a condition"]),
        ('y = "s" * (not n)', ["line 1: a string is multiplied by a condition"]),
        ('y = "-" * width + "-" * len(name) + n * (n > 1) * "-"', []),
        ("def f():\n" + "    x = 1\n" * 26, ["line 1: the function has more than 25 lines"]),
        ("async def f():\n" + "    x = 1\n" * 26, ["line 1: the function has more than 25 lines"]),
        ('def f():\n    """One."""\n' + "    x = 1\n" * 25, []),
    ],
)
def test_a_text_that_breaks_a_rule_of_style_is_named(text, rules):
    assert breaches(text) == rules


BARE = """
import runpy, sys
runpy.run_path("start.py")
rooms = {name.split(".")[1] for name in sys.modules if name.startswith("helpers.")}
packages = {name.split(".")[0] for name in sys.modules} - sys.stdlib_module_names
print(*sorted(rooms), *sorted(packages))
"""


def test_a_bare_python_reads_start_and_its_room_and_nothing_else():
    bare = [sys.executable, "-I", "-S", "-c", BARE]  # without site-packages, and without a path of the user's
    done = subprocess.run(bare, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert (done.stderr, done.stdout.split()) == ("", ["set_up", "__main__", "helpers"])


def imported_by(path):
    """The modules that a file imports, in functions, too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(node.module)
    return names


SET_UP = [ROOT / "start.py", *sorted((ROOT / "helpers" / "set_up").glob("*.py"))]


@pytest.mark.parametrize("path", SET_UP, ids=lambda path: path.name)
def test_what_sets_up_imports_the_standard_library_alone(path):
    room = "helpers.set_up"
    foreign = {name for name in imported_by(path) if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name for name in foreign if name != room and not name.startswith(f"{room}.")} == set()


@at_night
def test_no_room_grows_past_its_ceiling():
    assert above(by_folder(ROOT), ceilings((ROOT / "pyproject.toml").read_text(encoding="utf-8"))) == []
