"""Record what the front page answers: its picture, its question and its exercise.

PYTHONPATH=browser python -m browser.front_answers FOLDER      on the simulator, which needs no GPU
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from browser.recorder import Recording, compact
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
from wgsl import Kernel

PHONE = 540  # CSS pixels: the width of a picture that is shown on a phone, smaller
NO_NUMBER = "twelve-ish"  # an answer, in the place of which the page puts its own
# numbers of a sentence, in whose places the page puts its own
NAMES = {"2,222": "size", "3333": "row", "4444": "column", "5555": "yours", "6666": "right", "1,111": "wrong"}


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
        *_, cause, leads_on = told(Mismatch(2, 3, ()), NamedMistake(mistake.name, mistake.question))
        outputs = [outputs_of(kernel, cases), outputs_of(clamped(kernel, puzzle), cases)]
        mistakes.append({"name": mistake.name, "words": [cause, leads_on], "outputs": outputs})
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
        "words": sentences(puzzle),
    }


def sentences(puzzle: Puzzle) -> dict[str, str]:
    """The sentences that are not those of a mistake."""
    place = tuple(zip(puzzle.axes.split(), (3333, 4444), strict=True))
    pair = (5555.0, 6666.0)
    too_long = Verdict("", NO_COMPILE, LongText(1_111, LONGEST))
    return {
        "begun": editor.SKELETON,
        "listed": told(Mismatch(1111, 2222, place))[0],
        "many": told(Mismatch(1111, 2222, place, pair=pair))[0],
        "one": told(Mismatch(1, 2222, place, pair=pair))[0],
        "unwritten": told(Mismatch(1111, 2222, place, pair=(None, 6666.0)))[0],
        "long": with_names(words.lines(too_long)[0]),
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


def told(wrong: Mismatch, mistake: NamedMistake | None = None) -> list[str]:
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
