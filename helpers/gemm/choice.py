"""Which version of a fully connected layer runs where no `kernel=` is given, and why.

The thresholds were measured as those of helpers/convolution/choice.py.
"""

from collections.abc import Sequence

from helpers.gemm.shapes import GemmShape
from helpers.gpu.adapter import AdapterInfo
from helpers.gpu.operation import Choice

# Multiply-adds of one product from which it pays to compile a text for the layer (see helpers/convolution/choice.py).
WORTH_COMPILING = {"hardware": 2**18, "software": 2**25}
# Of the backward pass, by its rows (batch * M): measured on an NVIDIA H200 with LeNet's fully connected layers, with 32
# rows and with 256. Few rows give too few tiles of 64 x 64 to fill a GPU, and 32 fill half of each. With many rows, the
# sums of d_b and d_bias are long, and 2_tiled adds each sum of d_bias in one thread: 2.6 times as slow where N = 10.
FEW_ROWS, WORTH_WITH_FEW_ROWS = 64, 2**20
MANY_ROWS, WORTH_WITH_MANY_ROWS = 256, 2**17
NO_LIMIT = "its dispatch is never too large"
ON_SOFTWARE = "on a software adapter a barrier costs more than the loads that a tile saves"
SHARED_TILE = "a workgroup loads each number once for a whole row or column of its tile"
REGISTER_TILE = "a thread has 8 x 8 sums in registers: 16 numbers read for 64 multiply-adds"
LONG_SUMS = "with many rows, the sums of d_b and d_bias are long: registers, and threads that share a sum, shorten them"
FOURS = "it loads four numbers at once, and the next tile while it multiplies this one"


def forward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act worth running, best first."""
    specialized = [Choice("5_prefetch", FOURS)] if s.n % 4 == 0 else []
    tiles, worth = [*specialized, Choice("3_register_tiles", REGISTER_TILE)], WORTH_COMPILING["hardware"]
    return _ordered(s, adapter, tiles, worth, "6_registers_only")


def backward(s: GemmShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of gemm_bias_act_backward worth running, best first."""
    rows = s.batch_size * s.m
    if rows >= MANY_ROWS:
        specialized, worth = [Choice("3_register_tiles", LONG_SUMS)], WORTH_WITH_MANY_ROWS
    else:
        specialized = [Choice("3_register_tiles", REGISTER_TILE)] if s.n % 4 == 0 and s.k % 4 == 0 else []
        worth = WORTH_WITH_FEW_ROWS if rows < FEW_ROWS else WORTH_COMPILING["hardware"]
    return _ordered(s, adapter, specialized, worth, "4_registers_only")


def _ordered(
    s: GemmShape, adapter: AdapterInfo, on_hardware: list[Choice], worth_on_hardware: int, on_software: str
) -> Sequence[Choice]:
    """From this number of multiply-adds, `on_hardware` comes first; a software adapter has a threshold of its own."""
    least = {**WORTH_COMPILING, "hardware": worth_on_hardware}
    worth = s.batch_size * s.m * s.k * s.n >= least[adapter.kind]
    by_threads = "1_thread_per_element"
    if adapter.kind == "software":
        first = worth and s.n % 4 == 0 and s.k % 4 == 0
        reason = "sums in registers, four numbers a load and no barriers suit a software adapter"
        return *([Choice(on_software, reason)] if first else []), Choice(by_threads, ON_SOFTWARE)
    return *(on_hardware if worth else []), Choice("2_tiled", SHARED_TILE), Choice(by_threads, NO_LIMIT)
