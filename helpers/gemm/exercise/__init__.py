"""What a learner works out in the GEMM lesson: kernels in tiles, questions to answer, and one derivative in WGSL."""

from helpers.gemm.exercise.derivative import derivatives, elu_derivative, grade
from helpers.gemm.exercise.passes import PASSES
from helpers.gemm.exercise.questions import QUESTIONS
from helpers.gemm.exercise.tiled_product import TILED_PRODUCT

PUZZLES = TILED_PRODUCT, *PASSES  # as the lesson has them

__all__ = ["PUZZLES", "QUESTIONS", "derivatives", "elu_derivative", "grade"]
