"""Lines of Python to write: how they are judged and kept.

`messages/python_lines.txt` has what is allowed, what is refused and what is said of wrong lines.
"""

import re
from itertools import product

import numpy as np
import pytest
from support.grading import mistakes_of, only, outcomes
from support.sample import at_night, sample

import helpers
from helpers.grading import python_puzzle, student_files
from helpers.grading.mistakes import Mistake
from helpers.grading.python_functions import FUNCTIONS as OF_ALL
from helpers.grading.python_lines import Program
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, NOT_YET, RIGHT, WRONG, Grades
from helpers.lessons.exercises import PYTHON_PUZZLES, WORKER
from helpers.lessons.trusting_a_gradient.written_test import DATA, FUNCTIONS, WRONG_KERNELS, rejected_right_kernels
from wgsl import Kernel, simulate

every_puzzle = pytest.mark.parametrize("name", PYTHON_PUZZLES)


@pytest.fixture(autouse=True)
def _in_this_process(monkeypatch):
    """No process is started for lines of Python."""
    monkeypatch.setattr(WORKER, "grade", lambda *_: pytest.fail("a process was asked"))


# --- All puzzles ----------------------------------------------------------------------------------------------


@every_puzzle
def test_the_official_lines_are_right_the_skeleton_is_not_attempted_and_every_marked_line_is_needed(name, monkeypatch):
    monkeypatch.setattr(python_puzzle, "repair", lambda *_: None)
    puzzle = PYTHON_PUZZLES[name]
    assert repr(helpers.grade(name, puzzle.solution.text)).endswith(
        f"\n{len(puzzle.tests)} of {len(puzzle.tests)} tests pass"
    )
    skeleton = helpers.skeleton(name)
    assert only(helpers.grade(name, f"\n{skeleton}\n\n# mine")) == NOT_ATTEMPTED
    assert max(map(len, skeleton.split("\n"))) <= 80
    lines = puzzle.official.source.split("\n")
    marked = [i for i, line in enumerate(lines) if line.endswith(puzzle.mark)]
    for i in marked:
        assert helpers.grade(name, "\n".join(lines[:i] + lines[i + 1 :])).passed < len(puzzle.tests)
    assert puzzle.code(skeleton).strip() == ""
    assert len(puzzle.mistakes) >= 6


OTHERS = []
for puzzle_name, known in mistakes_of(PYTHON_PUZZLES):
    OTHERS += [(puzzle_name, known.name, edits) for edits in (known.edits, *known.others)]
OTHERS += [
    ("central_difference", "the rise is divided by one step, and the two weights are two steps apart", text)
    for text in ("derivative = (loss(w + h) - loss(w - h)) / h", "a = loss(w - h)\nderivative = (loss(w + h) - a) / h")
]


def first_wrong(grades: Grades) -> str:
    """The words of the first test that is not right."""
    return next(verdict.detail for verdict in grades if verdict.outcome != RIGHT)


@pytest.mark.parametrize(("name", "mistake", "made"), sample(OTHERS, 12))
def test_a_known_mistake_is_rejected_named_and_drawn(name, mistake, made):
    puzzle = PYTHON_PUZZLES[name]
    text = made if isinstance(made, str) else Mistake(mistake, "", made).made_in(Kernel(puzzle.solution.text)).source
    grades = puzzle.grade(text)
    assert {*outcomes(grades)} <= {RIGHT, WRONG} or only(grades) == NOT_YET
    assert grades.passed < len(grades)
    questions = [known.question for known in puzzle.mistakes if known.name == mistake]
    words = first_wrong(grades)
    whole = name in ("catch_them_all", "check_grad_input")  # what is said of a sentence has no name
    if whole:
        assert re.findall(r"^([^?]*\?) ", words, re.M) == questions
    else:
        named = re.findall(r"^.*what comes out when (.*?): ([^?]*\?) ", words, re.M)
        assert named == [(mistake, question) for question in questions]
    drawings = [verdict.drawing for verdict in grades if verdict.drawing]
    assert len(drawings) == (WRONG in outcomes(grades) and not whole)
    for drawing in drawings:
        assert max(map(len, drawing.split("\n"))) <= 80


