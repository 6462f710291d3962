"""Pictures with sliders of gradients with dilation and groups."""

from helpers.lessons.shared.any_convolution import any_input_gradient, any_weight_gradient

__all__ = ["any_input_gradient", "any_weight_gradient"]
