"""Record what a small picture, a question and an exercise can answer, for a page without Python.

    PYTHONPATH=browser python -m browser.recorder FOLDER      on the simulator, which needs no GPU

`recorded.js` looks these answers up, and has no rule of its own.
"""

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from helpers.grading import student_files, words
from helpers.grading.prediction import AnswerError, Question
from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.reasons import LongText, Mismatch, NamedMistake, WrongNumbers
from helpers.grading.sandbox import LONGEST
from helpers.grading.test_run import TRAP, simulated
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, WRONG, Verdict
from helpers.lessons.exercises import PUZZLES, QUESTIONS
from helpers.lessons.weight_gradient import explorers
from helpers.widgets import editor, question
from helpers.widgets.controls import Values, reaches
from helpers.widgets.explorer import Explorer
from helpers.widgets.ranges import limits
from helpers.widgets.shown import filling
from helpers.widgets.touch import Touched
from wgsl import Kernel

MOST_STATES = 450  # of a picture: more are left to Python
MOST_IMAGES = 2_000  # of all states, with what is seen at each cell that no slider has
PHONE = 540  # CSS pixels: the width of a picture that is shown on a phone, smaller
ELEMENT = re.compile(r"<text.*?</text>|<style>.*?</style>|<[a-z]+[^>]*/>")
NO_NUMBER = "twelve-ish"  # what the page puts an answer in place of
# numbers of a sentence, in whose places the page puts its own
NAMES = {"2,222": "size", "3333": "row", "4444": "column", "5555": "yours", "6666": "right", "1,111": "wrong"}


class NotRecordedError(ValueError):
    """A picture that has too many states, or numbers that the reader changes."""


class Recording:
    """All states of a picture; the elements of its images and the cells over it are kept once each.

    Raises NotRecordedError where there are too many states, or where the reader changes numbers in the picture.
    """

    def __init__(self, explorer: Explorer) -> None:
        if explorer.arrays:
            raise NotRecordedError("the reader changes numbers in it")
        self.explorer, self.layer = explorer, explorer._layer
        self.pieces: dict[str, int] = {}
        self.layouts: dict[str, int] = {}
        self.images = 0

    def data(self) -> dict:
        """The recording, for JSON."""
        explorer, start = self.explorer, self.explorer.values
        steps = explorer.steps.trials.items()
        values_of = states_of(explorer)
        states = {key(values.values()): self._state(values) for values in values_of}
        for values in reversed(values_of):
            explorer.set(**values)
            if not self._seen(values).items() <= states[key(values.values())].items():
                raise NotRecordedError("it remembers what was seen before")
        explorer.set(**start)
        return {
            "sheet": self.layer.sheet,
            "width": filling(explorer.picture),
            "head": re.match("<svg[^>]*>", explorer.picture.svg()[0])[0],
            "names": [*start],
            "front": explorer.front,
            "played": explorer._play,
            "choices": {name: [*names] for name, names in explorer._choices.items()},
            "start": key(start.values()),
            "steps": [{"text": text, "by": getattr(goal, "action", "")} for text, goal in steps],
            "states": states,
            "layouts": [*map(json.loads, self.layouts)],
            "pieces": [*self.pieces],
        }

    def _state(self, values: Values) -> dict:
        """A state, and what is seen of it when the reader points at a cell that no slider has."""
        self.explorer.set(**values)
        picture, layer = self.explorer.picture, self.layer
        looks = {}
        cells = []
        for name, part in picture.touchable.items():
            cells.append({key(cell): {**extra} for cell, extra in part.values.items()})
            if part.passing:
                looks |= {compact(extra): (name, cell) for cell, extra in part.values.items()}
        self.images += 1 + len(looks)
        if self.images > MOST_IMAGES:
            raise NotRecordedError(f"it has more than {MOST_IMAGES} images")
        layout = {
            "still": self._places(picture.svg()[0]),
            "grids": layer.grids,
            "cells": cells,
            "clicked": [part.clicked for part in picture.touchable.values()],
            "dragged": picture.window.values if picture.window else [],
        }
        return {
            **self._seen(values),
            "layout": self.layouts.setdefault(json.dumps(layout), len(self.layouts)),
            "chosen": layer.chosen,
            "window": layer.window,
            "looks": {extra: self._look(values, look, json.loads(extra)) for extra, look in looks.items()},
        }

    def _look(self, values: Values, look: tuple, extra: Values) -> dict:
        """What is seen when the reader points at a cell. Raises NotRecordedError where the cells themselves change."""
        before = self.layer.grids, self.layer.chosen, self.layer.window
        self.explorer._touched(Touched(*look, chosen=False))
        if (self.layer.grids, self.layer.chosen, self.layer.window) != before:
            raise NotRecordedError("its cells change where the reader points")
        seen = self._seen(values | extra)
        self.explorer._touched(Touched(None, (0, 0), chosen=False))
        return seen

    def _seen(self, values: Values) -> dict:
        """The image that moves, the sentence, and the steps that are reached."""
        explorer = self.explorer
        done = [i for i, goal in enumerate(explorer.steps.trials.values()) if reaches(goal, values)]
        return {"moving": self._places(explorer.picture.svg()[1]), "sentence": explorer.sentence, "done": done}

    def _places(self, image: str) -> list[int]:
        """The places of an image's elements among all."""
        inside = image[image.index(">") + 1 : image.rindex("</svg>")]
        return [self.pieces.setdefault(element, len(self.pieces)) for element in ELEMENT.findall(inside)]


