"""Pictures with sliders of the speed ladder."""

from functools import partial

import numpy as np

from helpers.bench import recorded
from helpers.bench.ladder import SQUARE, STEPS, TILE
from helpers.bench.tile_sizes import TileSizes
from helpers.lessons.shared.sliders import over_threads
from helpers.lessons.the_speed_ladder.pictures.residues import ResiduesPicture
from helpers.lessons.the_speed_ladder.pictures.roofline import RooflinePicture
from helpers.lessons.the_speed_ladder.pictures.shared_products import SharedProductsPicture
from helpers.lessons.the_speed_ladder.pictures.split_k import SplitKPicture
from helpers.lessons.the_speed_ladder.pictures.tile_sizes import TileSizesPicture, TrafficPicture
from helpers.lessons.the_speed_ladder.pictures.winograd_tile import WinogradPicture
from helpers.lessons.the_speed_ladder.traffic import Traffic, traffic
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.convolution.winograd import IMAGES
from helpers.operations.kernels import load
from helpers.widgets.controls import Values
from helpers.widgets.explorer import Explorer

SHOWN = {  # the steps that are shown thread by thread: the version, and the sizes of its tiles
    "1 naive": ("1_thread_per_element", TILE),
    "2 shared tile": ("2_tiled", TILE),
    "3 register tile": ("3_register_tiles", SQUARE),
    "4 vec4 and pads": ("4_vec4_tiles", SQUARE),
}


def who_loads(**values: int) -> Explorer:
    """Sliders over the first four steps of the ladder, by number, and over the threads of one workgroup.

    What is shown is a simulated run of the kernel.
    """
    runs = []
    for title, (version, sizes) in SHOWN.items():
        runs.append((title, partial(_simulated, version, sizes)))
    picture = TrafficPicture(runs)

    def threads(chosen: Values) -> int:
        sizes = TILE if chosen["step"] < 3 else SQUARE
        return sizes.threads

    rules = {"step": (1, len(SHOWN)), "thread": threads}
    start = {"thread": 37} | values
    return Explorer(lambda step, thread: picture.show(step - 1, thread), rules, start, play="thread")


def _simulated(version: str, sizes: TileSizes) -> Traffic:
    kernel = load("gemm_bias_act", version)
    if sizes == SQUARE:
        kernel = kernel.with_constants(TILE_M=sizes.rows, TILE_N=sizes.columns, TILE_K=sizes.depth)
    return traffic(kernel, sizes.rows, sizes.columns, sizes.depth)


def counts(step: int) -> str:
    """The cost of one of the first four steps of the ladder, by number, for each multiply-add, in words."""
    title = list(SHOWN)[step - 1]
    version, sizes = SHOWN[title]
    costs = _simulated(version, sizes).costs_in_words
    return f"step {title}: for each multiply-add, {costs}"


def tile_sizes(m: int = 4096, k: int = 4096, n: int = 4096, **values: int) -> Explorer:
    """Sliders over the sizes of the tiles of a product (M, K) @ (K, N), as powers of two: what do they cost?

    `rows`, `columns` and `depth` are those of the tiles, and each thread computes `side` x `side` results: the value 4
    of a slider stands for 2**4 = 16.
    """
    picture = TileSizesPicture((m, k, n))

    def draw(**powers: int) -> TileSizesPicture:
        sizes = {name: 2**power for name, power in powers.items()}
        return picture.show(TileSizes(**sizes))

    rules = {
        "rows": (4, 7),
        "columns": (4, 7),
        "depth": (2, 5),
        "side": 4,
    }
    return Explorer(draw, rules, {"depth": 4} | values)


def split_k(**values: int) -> Explorer:
    """Sliders over the slices of a weight gradient's sums, and the workgroups: 3 x 3 weights, 64 to 64 channels."""
    picture = SplitKPicture((64, 32 * 56 * 56, 64 * 3 * 3))

    def workgroups(chosen: Values) -> int:
        return picture.tiles * chosen["slices"]

    rules = {"slices": (1, 120), "workgroup": workgroups}
    start = {"workgroup": 4} | values
    return Explorer(picture.show, rules, start, play="workgroup")


def residue_classes(**values: int) -> Explorer:
    """Sliders over the pixels of an 8 x 8 image under a 3 x 3 filter with stride 2 and padding 1."""
    shape = ConvShape(1, 1, 8, 8, 1, 3, 3, stride=2, padding=1)
    picture = ResiduesPicture(shape)
    rules = {"ih": shape.in_h, "iw": shape.in_w}
    start = {"ih": 2, "iw": 3} | values
    return Explorer(picture.show, rules, start, play=("ih", "iw"))


def winograd(**values: int) -> Explorer:
    """Sliders over the rows and columns of the 36 products of one tile."""
    random = np.random.default_rng(5)
    pixels = random.integers(0, 6, (6, 6))
    weights = random.integers(-1, 3, (3, 3))
    picture = WinogradPicture(pixels, weights, IMAGES)
    rules = {"row": 6, "column": 6}
    start = {"row": 1, "column": 3} | values
    return Explorer(picture.show, rules, start, play=("row", "column"))


def roofline(**values: int) -> Explorer:
    """A slider over the steps of the ladder, as recorded on a GPU, and beside them those of this machine's last bench.

    Raises ValueError where nothing is recorded.
    """
    last = recorded.recorded()[-1]
    picture = RooflinePicture(last, recorded.own())
    rules = {"step": (1, len(STEPS))}
    return Explorer(picture.show, rules, values, play="step")


def shared_products(shape: ConvShape) -> Explorer:
    """One slider over the threads of a workgroup that share one weight's products."""
    return over_threads(SharedProductsPicture(shape, 256))
