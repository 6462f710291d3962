"""Hints teach WGSL that compiles: each snippet of a hint can be put into the reader's kernel as it is.

A snippet is a ```rust fence, or a statement in backticks. It is compiled in the skeleton, alone or after the hints
before it; where it goes on from lines that the reader has written by then, in a block inside the official kernel. A
blank, which the reader fills in, is written `...` in the place of an expression, and the hint says so.

The hints of an exercise come in grades: a question, a picture, the index, and last almost the whole kernel. Where few
lines are to be written, one to three of these will do.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest
import wgpu
from support.notebook_gate import DETAILS, NOTEBOOKS, Lesson, lessons_of
from support.small_lessons import code, lesson
from support.teaching_pages import PUZZLE

import helpers
from helpers.gpu.adapter import device
from helpers.gpu.subgroups import without_enabling
from helpers.lessons.exercises import ALL_PUZZLES, PUZZLES, PYTHON_PUZZLES
from wgsl import WgslError

QUESTION, PICTURE, INDEX, KERNEL = GRADES = ["a question", "a picture", "the index", "almost the whole kernel"]
LINES = "almost all lines"  # of Python, where no kernel is written
HINT = re.compile(r"<summary>Hint (\d): (.*?)</summary>(.*?)</details>", re.DOTALL)
FENCE = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)
FEW = 6  # lines to write
WIDEST, LONGEST = 80, 12  # a picture's columns and lines
SNIPPET = re.compile(r"^```(?:rust|python)\n(.*?)^```|`([^`\n]+)`", re.DOTALL | re.MULTILINE)
STATEMENT = re.compile(r"(?<![=<>!])=(?!=)|;")  # what a reader copies, and not the name of something
BLANK, FILLED = "...", ("0u", "0.0")


class Exercise(NamedTuple):
    """The hints of one exercise, and the name of its puzzle."""

    lesson: str
    hints: str
    puzzle: str

    @property
    def is_short(self) -> bool:
        """True if few lines are to be written."""
        puzzle = ALL_PUZZLES[self.puzzle]
        return puzzle.official.source.count(f"{puzzle.mark}\n") <= FEW

    @property
    def snippets(self) -> list[str]:
        """The texts that a reader could copy, in order."""
        snippets = []
        for fence, inline in SNIPPET.findall(self.hints):
            if fence:
                snippets.append(fence)
            elif STATEMENT.search(inline):
                snippets.append(f"{inline.rstrip(';')};")
        return snippets

    @property
    def bare_fields(self) -> list[str]:
        """The expressions in backticks that name a field of `params` without it."""
        struct = re.search(r"struct Params \{(.*?)\}", ALL_PUZZLES[self.puzzle].official.code, re.DOTALL)
        fields = "|".join(re.findall(r"(\w+):", struct[1])) if struct else "(?!)"
        inline = [code for _, code in SNIPPET.findall(self.hints) if re.search(r"\W", code)]
        return [code for code in inline if re.search(rf"(?<![\w.])({fields})(?![\w(])", code)]


def exercises(lesson: Lesson) -> Iterator[Exercise]:
    """The exercises of a lesson, each with the hints that stand above it."""
    hints = ""
    for cell in lesson.cells:
        if not cell.is_code:
            hints += "\n".join(DETAILS.findall(cell.source))
            continue
        graded = PUZZLE.search(cell.source)
        if graded:
            puzzle = graded[1]
            if HINT.search(hints) or not is_blank(puzzle):
                yield Exercise(lesson.path.stem, hints, puzzle)
            hints = ""


def is_blank(puzzle: str) -> bool:
    """True if a puzzle begins with a blank page, for which the hints of those before it are enough."""
    return not ALL_PUZZLES[puzzle].code(helpers.skeleton(puzzle)).strip()


def compiles(puzzle: str, snippets: list[str]) -> bool:
    """True if the last snippet compiles somewhere; one of Python, below the official lines, whose names it may use."""
    if puzzle in PYTHON_PUZZLES:
        text = f"{PYTHON_PUZZLES[puzzle].solution.text}\n{snippets[-1]}"
        return any(is_python(puzzle, filled) for filled in fill(text))
    skeleton = helpers.skeleton(puzzle)
    return (
        compiles_in(skeleton, snippets[-1])
        or compiles_in(skeleton, "\n".join(snippets))
        or compiles_in(PUZZLES[puzzle].solution.text, f"{{\n{snippets[-1]}\n}}")
    )


def compiles_in(module: str, text: str) -> bool:
    """True if a text compiles in one of the places of a module, with its blanks filled in one of the ways."""
    return any(any(map(is_wgsl, places(module, filled))) for filled in fill(text))


def is_wgsl(module: str) -> bool:
    """True if the adapter compiles a module."""
    try:
        device().create_shader_module(code=without_enabling(module))
    except wgpu.GPUError:
        return False
    return True


def is_python(puzzle: str, text: str) -> bool:
    """True if a puzzle of Python can be run with this text."""
    try:
        PYTHON_PUZZLES[puzzle].read(text)
    except WgslError:
        return False
    return True


def fill(text: str) -> Iterator[str]:
    """A text with its blanks filled in all ways."""
    first, *parts = text.split(BLANK)
    for chosen in product(FILLED, repeat=len(parts)):
        yield first + "".join(map("".join, zip(chosen, parts, strict=True)))


def places(module: str, text: str) -> Iterator[str]:
    """A module with a text put before the end of its last function, or before an earlier line of it."""
    lines = module.rstrip().split("\n")
    first = max((i for i, line in enumerate(lines) if re.match(r"fn |\) \{", line)), default=len(lines) - 2)
    for at in range(len(lines) - 1, first, -1):
        yield "\n".join([*lines[:at], text, *lines[at:]])


def is_of_its_kind(kind: str, text: str) -> bool:
    """A question asks, a picture is small plain text, the other two show WGSL."""
    if kind == QUESTION:
        return "?" in text and "```" not in text
    if kind == PICTURE:
        (picture,) = FENCE.findall(text)
        lines = picture.splitlines()
        return len(lines) <= LONGEST and max(map(len, lines)) <= WIDEST and picture.isascii()
    return "```rust" in text or "```python" in text


EXERCISES = []
for path in lessons_of(NOTEBOOKS):
    EXERCISES += exercises(Lesson.read(path))
every_exercise = pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.puzzle)


@every_exercise
def test_every_snippet_of_a_hint_compiles(exercise: Exercise) -> None:
    snippets = exercise.snippets
    for i, snippet in enumerate(snippets, 1):
        assert compiles(exercise.puzzle, snippets[:i]), snippet
    assert not exercise.bare_fields
    assert f"`{BLANK}`" in exercise.hints or BLANK not in "".join(snippets)


@every_exercise
def test_hints_come_in_grades(exercise: Exercise) -> None:
    numbers, kinds, texts = zip(*HINT.findall(exercise.hints), strict=True)
    kinds = [KERNEL if kind == LINES else kind for kind in kinds]
    assert kinds == [kind for kind in GRADES if kind in kinds]
    assert len(kinds) == len(GRADES) or exercise.is_short or exercise.puzzle in PYTHON_PUZZLES
    assert "".join(numbers) == "1234"[: len(kinds)]
    assert all(map(is_of_its_kind, kinds, texts))


# --- The checks above can fail -----------------------------------------------------------------------------


def above_an_editor(puzzle: str, *kinds: str) -> Exercise:
    """An exercise of a lesson with an editor, and above it a hint of each of these kinds."""
    hints = [f"<details>\n<summary>Hint {i}: {kind}</summary>\nWhy?\n</details>" for i, kind in enumerate(kinds, 1)]
    (exercise,) = exercises(lesson("\n".join([*hints, code(f'helpers.write("{puzzle}")')])))
    return exercise


def test_few_lines_need_few_hints():
    test_hints_come_in_grades(above_an_editor("weight_index", QUESTION))
    for puzzle, *kinds in (
        ("conv2d", QUESTION),
        ("weight_index", QUESTION, QUESTION),
        ("weight_index", INDEX, QUESTION),
        ("weight_index", QUESTION, INDEX),  # which shows no WGSL
    ):
        with pytest.raises(AssertionError):
            test_hints_come_in_grades(above_an_editor(puzzle, *kinds))


def test_a_snippet_for_a_blank_page_compiles_alone_or_in_the_kernel():
    for snippet in ("struct Sizes { n: u32 }", "let taps = params.kernel_h * params.kernel_w;"):
        assert compiles("strided_grad_weight", [snippet])
        assert not compiles("strided_grad_weight", [snippet.replace("=", "").replace("u32", "")])


def test_a_snippet_of_python_may_use_the_names_that_are_given_and_those_of_our_lines():
    hint = "```python\nrise = loss(...) - loss(w - h)\n```\nand `twice = 2 * h`, where you fill in `...`"
    exercise = Exercise("05", hint, "central_difference")
    assert exercise.is_short
    assert is_of_its_kind(KERNEL, hint)
    test_every_snippet_of_a_hint_compiles(exercise)
    for old, new in {"loss(w - h)": "loss(v)", "2 * h": "2h"}.items():
        with pytest.raises(AssertionError):
            test_every_snippet_of_a_hint_compiles(exercise._replace(hints=hint.replace(old, new)))
