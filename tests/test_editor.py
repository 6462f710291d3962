"""The editor of a puzzle: its file, the verdict beside it, and bad conditions in which no letter is lost."""

import html
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.threads import Busy, at_once

import helpers
from helpers.gpu import GpuError
from helpers.grading import student_files
from helpers.grading.drawing import Excerpt
from helpers.grading.reasons import NotCompiled, Plain
from helpers.grading.verdict import NO_COMPILE, RIGHT, UNSAFE, Grades, Verdict
from helpers.widgets import WAKE
from helpers.widgets.editor import AGAIN, Editor
from helpers.widgets.question import Ask

TESTS = ("small", "large")
PUZZLE = SimpleNamespace(
    name="map",
    skeleton="skeleton",
    solution=SimpleNamespace(text="ours"),
    tests=TESTS,
    limits="",
    first_error=lambda text: (2, 3, 4) if "wrong" in text else None,
)
LARGE = Verdict("large", NO_COMPILE, NotCompiled("`;` is missing", 2, 4), Excerpt("2 | x"))
BROKEN = Grades([Verdict("small", RIGHT, Plain("same")), LARGE])


@pytest.fixture(autouse=True)
def my(tmp_path, monkeypatch) -> Path:
    """The learner's folder."""
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "my"))
    return tmp_path / "my"


def editor(grades: Grades = BROKEN) -> Editor:
    def graded(text: str) -> Grades:
        student_files.keep_attempt("map", text)
        return grades

    return Editor(PUZZLE, graded)


def send(made: Editor, kind: str, text: str) -> bool:
    """Send what the page sends, and return the reply: is its text written?"""
    made._told(made, {"kind": kind, "text": text, "number": 7}, [])
    assert made.heard["number"] == 7
    return made.heard["written"]


def test_a_learner_begins_with_the_skeleton_and_goes_on_with_their_file(my):
    made = editor()
    assert (made.text, student_files.read("map")) == ("skeleton", None)
    assert send(made, "keep", "mine, é")
    assert (my / "map.wgsl").read_text(encoding="utf-8") == editor().text == "mine, é"


def test_what_two_threads_ask_for_is_graded_one_after_the_other():
    busy = Busy()

    def graded(text: str) -> Grades:
        busy()
        return BROKEN

    def answered(*arguments: object) -> Verdict:
        busy()
        return BROKEN[0]

    made = Editor(PUZZLE, graded)
    question = Ask("q", SimpleNamespace(asked="?", hint="", why="", typed=str, grade=answered))
    for widget, message in ((made, {"kind": "run", "text": "mine"}), (question, {"whole": True, "answer": "1"})):
        first, second = ({**message, "number": number} for number in (1, 2))
        at_once(partial(widget._told, widget, first, []), partial(widget._told, widget, second, []))
    assert (busy.begun, busy.together) == (4, 1)


def test_who_starts_over_loses_nothing(my):
    made = editor()
    for text in ("skeleton", "mine"):
        assert send(made, "over", text)
        assert made.text == student_files.read("map") == "skeleton"
        assert made.state == AGAIN
    assert [path.read_text() for path in (my / "attempts").iterdir()] == ["mine"]


def test_the_official_kernel_is_sent_after_three_attempts_that_compile_and_is_there_the_next_time():
    made = editor(Grades.alike(TESTS, UNSAFE))
    for text in ("mine", "mine", "does not compile: wrong", "mine, again"):
        send(made, "run", text)
        assert made.ours == editor().ours == ""
    send(made, "keep", "mine, at last")
    assert made.ours == editor().ours == ""
    send(made, "run", "mine, at last")
    assert made.ours == editor().ours == "ours"


def test_the_official_kernel_is_sent_to_who_is_right_and_is_there_the_next_time():
    assert helpers.write("combine_means").ours == ""
    made = helpers.write("combine_means")
    send(made, "run", helpers.skeleton("combine_means"))
    assert made.ours == ""
    send(made, "run", "combined = (a * n_a + b * n_b) / (n_b + n_a)")
    assert made.ours == helpers.write("combine_means").ours == helpers.solution("combine_means").text


