"""Pictures with sliders of a convolution and its gradients, and of the threads that compute them."""

from helpers.convolution.explorers.any_size import any_forward, any_input_gradient, any_weight_gradient  # noqa: F401
from helpers.convolution.explorers.small_case import (  # noqa: F401
    SMALL_CASE,
    bias_gradient,
    contributions,
    forward,
    four_faults,
    input_gradient,
    own_filter,
    scatter_and_gather,
    shared_products,
    threads,
    weight_gradient,
    weight_steps,
)
