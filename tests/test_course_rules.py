"""The rules of a course: lessons in the new form keep them, and each of them is red on a small bad notebook."""

import re

import pytest
from support import course_rules, speakers
from support.course_rules import IN_NEW_FORM, RULES, broken, lessons_of, main, minutes, pictures
from support.messages import stored
from support.notebook_gate import NOTEBOOKS, Lesson
from support.sample import sample
from support.small_lessons import code, good, lesson


@pytest.mark.parametrize("stem", IN_NEW_FORM)
def test_a_lesson_in_the_new_form_keeps_the_rules(stem):
    without = () if stem in sample(IN_NEW_FORM, 2) else (pictures,)  # for which the lesson is run
    faults = broken(Lesson.read(NOTEBOOKS / f"{stem}.ipynb"), without)
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("stem", ["00_meet_the_gpu", "01_convolution_as_correlation", "03_input_gradient"])
def test_the_first_picture_is_no_higher_than_what_is_left_of_the_first_screen(stem):
    """At 1280 x 720, below a title, three lines, the cell, what to try, and a slider."""
    lesson = Lesson.read(NOTEBOOKS / f"{stem}.ipynb")
    ((_, explorer),) = speakers.shown(lesson, lesson.code[:1])
    explorer.set()
    assert explorer.picture.height <= 266


LEAVE_IT = re.compile(r"\bleave [^.:]*\bat \d", re.IGNORECASE)


def test_no_text_forbids_what_the_steps_of_its_picture_ask_for():
    """A picture begins where the text wants it, so that no text says where a slider must stay."""
    assert LEAVE_IT.search("Leave n, co and ci at 0: batches come later.")
    for path in lessons_of(NOTEBOOKS):
        for cell in Lesson.read(path).prose:
            assert not LEAVE_IT.search(cell.source), path.name


def test_what_a_reader_may_copy_has_no_power_that_is_nan_below_0():
    """WGSL's pow(x, 3.0) is a power of 2 by a logarithm, which a negative number does not have."""
    texts = [cell.source for path in NOTEBOOKS.glob("*.ipynb") for cell in Lesson.read(path).cells]
    for pattern in ("kernels/**/*.wgsl", "helpers/lessons/**/*.wgsl", "helpers/lessons/**/*.toml", "notebooks/**/*.md"):
        texts += [path.read_text(encoding="utf-8") for path in NOTEBOOKS.parent.glob(pattern)]
    assert not [text for text in texts if "pow(" in text]


def test_the_formula_is_the_plans():
    """One picture, one question, three small kernels, a whole one; the blank page is the next day's."""
    assert minutes(lesson(good)) == round(33 / 180 + 3 + 1.5 + 3 * 5 + 12)
    fault = code('helpers.find_fault("fault_in_a_tile")')  # its line is corrected
    assert minutes(lesson(f"{good}\n***\n{fault}")) == minutes(lesson(good)) + 5


def test_every_rule_is_tried_on_a_small_notebook():
    """The faults of each notebook are stored, in `messages/lesson_rules.txt`."""
    names = set()
    for *_, message in stored("lesson_rules"):
        names |= {line.partition(": ")[0] for line in message.split("\n")}
    assert names == {"it keeps every rule", *(rule.__name__ for rule in RULES)}


def test_the_table_has_a_line_for_each_lesson(capsys):
    main()
    assert len(capsys.readouterr().out.splitlines()) == 3 + len(course_rules.lessons_of(NOTEBOOKS))
