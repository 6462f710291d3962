"""The map: it says what the files say, its ticks and lights follow what the reader wrote, and its words are legible."""

import html
import re
from itertools import chain
from threading import Event
from unittest.mock import Mock

import numpy as np
import pytest
from support.legible import faults, words_of, written
from support.notebook_gate import FOR_CUDA, LINK, NOTEBOOKS, Lesson, lessons_of
from support.teaching_pages import puzzles_of

from browser.notebooks import lesson_texts
from helpers.data.digits import seen_and_unseen
from helpers.gpu import GpuError
from helpers.grading import student_files
from helpers.lessons.exercises import PUZZLES, grade, is_right
from helpers.lessons.shared.course import before, layers, lessons, right, roads, slots
from helpers.lessons.shared.student_kernels import PLACES
from helpers.lessons.start_here import explorers
from helpers.lessons.start_here.picture import NODE, TICK, CoursePicture
from helpers.lessons.train_lenet import my_lenet
from helpers.lessons.train_lenet.training_apart import OwnRun, RefusedError
from helpers.network.network import Network
from helpers.network.training import Training
from helpers.pictures.canvas import PAPER
from helpers.pictures.marks import text_width
from helpers.set_up.jupyterlab import FIRST

KNOWN = lessons()
BY_NUMBER = {lesson.number: lesson for lesson in KNOWN}
README = (NOTEBOOKS.parent / "README.md").read_text(encoding="utf-8")
PAGE = Lesson.read(NOTEBOOKS / FIRST)
EVERY = frozenset().union(*(lesson.puzzles for lesson in KNOWN))


def test_the_map_has_every_lesson_and_its_names_are_the_readmes():
    assert [lesson.file for lesson in KNOWN] == [path.name for path in lessons_of(NOTEBOOKS)]
    for lesson in KNOWN:
        in_its_notebook = dict.fromkeys(puzzles_of(Lesson.read(NOTEBOOKS / lesson.file)))
        assert lesson.puzzles == tuple(in_its_notebook)
    rows = re.findall(r"^\| \[([^]]+)\]\(notebooks/(\S+)\)", README, re.MULTILINE)
    assert rows == [("if you know CUDA", FOR_CUDA.name), *((lesson.name, lesson.file) for lesson in KNOWN)]
    assert all(lesson.minutes for lesson in KNOWN)


def needs_in_words(readme: str) -> dict[str, set[str]]:
    """The lessons that each lesson needs, as the README says it: "05 needs 02 to 04, 06 needs 00 and 02"."""
    clauses = re.findall(r"(\b\w\w?) needs (.+?)(?=,? (?:and )?\w\w? needs|\. )", readme)
    return {number: numbers_in(words) for number, words in clauses}


def numbers_in(words: str) -> set[str]:
    """The numbers of "00 and 02 to 04": 00, 02, 03, and 04."""
    numbers = set()
    for span in re.findall(r"\d\d(?: to \d\d)?", words):
        first, last = int(span[:2]), int(span[-2:])
        numbers |= {f"{i:02}" for i in range(first, last + 1)}
    return numbers


def test_the_readme_says_what_the_lessons_need():
    needs = needs_in_words(README.split("## Teaching with it")[1])
    assert needs.keys() == {lesson.number for lesson in KNOWN} - {"00", "01", "02", "03", "04"}
    assert needs == {number: {*BY_NUMBER[number].needs} for number in needs}


def test_the_roads_keep_the_order_of_needs():
    every, classes, cuda = roads(KNOWN)
    assert every.numbers == tuple(lesson.number for lesson in KNOWN)
    assert classes.numbers == ("00", "01", "02", "03", "04", "06", "07")
    assert (NOTEBOOKS / cuda.page).exists()
    assert not every.page + classes.page
    assert cuda.numbers == ("01", "02", "03", "04", "06", "07")
    for road in (every, classes):
        for i, number in enumerate(road.numbers):
            if number.isdigit():
                assert before(number, KNOWN) <= set(road.numbers[:i])
    minutes = {lesson.number: lesson.minutes for lesson in KNOWN}
    for road in (every, classes, cuda):
        assert road.minutes == sum(minutes[number] for number in road.numbers)


