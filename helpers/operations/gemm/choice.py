"""The choice of a fully connected layer's version where a call has no `kernel=`, with its reason.

The thresholds were measured as those of helpers/operations/convolution/choice.py.
"""

from collections.abc import Sequence
from math import prod
from statistics import harmonic_mean

from helpers.gpu.adapter import AdapterInfo
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.operation import Choice

# Multiply-adds of one product from which a software adapter should compile a text for the layer.
WORTH_COMPILING = 2**25
# Elements of a result up to which deep tiles take less time than tiles of 64 x 64, which are then too few to fill a
# GPU. Measured on an NVIDIA H200, where the two took the same time at about 2**17 elements, for sums of any length.
SMALL = 150_000
NO_LIMIT = "its dispatch is never too large"
ON_SOFTWARE = "on a software adapter a barrier costs more than the loads that a tile saves"
SHARED_TILE = "a workgroup loads each number once for a whole row or column of its tile"
REGISTER_TILE = "a thread has 8 x 8 sums in registers: 16 numbers read for 64 multiply-adds"
DEEP_TILE = "results this small wait more than they compute: deep tiles wait less often, and small ones fill a GPU"
FOURS = "it loads four numbers at once, and the next tile while it multiplies this one"


def forward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act worth running, best first."""
    on_hardware = []
    if prod(s.of("output")) <= SMALL:
        on_hardware.append(Choice("7_deep_tiles", DEEP_TILE))
    if s.n % 4 == 0:
        on_hardware.append(Choice("5_prefetch", FOURS))
    on_hardware.append(Choice("3_register_tiles", REGISTER_TILE))
    return _ordered(s, adapter, on_hardware, "6_registers_only")


def backward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act_backward worth running, best first."""
    # With tiles of 64 x 64, a pass takes as long as its sum; with deep ones, its sum times the elements of its result.
    # So the two take the same time for all passes where the harmonic mean of the elements is that of one result.
    elements = [prod(s.of(result)) for result in ("grad_pre", "d_a", "d_b")]
    on_hardware = []
    if harmonic_mean(elements) <= SMALL:
        on_hardware.append(Choice("5_deep_tiles", DEEP_TILE))
    on_hardware.append(Choice("3_register_tiles", REGISTER_TILE))
    return _ordered(s, adapter, on_hardware, "4_registers_only")


def _ordered(s: GemmShape, adapter: AdapterInfo, on_hardware: list[Choice], on_software: str) -> Sequence[Choice]:
    """The best ones on this kind of adapter, then those that take every layer."""
    by_threads = "1_thread_per_element"
    if adapter.kind == "hardware":
        return *on_hardware, Choice("2_tiled", SHARED_TILE), Choice(by_threads, NO_LIMIT)
    worth_compiling = not adapter.simulated and s.batch_size * s.m * s.k * s.n >= WORTH_COMPILING
    in_fours = s.n % 4 == 0 and s.k % 4 == 0
    if worth_compiling and in_fours:
        reason = "sums in registers, four numbers a load and no barriers suit a software adapter"
        return Choice(on_software, reason), Choice(by_threads, ON_SOFTWARE)
    return (Choice(by_threads, ON_SOFTWARE),)
