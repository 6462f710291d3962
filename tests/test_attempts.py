"""A text that a learner has graded is kept, and opens the solution; a mistake that a lesson shows is no attempt."""

from pathlib import Path

import pytest

import helpers
from helpers.grading import student_files
from helpers.grading.verdict import RIGHT, Grades
from helpers.lessons.exercises import PUZZLES, WORKER

# --- Attempts, and the solution after one -------------------------------------------------------------------


@pytest.fixture(autouse=True)
def kept(tmp_path, monkeypatch) -> Path:
    """The folder in which the attempts of a test are; whatever is graded is right, and nothing is left unwritten."""
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))
    monkeypatch.setattr(WORKER, "grade", lambda puzzle, source, tests, seed: Grades.alike(tests, RIGHT))
    return tmp_path / "attempts"


def fail(*arguments: object) -> None:
    """Refuse to write."""
    raise OSError("no space left")


def test_each_attempt_is_kept_once_by_its_puzzle(kept):
    for name, source in [("map", "a"), ("map", "a"), ("map", "b\r\nπ\ud800"), ("guard", "b"), ("map", "a")]:
        helpers.grade(name, source)
        assert helpers.last_attempt(name) == source
    assert {path.name for path in kept.iterdir()} == {"guard_1.wgsl", "map_1.wgsl", "map_2.wgsl", "map_3.wgsl"}
    assert (kept / "map_2.wgsl").read_bytes().startswith("b\r\nπ".encode())


def test_the_last_attempt_is_the_one_with_the_highest_number(kept):
    kept.mkdir()
    for name in (
        "conv2d_2.wgsl",
        "conv2d_9.wgsl",
        "conv2d_10.wgsl",
        "conv2d_grad_weight_11.wgsl",
        "conv2d_12.wgsl.part",
    ):
        (kept / name).write_text(name)
    assert helpers.last_attempt("conv2d") == "conv2d_10.wgsl"
    assert helpers.last_attempt("conv2d_grad_input") is None
    student_files.keep_attempt("conv2d", "the next one")
    assert (kept / "conv2d_11.wgsl").read_text() == helpers.last_attempt("conv2d") == "the next one"


def test_two_processes_that_graded_at_once_keep_both_texts(kept, monkeypatch):
    """Each looked for the last number before the other one wrote."""
    monkeypatch.setattr(student_files, "_attempts", lambda puzzle: {})
    for text in "abc":
        student_files.keep_attempt("map", text)
    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        "map_1.wgsl": "a",
        "map_2.wgsl": "b",
        "map_3.wgsl": "c",
    }


def test_an_attempt_that_another_process_is_just_writing_is_not_the_last_one(kept):
    student_files.keep_attempt("map", "whole")
    (kept / "map_2.wgsl").touch()
    assert helpers.last_attempt("map") == student_files.latest("map") == "whole"
    student_files.keep_attempt("map", "the next one")
    assert (kept / "map_3.wgsl").read_text() == helpers.last_attempt("map") == "the next one"


def test_a_text_is_kept_before_it_is_graded(kept, monkeypatch):
    monkeypatch.setattr(WORKER, "grade", fail)
    with pytest.raises(OSError, match="no space"):
        helpers.grade("map", "mine")
    assert helpers.last_attempt("map") == "mine"


def test_the_skeleton_and_a_tried_mistake_are_no_attempts(kept):
    helpers.grade("map", f"\n{helpers.skeleton('map')}\n// 1. Hm\n")
    helpers.try_mistake("map", "+ 1.0", "+ 2.0")
    assert helpers.last_attempt("map") is None
    assert not kept.exists()


def test_a_folder_that_cannot_be_written_stops_nothing(kept):
    kept.write_text("a file is here")
    assert helpers.grade("map", "mine").passed == 2
    assert helpers.last_attempt("map") == "mine"
    assert helpers.solution("map").text
    kept.unlink()
    helpers.grade("map", "mine, too")
    assert helpers.last_attempt("map") == "mine, too"


def test_a_file_that_cannot_be_finished_leaves_nothing(kept, monkeypatch):
    monkeypatch.setattr("os.replace", fail)
    student_files.keep_attempt("map", "mine")
    assert not list(kept.iterdir())
    assert helpers.last_attempt("map") == "mine"


def test_the_solution_is_shown_after_an_attempt(kept):
    with pytest.raises(
        student_files.NoAttemptError, match="the solution of map is shown after your first attempt"
    ) as error:
        helpers.solution("map")
    assert error.value._render_traceback_() == [str(error.value)]  # a notebook shows no traceback
    helpers.grade("guard", "mine")
    assert helpers.last_attempt("map") is None
    helpers.grade("map", "\nmine\n")
    assert helpers.solution("map") == PUZZLES["map"].solution
    helpers.grade("map", "mine, in the editor")
    assert helpers.solution("map").first_line == 1
