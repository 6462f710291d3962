"""All explorers of a convolution and its gradients, which are in the lessons that show them."""

from helpers.lessons.bias_gradient.explorers import bias_gradient
from helpers.lessons.convolution_as_correlation.explorers import contributions, forward, own_filter
from helpers.lessons.input_gradient.explorers import four_faults, input_gradient, scatter_and_gather
from helpers.lessons.shared.any_convolution import any_forward, any_input_gradient, any_weight_gradient
from helpers.lessons.train_lenet.explorers import weight_steps
from helpers.lessons.weight_gradient.explorers import SMALL_CASE, threads, weight_gradient

__all__ = [
    "SMALL_CASE",
    "any_forward",
    "any_input_gradient",
    "any_weight_gradient",
    "bias_gradient",
    "contributions",
    "forward",
    "four_faults",
    "input_gradient",
    "own_filter",
    "scatter_and_gather",
    "threads",
    "weight_gradient",
    "weight_steps",
]
