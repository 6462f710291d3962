"""What the cases of several puzzles share."""

import numpy as np

CLASSROOM = (  # the tests' names in the classroom
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
)


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> np.ndarray:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)
