"""convgrad's helpers: run real WGSL kernels from Python, check them, draw what they do.

The names below are loaded when they are first used, so that what needs no GPU (references, checks, index maps,
pictures, digits) works where wgpu cannot be imported.
"""

import sys
from importlib import import_module

_HOME = {
    "DivergedError": "helpers.network.training",
    "Kernel": "wgsl",
    "Network": "helpers.network.network",
    "Training": "helpers.network.training",
    "WgslError": "wgsl",
    "UnsupportedWgsl": "wgsl",
    "load": "helpers.kernels",
    "adapter_info": "helpers.gpu",
    "ask": "helpers.exercises",
    "explain_choice": "helpers.operations",
    "check_step": "helpers.network.check_layers",
    "conv2d": "helpers.convolution.operations",
    "conv2d_grad_bias": "helpers.convolution.operations",
    "conv2d_grad_input": "helpers.convolution.operations",
    "conv2d_grad_weight": "helpers.convolution.operations",
    "gemm_bias_act": "helpers.gemm.operations",
    "gemm_bias_act_backward": "helpers.gemm.operations",
    "max_pool2d": "helpers.network.operations",
    "max_pool2d_backward": "helpers.network.operations",
    "avg_pool2d": "helpers.network.operations",
    "avg_pool2d_backward": "helpers.network.operations",
    "relu_backward": "helpers.network.operations",
    "cross_entropy": "helpers.network.operations",
    "sgd": "helpers.network.operations",
    "difference": "helpers.kernel_difference",
    "find_fault": "helpers.exercises",
    "grade": "helpers.exercises",
    "hand_in": "helpers.exercises",
    "images": "helpers.pictures",
    "last_attempt": "helpers.exercises",
    "mark": "helpers.exercises",
    "predict": "helpers.exercises",
    "puzzles": "helpers.exercises",
    "simulate": "wgsl.simulator.run",
    "skeleton": "helpers.exercises",
    "solution": "helpers.exercises",
    "train_apart": "helpers.training_apart",
    "try_mistake": "helpers.exercises",
    "write": "helpers.exercises",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'helpers' has no attribute {name!r}")
    globals()[name] = value = getattr(import_module(_HOME[name]), name)  # found at once the next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.platform == "emscripten":
    import convgrad_browser  # noqa: F401  cells and clicks hold one lock there
