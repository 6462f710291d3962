"""Hints teach WGSL that compiles: each snippet of a hint can be put into the reader's kernel as it is.

A snippet is a ```rust fence, or a statement in backticks. It is compiled in the skeleton, alone or after the hints
before it; where it goes on from lines that the reader has written by then, in a block inside the official kernel. A
blank, which the reader fills in, is written `...` in the place of an expression, and the hint says so.

The hints of an exercise come in grades: a question, a picture, the index, and last almost the whole kernel. The short
kernels of lesson 00 do without the picture or the index.
"""

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import nbformat
import pytest
import wgpu
from support.notebook_gate import NOTEBOOKS, Lesson
from support.teaching_pages import puzzles_of

import helpers
from helpers.exercises import PUZZLES
from helpers.gpu.adapter import device
from helpers.gpu.passes import pipeline
from helpers.wgsl import Kernel, WgslError

DETAILS = re.compile(r"<details>.*?</details>", re.DOTALL)
GRADES = ["a question", "a picture", "the index", "almost the whole kernel"]
HINT = re.compile(r"<details>\s*<summary>(?P<title>.*?)</summary>(?P<text>.*?)</details>", re.DOTALL)
FENCE = re.compile(r"^```\n(.*?)^```$", re.DOTALL | re.MULTILINE)
WIDEST, LONGEST = 80, 12  # a picture's columns and lines
SNIPPET = re.compile(r"^```rust\n(?P<fence>.*?)^```|`(?P<inline>[^`\n]+)`", re.DOTALL | re.MULTILINE)
STATEMENT = re.compile(r"(?<![=<>!])=(?!=)|;")  # what a reader copies, and not the name of something
GRADE = re.compile(r'helpers\.grade\("(\w+)"')
FIELDS = re.compile(r"struct Params \{(.*?)\}", re.DOTALL)
BLANK, FILLED = "...", ("0u", "0.0")


class Exercise(NamedTuple):
    """The hints of one exercise, and the name of its puzzle."""

    lesson: str
    hints: str
    puzzle: str

    @property
    def snippets(self) -> list[str]:
        """What a reader could copy, in order."""
        found = [(match["fence"], match["inline"] or "") for match in SNIPPET.finditer(self.hints)]
        return [fence or f"{inline.rstrip(';')};" for fence, inline in found if fence or STATEMENT.search(inline)]

    @property
    def bare_fields(self) -> list[str]:
        """The expressions in backticks that name a field of `params` without it."""
        struct = FIELDS.search(helpers.skeleton(self.puzzle))
        fields = re.findall(r"(\w+):", struct[1]) if struct else []
        inline = [code for match in SNIPPET.finditer(self.hints) if re.search(r"\W", code := match["inline"] or "")]
        return [code for code in inline for field in fields if re.search(rf"(?<![\w.]){field}(?![\w(])", code)]


def exercises(lesson: Lesson) -> Iterator[Exercise]:
    """The exercises of a lesson that have hints, and a kernel to write below them."""
    for i, cell in enumerate(lesson.cells):
        hints = "" if cell.is_code else "\n".join(DETAILS.findall(cell.source))
        below = (GRADE.search(other.source) for other in lesson.cells[i:] if other.is_code)
        if hints and (graded := next(filter(None, below), None)):
            yield Exercise(f"{lesson.path.stem}, cell {cell.number}", hints, graded[1])


def wrong(exercise: Exercise) -> list[str]:
    """What is wrong with the hints of an exercise."""
    snippets = exercise.snippets
    found = [problem(exercise.puzzle, snippets[: i + 1]) for i in range(len(snippets))]
    found += [f"{code!r}: a field without params" for code in exercise.bare_fields]
    blanks = any(BLANK in snippet for snippet in snippets)
    return [*filter(None, found), *["no word of what `...` is"] * (blanks and f"`{BLANK}`" not in exercise.hints)]


def problem(puzzle: str, snippets: list[str]) -> str:
    """Why the last snippet compiles nowhere, or nothing."""
    skeleton = helpers.skeleton(puzzle)
    texts = snippets[-1], "\n".join(snippets)
    modules = [module for text in texts for filled in fill(text) for module in places(skeleton, filled)]
    block = (f"{{\n{filled}\n}}" for filled in fill(snippets[-1]))
    modules += [module for filled in block for module in places(PUZZLES[puzzle].solution.text, filled)]
    return "" if any(map(compiles, modules)) else explained(modules[0])


def compiles(module: str) -> bool:
    """Is this WGSL? Of thousands of places in which a snippet is tried, most are wrong, and need no explanation."""
    try:
        device().create_shader_module(code=module)
    except wgpu.GPUError:
        return False
    return True


def explained(module: str) -> str:
    """What a reader is told about it."""
    with pytest.raises(WgslError) as caught:
        pipeline(Kernel(module), "main")
    return str(caught.value)


def ungraded(exercise: Exercise) -> list[str]:
    """What is wrong with the order of the hints of an exercise, or with their kinds."""
    hints = [(match["title"], match["text"]) for match in HINT.finditer(exercise.hints)]
    kinds = [title.partition(": ")[2] for title, _ in hints]
    allowed = [GRADES, GRADES[:1] + GRADES[2:], GRADES[:2] + GRADES[3:]][: 3 if exercise.lesson.startswith("00") else 1]
    found = [f"its hints are {kinds}, not {GRADES}"] * (kinds not in allowed)
    found += [f"{title!r} is hint {i}" for i, (title, _) in enumerate(hints, 1) if not title.startswith(f"Hint {i}: ")]
    return found + [problem for title, text in hints for problem in unlike(title.partition(": ")[2], text)]


