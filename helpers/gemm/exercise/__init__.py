"""What a learner works out in the GEMM lesson: kernels in tiles, questions to answer, and one derivative in WGSL."""

from helpers.gemm.exercise.derivative import derivatives, elu_derivative, grade
from helpers.gemm.exercise.passes import PUZZLES
from helpers.gemm.exercise.questions import QUESTIONS

__all__ = ["PUZZLES", "QUESTIONS", "derivatives", "elu_derivative", "grade"]
