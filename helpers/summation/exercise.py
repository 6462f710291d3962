"""What a learner works out in this lesson: kernels to write, and questions to answer."""

from helpers.grading.prediction import Question
from helpers.grading.puzzle import Puzzle

PUZZLES: tuple[Puzzle, ...] = ()

QUESTIONS: dict[str, Question] = {}