def unlike(kind: str, text: str) -> list[str]:
    """Why a hint is not of its kind: a question asks, a picture is small plain text, the other two show WGSL."""
    pictures = FENCE.findall(text)
    if kind == "a question":
        return ["a question that does not ask"] * ("?" not in text) + ["a question with WGSL"] * ("```" in text)
    if kind == "a picture":
        lines = "\n".join(pictures).splitlines()
        small = len(lines) <= LONGEST and max(map(len, lines), default=0) <= WIDEST and "".join(lines).isascii()
        return ["a picture that is not one block of small plain text"] * (len(pictures) != 1 or not small)
    return [f"{kind}: without WGSL"] * ("```rust" not in text)


def fill(text: str) -> Iterator[str]:
    """A text with its blanks filled in all ways."""
    parts = text.split(BLANK)
    for chosen in product(FILLED, repeat=len(parts) - 1):
        yield "".join(a + b for a, b in zip(parts, (*chosen, ""), strict=True))


def places(module: str, text: str) -> Iterator[str]:
    """A module with a text put before the end of its last function, or before an earlier line of it."""
    lines = module.rstrip().split("\n")
    first = max(i for i, line in enumerate(lines) if re.match(r"fn |\) \{", line))
    for at in range(len(lines) - 1, first, -1):
        yield "\n".join([*lines[:at], text, *lines[at:]])


FOUND = [exercise for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb")) for exercise in exercises(Lesson.read(path))]


@pytest.mark.parametrize("exercise", FOUND, ids=lambda exercise: exercise.lesson)
def test_every_snippet_of_a_hint_compiles(exercise: Exercise) -> None:
    assert wrong(exercise) == []


def test_each_exercise_has_hints() -> None:
    lessons = map(Lesson.read, sorted(NOTEBOOKS.glob("[0-9]*.ipynb")))
    assert [exercise.puzzle for exercise in FOUND] == [name for lesson in lessons for name in puzzles_of(lesson)]


@pytest.mark.parametrize("exercise", FOUND, ids=lambda exercise: exercise.lesson)
def test_hints_come_in_grades(exercise: Exercise) -> None:
    assert ungraded(exercise) == []


# --- The checks above can fail ----------------------------------------------------------------------------

HINTS = """
<details><summary>Hint 1: the index</summary>

`fw` changes fastest. Fill in each `...`.

```rust
let idx = global.x;
let fw = ...;
```

</details>

<details><summary>Hint 2: almost the whole kernel</summary>

```rust
grad_weights[idx] = ...;
```

</details>
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("let fw", "fw", "`fw`"),
        ("let idx = global.x;\n", "idx = global.x;\n", "`idx`"),
        ("= ...;\n```\n\n</details>\n\n", "= idx % F;\n```\n\n</details>\n\n", "`F`"),
        ("`fw` changes", "`fw = idx % params.F` changes", "`fw`"),
        ("`fw` changes", "The rest of `idx / F`; `fw` changes", "'idx / F': a field without params"),
        ("Fill in each `...`.", "", "no word of what `...` is"),
    ],
)
def test_a_wrong_hint_is_seen(old: str, new: str, said: str) -> None:
    found = wrong(Exercise("", HINTS.replace(old, new), "conv2d_grad_weight"))
    assert said in "\n".join(found)
    assert bool(found) == bool(said)


GRADED = """
<details><summary>Hint 1: a question</summary>

Which weight is mine?

</details>

<details><summary>Hint 2: a picture</summary>

```
0 1 2
```

</details>
""" + HINTS.replace("Hint 2", "Hint 4").replace("Hint 1", "Hint 3")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", ""),
        ("Hint 1: a question", "Hint 1: the idea", "its hints are ['the idea'"),
        ("Hint 3", "Hint 5", "'Hint 5: the index' is hint 3"),
        ("mine?", "mine.", "a question that does not ask"),
        ("mine?", "mine?\n\n```rust\nlet i = 0;\n```\n", "a question with WGSL"),
        ("0 1 2\n", "0 1 2\n" * 13, "not one block of small plain text"),
        ("0 1 2\n", "0 → 2\n", "not one block of small plain text"),
        ("0 1 2\n", "0 1 2" * 20 + "\n", "not one block of small plain text"),
        ("```\n0 1 2\n```\n", "", "not one block of small plain text"),
        ("```rust\ngrad_weights[idx] = ...;\n```", "", "almost the whole kernel: without WGSL"),
    ],
)
def test_hints_in_a_wrong_order_are_seen(old: str, new: str, said: str) -> None:
    found = ungraded(Exercise("01", GRADED.replace(old, new, 1), "conv2d_grad_weight"))
    assert said in "\n".join(found)
    assert bool(found) == bool(said)


@pytest.mark.parametrize(("lesson", "right"), [("00_meet", True), ("01_convolution", False)])
def test_only_lesson_00_does_without_a_picture(lesson: str, right: bool) -> None:
    first, _, *others = DETAILS.findall(GRADED)
    hints = "".join([first, *others]).replace("Hint 3", "Hint 2").replace("Hint 4", "Hint 3")
    assert (ungraded(Exercise(lesson, hints, "conv2d_grad_weight")) == []) == right


def test_hints_are_found() -> None:
    cells = ("<details>`x`</details>", 'helpers.grade("map", my_kernel)'), ("<details>`y`</details>", "2")
    made = [(nbformat.v4.new_markdown_cell(prose), nbformat.v4.new_code_cell(code)) for prose, code in cells]
    lesson = Lesson(NOTEBOOKS / "x.ipynb", nbformat.v4.new_notebook(cells=[cell for pair in made for cell in pair]))
    assert list(exercises(lesson)) == [("x, cell 1", "<details>`x`</details>", "map")]
