"""convgrad's helpers: run real WGSL kernels from Python, check them, draw what they do.

The names below are loaded when they are first used, so that what needs no GPU (references, checks, index maps,
pictures, digits) works where wgpu cannot be imported.
"""

import sys
from _thread import RLock  # as threading has it; to import that would take a third of the time of all of this
from importlib import import_module

_NAMES = {  # by the module that has them
    "wgsl": "Kernel WgslError UnsupportedWgsl",
    "wgsl.simulator.run": "simulate",
    "helpers.operations.kernels": "load difference",
    "helpers.gpu": "adapter_info",
    "helpers.pictures": "images",
    "helpers.operations.convolution.operations": "conv2d conv2d_grad_bias conv2d_grad_input conv2d_grad_weight",
    "helpers.operations.gemm.operations": "gemm_bias_act gemm_bias_act_backward",
    "helpers.operations.network.operations": "max_pool2d max_pool2d_backward avg_pool2d avg_pool2d_backward "
    "relu_backward cross_entropy sgd",
    "helpers.network.network": "Network",
    "helpers.network.training": "Training DivergedError",
    "helpers.network.check_layers": "check_step",
    "helpers.operations.registry": "explain_choice",
    "helpers.lessons.exercises": "skeleton write grade last_attempt solution try_mistake puzzles "
    "ask match mark find_fault plant_fault hand_in",
    "helpers.lessons.train_lenet.training_apart": "train_apart",
    "helpers.lessons.convolution_as_correlation.last_picture": "your_convolution",
    "helpers.lessons.weight_gradient.last_picture": "train_filters",
    "helpers.lessons.input_gradient.last_picture": "change_digit",
    "helpers.lessons.fused_gemm_backward.last_picture": "train_layer",
    "helpers.lessons.train_lenet.my_lenet": "my_lenet",
}
_HOME = {name: home for home, names in _NAMES.items() for name in names.split()}
__all__ = list(_HOME)
# Two threads that import a package and a module in it at once may each wait for the other one: Python then gives one of
# them what is half imported.
_importing = RLock()


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'helpers' has no attribute {name!r}")
    with _importing:
        globals()[name] = value = getattr(import_module(_HOME[name]), name)  # found at once the next time
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


if sys.platform == "emscripten":
    import convgrad_browser  # noqa: F401  cells and clicks hold one lock there
