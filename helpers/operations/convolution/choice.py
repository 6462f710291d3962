"""The choice of a convolution's version where a call has no `kernel=`, with its reason: a few thresholds, all measured.

Those of GPUs come from `python -m helpers.bench` on an NVIDIA H200 (helpers/bench/recorded; a test holds the rule
against that table), those of software adapters from the same command on Mesa's lavapipe with 2 processor cores.
"""

from collections.abc import Sequence
from math import prod

from helpers.gpu.adapter import AdapterInfo
from helpers.operations.convolution.schedules.shared import is_simple
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.operation import Choice

# A version that is specialized for a layer is compiled anew for each: 0.1 to 0.3 s on a GPU, some seconds of one core
# on a software adapter. With fewer multiply-adds, the versions that are compiled once finish earlier.
WORTH_COMPILING = {"hardware": 2**16, "software": 2**26}
MANY_THREADS = 65_536  # with this many threads at work, more of them gain nothing
SHORT_SUM = 32  # terms that one thread adds faster than a workgroup shares them
LONG_SUM = 4_096  # terms that one workgroup adds slower than many, with a second pass for their parts
FULL_TILE = 12  # rows and columns from which an image fills most of a 16 x 16 tile
FEW_CHANNELS = 8  # of input or output: fewer leave most of a tile of 64 channels empty
WINOGRAD_CHANNELS = 32  # of input and output: with fewer, the transforms cost more than the products that they save
WINOGRAD_WORK = 2**28  # multiply-adds: with fewer, three passes take longer than the products that they save
SMALL_LAYER = 2**24  # multiply-adds: fewer do not fill a GPU with tiles
FEW_WEIGHTS = 5_000  # few enough that threads with a filter row each hold them all at once
ON_SOFTWARE = "a software adapter runs few threads at once, and a barrier is slow on it"
SHORTER_LOOPS = "its threads run shorter loops"
FEWER_WORKGROUPS = "it needs fewer workgroups"
SAVES_PRODUCTS = "3 x 3 filters at stride 1 over many channels: 36 products do the work of 144"
FILLS_TILES = "tiles of sums in registers do many multiply-adds for each number that they load"
TILES_RARELY_PAY = (
    "tiles of 16 x 16 pixels pay off only at stride 1, on images that fill them, and with few pixels in all"
)
ANY_LAYER = "it takes any stride, padding, dilation and groups"
IN_REGISTERS = "a thread keeps a window of pixels in registers: no barriers, and few loads for each multiply-add"


def multiply_adds(s: ConvShape) -> int:
    """The multiply-adds of the forward pass, and of each gradient of its input and weight."""
    return prod(s.output) * prod(s.weight[1:])


