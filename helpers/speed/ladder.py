"""The steps of the speed ladder: each with the kernel that takes it, its idea, and what limited the step before."""

from dataclasses import dataclass
from functools import cached_property

from helpers.gpu.operation import Shape
from helpers.kernels import load
from helpers.operations import OPERATIONS
from helpers.speed.layers import SHAPES
from helpers.speed.tile_sizes import TileSizes

GEMM, SAME, STRIDED = "GEMM 4096", "32x64x56x56 to 64, k3 s1 p1", "32x128x28x28 to 128, k3 s2 p1"
NO_TILE, TILE, SQUARE = TileSizes(1, 1, 1, 1), TileSizes(16, 16, 16, 1), TileSizes(64, 64, 16, 8)

# Winograd's weight gradient, for each tile of 6 x 6 pixels and 64 channels on both sides: the products of 36 points,
# the pixels and the upstream gradients once, and what both become, written once. (The products read it.)
_POINTS, _CHANNELS = 36, 64
_PRODUCTS = _POINTS * _CHANNELS**2 / SQUARE.intensity
_TRANSFORMS = 4 * _CHANNELS * (6 * 6 + _POINTS + 4 * 4 + _POINTS)
WINOGRAD_BYTES = (_PRODUCTS + _TRANSFORMS) / (4 * 4 * 3 * 3 * _CHANNELS**2)


@dataclass(frozen=True)
class Step:
    """One step.

    Parameters
    ----------
    name : str
        What it is called.
    operation, version : str
        The kernel that takes it: ``kernels/<operation>/<version>.wgsl``.
    layer : str
        The name of the layer on which it is measured.
    idea : str
        What is new in it, in a few words.
    limit : str
        What limited the step before: "bytes", "arithmetic", "latency" or "occupancy".
    why : str
        How that shows, in a sentence.
    before : str
        The version of the same operation from which it is a step; none for the first.
    checked : bool
        Whether bounds are checked.
    fixed : TileSizes, optional
        Its tiles, where they are not constants of the kernel.
    loaded : float, optional
        Bytes from and to storage memory for each multiply-add of the formula, where they are not those of the tiles.
    """

    name: str
    operation: str
    version: str
    layer: str
    idea: str
    limit: str = ""
    why: str = ""
    before: str = ""
    checked: bool = True
    fixed: TileSizes | None = None
    loaded: float | None = None

    @property
    def path(self) -> str:
        """Where the kernel is."""
        return f"kernels/{self.operation}/{self.version}.wgsl"

    @property
    def shape(self) -> Shape:
        """The sizes of the layer."""
        return SHAPES[self.layer]

    @cached_property
    def tile(self) -> TileSizes:
        """Its tiles on that layer."""
        if self.fixed:
            return self.fixed
        kernel = load(self.operation, self.version)
        constants = OPERATIONS[self.operation].versions[self.version](self.shape, kernel).constants
        rows, columns, depth = (constants.get(name) or kernel.value(name) for name in ("TILE_M", "TILE_N", "TILE_K"))
        return TileSizes(rows, columns, depth, 8)

    @property
    def intensity(self) -> float:
        """Operations for each byte from storage memory; a multiply-add is two."""
        return 2 * self.tile.intensity if self.loaded is None else 2 / self.loaded


STEPS = (
    Step(
        "naive",
        "gemm_bias_act",
        "1_thread_per_element",
        GEMM,
        "a thread for each result",
        fixed=NO_TILE,
    ),
    Step(
        "shared tile",
        "gemm_bias_act",
        "2_tiled",
        GEMM,
        "a workgroup loads tiles that all its threads use",
        "bytes",
        "Two loads from storage memory for each multiply-add.",
        "1_thread_per_element",
        fixed=TILE,
    ),
    Step(
        "register tile",
        "gemm_bias_act",
        "3_register_tiles",
        GEMM,
        "a thread computes 8 x 8 results from 8 + 8 numbers",
        "bytes",
        "Two reads of workgroup memory for each multiply-add.",
        "2_tiled",
    ),
    Step(
        "vec4 and pads",
        "gemm_bias_act",
        "4_vec4_tiles",
        GEMM,
        "four numbers in one load or read; rows apart by a pad, so that banks do not conflict",
        "latency",
        "A read of workgroup memory, with its address and its check, for every four multiply-adds.",
        "3_register_tiles",
    ),
    Step(
        "prefetch",
        "gemm_bias_act",
        "5_prefetch",
        GEMM,
        "the next tile is loaded while this one is multiplied",
        "latency",
        "All threads wait at the barrier for loads from storage memory, and multiply nothing meanwhile.",
        "4_vec4_tiles",
    ),
    Step(
        "implicit GEMM",
        "conv2d_grad_input",
        "3_implicit_gemm",
        SAME,
        "a convolution as a product whose matrix is never stored, without a division in the inner loop",
        "bytes",
        "A thread for each pixel loads two numbers for each multiply-add, and divides to find them.",
        "1_gather",
    ),
    Step(
        "split-K",
        "conv2d_grad_weight",
        "3_split_k",
        SAME,
        "several workgroups sum slices of one result; a second pass adds them",
        "occupancy",
        "Few results with long sums: 9 workgroups on 132 multiprocessors.",
        "2_workgroup_per_weight",
    ),
    Step(
        "residue classes",
        "conv2d_grad_input",
        "4_residue_classes",
        STRIDED,
        "with stride 2, pixels of one class share their taps",
        "arithmetic",
        "Three of four products are with a tap that does not reach the pixel.",
        "3_implicit_gemm",
    ),
    Step(
        "Winograd",
        "conv2d_grad_weight",
        "4_winograd",
        SAME,
        "36 products instead of 144 for a tile; transforms before and after",
        "arithmetic",
        "The multiply-adds themselves: more than half of what the hardware can do.",
        "3_split_k",
        loaded=WINOGRAD_BYTES,
    ),
    Step(
        "checks off",
        "gemm_bias_act",
        "5_prefetch",
        GEMM,
        "the compiler adds no bounds checks",
        "arithmetic",
        "Comparing and clamping indices takes instructions, too.",
        "5_prefetch",
        checked=False,
    ),
)
