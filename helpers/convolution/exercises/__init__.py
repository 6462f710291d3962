"""What a learner works out in the convolution lessons: kernels to write, and questions to answer."""

from helpers.convolution.exercises.bias_gradient import BIAS_QUESTIONS, GRAD_BIAS
from helpers.convolution.exercises.forward import FORWARD, FORWARD_QUESTIONS
from helpers.convolution.exercises.input_gradient import GRAD_INPUT, INPUT_QUESTIONS
from helpers.convolution.exercises.weight_gradient import GRAD_WEIGHT, WEIGHT_QUESTIONS

PUZZLES = FORWARD, GRAD_WEIGHT, GRAD_INPUT, GRAD_BIAS  # as their lessons appear
QUESTIONS = FORWARD_QUESTIONS | WEIGHT_QUESTIONS | INPUT_QUESTIONS | BIAS_QUESTIONS