def forward(s: ConvShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of conv2d worth running, best first."""
    if not is_simple(s):
        return _any_layer(s, adapter, s.out_channels, "2_implicit_gemm", "5_direct")
    worth = _worth_compiling(s, adapter)
    windows = s.stride == (1, 1)
    gpu = worth and adapter.kind == "hardware"
    return _applicable(
        (not worth, "1_thread_per_output", _too_little_work(s)),
        (adapter.kind == "software" and windows, "4_register_windows", IN_REGISTERS),
        (gpu and windows and max(s.weight[:2]) < FEW_CHANNELS, "4_register_windows", _few_channels(s)),
        (gpu and _winograd_pays(s), "3_winograd", SAVES_PRODUCTS),
        (True, "2_implicit_gemm", FILLS_TILES),
        (True, "5_direct", ANY_LAYER),
    )


def grad_input(s: ConvShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of conv2d_grad_input worth running, best first."""
    if not is_simple(s):
        return _any_layer(s, adapter, s.in_channels, "3_implicit_gemm", "8_direct")
    windows = s.stride == (1, 1)
    if not _worth_compiling(s, adapter):
        pays = windows and min(s.in_h, s.in_w) >= FULL_TILE
        sharing = (
            f"with {prod(s.input):,} pixels, few threads are at work, and sharing the weights spares each of them loads"
        )
        versions = _general(adapter, "1_gather", "2_shared_weights", pays, TILES_RARELY_PAY, sharing)
        return *versions, Choice("8_direct", ANY_LAYER)
    gpu = adapter.kind == "hardware"
    few = min(s.weight[:2]) < FEW_CHANNELS or multiply_adds(s) < SMALL_LAYER
    classes = f"at stride {s.stride_h} each class of pixels multiplies its own taps only"
    return _applicable(
        (not windows, "4_residue_classes", classes),
        (windows and not gpu, "6_register_windows", IN_REGISTERS),
        (windows and gpu and few and s.out_w % 4 == 0, "7_split_channels", _few_channels(s)),
        (gpu and _winograd_pays(s), "5_winograd", SAVES_PRODUCTS),
        (True, "3_implicit_gemm", FILLS_TILES),
        (True, "8_direct", ANY_LAYER),
    )


def grad_weight(s: ConvShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of conv2d_grad_weight worth running, best first."""
    if not is_simple(s):
        return _any_layer(s, adapter, s.out_channels, "3_split_k", "7_direct")
    weights = prod(s.weight)
    if not _worth_compiling(s, adapter):
        idle = f"one thread for each of {weights:,} weights would leave most of a GPU idle (it takes {MANY_THREADS:,})"
        versions = _general(adapter, "1_thread_per_weight", "2_workgroup_per_weight", True, "", idle)
        return *versions, Choice("7_direct", ANY_LAYER)
    gpu = adapter.kind == "hardware"
    rows = f"so few weights ({weights:,}) that threads hold a row of a filter each, over all of the sum"
    return _applicable(
        (not gpu, "5_register_windows", IN_REGISTERS),
        (gpu and weights <= FEW_WEIGHTS, "6_filter_rows", rows),
        (gpu and _winograd_pays(s), "4_winograd", SAVES_PRODUCTS),
        (gpu, "3_split_k", "workgroups share the long sum of each tile of weights"),
        (True, "7_direct", ANY_LAYER),
    )


def grad_bias(s: ConvShape, adapter: AdapterInfo) -> Sequence[Choice]:
    """The versions of conv2d_grad_bias worth running, best first."""
    terms = s.batch * s.out_h * s.out_w
    short = f"a sum of {terms} terms is too short to share"
    shared = f"256 threads share each sum of {terms:,} terms"
    general = _general(adapter, "1_thread_per_channel", "2_workgroup_per_channel", terms >= SHORT_SUM, short, shared)
    if adapter.kind == "hardware" and terms >= LONG_SUM:
        return Choice("3_two_passes", f"many workgroups share each sum of {terms:,} terms"), *general
    return general


def _applicable(*choices: tuple[bool, str, str]) -> Sequence[Choice]:
    """The versions whose condition holds, in the order given."""
    return tuple(Choice(version, reason) for holds, version, reason in choices if holds)


def _any_layer(s: ConvShape, adapter: AdapterInfo, rows: int, tiled: str, direct: str) -> Sequence[Choice]:
    """Of the two versions that take every layer, the better one first; `rows` are the channels of a tile's rows."""
    rows //= s.groups
    if rows < FEW_CHANNELS:
        reason = f"a group has so few channels ({rows}) that they would fill a small part of a tile"
    elif not _worth_compiling(s, adapter):
        reason = _too_little_work(s)
    else:
        return Choice(tiled, FILLS_TILES), Choice(direct, ANY_LAYER)
    return Choice(direct, reason), Choice(tiled, FILLS_TILES)


def _general(
    adapter: AdapterInfo, alone: str, shared: str, pays: bool, against: str, for_sharing: str
) -> Sequence[Choice]:
    """Of two versions compiled once, the one that shares work first where it `pays`; with reasons against and for."""
    if adapter.few_threads:
        return Choice(alone, ON_SOFTWARE), Choice(shared, SHORTER_LOOPS)
    if not pays:
        return Choice(alone, against), Choice(shared, SHORTER_LOOPS)
    return Choice(shared, for_sharing), Choice(alone, FEWER_WORKGROUPS)


def _too_little_work(s: ConvShape) -> str:
    return f"{multiply_adds(s):,} multiply-adds are too few for a kernel that takes long to compile"


def _worth_compiling(s: ConvShape, adapter: AdapterInfo) -> bool:
    return not adapter.simulated and multiply_adds(s) >= WORTH_COMPILING[adapter.kind]


def _winograd_pays(s: ConvShape) -> bool:
    fits = s.stride == (1, 1) and (s.kernel_h, s.kernel_w) == (3, 3)
    return fits and multiply_adds(s) >= WINOGRAD_WORK and min(s.weight[:2]) >= WINOGRAD_CHANNELS


def _few_channels(s: ConvShape) -> str:
    channels = f"{s.in_channels} input and {s.out_channels} output channels"
    return f"{channels} would fill a small part of a tile, and windows of pixels fit into registers"
