"""What is counted of a lesson: those in the new form keep the rules, and each rule is red on a small bad notebook."""

import pytest
from nbformat import NotebookNode, v4
from support import course_rules
from support.course_rules import IN_NEW_FORM, RULES, broken, main, minutes
from support.notebook_gate import NOTEBOOKS, Lesson


@pytest.mark.parametrize("stem", IN_NEW_FORM)
def test_a_lesson_in_the_new_form_keeps_the_rules(stem):
    said = broken(Lesson.read(NOTEBOOKS / f"{stem}.ipynb"))
    assert not said, "\n".join(said)


# --- Small notebooks --------------------------------------------------------------------------------------------

HOW_LONG = "**How long.** About 32 minutes."
RECAP = "## Recap\n\nOne thread adds up one weight's products.\n\nWhere does the upstream gradient come from?"
PICTURE = """
from types import SimpleNamespace

from helpers.pictures.canvas import Picture
from helpers.pictures.parts import Grid
from helpers.widgets.explorer import Explorer


class Square(Picture):
    def draw(self, row, column):
        grid = Grid(self, [[1, 2], [3, 4]], 20, 60, (40, 40), "square")
        {touch}
        return "A square."


explorers = SimpleNamespace(square=lambda: Explorer(Square().show, {{"row": 2, "column": 2}}, steps={steps}))
"""
POINTED, TO_TRY = 'grid.touch("square", "row", "column")', '{"Point at 4.": {"row": 1, "column": 1}}'


def text(source: str) -> NotebookNode:
    return v4.new_markdown_cell(source)


def code(source: str, shown: str = "", image: str = "") -> NotebookNode:
    data = {"text/plain": shown} | ({"image/png": image} if image else {})
    return v4.new_code_cell(source, outputs=[v4.new_output("display_data", data)] if shown else [])


def setup(touch: str = POINTED, steps: str = TO_TRY) -> NotebookNode:
    return code(PICTURE.format(touch=touch, steps=steps))


def good() -> list[NotebookNode]:
    """The cells of a lesson that keeps every rule: a picture, a question, three small kernels and a whole one."""
    return [
        text(f"# A lesson\n\n{HOW_LONG}"),
        setup(),
        code("explorers.square()", "A square.", "iVBO"),
        code('helpers.ask("pixels_of_a_weight")', "How many pixels?"),
        code('helpers.write("weight_index")'),
        text("Now the window.\n\n<details><summary>Hint</summary>" + " word" * 300 + "</details>"),
        code('helpers.write("weight_window")'),
        code('helpers.write("weight_padding")'),
        code('helpers.write("strided_grad_weight")'),
        code('helpers.write("conv2d_grad_weight")'),
        code('fault = one_thread.edit("n < params.batch", "n < 1u")'),
        text(RECAP),
    ]


def lesson(cells: list[NotebookNode], stem: str = "02_weight_gradient") -> Lesson:
    notebook = v4.new_notebook()
    notebook.cells = cells  # unvalidated: a cell may stand there twice
    return Lesson(NOTEBOOKS / f"{stem}.ipynb", notebook)


def judged(*given) -> list[str]:
    return broken(lesson(*given))


def put(at: int, *cells: NotebookNode):
    """The good lesson with cells before one of its own."""
    return lambda: [*good()[:at], *cells, *good()[at:]]


def swap(at: int, *cells: NotebookNode):
    """The good lesson with cells in the place of one of its own."""
    return lambda: [*good()[:at], *cells, *good()[at + 1 :]]


def answered_after(cells: int):
    """The good lesson with the answer to its question so many cells behind it."""
    return put(4, *[text("word")] * (cells - 1), text("Thread 576."))