def states_of(explorer: Explorer) -> list[Values]:
    """All values that the sliders reach. Raises NotRecordedError where they are too many."""
    states: list[Values] = [{}]
    for name, rule in explorer._rules.items():
        longer = []
        for values in states:
            low, high = limits(rule, values)
            step = explorer._ranges.step(name, values)
            longer += [{**values, name: value} for value in range(-(-low // step) * step, high + 1, step)]
        states = longer
        if len(states) > MOST_STATES:
            raise NotRecordedError(f"it has more than {MOST_STATES} states")
    return states


def compact(data: object) -> str:
    """Data as JavaScript writes it in JSON."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def key(values: object) -> str:
    """The name of a state, its values in the order of the sliders; or of a cell."""
    return " ".join(map(str, values))


def answers(name: str, asked: Question) -> dict:
    """The replies to each number that a question has a reply to, to all others, and to what is no number."""

    def reply(text: str) -> dict:
        try:
            verdict = asked.grade(name, asked.typed(text))
        except AnswerError as error:
            return {"outcome": NOT_ATTEMPTED, "text": str(error).replace(NO_NUMBER, "{text}")}
        return {"outcome": verdict.outcome, "text": verdict.sentence}

    replies = {str(number): reply(str(number)) for number in (asked.right, *asked.mistakes)}
    replies |= {"other": reply("987654321"), "": reply(""), "no number": reply(NO_NUMBER)}
    about = {"name": name, "asked": asked.asked, "hint": asked.hint, "why": asked.why, "tries": question.TRIES}
    return about | {"replies": replies}


def exercise(puzzle: Puzzle) -> dict:
    """The tests of a puzzle, the outputs and the words of each named mistake, and the other sentences.

    A read past the end of an array may give 0 or the last element: each mistake has the outputs of both.
    """
    cases = puzzle.cases()
    mistakes = []
    for mistake in puzzle.mistakes:
        kernel = puzzle.with_mistake(mistake)
        *_, cause, leads_on = told(puzzle, Mismatch(2, 3, ()), NamedMistake(mistake.name, mistake.question))
        outputs = [outputs_of(kernel, cases), outputs_of(clamped(kernel, puzzle), cases)]
        mistakes.append({"name": mistake.name, "words": [cause, leads_on], "outputs": outputs})
    place = tuple(zip(puzzle.axes.split(), (3333, 4444), strict=True))
    listed, many, one = Mismatch(1111, 2222, place), (1111, 2222, place, ""), (1, 2222, place, "")
    too_long = Verdict("", NO_COMPILE, LongText(1_111, LONGEST))
    return {
        "puzzle": puzzle.name,
        "begun": puzzle.skeleton,
        "ours": puzzle.solution.text,
        "folder": student_files.folder_id(),  # by which a lesson of the site knows what this page keeps
        "tries": editor.TRIES,
        "longest": LONGEST,
        "trap": TRAP,
        "tests": [test(case) for case in cases],
        "mistakes": mistakes,
        "words": {
            "begun": editor.SKELETON,
            "listed": told(puzzle, listed)[0],
            "many": told(puzzle, Mismatch(*many, (5555.0, 6666.0)))[0],
            "one": told(puzzle, Mismatch(*one, (5555.0, 6666.0)))[0],
            "unwritten": told(puzzle, Mismatch(*many, (None, 6666.0)))[0],
            "long": with_names(words.lines(too_long)[0]),
        },
    }


def test(case: Case) -> dict:
    """The buffers of a test, and its right output."""
    ((workgroups, _),) = case.dispatches
    inputs = [array.ravel().tolist() for array in case.inputs]
    sizes = {"params": [*map(int, case.params)], "workgroups": workgroups, "columns": case.expected.shape[-1]}
    return {"name": case.name, "inputs": inputs, "right": case.expected.ravel().tolist(), **sizes}


def outputs_of(kernel: Kernel, cases: Sequence[Case]) -> list[list[float | None]]:
    """The outputs of all tests; None is where nothing was written."""
    runs = [simulated(kernel, case) for case in cases]
    return [np.where(run.unwritten, None, run.output.astype(object)).ravel().tolist() for run in runs]


def clamped(kernel: Kernel, puzzle: Puzzle) -> Kernel:
    """A kernel that reads the last element in place of one past the end of an input, as some GPUs do."""
    source = kernel.source
    for binding, _ in zip(puzzle.official.bindings, puzzle.cases()[0].inputs, strict=False):
        load = re.compile(rf"\b{binding.name}\[([^\[\]]*)\]")
        source = load.sub(rf"{binding.name}[min(\1, arrayLength(&{binding.name}) - 1u)]", source)
    return Kernel(source)


def told(puzzle: Puzzle, wrong: Mismatch, mistake: NamedMistake | None = None) -> list[str]:
    """The sentences on a wrong test, with names in braces where the page puts numbers."""
    return [with_names(line) for line in words.lines(Verdict("", WRONG, WrongNumbers(wrong), mistake=mistake))]


def with_names(sentence: str) -> str:
    """A sentence with names in braces in the places of its numbers."""
    for number, name in NAMES.items():
        sentence = sentence.replace(number, f"{{{name}}}")
    return sentence


def main(folder: Path) -> None:
    """Write what the front page answers."""
    recorded = {
        "picture": Recording(explorers.weight_gradient()).data(),
        "phone": Recording(explorers.weight_gradient(PHONE)).data(),
        "question": answers("pixels_of_a_weight", QUESTIONS["pixels_of_a_weight"]),
        "exercise": exercise(PUZZLES["weight_window"]),
    }
    for name, data in recorded.items():
        (folder / f"{name}.json").write_text(compact(data), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
