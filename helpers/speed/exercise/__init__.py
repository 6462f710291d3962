"""What a learner works out in the lesson on speed: one step of the ladder, and questions to answer."""

from helpers.speed.exercise.questions import QUESTIONS
from helpers.speed.exercise.register_tile import REGISTER_TILE

PUZZLES = (REGISTER_TILE,)

__all__ = ["PUZZLES", "QUESTIONS"]