EACH_WORKGROUP = "for g in range(len(epochs)):\n  s = sum(active[g * size : (g + 1) * size])\n"
AFTER = "epochs[g] + 1 if s == size else epochs[g] if s == 0 else -1"
OTHER_STYLES = {  # right lines as readers write them, by their puzzle
    "barrier": [
        f"after = ()\n{EACH_WORKGROUP}  after += ({AFTER},)",
        f"after = ()\n{EACH_WORKGROUP}  after = after + ({AFTER},)",
        f"after = []\n{EACH_WORKGROUP}  after.append({AFTER})",
        f"after = []\n{EACH_WORKGROUP}  after = after + [{AFTER}]",
        f"after = [0] * len(epochs)\n{EACH_WORKGROUP}  after[g] = {AFTER}",
        f"after = list(epochs)\n{EACH_WORKGROUP}  if 0 < s: after[g] += 1\n  if 0 < s < size: after[g] = -1",
        "here = [active[g * size :][:size] for g in range(len(epochs))]\n"
        "after = tuple(e + all(h) if all(h) or not any(h) else -1 for h, e in zip(here, epochs))",
    ],
    "by_others": ["other = not (who == thread or when < epoch)"],
    "note_several": ["new_who = [thread, -2][who != thread and when == epoch]"],
    "split_batch": [
        "part = tuple(i * (n // p) + min(i, n % p) for i in (k, k + 1))",
        "each, more = divmod(n, p)\nfirst = k * each + min(k, more)\npart = first, first + each + int(k < more)",
        "size = n // p\nif k < n % p:\n  part = k * (size + 1), (k + 1) * (size + 1)\nelse:\n"
        "  first = n % p + k * size\n  part = first, first + size",
        "first = 0\nfor i in range(k):\n  first += n // p\n  if i < n % p:\n    first += 1\n"
        "part = (first, first + n // p + (1 if k < n % p else 0))",
        "first = n - 1\nwhile first * p // n >= k and first >= 0: first -= 1\nmore = max(0, min(k, n % p))\n"
        "part = k * int(n / p) + more, (k + 1) * int(n / p) + max(0, min(k + 1, n % p))",
    ],
    "combine_means": [
        "total = sum((a * n_a, b * n_b))\ncombined = total / sum((n_a, n_b))",
        "combined = sum(g * m / (n_a + n_b) for g, m in [(a, n_a), (b, n_b)])",
        "combined = sum(g * m for g, m in zip((a, b), (n_a, n_b))) / sum([n_a, n_b])",
    ],
    "break_even": ["saved = 1\nsaved -= 1 / w\nt = h / saved"],
    "central_difference": ["up, down = loss(w + h), loss(w - h)\nderivative = (up - down) / abs(2 * h)"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in OTHER_STYLES.items() for text in texts])
def test_what_a_reader_would_write_is_right(name, text):
    assert only(PYTHON_PUZZLES[name].grade(text)) == RIGHT


NOT_ALLOWED = {  # right lines that are refused, and the word at which they are
    "import numpy as np\nparts = np.array_split(range(n), p)[k]\npart = parts[0], parts[-1] + 1": "import",
    "cut = lambda i: i * (n // p) + min(i, n % p)\npart = cut(k), cut(k + 1)": "lambda",
    "def cut(i):\n  return i * (n // p) + min(i, n % p)\npart = cut(k), cut(k + 1)": "def",
    "part = *[i * (n // p) + min(i, n % p) for i in (k, k + 1)],": "*[",
}


@pytest.mark.parametrize("text", NOT_ALLOWED)
def test_right_lines_that_are_not_allowed_are_refused_with_what_is(text):
    grades = PYTHON_PUZZLES["split_batch"].grade(text)
    assert only(grades) == NO_COMPILE
    assert f"`{NOT_ALLOWED[text]}` is not" in grades[0].detail
    assert "`divmod`" in grades[0].detail


@every_puzzle
def test_an_exercise_says_what_may_be_written_before_its_editor(name):
    made = helpers.write(name)
    functions = [function for function in OF_ALL if function not in PYTHON_PUZZLES[name].cases()[0].given[0]]
    assert functions
    for word in ("if", "for", "while", *functions):
        assert f"`{word}`" in made.limits
    stored, _ = made._repr_mimebundle_()
    assert stored["text/plain"].index(made.limits) < stored["text/plain"].index(helpers.skeleton(name))
    assert "<code>divmod</code>" in stored["text/html"].partition("<details>")[0]


# --- Races ----------------------------------------------------------------------------------------------------

