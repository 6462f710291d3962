"""Which version of a fully connected layer runs where no `kernel=` is given, and why.

The thresholds were measured as those of helpers/convolution/choice.py.
"""

from collections.abc import Sequence

from helpers.gemm.shapes import GemmShape
from helpers.gpu.adapter import AdapterInfo
from helpers.gpu.operation import Choice

# Multiply-adds of one product from which it pays to compile a text for the layer (see helpers/convolution/choice.py).
WORTH_COMPILING = {"hardware": 2**18, "software": 2**25}
NO_LIMIT = "its dispatch is never too large"
ON_SOFTWARE = "on a software adapter a barrier costs more than the loads that a tile saves"
SHARED_TILE = "a workgroup loads each number once for a whole row or column of its tile"
REGISTER_TILE = "a thread has 8 x 8 sums in registers: 16 numbers read for 64 multiply-adds"
FOURS = "it loads four numbers at once, and the next tile while it multiplies this one"


def forward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act worth running, best first."""
    specialized = [Choice("5_prefetch", FOURS)] if s.n % 4 == 0 else []
    return _ordered(s, adapter, [*specialized, Choice("3_register_tiles", REGISTER_TILE)], "6_registers_only")


def backward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act_backward worth running, best first."""
    specialized = [Choice("3_register_tiles", REGISTER_TILE)] if s.n % 4 == 0 and s.k % 4 == 0 else []
    return _ordered(s, adapter, specialized, "4_registers_only")


def _ordered(s: GemmShape, adapter: AdapterInfo, on_hardware: list[Choice], on_software: str) -> Sequence[Choice]:
    worth = s.batch_size * s.m * s.k * s.n >= WORTH_COMPILING[adapter.kind]
    by_threads = "1_thread_per_element"
    if adapter.kind == "software":
        first = worth and s.n % 4 == 0 and s.k % 4 == 0
        reason = "sums in registers, four numbers a load and no barriers suit a software adapter"
        return *([Choice(on_software, reason)] if first else []), Choice(by_threads, ON_SOFTWARE)
    return *(on_hardware if worth else []), Choice("2_tiled", SHARED_TILE), Choice(by_threads, NO_LIMIT)