MANY = [text("word " * 125), code('helpers.ask("pixels_of_a_weight")')] * 21
FIRST = 'first = one_thread.edit("a", "b")'
BAD = [  # rule, cells, what is said
    ("time", swap(0, text("# A lesson")), "32 minutes by the formula, and the first cell says nothing"),
    ("time", swap(0, text(HOW_LONG.replace("32", "60"))), "and the first cell says 60"),
    ("time", put(3, *[code("1", "A line.", "iVBO")] * 10), "62 minutes, at most 60"),
    ("length", put(5, *MANY), "2,652 words, at most 2,500"),
    ("first_line", put(4, *MANY[:12]), "the first line is written after 758 words, at most 700"),
    ("first_line", lambda: good()[:4] + good()[10:], "the first line is written never"),
    ("graded_kernels", lambda: good()[:6] + good()[9:], "2 graded kernels, at least 3"),
    (
        "way",
        put(6, *[text("word " * 100)] * 3),
        "words lead to cell 10 ('helpers.write(\"weight_window\")'), at most 280",
    ),
    (
        "way",
        put(1, *[text("word " * 100)] * 3),
        "words lead to cell 7 ('helpers.ask(\"pixels_of_a_weight\")'), at most 280",
    ),
    ("way", put(11, *[text("word " * 100)] * 3), "words lead to cell 15 ('## Recap'), at most 280"),
    (
        "text_cells",
        put(6, text("word " * 126)),
        "cell 7 ('word word word word word word word word word word ') has 126",
    ),
    ("text_cells", put(6, text("$$ x $$" + " word" * 179)), "has 182 words, at most 180"),
    ("text_cells", swap(11, text(RECAP.replace("One", "one " * 260))), "words, at most 260"),
    (
        "answers",
        put(6, text("Its number is 576.")),
        "cell 7 ('Its number is 576.') has the answer to pixels_of_a_weight",
    ),
    ("answers", answered_after(10), "cell 14 ('Thread 576.') has the answer to pixels_of_a_weight: 'Thread 576.'"),
    ("answers", put(2, code("1", "thread 576")), "has the answer to pixels_of_a_weight: 'thread 576'"),
    ("answers", put(3, code("1", "It is 4.61."), code('helpers.ask("loss_of_100_classes")')), "'It is 4.61.'"),
    ("answers", put(3, code('helpers.ask("tree_of_6")'), text("It takes twelve.")), "'It takes twelve.'"),
    (
        "answers",
        put(3, code('helpers.mark("pixels_of_dW[0,1]")'), text("b c d, g h i, l m n")),
        "'b c d, g h i, l m n'",
    ),
    ("answers", put(3, code('helpers.ask("gradient_of_a_tie")'), text("5, 2")), "'5, 2'"),
    (
        "pictures",
        swap(1, setup(touch="pass")),
        "cell 3 ('explorers.square()') has a grid that cannot be pointed at: sq",
    ),
    ("pictures", swap(1, setup(steps="{}")), "cell 3 ('explorers.square()') has a picture that says nothing to try"),
    ("edits", put(6, code(FIRST + '.edit("c", "d")')), "edits a kernel that an edit made"),
    ("edits", put(6, code(FIRST), code('first.edit("c", "d")')), "edits first, which an edit made"),
    ("recap", swap(11, text(RECAP + " Lesson 03 says it.")), "cell 12 ('## Recap') ends with "),
    ("recap", swap(11, text("The end.")), "there is no recap"),
]


@pytest.mark.parametrize(
    "cells",
    [
        good,
        swap(
            11,
            text(RECAP.replace("?", "?*") + "\n\n![a picture](p.png)\n\n## Further reading\n\n- A book.\n\n[← 01](x)"),
        ),
        put(6, text("$$ x $$" + " word" * 177)),
        answered_after(11),
        put(6, text("`576` and $576$ and [this](576.md), 1,576 and 576.5")),
        put(3, code('helpers.ask("padding_tests_of_a_thread")'), text("(1, 1, 3, 3)       9 of 9 right")),
    ],
)
def test_a_good_notebook_keeps_every_rule(cells):
    assert [said for said in judged(cells()) if not said.startswith("time")] == []


def test_the_formula_is_the_plans():
    """One picture, one question, three small kernels, a whole one, and no blank page."""
    assert judged(good()) == []
    assert minutes(lesson(good())) == round(28 / 180 + 3 + 1.5 + 3 * 5 + 12)


@pytest.mark.parametrize(("rule", "cells", "words"), BAD)
def test_a_bad_notebook_is_told_apart(rule, cells, words):
    said = [line for line in judged(cells()) if line.startswith(f"{rule}: ")]
    assert any(words in line for line in said), said


def test_every_rule_is_tried():
    assert {rule for rule, *_ in BAD} == {rule.__name__ for rule in RULES}


def test_the_map_and_appendices_keep_what_holds_for_them():
    cells = [text("word " * 126), code('helpers.write("map")')]
    assert {said.split(":")[0] for said in judged(cells, "start_here")} == {"text_cells"}
    assert {said.split(":")[0] for said in judged(cells, "appendix_e")} == {"text_cells", "graded_kernels"}


def test_the_table_has_a_line_for_each_lesson(capsys):
    main()
    assert len(capsys.readouterr().out.splitlines()) == 2 + len(course_rules.lessons_of(NOTEBOOKS))
