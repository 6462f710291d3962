"""Known mistakes: each is refused and named, also in a learner's own text, and the teachers' pages say so."""

import re
from functools import cache

import pytest
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of
from support.sample import sample
from support.teaching_pages import page_of, puzzles_of, row, table
from support.trials import MISTAKES, outcomes, simulate_once, with_mistake  # noqa: F401

from helpers.exercises import PUZZLES
from helpers.grading import grader, mistakes
from helpers.grading.grader import grade
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import LEARNERS_LINE, same_code
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, UNSAFE, WRONG
from helpers.wgsl import Kernel

# --- As edits of the official kernel --------------------------------------------------------------------------

TRIED = sample(MISTAKES, 70)
every_mistake = pytest.mark.parametrize(("name", "mistake"), TRIED, ids=[f"{name}-{each.name}" for name, each in TRIED])


@cache
def rows() -> dict[str, list[list[str]]]:
    """What the teachers' pages say of the mistakes in each puzzle."""
    lessons = [Lesson.read(path) for path in lessons_of(NOTEBOOKS)]
    return {name: table(page_of(lesson)) for lesson in lessons for name in puzzles_of(lesson)}


@every_mistake
def test_a_known_mistake_is_rejected_and_named_and_its_verdicts_are_on_the_page_for_teachers(name, mistake):
    grades = with_mistake(name, mistake)
    assert set(outcomes(grades)) <= {RIGHT, WRONG, UNSAFE} or set(outcomes(grades)) == {NOT_YET}
    assert grades.passed < len(grades)
    named = [verdict.detail for verdict in grades if verdict.detail.startswith("this is what ")]
    assert len(named) == 1
    comes_out = {WRONG, NOT_YET} & set(outcomes(grades))
    said = f"this is what {'comes out' if comes_out else 'happens'} when {mistake.name}"
    assert named[0].startswith(f"{said}: {mistake.question} ")  # an earlier mistake would be named if it did the same
    assert row(mistake, grades) in rows()[name], "run python tests/support/teaching_pages.py"


def test_a_known_mistake_comes_with_one_short_question():
    for _, mistake in MISTAKES:
        assert re.fullmatch(r"[a-z+][^?]{10,110}\?", mistake.question), mistake.question  # it goes on after a colon
        assert not re.search("[;:?]", mistake.name), mistake.name  # no cure after the mistake


@every_mistake
def test_a_drawing_is_legible(name, mistake):
    grades = with_mistake(name, mistake)
    drawings = [verdict.drawing for verdict in grades if verdict.drawing]
    assert len(drawings) == (WRONG in outcomes(grades))
    wrong = [case for case, verdict in zip(PUZZLES[name].cases(), grades, strict=True) if verdict.outcome == WRONG]
    for text in drawings:
        lines = text.split("\n")
        assert min(wrong, key=lambda case: case.expected.size).name in lines[0]
        assert len(lines) <= 20
        assert max(map(len, lines)) <= 80
        assert re.search(r"\d\*|nan\*| \.", text)
    assert not re.search(r"99999|99,999|Scalar|Some\(|None|e\+\d|naga|wgpu|array\(", str(grades))


@every_mistake
def test_no_reason_of_an_unsafe_kernel_begins_with_right_and_each_line_is_quoted(name, mistake):
    lines = PUZZLES[name].with_mistake(mistake).source.split("\n")
    for verdict in with_mistake(name, mistake):
        assert not (verdict.outcome == UNSAFE and re.match("(each number is |its numbers are )?right", verdict.detail))
        for number, quoted in re.findall(r"\b[Ll]ine (\d+), `([^`]*)`", verdict.detail):
            code = " ".join(lines[int(number) - 1].partition("//")[0].split())
            assert code.startswith(quoted.removesuffix("..."))
        assert not re.search(r"\b[Ll]ine \d+(?!, `|\d)", verdict.detail)


# --- The tests of a puzzle ------------------------------------------------------------------------------------

# Tests that see no mistake of their own: the classroom's, and shapes that a reader should have seen work.
CLASSROOM = ["conv_bw_tiny_3x3", "conv_bw_numerical_gradient_check", "conv_bw_lenet_conv1", "conv_bw_lenet_conv2"]
WELCOME = {*CLASSROOM, "300_columns"}


def seen(name: str, text: str) -> list[tuple[str, bool]]:
    """For each test its outcome, and whether it shows the mistake itself: a race makes all tests unsafe."""
    grades, kernel = grade(PUZZLES[name], text), Kernel(text)
    if grades[0].outcome == NO_COMPILE:
        return []
    findings = [bool(grader.simulated(kernel, case).findings) for case in PUZZLES[name].cases()]
    return list(zip(outcomes(grades), findings, strict=True))