def test_lenet_has_one_place_for_every_puzzle_that_trains_in_it():
    places = slots(KNOWN)
    further = {"gemm_bwd_grad_pre", "gemm_bwd_dbias"}  # in no lesson, and nothing in a lesson computes the same
    puzzles = []
    computed = []
    for slot in places:
        puzzles += slot.puzzles
        ((operation, entry_point),) = {(PLACES[name].operation.name, PLACES[name].entry_point) for name in slot.puzzles}
        computed.append((operation, entry_point))
        assert set(slot.puzzles) & set(BY_NUMBER[slot.lesson].puzzles)
    assert sorted(puzzles) == sorted(PLACES.keys() - further)
    assert len(set(computed)) == len(computed)
    assert list(dict.fromkeys(slot.kind for slot in places)) == list(layers())


# --- What the reader wrote --------------------------------------------------------------------------------


def lit(picture: CoursePicture) -> int:
    """The number of places that are drawn as lit."""
    names = {slot.result for slot in picture.slots}
    count = 0
    for mark in picture.marks:
        if mark.words and mark.face[:3] == (1, 1, 1):
            count += sum(word.text in names for word in mark.words)
    return count


def ticks(picture: CoursePicture) -> int:
    """The number of boxes that are drawn as ticked."""
    return sum(mark.edge == PAPER and mark.line == 2 for mark in picture.marks)


def shown(done: frozenset[str]) -> CoursePicture:
    return CoursePicture(KNOWN, done).show(0, 0)


def test_ticks_and_places_light_up_for_right_texts_and_go_out_for_wrong_ones():
    assert right(KNOWN) == frozenset()
    bias, guard = (PUZZLES[name].official.source for name in ("conv2d_grad_bias", "guard"))
    grade("conv2d_grad_bias", bias)
    student_files.keep("guard", guard)  # written in the editor, never graded
    assert right(KNOWN) == {"conv2d_grad_bias", "guard"}
    assert (ticks(shown(right(KNOWN))), lit(shown(right(KNOWN)))) == (2, 1)
    grade("conv2d_grad_bias", bias.replace("sum += ", "sum -= "))
    student_files.keep("guard", PUZZLES["guard"].skeleton)
    assert right(KNOWN) == frozenset()
    assert (ticks(shown(right(KNOWN))), lit(shown(right(KNOWN)))) == (0, 0)


def test_a_text_is_graded_once_and_another_text_again(monkeypatch):
    text = PUZZLES["map"].official.source
    student_files.keep("map", text)
    student_files.keep_outcome("guard", "other", 0, 1)
    assert is_right("map")
    monkeypatch.setattr("helpers.lessons.exercises._verdicts", lambda *_: pytest.fail("it was graded"))
    assert is_right("map")
    assert student_files.outcome("guard", "other") == (0, 1)
    assert student_files.outcome("map", f"{text} ") is None


def test_what_cannot_be_read_or_tried_is_not_right(monkeypatch):
    student_files.keep("map", PUZZLES["map"].official.source)
    student_files.path_of("guard").write_bytes(b"\xff")
    assert right(KNOWN) == {"map"}
    student_files.keep("map", PUZZLES["map"].official.source.replace("2", "3"))
    monkeypatch.setattr("helpers.lessons.exercises._verdicts", Mock(side_effect=GpuError("no adapter")))
    assert right(KNOWN) == frozenset()


def test_the_button_trains_with_what_is_right_and_says_how_it_went_or_why_not(monkeypatch):
    assert my_lenet.my_lenet()._button.disabled  # nothing is right yet
    grade("relu_gate", PUZZLES["relu_gate"].solution.text)
    lenet = my_lenet.my_lenet()
    progress = []

    def trained(*puzzles: str, show, **_) -> OwnRun:
        for losses in [], [2.3]:
            show(losses)
            words = re.search("simulator first|After 1 of", lenet._words.value)[0]
            progress.append((lenet._button.description, words))
        if len(progress) > 2:
            raise RefusedError("not right")
        return OwnRun(puzzles, (2.3, 2.1), 0.5, {}, "time is up")

    monkeypatch.setattr(my_lenet, "train_apart", trained)
    for words in "50 % are right (with our kernels 96 %). time is up", "not right":
        lenet._button.click()
        ended(lenet)
        assert words in lenet._words.value
        assert (lenet._button.description, lenet._button.disabled) == (my_lenet.TRAIN, False)
    assert progress == [("Stop", "simulator first"), ("Stop", "After 1 of")] * 2


def ended(lenet: my_lenet.OwnTraining) -> None:
    """Wait for the end of a run."""
    if lenet.running:
        lenet.running.join()