def test_a_day_later_an_editor_shows_what_its_text_was_judged():
    assert helpers.write("combine_means").verdict == {}
    made = helpers.write("combine_means")
    send(made, "run", "combined = (a + b) / 2")
    later = helpers.write("combine_means")
    assert later.text == "combined = (a + b) / 2"
    assert later.verdict == {"kind": "wrong", "headline": "yours: not right yet, 1 of 3 tests"}
    assert later.judged == made.judged == "yours: not right yet, 1 of 3 tests"
    send(later, "run", "combined = (a * n_a + b * n_b) / (n_b + n_a)")
    assert helpers.write("combine_means").verdict == {"kind": "right", "headline": "yours: right, 3 of 3 tests"}
    send(later, "keep", "combined = a")
    assert helpers.write("combine_means").verdict == {}


def test_two_copies_of_the_project_keep_their_texts_apart_in_the_page(tmp_path, monkeypatch):
    here = editor().folder
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "other"))
    assert here != editor().folder == editor().folder


@pytest.mark.parametrize(("choice", "kept", "attempt"), [("mine", "mine", "theirs"), ("theirs", "theirs", "mine")])
def test_a_file_that_another_program_changed_is_asked_about_and_both_texts_are_kept(my, choice, kept, attempt):
    made = editor()
    send(made, "keep", "old")
    (my / "map.wgsl").write_text("theirs")
    assert not send(made, "run", "mine")
    assert made.conflict
    assert (my / "map.wgsl").read_text() == "theirs"
    send(made, choice, "mine")
    assert not made.conflict
    assert (made.text, student_files.read("map")) == (kept, kept)
    assert student_files.last_attempt("map") == attempt


def test_text_that_was_typed_while_python_did_not_run_is_asked_about(my):
    student_files.keep("map", "in the file")
    made = editor()
    assert not send(made, "found", "typed")
    assert (made.conflict, student_files.read("map")) == (True, "in the file")
    assert send(made, "mine", "typed")
    assert (student_files.read("map"), student_files.last_attempt("map")) == ("typed", "in the file")


@pytest.mark.parametrize("begun", [False, True])
def test_text_that_was_typed_where_there_is_no_text_yet_is_taken(begun):
    made = editor()
    if begun:
        send(made, "keep", made.begun)
    assert send(made, "found", "typed")
    assert (made.conflict, made.text, student_files.read("map")) == (False, "typed", "typed")


def test_a_folder_that_cannot_be_written_is_said_and_the_text_stays_in_the_page(my):
    my.write_text("a file in the folder's place")
    made = editor()
    send(made, "run", "mine")
    assert made.verdict
    assert not send(made, "keep", "mine, too")
    assert "cannot be written" in made.state
    assert made.text == "mine, too"


def test_a_file_that_is_no_text_is_named_and_left_alone(my):
    my.mkdir()
    (my / "map.wgsl").write_bytes(b"caf\xe9")
    with pytest.raises(student_files.StudentFileError, match=r"map\.wgsl is not UTF-8 \(byte 3\)"):
        editor()
    assert (my / "map.wgsl").read_bytes() == b"caf\xe9"


def test_a_text_left_out_is_the_learners_file(my):
    assert helpers.grade("map").passed == 0
    student_files.keep("map", helpers.skeleton("map") + "\nx")
    assert helpers.grade("map")[0].line
    assert student_files.last_attempt("map").endswith("x")


def test_what_is_stored_does_not_depend_on_the_learner(my):
    """It is the text to begin with, folded on a page that can fold, such as GitHub's."""
    empty, _ = editor()._repr_mimebundle_()
    texts = {kind: text for kind, text in empty.items() if kind.startswith("text/")}
    student_files.keep("map", "mine")
    written, _ = editor()._repr_mimebundle_()
    assert texts.items() <= written.items()
    begun = helpers.skeleton("strided_grad_weight")
    stored, _ = helpers.write("strided_grad_weight")._repr_mimebundle_()
    assert stored["text/plain"] == f"{helpers.write('strided_grad_weight')!r}\n\n{begun}"
    shown, fold = stored["text/html"].split("<details>")
    assert WAKE in shown
    assert html.unescape(re.sub("<[^>]*>", "", fold.partition("</summary>")[2])) == begun


def test_what_keeps_the_machine_from_grading_is_said_beside_the_text():
    def broken(text: str) -> Grades:
        raise GpuError("the GPU is gone")

    made = Editor(PUZZLE, broken)
    with pytest.raises(GpuError, match="gone"):
        made.run("mine")
    assert made.state == "the GPU is gone"
    assert not made.running
