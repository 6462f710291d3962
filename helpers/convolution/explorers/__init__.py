"""Pictures with sliders of a convolution and its gradients, and of the threads that compute them."""

from helpers.convolution.explorers.forward_pass import (
    EDGES,
    any_forward,
    contributions,
    edges,
    forward,
    one_product,
    outputs_of_pixel,
    outputs_of_weight,
)
from helpers.convolution.explorers.grad_bias import bias_gradient, tree_reduction
from helpers.convolution.explorers.grad_input import (
    any_input_gradient,
    input_gradient,
    pixel_counts,
    scatter_and_gather,
    shared_weight_steps,
)
from helpers.convolution.explorers.grad_weight import (
    SMALL_CASE,
    any_weight_gradient,
    shared_products,
    terms_of_weight,
    threads,
    weight_gradient,
)
from helpers.convolution.explorers.sizes import ANY_OUTPUT, ANY_PIXEL, ANY_WEIGHT

__all__ = [
    "ANY_OUTPUT",
    "ANY_PIXEL",
    "ANY_WEIGHT",
    "EDGES",
    "SMALL_CASE",
    "any_forward",
    "any_input_gradient",
    "any_weight_gradient",
    "bias_gradient",
    "contributions",
    "edges",
    "forward",
    "input_gradient",
    "one_product",
    "outputs_of_pixel",
    "outputs_of_weight",
    "pixel_counts",
    "scatter_and_gather",
    "shared_products",
    "shared_weight_steps",
    "terms_of_weight",
    "threads",
    "tree_reduction",
    "weight_gradient",
]