@pytest.mark.parametrize("name", sample(list(PUZZLES), 3))
def test_no_two_tests_say_the_same_about_all_mistakes(name, monkeypatch):
    """A mistake is a known one, or one of the learner's lines left out."""
    monkeypatch.setattr(grader, "WORK", -1)  # none needs a name
    puzzle, lines = PUZZLES[name], PUZZLES[name].official.source.split("\n")
    texts = [puzzle.with_mistake(mistake).source for mistake in puzzle.mistakes]
    texts += ["\n".join(lines[:i] + lines[i + 1 :]) for i, line in enumerate(lines) if line.endswith(LEARNERS_LINE)]
    said = {}
    columns = zip(*filter(None, (seen(name, text) for text in texts)), strict=True)
    for test, outcome in zip(puzzle.tests, columns, strict=True):
        assert test in WELCOME or outcome not in said, f"{test} and {said[outcome]}"
        said[outcome] = test


# --- The files ------------------------------------------------------------------------------------------------

FILE = """# A comment.
the last element is left out
which thread owns it?
- i >= n
+ i + 1u >= n

include more size=n element=i
"""
MORE = "$element is compared with 0\nwhy?\n- x\n+\n- $size;\n- }\n+ 0u;\nor\n- y\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("which thread owns it?\n", "", "one.mistakes, line 1: .*'- i >= n'; the second line must be a question"),
        ("- i >= n\n", "", "line 1: .* each line must begin with `- ` or `\\+ `, first the old text"),
        ("- i", "i", "line 1: .* each line must begin with"),
        ("element=i", "", r"more.mistakes, line 1: \$element has no value"),
    ],
)
def test_a_file_of_mistakes_says_what_is_wrong_with_it(tmp_path, old, new, said):
    (tmp_path / "more.mistakes").write_text(MORE)
    (tmp_path / "one.mistakes").write_text(FILE)
    one, two = mistakes.read(tmp_path / "one.mistakes")
    assert (one.name, one.edits) == ("the last element is left out", (("i >= n", "i + 1u >= n"),))
    assert (two.name, two.edits) == ("i is compared with 0", (("x", ""), ("n;\n}", "0u;")))
    assert two.others == ((("y", ""),),)
    assert two.made_in(Kernel("n;\n   } x")).source == "0u; "
    with pytest.raises(ValueError, match="contains it 2 times"):
        one.made_in(Kernel("i >= n, i >= n"))
    (tmp_path / "one.mistakes").write_text(FILE.replace(old, new))
    with pytest.raises(ValueError, match=said):
        list(mistakes.read(tmp_path / "one.mistakes"))


# --- In a learner's own text ----------------------------------------------------------------------------------

FIRST_64, ONE_TRANSPOSED = (
    "only elements 0 to 63 are computed",
    "the tile of {} is transposed, in the loads or in the products",
)
OTHERS = [
    (name, mistake.name, edits) for name, mistake in MISTAKES for edits in mistake.others
] + [  # where a mistake is that of several puzzles, and a text is that of one
    (name, mistake, edits)
    for name, mistake, *edits in (
        (
            "map",
            FIRST_64,
            ("output[i] =", "for (var j = 0u; j < 64u; j++) { output[j] ="),
            ("[i] + 1.0;", "[j] + 1.0; }"),
        ),
        ("guard", FIRST_64, ("i >= sizes.n", "i >= 64u")),
        (
            *("tiled_product", ONE_TRANSPOSED.format("b")),
            ("right[slot] = b", "right[local.x * TILE + local.y] = b"),
            ("right[slot] = 0.0", "right[local.x * TILE + local.y] = 0.0"),
        ),
        (
            "gemm_bwd_grad_pre",
            ONE_TRANSPOSED.format("b"),
            ("right[local.y * TILE + local.x]", "right[local.x * TILE + local.y]"),
        ),
        (
            "gemm_bwd_grad_pre",
            ONE_TRANSPOSED.format("a"),
            ("left[local.y * TILE + local.x]", "left[local.x * TILE + local.y]"),
        ),
    )
]


@pytest.mark.parametrize(("name", "mistake", "edits"), sample(OTHERS, 20))
def test_a_learners_own_text_is_named_by_its_mistake(name, mistake, edits):
    puzzle = PUZZLES[name]
    own = Mistake(mistake, "", tuple(edits)).made_in(Kernel(puzzle.solution.text))
    assert not any(same_code(own, puzzle.with_mistake(known)) for known in puzzle.mistakes)
    named = re.findall(
        "^this is what (?:comes out|happens) when (.*?): ", "\n".join(v.detail for v in grade(puzzle, own.source)), re.M
    )
    assert named == [mistake]


def test_a_demonstration_is_named_on_any_machine(monkeypatch):
    """Also one that is too slow to try a known mistake, where the text is that of the mistake, word for word."""
    monkeypatch.setattr(grader, "WORK", -1)
    source = PUZZLES["conv2d_grad_weight"].official.edit("b < params.batch", "b < 1u").source
    named = ["this is" in str(grade(PUZZLES["conv2d_grad_weight"], text)) for text in (source, f"{source} ;")]
    assert named == [True, False]