def test_a_run_with_ones_own_kernels_says_how_long_it_takes_and_can_be_stopped_and_begun_again(monkeypatch):
    grade("relu_gate", PUZZLES["relu_gate"].solution.text)
    lenet = my_lenet.my_lenet()
    assert my_lenet.LASTS in html.unescape(lenet._words.value)
    seen, goes_on = Event(), Event()

    def trained(*puzzles: str, show, **_) -> OwnRun:
        show([])
        show([2.3] * 5)
        seen.set()
        goes_on.wait()
        show([2.3] * 10)
        return OwnRun(puzzles, (2.3,) * 375, 0.5, {}, "")

    monkeypatch.setattr(my_lenet, "train_apart", trained)
    lenet._button.click()
    seen.wait()
    assert re.search(r"After 5 of 375 steps, .* About \d+ seconds to go\.", lenet._words.value)
    lenet._button.click()
    goes_on.set()
    ended(lenet)
    assert re.search(r"After 5 of 375 steps, .* Stopped: the button begins again", lenet._words.value)
    lenet._button.click()
    ended(lenet)
    assert "After 375 of 375 steps" in lenet._words.value
    assert [*faults(lenet.picture)] == []


def test_times_are_rounded():
    assert [*map(my_lenet.duration, (0.1, 44.6, 89, 100, 250))] == [
        "2 seconds",
        "45 seconds",
        "89 seconds",
        "2 minutes",
        "4 minutes",
    ]


def test_our_curve_is_that_of_our_kernels():
    images, labels, *_ = seen_and_unseen()
    losses, accuracy = my_lenet.our_run()
    assert (len(losses), my_lenet.STEPS) == (375, 375)
    how = {"batch": my_lenet.RUN["batch"], "learning_rate": 0.05}
    training = Training(Network(seed=0), images[: my_lenet.RUN["digits"]], labels[: my_lenet.RUN["digits"]], **how)
    training.advance(8)
    assert np.allclose([moment.loss for moment in training.moments], losses[:8], rtol=0, atol=0.002)
    assert accuracy > 0.9


def test_an_appendix_stands_beside_the_way_and_not_in_it():
    """A lesson that none needs stands at the right; 00, 01 and 02 follow each other on the left."""
    places = CoursePicture(KNOWN, frozenset()).places
    needed = set(chain.from_iterable(lesson.needs for lesson in KNOWN))
    for lesson in KNOWN:
        if lesson.number not in needed:
            assert places[lesson.number].x == places["C"].x > places["07"].right
    assert places["00"].x == places["01"].x == places["02"].x
    between = [number for number, box in places.items() if box.x == places["00"].x]
    assert sorted(between) == ["00", "01", "02"]


def test_all_places_and_boxes_can_be_lit():
    everything = shown(EVERY)
    boxes = sum(len(lesson.puzzles) for lesson in KNOWN)  # one of relu_gate is in each of its two lessons
    assert (ticks(everything), lit(everything)) == (boxes, len(everything.slots))
    assert f"yours: {len(everything.slots)} of {len(everything.slots)} kernels" in written(everything)


# --- The picture and the page -----------------------------------------------------------------------------


@pytest.mark.parametrize("done", [frozenset(), EVERY])
def test_every_state_is_legible(done):
    picture = CoursePicture(KNOWN, done)
    for road in range(3):
        for lesson in range(len(KNOWN)):
            assert not list(faults(picture.show(road, lesson)))
    left = picture.places["02"].x + 9
    for word, mark in words_of(picture):
        if word.x == left and mark.weight == "bold":  # a name
            assert text_width(word.text, word.size, "bold") <= NODE.width - 18 - TICK


def test_the_sentence_the_link_and_the_table_follow_the_lesson():
    shown = explorers.CourseMap(KNOWN, frozenset({"map", "guard"}))
    assert shown.link == "**[Open 00 meet the GPU](00_meet_the_gpu.ipynb)** · 2 of 7 right: `map` and `guard`"
    for i, lesson in enumerate(KNOWN):
        sentence = shown.set(lesson=i, road=1)
        assert sentence.startswith(f"The road “a class” has 7 lessons. {lesson.name}, {lesson.minutes} minutes")
        assert f"then you can {lesson.able}." in sentence
        assert f"]({lesson.file})" in shown.link
        assert all(number in sentence for number in lesson.needs)
    assert '<th scope="row">00 meet the GPU</th><td>75</td><td></td><td>2 of 7</td>' in shown.picture.tables()


def test_the_page_links_to_every_lesson():
    links = set()
    for cell in PAGE.prose:
        links |= {plain or embedded for plain, embedded in LINK.findall(cell.words)}
    assert {lesson.file for lesson in KNOWN} <= links


def test_the_site_carries_what_the_map_reads(tmp_path):
    for name, text in lesson_texts().items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert lessons(tmp_path / "notebooks") == KNOWN
