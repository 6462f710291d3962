"""Words on cards: one reply for the whole, foreseen arrangements by their names, and no bad input loses anything."""

import json
from itertools import pairwise, permutations

import pytest

import helpers
from helpers import gradebook
from helpers.exercises import MATCHINGS
from helpers.gemm import exercises as gemm
from helpers.gradient_checks import exercises, in_training
from helpers.grading import class_table, student_files
from helpers.grading.matching import Matching
from helpers.grading.verdict import RIGHT, WRONG
from helpers.network.pictures.curves import RunsPicture
from helpers.widgets.question import Match

RIGHT_ANSWER = "batch, relu, sign, bias"
PASSES = Matching(
    ("d_pre", "d_a", "d_b"),
    {("d_a", None, None): "first?"},
    "which needs which?",
    "In which order?",
    "d_pre is first.",
    cards=("first", "second", "third"),
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "my"))


def told(made: Match, answer: str, whole: bool = False) -> str:
    """What the page sends, and what is then said."""
    made._told(made, {"answer": answer, "whole": whole, "number": 7}, [])
    assert made.heard == 7
    return made.reply.get("text", "")


@pytest.mark.parametrize("name", MATCHINGS)
def test_every_wrong_arrangement_gets_a_question_that_leads_on(name):
    question = MATCHINGS[name]
    assert question.asked.endswith("?")
    assert all(word in question.why for word in question.words)
    used = set()
    for words in permutations(question.words, len(question.cards)):
        verdict = question.grade(name, words)
        assert verdict.outcome == (RIGHT if words == question.right else WRONG)
        used.add(verdict.detail)
        assert verdict.detail.endswith("?") or words == question.right
    assert used - {question.advice, ""} == {*question.mistakes.values()}, "one that is never said"


def test_nothing_is_graded_before_it_is_asked_for_and_one_reply_is_for_the_whole():
    made = helpers.match("four_curves")
    assert (made.answer, made.reply, made.why) == ("", {}, "")
    assert told(made, "batch, , , ") == ""
    assert student_files.answers() == {"four_curves": "batch, , , "}
    assert told(made, "batch, , , ", whole=True) == "lay a word on Curve B first"
    assert (told(made, "relu, batch, sign, bias", whole=True)[:32], made.why) == (
        "wrong: A and B are exchanged; a ",
        "",
    )
    assert told(made, "relu, , sign, bias") == ""  # the reply was to the old arrangement
    assert told(made, RIGHT_ANSWER, whole=True) == "right"
    assert made.why == MATCHINGS["four_curves"].why
    again = helpers.match("four_curves")
    assert (again.answer, again.reply, again.why) == (RIGHT_ANSWER, {}, "")


def test_the_cards_lie_on_the_picture_and_what_is_stored_is_the_picture_with_the_question():
    made = helpers.match("four_curves")
    places = [made.sheet["places"][card] for card in made.cards]
    assert [*made.words] == sorted(RIGHT_ANSWER.split(", "))
    for left, right in pairwise(places):
        assert left["x"] + left["width"] <= right["x"]
    assert all(p["y"] >= 0 and p["y"] + p["height"] <= made.sheet["height"] for p in places)
    data, _ = made._repr_mimebundle_()
    assert data["text/plain"].startswith("Lay each mistake on its curve: which run had which wrong kernel? Right: ")
    assert {"image/png", "text/plain"} <= {*data}
    assert "text/html" not in data
    plain = Match("q", PASSES)
    assert (plain.sheet, plain.lost) == ({}, "")
    assert "<p>In which order?</p><p>" in plain._repr_mimebundle_()[0]["text/html"]


def broken() -> RunsPicture:
    raise FileNotFoundError("digits.npz")


@pytest.mark.parametrize("picture", [broken, lambda: RunsPicture({"Curve A": [2, 1]})])
def test_without_its_picture_a_question_can_be_answered(picture, monkeypatch):
    monkeypatch.setattr(in_training, "curves", picture)
    made = helpers.match("four_curves")
    assert made.sheet == {}
    assert made.lost.startswith("The picture of these cards is not here (")
    assert told(made, RIGHT_ANSWER, whole=True) == "right"
    assert made._repr_mimebundle_()[0]["text/plain"] == made.asked


@pytest.mark.parametrize("kept", ["a" * 5_000, "relu", 4, "batch, batch, sign, bias", "tanh, relu, sign, bias"])
def test_a_kept_answer_that_does_not_fit_is_said_and_stays_until_words_are_laid(kept):
    student_files.keep_answer("four_curves", kept)
    made = helpers.match("four_curves")
    assert made.answer == ""
    assert made.reply["text"].startswith(f"Your earlier answer, `{str(kept)[:100]}`, does not fit these cards")
    assert student_files.answers() == {"four_curves": kept}
    told(made, "batch, , , ")
    assert student_files.answers() == {"four_curves": "batch, , , "}


def test_another_page_that_has_answered_meanwhile_is_named():
    one, other = helpers.match("four_curves"), helpers.match("four_curves")
    assert told(one, "batch, , , ") == ""
    said = "Elsewhere you had answered `batch, , , `; this answer takes its place."
    assert told(other, ", relu, , ") == said
    assert told(other, ", relu, sign, ") == ""
    assert told(other, RIGHT_ANSWER, whole=True) == "right"
    assert told(one, RIGHT_ANSWER, whole=True) == "right"


def test_answers_of_an_older_copy_are_filled_in_graded_and_led_on(tmp_path):
    file = tmp_path / "my" / "answers.json"
    file.parent.mkdir()
    older = {"curve_A": "batch", "curve_B": "relu", "curve_C": "sign"}
    file.write_text(json.dumps(older))
    assert helpers.match("four_curves").answer == "batch, relu, sign, "
    file.write_text(json.dumps(older | {"curve_D": "bias"}))
    for answers in (older | {"curve_D": "bias"}, student_files.answers()):
        handed_in = {"format": student_files.FORMAT, "kernels": {}, "answers": answers}
        (tmp_path / "ada.json").write_text(json.dumps(handed_in))
        made = class_table.row("ada", tmp_path / "ada.json", gradebook.GRADERS, [{"four_curves": True}])
        assert (made.answers, made.problem) == ({"four_curves": True}, "")
    with pytest.raises(ValueError, match=r"'curve_A': it is asked with others now, by helpers.match\('four_curves'\)"):
        helpers.ask("curve_A")
    file.write_text(json.dumps({"four_curves": "bias, relu, sign, batch"} | older))
    assert student_files.answers() == {"four_curves": "bias, relu, sign, batch"}


def test_what_was_handed_in_counts_as_a_question(tmp_path):
    for answer, right in {
        RIGHT_ANSWER: True,
        "bias, relu, sign, batch": False,
        "bias, , , ": False,
        "x": False,
    }.items():
        student_files.keep_answer("four_curves", answer)
        made = class_table.row("a", helpers.hand_in("Ada").file, gradebook.GRADERS, [{"four_curves": True}])
        assert (made.answers, made.outcomes, made.problem) == ({"four_curves": right}, {}, "")


def test_the_registry_has_them():
    assert gemm.MATCHINGS | exercises.MATCHINGS == MATCHINGS
