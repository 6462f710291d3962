"""What the schedules of several operations share: the layer in a text, limits, and four techniques.

Forward, images are computed from the input (the `result` is "output"); backward, from the upstream gradient (it is
"input"). Each number of the result is a sum over the channels of the other and the taps of a filter, so that one
function serves both directions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import product
from math import ceil, prod

from helpers.activations import ACTIVATIONS
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING, MAX_WORKGROUPS, AdapterInfo
from helpers.gpu.operation import Schedule, Step, flat, nested_loops, one_step
from helpers.specialize import first_short_enough
from helpers.wgsl import Kernel

Tile = Mapping[str, int]  # values of a kernel's constants
MANY_THREADS = 65_536  # this many keep a GPU busy
MANY_WORKGROUPS = 2112  # these keep a large GPU busy: two rounds of the 8 that each of 132 multiprocessors can hold

# --- The layer in a text: its sizes, by the names of the kernels' constants ----------------------------------


def simple_layer(s: ConvShape) -> dict[str, int]:
    """The sizes for versions with one stride, no dilation and no groups."""
    names = "BATCH IN_CHANNELS IN_H IN_W OUT_CHANNELS KERNEL_H KERNEL_W STRIDE PADDING_H OUT_H OUT_W PADDING_W"
    return dict(zip(names.split(), s.params(), strict=True))


def layer(s: ConvShape) -> dict[str, int]:
    """The sizes for versions that serve every layer."""
    pairs = {
        f"{name.upper()}_{axis}": value
        for name in ("stride", "padding", "dilation")
        for axis, value in zip("HW", getattr(s, name), strict=True)
    }
    names = "batch in_channels in_h in_w out_channels kernel_h kernel_w groups out_h out_w"
    return {**pairs, **{name.upper(): getattr(s, name) for name in names.split()}}


def activation(s: ConvShape, result: str) -> dict[str, int]:
    """The constant of a version that applies the layer's activation: gradients have none."""
    return {"ACTIVATION": ACTIVATIONS.index(s.activation)} if result == "output" else {}


def terms(s: ConvShape, result: str) -> int:
    """Channels over which each number of the result is a sum (with groups, those of all groups)."""
    return s.in_channels if result == "output" else s.out_channels


def even(size: int, most: int) -> int:
    """The length of the fewest equal pieces, each of at most `most`."""
    return ceil(size / ceil(size / most))


# --- Versions with one stride, no dilation and one group refuse all other layers by name ----------------------

ScheduleFunction = Callable[..., Schedule]  # of a shape, a kernel, and for some versions the adapter


def is_simple(s: ConvShape) -> bool:
    """Has a convolution one stride for both axes, no dilation and one group?"""
    return not _not_simple(s)


def simple_only(schedule: ScheduleFunction) -> ScheduleFunction:
    """The schedule of a version whose kernel takes only simple convolutions: it refuses all others by name."""

    @wraps(schedule)
    def limited(s: ConvShape, kernel: Kernel, *adapter: AdapterInfo) -> Schedule:
        rule = _not_simple(s)
        if rule:
            return Schedule((), refused=f"{kernel.name}: {rule}: choose another version")
        return schedule(s, kernel, *adapter)

    return limited


def _not_simple(s: ConvShape) -> str:
    """The first thing that makes a convolution more than a simple one, and the rule that it breaks; or ""."""
    if s.stride_h != s.stride_w:
        return f"stride = {s.stride}: it takes one stride for both axes"
    if s.dilation != (1, 1):
        return f"dilation = {s.dilation}: it takes no dilation, which is (1, 1)"
    return f"groups = {s.groups}: it takes one group" if s.groups > 1 else ""


# --- direct: every convolution, one thread for the same element of some images --------------------------------

MOST_IMAGES = 4  # of a thread: more of them leave too few threads for most layers


