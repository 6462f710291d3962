"""The parts that schedules of several operations share: the layer in a text, limits, and four techniques.

Forward, images are computed from the input (the `result` is "output"); backward, from the upstream gradient (it is
"input"). Each number of the result is a sum over the channels of the other and the taps of a filter, so that one
function serves both directions.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from itertools import product
from math import ceil, prod

from helpers.gpu.adapter import MAX_BINDING, MAX_WORKGROUPS, AdapterInfo, adapter_info
from helpers.operations.activations import ACTIVATIONS
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, Step, flat, nested_loops, one_step
from helpers.operations.kernels import layer_constants
from wgsl import Kernel
from wgsl.specialize import chosen, first_short_enough, sized

Tile = Mapping[str, int]  # values of a kernel's constants
MANY_THREADS = 65_536  # this many keep a GPU busy
MANY_WORKGROUPS = 2112  # these keep a large GPU busy: two rounds of the 8 that each of 132 multiprocessors can hold

# --- The layer in a text: its sizes, by the names of the kernels' constants ----------------------------------


def layer(s: ConvShape, kernel: Kernel) -> dict[str, int]:
    """The sizes and steps that a version declares as constants, by these names, and the activation."""
    steps = "stride_h", "stride_w", "padding_h", "padding_w", "dilation_h", "dilation_w"
    tensors = "batch", "in_channels", "in_h", "in_w", "out_channels", "kernel_h", "kernel_w", "groups", "out_h", "out_w"
    sizes = {name.upper(): getattr(s, name) for name in (*steps, *tensors)}
    sizes["STRIDE"] = s.stride_h
    sizes["ACTIVATION"] = ACTIVATIONS.index(s.activation)
    return layer_constants(kernel, sizes)


def terms(s: ConvShape, result: str) -> int:
    """Channels over which each number of the result is a sum (with groups, those of all groups)."""
    return s.in_channels if result == "output" else s.out_channels


def equal_length(size: int, most: int) -> int:
    """The length of the fewest equal pieces, each of at most `most`."""
    pieces = ceil(size / most)
    return ceil(size / pieces)


# --- The layers that a version takes: it refuses all others by name ---------------------------------------------

ScheduleFunction = Callable[..., Schedule]  # of a shape, a kernel, and for some versions the adapter


def takes(*rules: Callable[[ConvShape], str]) -> Callable[[ScheduleFunction], ScheduleFunction]:
    """The schedule of a version whose kernel takes only the layers that break none of these rules.

    A rule says what is wrong with a layer, or "".
    """

    def limit(schedule: ScheduleFunction) -> ScheduleFunction:
        @wraps(schedule)
        def limited(s: ConvShape, kernel: Kernel, *adapter: AdapterInfo, **how: str) -> Schedule:
            for rule in rules:
                broken = rule(s)
                if broken:
                    return refusal(kernel, broken)
            return schedule(s, kernel, *adapter, **how)

        return limited

    return limit


def refusal(kernel: Kernel, reason: str) -> Schedule:
    """The schedule of a version that does not take a layer."""
    return Schedule((), refused=f"{kernel.name}: {reason}")


def simple_rule(s: ConvShape) -> str:
    """One stride for both axes, no dilation and one group."""
    if s.stride_h != s.stride_w:
        return f"stride = {s.stride}: it takes one stride for both axes: choose another version"
    if s.dilation != (1, 1):
        return f"dilation = {s.dilation}: it takes no dilation, which is (1, 1): choose another version"
    if s.groups > 1:
        return f"groups = {s.groups}: it takes one group: choose another version"
    return ""


def is_simple(s: ConvShape) -> bool:
    """Has a convolution one stride for both axes, no dilation and one group?"""
    return not simple_rule(s)


def winograd_rule(s: ConvShape) -> str:
    """3x3 filters at stride 1."""
    if (s.kernel_h, s.kernel_w, s.stride_h) == (3, 3, 1):
        return ""
    layer = f"filters of {s.kernel_h}x{s.kernel_w}, stride {s.stride_h}"
    return f"{layer}: it is written for 3x3 and stride 1: choose another version"


MOST_TAPS = 64  # of a filter


def windows_rule(s: ConvShape) -> str:
    """Windows side by side, and a filter small enough to write out."""
    if s.stride_h != 1:
        return f"stride = {s.stride_h}: its windows lie side by side, so it must be 1"
    taps = s.kernel_h * s.kernel_w
    if taps > MOST_TAPS:
        filter = f"a filter of {s.kernel_h} x {s.kernel_w} = {taps} weights"
        return f"{filter}: all are written out, so there may be at most {MOST_TAPS}"
    return ""


# --- direct: every convolution, one thread for the same element of some images --------------------------------

MOST_IMAGES = 4  # of a thread: more of them leave too few threads for most layers


def direct(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """One thread for each element of a block of images, which is as large as it can be while a GPU stays busy."""
    elements = prod(s.of(result)[1:])
    busy = s.batch * elements // MANY_THREADS
    (images,) = chosen(kernel, IMAGES=max(1, min(MOST_IMAGES, s.batch, busy)))
    threads = ceil(s.batch / images) * elements
    iterations = nested_loops(terms(s, result) // s.groups, s.kernel_h, s.kernel_w)
    constants = {**layer(s, kernel), "IMAGES": images}
    return one_step(flat(threads), iterations)._replace(constants=constants)


# --- Implicit GEMM: tiles of a matrix product, and how many workgroups share a sum ----------------------------

# The product is that of an (m, k) and a (k, n) matrix, neither of which is stored: m counts channels, n pixels or
# weights, and k the terms of a sum, which are added in steps of TILE_K = 16. Each group of channels is a product.
# The multiprocessor that has the most workgroups decides how long all take. Times are in steps of a 64 x 128 tile.
MULTIPROCESSORS = 132  # of the H200 on which these numbers were measured; a smaller GPU depends less on the tiles
WAITING = 3  # warps of a multiprocessor: this many of them wait as often as they compute
OVERHEAD = 2  # steps: what a workgroup takes before and after its sum
PARTS = 500_000  # of sums, which are written, read and added in the time of a step
PASS = 2  # steps: what another pass takes at least
LOAD = 0.05  # steps: a part is added after the one before it has arrived
SMALL_TILE = 1.1  # how many times as long the same products take in tiles of 64 x 64, which load more for each
MOST_SPLITS = 1024
FILLED = 1.25  # a tap's channels are filled up with zeros to whole steps if that makes at most this many times as many


@dataclass(frozen=True)
class Tiling:
    """`groups` products in tiles of `tile_m` x `tile_n` sums of `steps` each, which `splits` workgroups share."""

    m: int
    n: int
    steps: int
    tile_m: int = 64
    tile_n: int = 64
    splits: int = 1
    groups: int = 1

    @property
    def tiles(self) -> tuple[int, int]:
        """The number of tiles along m and n, of each product."""
        return ceil(self.m / self.tile_m), ceil(self.n / self.tile_n)

    @property
    def time(self) -> float:
        """The time of the product, and of adding its parts, in steps of a 64 x 128 tile: an estimate."""
        size = self.tile_m * self.tile_n / (64 * 128)
        if max(self.tile_m, self.tile_n) < 128:
            size *= SMALL_TILE
        busiest = ceil(self.groups * prod(self.tiles) * self.splits / MULTIPROCESSORS)
        warps = busiest * self.tile_m * self.tile_n / (8 * 8 * 32)
        waiting = 1 + (WAITING / warps) ** 2  # for numbers from memory, with few others at work
        steps = ceil(self.steps / self.splits) + OVERHEAD
        multiplying = waiting * busiest * size * steps
        if self.splits == 1:
            return multiplying
        sums = self.groups * self.m * self.n
        adding = PASS + self.splits * (sums / PARTS + LOAD)
        return multiplying + adding

    @property
    def constants(self) -> Mapping[str, int]:
        """The kernel's constants for these tiles."""
        full_tiles = self.m % self.tile_m == 0 and self.n % self.tile_n == 0
        one_row = self.tiles[1] <= MAX_WORKGROUPS
        return {
            "TILE_M": self.tile_m,
            "TILE_N": self.tile_n,
            "SPLITS": self.splits,
            "STEPS": self.steps,
            "ALIGNED": full_tiles and one_row,
        }

    def laid_out_bytes(self, kernel: Kernel) -> int:
        """Bytes of the left matrix, laid out for all steps and filled up to whole tiles."""
        terms = self.steps * kernel.value("TILE_K")
        rows = self.groups * self.tiles[0] * self.tile_m
        return 4 * terms * rows

    def step(self, entry_point: str) -> Step:
        """The dispatch of the product: tiles along n in x (and y, if they are many), all else in z."""
        rows, columns = self.tiles
        x, y, _ = flat(columns, 1)
        iterations = nested_loops(ceil(self.steps / self.splits))
        return Step((x, y, rows * self.groups * self.splits), iterations, entry_point)

    def fastest(self, tiles: Sequence[tuple[int, int]], kernel: Kernel) -> "Tiling":
        """The same products in the tiles, and in the number of parts, that take the least time.

        What the kernel's constants fix is not changed.
        """
        fixed = dict(kernel.constants)
        if "TILE_M" in fixed or "TILE_N" in fixed:
            tiles = [chosen(kernel, TILE_M=64, TILE_N=64)]
        most = max(1, min(MOST_SPLITS, self.steps, MAX_BINDING // (4 * self.m * self.n * self.groups)))
        numbers_of_parts = range(1, most + 1)
        (splits,) = chosen(kernel, SPLITS=0)
        if splits:
            numbers_of_parts = [splits]
        tilings = []
        for m, n in tiles:
            for parts in numbers_of_parts:
                tilings.append(replace(self, tile_m=m, tile_n=n, splits=parts))
        return min(tilings, key=lambda tiling: tiling.time)


def tiles_for(rows: int) -> Sequence[tuple[int, int]]:
    """Tiles for a product with this many rows, where columns are many."""
    if rows <= 32:
        return [(32, 128)]
    if rows % 128 == 0:
        return [(128, 64), (64, 128)]
    return [(64, 128), (64, 64)]


def whole_steps(channels: int, kernel: Kernel) -> int:
    """A tap's channels, filled up to whole steps."""
    step = kernel.value("TILE_K")
    return ceil(channels / step) * step


def implicit_gemm(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """Lay out the weights, multiply, and where sums are in parts, add them."""
    numbers = prod(s.of(result))
    channels = s.of(result)[1]
    rows = channels // s.groups
    columns = numbers // channels
    run = _run_of_a_tap(terms(s, result) // s.groups, kernel)
    steps = ceil(s.kernel_h * s.kernel_w * run / kernel.value("TILE_K"))
    tiling = Tiling(rows, columns, steps, groups=s.groups).fastest(tiles_for(rows), kernel)
    constants = {**layer(s, kernel), "RUN": run, **tiling.constants}
    weights = tiling.laid_out_bytes(kernel)
    lay_out = Step(flat(weights // 16), 0, "lay_out_weights")
    if tiling.splits == 1:
        unused = 4  # bytes: a buffer is never empty
        return Schedule((lay_out, tiling.step("main")), {"weights_by_k": weights, "parts": unused}, constants)
    add = Step(flat(numbers), nested_loops(tiling.splits), "add_parts")
    scratch = {"weights_by_k": weights, "parts": 4 * numbers * tiling.splits}
    return Schedule((lay_out, tiling.step("multiply_parts"), add), scratch, constants)


def _run_of_a_tap(channels: int, kernel: Kernel) -> int:
    """The terms of a tap: its channels, filled up to whole steps where that adds few zeros."""
    filled = whole_steps(channels, kernel)
    if filled <= FILLED * channels:
        return filled
    return channels


# --- Winograd's method: transforms, 36 matrix products, and back -----------------------------------------------

POINTS = 36  # 6 x 6


@takes(simple_rule, winograd_rule)
def winograd(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """The schedule where images come out."""
    kernel = sized(kernel, layer(s, kernel))
    count = kernel.value
    channels = s.of(result)[1]
    lines = count("LINES")
    k = count("K")
    m = count("M")
    n = 4 * count("N_VEC4S")
    tiles = m // count("TILE_M"), POINTS, n // count("TILE_N")
    steps = k // count("TILE_K")
    return Schedule(
        (
            Step((k, lines + ceil(m / 4 / count("LINE")), 1), 0, "transform"),
            Step(tiles, nested_loops(steps), "multiply_points"),
            Step((channels, lines, 1), 0, "write_pixels"),
        ),
        scratch={
            "transformed_weight": 4 * POINTS * k * m,
            "transformed_data": 4 * POINTS * k * n,
            "products": 4 * POINTS * m * n,
        },
        constants=dict(kernel.constants),
    )


# --- Windows in registers: a thread computes CHANNELS channels of ROWS x 4*VEC4S neighboring pixels -------------

# A larger tile takes fewer loads for the same products, and a longer text, for all of it is written out.
MOST_PRODUCTS = 400  # in fours: more of them written out always make the text too long

# Times on a software adapter, in nanoseconds: measured with Mesa 22.3 on two cores of a 2.5 GHz Xeon.
PRODUCT_TIME = 0.12  # to run four products of a thread
LOAD_TIME = 1.7  # to run one load
COMPILED_PRODUCT = 1.2e6  # to compile four products that are written out
COMPILED_LOAD = 5e6  # to compile one load that is written out
RUNS = 200  # of a layer, over which the time to compile it spreads
SIDES = range(1, 17), range(1, 5), (1, 2, 4, 8)  # rows, vec4s and channels of a tile
SIMD = 8  # threads that a software adapter runs at once

SMALL = {"ROWS": 1, "VEC4S": 1, "CHANNELS": 2, "THREADS": 64}  # measured on an NVIDIA H200 with LeNet's layers


@takes(simple_rule, windows_rule)
def register_windows(s: ConvShape, kernel: Kernel, adapter: AdapterInfo | None = None, *, result: str) -> Schedule:
    """One pass, with the fastest tile of which the text is short enough.

    A GPU gets a small tile: more threads, and its driver can take minutes to compile the text of a large one.
    """
    adapter = adapter or adapter_info()
    tiles = [SMALL] if adapter.kind == "hardware" else _fastest_tiles(s, result)
    sizes = layer(s, kernel)
    kernel, refused = first_short_enough(kernel, (sizes | tile for tile in tiles))
    if refused:
        return Schedule((), refused=refused)
    batch, channels, _, _ = s.of(result)
    deep = kernel.value("CHANNELS")
    x, y, _ = flat(batch * kernel.value("DOWN") * kernel.value("ACROSS"), kernel.value("THREADS"))
    iterations = nested_loops(terms(s, result)) + nested_loops(deep)
    step = Step((x, y, ceil(channels / deep)), iterations)
    return Schedule((step,), constants=dict(kernel.constants))


def _fastest_tiles(s: ConvShape, result: str) -> list[Tile]:
    """All tiles whose products may fit into a text: first the one that a software adapter compiles and runs fastest."""
    taps = s.kernel_h * s.kernel_w
    tiles = []
    for rows, vec4s, channels in product(*SIDES):
        if rows * vec4s * channels * taps <= MOST_PRODUCTS:
            tiles.append({"ROWS": rows, "VEC4S": vec4s, "CHANNELS": channels, "THREADS": SIMD})
    return sorted(tiles, key=lambda tile: _time_on_software(s, result, tile))


def _time_on_software(s: ConvShape, result: str, tile: Tile) -> float:
    """Nanoseconds in which a software adapter compiles the text of a tile and runs it RUNS times: an estimate."""
    batch, channels, height, width = s.of(result)
    taps = s.kernel_h * s.kernel_w
    rows = tile["ROWS"]
    columns = 4 * tile["VEC4S"]
    deep = tile["CHANNELS"]
    products = rows * tile["VEC4S"] * deep * taps
    loads = (rows + s.kernel_h - 1) * (columns + s.kernel_w - 1) + deep * taps
    threads = batch * ceil(height / rows) * ceil(width / columns) * ceil(channels / deep)
    running = threads * terms(s, result) * (products * PRODUCT_TIME + loads * LOAD_TIME)
    compiling = products * COMPILED_PRODUCT + loads * COMPILED_LOAD
    return RUNS * running + compiling