TWO_ACCESSES = """
@group(0) @binding(0) var<storage, read_write> words: array<TYPE, 2>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) id: vec3u) {
  var got = 0u;
  if (id.x == 0u) { A }
  BARRIER
  if (id.x == OTHERu) { B }
}
"""


def access(word: int, writes: bool, atomic: bool, number: int) -> str:
    """An access to a word, in WGSL."""
    if atomic:
        return f"atomicStore(&words[{word}], {number}u);" if writes else f"got = atomicLoad(&words[{word}]);"
    return f"words[{word}] = {number}u;" if writes else f"got = words[{word}];"


def two_accesses(facts: dict[str, bool]) -> str:
    """A kernel with two accesses of which these facts hold."""
    atomic = facts["both_atomic"]
    if facts["same_thread"]:
        other = 0
    elif facts["same_workgroup"]:
        other = 1
    else:
        other = 2
    parts = {
        "TYPE": "atomic<u32>" if atomic else "u32",
        "BARRIER": "storageBarrier();" if facts["barrier_between"] else "",
        "OTHER": str(other),
        "A }": f"{access(0, facts['a_writes'], atomic, 1)} }}",
        "B }": f"{access(1 - facts['same_word'], facts['b_writes'], atomic, 2)} }}",
    }
    text = TWO_ACCESSES
    for name, part in parts.items():
        text = text.replace(name, part)
    return text


def test_the_right_answers_are_what_the_simulator_finds_in_kernels_with_these_accesses():
    case = PYTHON_PUZZLES["is_race"].cases()[-1]
    assert len(case.given) == 96 == len([*product((0, 1), repeat=7)]) * 3 // 4  # a thread is in one workgroup
    for facts, right in zip(case.given, case.right, strict=True):
        findings = simulate(two_accesses(facts), [np.zeros(2, np.uint32)], (2, 1, 1), outputs=()).findings
        assert any(finding.kind == "data race" for finding in findings) == right, facts


# --- A test that is written ---------------------------------------------------------------------------------

LARGE = "1, 4, 8, 9, 1, 5, 5, 1, (0, 0)", "30, 1, 1, 1, 120, 1, 1", "1, 10, 10, 10, 1, 1, 10, padding=(10, 0)"


@at_night
def test_a_right_kernel_is_rejected_for_rounding_alone_and_all_of_lesson_05s_wrong_kernels_are_tried():
    for sizes in LARGE:
        for data in DATA.keys() - {"normal"}:
            program = Program(f"test = shape({sizes}), {data}()", FUNCTIONS, "test")
            assert rejected_right_kernels(program.run(FUNCTIONS).value) == ""
    assert len(WRONG_KERNELS) == 39
    grades = helpers.grade("catch_them_all", "test = shape(1, 4, 8, 9, 1, 5, 5), ones()")
    assert (len(grades), grades[0].outcome) == (40, RIGHT)
    assert "where" not in grades[1].detail
    why = "because there is one image: this kernel has `n < 1u` in place of"
    assert f"“batch not summed” escapes your test, {why}" in grades[1].detail


# --- The whole way --------------------------------------------------------------------------------------------

OURS = PYTHON_PUZZLES["is_race"].solution.text


def test_lines_are_kept_in_files_of_python_and_the_solution_is_shown_after_an_attempt():
    with pytest.raises(student_files.NoAttemptError):
        helpers.solution("is_race")
    editor = helpers.write("is_race")
    file = student_files.path_of("is_race")
    assert repr(editor) == f"is_race: write the lines of Python here, or in {file} with any editor"
    editor._told(editor, {"kind": "run", "text": "race = a_writes &&", "number": 1}, [])
    assert (editor.verdict["headline"], editor.mark) == (
        "does not compile (all tests)",
        {"line": 1, "column": 17, "length": 2},
    )
    editor._told(editor, {"kind": "run", "text": OURS, "number": 2}, [])
    assert (editor.verdict["headline"], editor.verdict["detail"], editor.mark) == ("right (all tests)", "", {})
    assert {path.name for path in student_files.my_folder().rglob("*.py")} == {
        "is_race.py",
        "is_race_1.py",
        "is_race_2.py",
    }
    assert helpers.last_attempt("is_race") == OURS == editor.ours
    assert helpers.solution("is_race").language == "python"
    assert only(helpers.grade("is_race")) == RIGHT
    assert repr(helpers.hand_in("Ada")).startswith(
        f"0 kernels, 1 Python text and 0 answers are in {student_files.my_folder()}"
    )
