"""convgrad's helpers: run real WGSL kernels from Python, check them, draw what they do.

The modules a reader meets first: `ops` and `gemm` (the gradient functions), `gpu` (adapter, launch, timing), `wgsl`
(kernels as text), `reference` (float64 NumPy), `check` (is it right?), `explore` (pictures with sliders).
"""

from helpers.gemm import gemm_bias_act, gemm_bias_act_backward
from helpers.gpu import banner
from helpers.ops import conv2d, conv2d_grad_bias, conv2d_grad_input, conv2d_grad_weight
from helpers.wgsl import load

__all__ = [
    "banner",
    "conv2d",
    "conv2d_grad_bias",
    "conv2d_grad_input",
    "conv2d_grad_weight",
    "gemm_bias_act",
    "gemm_bias_act_backward",
    "load",
]