def direct(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """One thread for each element of a block of images, which is as large as it can be while a GPU stays busy."""
    elements = prod(s.of(result)[1:])
    fits = max(1, min(MOST_IMAGES, s.batch, s.batch * elements // MANY_THREADS))
    images = dict(kernel.constants).get("IMAGES", fits)
    iterations = nested_loops(terms(s, result) // s.groups, s.kernel_h, s.kernel_w)
    schedule = one_step(flat(ceil(s.batch / images) * elements), iterations)
    return schedule._replace(constants={**layer(s), "IMAGES": images, **activation(s, result)})


# --- Implicit GEMM: tiles of a matrix product, and how many workgroups share a sum ----------------------------

# The product is that of an (m, k) and a (k, n) matrix, neither of which is stored: m counts channels, n pixels or
# weights, and k the terms of a sum, which are added in steps of TILE_K = 16. Each group of channels is a product.
# The multiprocessor that has the most workgroups decides how long all take. Times are in steps of a 64 x 128 tile.
MULTIPROCESSORS = 132  # of the H200 on which these numbers were measured; a smaller GPU depends less on the tiles
WAITING = 3  # warps of a multiprocessor: this many of them wait as often as they compute
OVERHEAD = 2  # steps: what a workgroup takes before and after its sum
PARTS = 500_000  # of sums, which are written, read and added in the time of a step
PASS = 2  # steps: what another pass takes at the least
LOAD = 0.05  # steps: a part is added after the one before it has arrived
SMALL_TILE = 1.1  # times as long do the same products take in tiles of 64 x 64, which load more for each
MOST_SPLITS = 1024
FILLED = 1.25  # a tap's channels are filled up with zeros to whole steps, unless more than this many times as many


@dataclass(frozen=True)
class Tiling:
    """`groups` products in tiles of `tile_m` x `tile_n` sums of `steps` each, which `splits` workgroups share."""

    m: int
    n: int
    steps: int
    tile_m: int
    tile_n: int
    splits: int = 1
    groups: int = 1

    @property
    def tiles(self) -> tuple[int, int]:
        """How many along m and n, of each product."""
        return ceil(self.m / self.tile_m), ceil(self.n / self.tile_n)

    @property
    def time(self) -> float:
        """About how many steps of a 64 x 128 tile the product takes, and the adding of its parts."""
        size = self.tile_m * self.tile_n / (64 * 128) * (SMALL_TILE if max(self.tile_m, self.tile_n) < 128 else 1)
        busiest = ceil(self.groups * prod(self.tiles) * self.splits / MULTIPROCESSORS)
        warps = busiest * self.tile_m * self.tile_n / (8 * 8 * 32)
        waiting = 1 + (WAITING / warps) ** 2  # for numbers from memory, with few others at work
        sums = self.groups * self.m * self.n
        adding = PASS + self.splits * (sums / PARTS + LOAD) if self.splits > 1 else 0
        return waiting * busiest * size * (ceil(self.steps / self.splits) + OVERHEAD) + adding

    @property
    def constants(self) -> Mapping[str, int]:
        """The kernel's constants for these tiles."""
        aligned = self.m % self.tile_m == 0 and self.n % self.tile_n == 0 and self.tiles[1] <= MAX_WORKGROUPS
        sizes = {"TILE_M": self.tile_m, "TILE_N": self.tile_n, "SPLITS": self.splits}
        return {**sizes, "STEPS": self.steps, "ALIGNED": aligned}

    def laid_out_bytes(self, kernel: Kernel) -> int:
        """Bytes of the left matrix, laid out for all steps and filled up to whole tiles."""
        return 4 * self.steps * kernel.value("TILE_K") * self.groups * self.tiles[0] * self.tile_m

    def step(self, entry_point: str) -> Step:
        """The dispatch of the product: tiles along n in x (and y, if they are many), all else in z."""
        rows, columns = self.tiles
        x, y, _ = flat(columns, 1)
        return Step((x, y, rows * self.groups * self.splits), nested_loops(ceil(self.steps / self.splits)), entry_point)

    def fastest(self, tiles: Sequence[tuple[int, int]], kernel: Kernel) -> "Tiling":
        """The same products in those of these tiles, and that many parts, that take the least time.

        What the kernel's constants fix stays as it is.
        """
        given = dict(kernel.constants)
        if "TILE_M" in given or "TILE_N" in given:
            tiles = [(given.get("TILE_M", 64), given.get("TILE_N", 64))]
        most = max(1, min(MOST_SPLITS, self.steps, MAX_BINDING // (4 * self.m * self.n * self.groups)))
        splits = [given["SPLITS"]] if "SPLITS" in given else range(1, most + 1)
        choices = product(tiles, splits)
        return min((replace(self, tile_m=m, tile_n=n, splits=parts) for (m, n), parts in choices), key=lambda t: t.time)


def tiles_for(rows: int) -> Sequence[tuple[int, int]]:
    """Tiles for a product with this many rows, where columns are many."""
    if rows <= 32:
        return [(32, 128)]
    return [(64, 128), (64, 64)] if rows % 128 else [(128, 64), (64, 128)]


def whole_steps(channels: int, kernel: Kernel) -> int:
    """A tap's channels, filled up to whole steps."""
    return ceil(channels / kernel.value("TILE_K")) * kernel.value("TILE_K")


def implicit_gemm(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """Lay out the weights, multiply, and where sums are in parts, add them."""
    (_, rows, *_), numbers, of_group = s.of(result), prod(s.of(result)), terms(s, result) // s.groups
    filled = whole_steps(of_group, kernel)
    run = filled if filled <= FILLED * of_group else of_group
    steps, rows_of_group = ceil(s.kernel_h * s.kernel_w * run / kernel.value("TILE_K")), rows // s.groups
    tiles = tiles_for(rows_of_group)
    tiling = Tiling(rows_of_group, numbers // rows, steps, *tiles[0], groups=s.groups).fastest(tiles, kernel)
    weights = tiling.laid_out_bytes(kernel)
    passes = [Step(flat(weights // 16), 0, "lay_out_weights")]
    if tiling.splits == 1:
        passes.append(tiling.step("main"))
    else:
        passes.append(tiling.step("multiply_parts"))
        passes.append(Step(flat(numbers), nested_loops(tiling.splits), "add_parts"))
    scratch = {"weights_by_k": weights, "parts": 4 * numbers * tiling.splits if tiling.splits > 1 else 4}
    return Schedule(tuple(passes), scratch, {**layer(s), "RUN": run, **tiling.constants, **activation(s, result)})


# --- Winograd's method: transforms, 36 matrix products, and back -----------------------------------------------

POINTS = 36  # 6 x 6
WINOGRAD_TILE = 64  # rows and columns of a product's tile
WINOGRAD_K = 16  # terms of a step
LINE = 64  # threads of a workgroup in the transforms of images


def winograd(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """The schedule where images come out."""
    if refused := no_winograd(s, kernel):
        return Schedule((), refused=refused)
    tile_n, channels = dict(kernel.constants).get("TILE_N", WINOGRAD_TILE), s.of(result)[1]
    k, m = filled_up(terms(s, result), WINOGRAD_K), filled_up(channels, WINOGRAD_TILE)
    n = filled_up(squares(s, result), tile_n)
    lines = ceil(n / 4 / LINE)
    transformed = "transformed_input" if result == "output" else "transformed_grad"
    return Schedule(
        (
            Step((k, lines + ceil(m / 4 / LINE), 1), 0, "transform"),
            Step((m // WINOGRAD_TILE, POINTS, n // tile_n), nested_loops(k // WINOGRAD_K), "multiply_points"),
            Step((channels, lines, 1), 0, "write_pixels"),
        ),
        scratch={
            "transformed_weight": 4 * POINTS * k * m,
            transformed: 4 * POINTS * k * n,
            "products": 4 * POINTS * m * n,
        },
        constants=winograd_layer(s) | {"TILE_N": tile_n, **activation(s, result)},
    )


def squares(s: ConvShape, result: str) -> int:
    """How many pieces of 4 x 4 cover the images."""
    _, _, rows, columns = s.of(result)
    return s.batch * ceil(rows / 4) * ceil(columns / 4)


def filled_up(size: int, tile: int) -> int:
    """A size in full tiles."""
    return ceil(size / tile) * tile


def winograd_layer(s: ConvShape) -> dict[str, int]:
    """The layer's sizes, without those that are always the same."""
    return {name: size for name, size in simple_layer(s).items() if name not in ("KERNEL_H", "KERNEL_W", "STRIDE")}


def no_winograd(s: ConvShape, kernel: Kernel) -> str | None:
    """Why Winograd's method does not take this layer, or None."""
    if (s.kernel_h, s.kernel_w, s.stride_h) == (3, 3, 1):
        return None
    given = f"filters of {s.kernel_h}x{s.kernel_w}, stride {s.stride_h}"
    return f"{kernel.name}: {given}: it is written for 3x3 and stride 1: choose another version"


# --- Windows in registers: a thread computes CHANNELS channels of ROWS x 4*QUADS neighboring pixels -------------

# A larger tile takes fewer loads for the same products, and a longer text, for all of it is written out.
MOST_TAPS = 64  # of a filter
MOST_PRODUCTS = 400  # in fours: more of them written out always make the text too long

# How long it takes on a software adapter, in nanoseconds: measured with Mesa 22.3 on two cores of a 2.5 GHz Xeon.
PRODUCT_TIME, LOAD_TIME = 0.12, 1.7  # four products of a thread; one load
COMPILED_PRODUCT, COMPILED_LOAD = 1.2e6, 5e6  # each of them that is written out
RUNS = 200  # of a layer, over which the time to compile it spreads
SIDES = range(1, 17), range(1, 5), (1, 2, 4, 8)  # rows, quads and channels of a tile
SIMD = 8  # threads that a software adapter runs at once

SMALL = {"ROWS": 1, "QUADS": 1, "CHANNELS": 2, "THREADS": 64}  # measured on an NVIDIA H200 with LeNet's layers


def register_windows(s: ConvShape, kernel: Kernel, result: str, adapter: AdapterInfo) -> Schedule:
    """One pass, with the fastest tile of which the text is short enough.

    A GPU gets a small tile: more threads, and its driver can take minutes to compile the text of a large one.
    """
    if refused := no_windows(s, kernel):
        return Schedule((), refused=refused)
    tiles = [SMALL] if adapter.kind == "hardware" else _fastest_tiles(s, result)
    sizes = windows_layer(s) | activation(s, result)
    kernel, refused = first_short_enough(kernel, (sizes | tile for tile in tiles))
    if refused:
        return Schedule((), refused=refused)
    (batch, channels, *_), deep = s.of(result), kernel.value("CHANNELS")
    x, y, _ = flat(batch * kernel.value("DOWN") * kernel.value("ACROSS"), kernel.value("THREADS"))
    step = Step((x, y, ceil(channels / deep)), nested_loops(terms(s, result)) + nested_loops(deep))
    return Schedule((step,), constants=dict(kernel.constants))


def windows_layer(s: ConvShape) -> dict[str, int]:
    """The layer's sizes, without the stride, which is always 1."""
    return {name: size for name, size in simple_layer(s).items() if name != "STRIDE"}


def no_windows(s: ConvShape, kernel: Kernel) -> str | None:
    """Why a version with windows in registers does not take a shape, or None."""
    if s.stride != (1, 1):
        return f"{kernel.name}: stride = {s.stride_h}: its windows lie side by side, so it must be 1"
    if s.kernel_h * s.kernel_w > MOST_TAPS:
        taps = f"a filter of {s.kernel_h} x {s.kernel_w} = {s.kernel_h * s.kernel_w} weights"
        return f"{kernel.name}: {taps}: all are written out, so there may be at most {MOST_TAPS}"
    return None


def _fastest_tiles(s: ConvShape, result: str) -> list[Tile]:
    """All tiles whose products may fit into a text: first the one that a software adapter compiles and runs fastest."""
    (batch, channels, height, width), taps, timed = s.of(result), s.kernel_h * s.kernel_w, []
    for rows, quads, deep in product(*SIDES):
        products = rows * quads * deep * taps
        loads = (rows + s.kernel_h - 1) * (4 * quads + s.kernel_w - 1) + deep * taps
        threads = batch * ceil(height / rows) * ceil(width / (4 * quads)) * ceil(channels / deep)
        running = threads * terms(s, result) * (products * PRODUCT_TIME + loads * LOAD_TIME)
        compiling = products * COMPILED_PRODUCT + loads * COMPILED_LOAD
        if products <= MOST_PRODUCTS:
            tile = {"ROWS": rows, "QUADS": quads, "CHANNELS": deep, "THREADS": SIMD}
            timed.append((RUNS * running + compiling, tile))
    return [tile for _, tile in sorted(timed, key=lambda entry: entry[0])]
