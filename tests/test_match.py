"""Words on cards: one reply for the whole, foreseen arrangements by their names, and no bad input loses anything."""

import json
from itertools import pairwise, permutations

import pytest

import helpers
from helpers.classroom import class_table, gradebook
from helpers.grading import student_files
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.exercises import MATCHINGS

RIGHT_ANSWER = "batch, relu, sign, bias"


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


HANDED_IN = [
    ({"four_curves": RIGHT_ANSWER}, True),
    ({"four_curves": "bias, relu, sign, batch"}, False),
    ({"four_curves": "bias, , , "}, False),
    ({"four_curves": "x"}, False),
]


@pytest.mark.parametrize(("answers", "right"), HANDED_IN)
def test_what_was_handed_in_counts_as_a_question(answers, right, tmp_path):
    file = tmp_path / "ada.json"
    file.write_text(json.dumps({"format": student_files.FORMAT, "kernels": {}, "answers": answers}))
    made = class_table.row("ada", file, gradebook.GRADERS, [{"four_curves": True}])
    assert (made.answers, made.outcomes, made.problem) == ({"four_curves": right}, {}, "")
