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
    names = "batch in_channels in_h in_w out_channels kernel_h kernel_w groups out_h out_w"
    steps = "stride_h stride_w padding_h padding_w dilation_h dilation_w"
    sizes = {name.upper(): getattr(s, name) for name in f"{steps} {names}".split()}
    sizes |= {"STRIDE": s.stride_h, "ACTIVATION": ACTIVATIONS.index(s.activation)}
    return layer_constants(kernel, sizes)


def terms(s: ConvShape, result: str) -> int:
    """Channels over which each number of the result is a sum (with groups, those of all groups)."""
    return s.in_channels if result == "output" else s.out_channels


def equal_length(size: int, most: int) -> int:
    """The length of the fewest equal pieces, each of at most `most`."""
    return ceil(size / ceil(size / most))


# --- Which layers a version takes: it refuses all others by name -----------------------------------------------

ScheduleFunction = Callable[..., Schedule]  # of a shape, a kernel, and for some versions the adapter


def takes(*rules: Callable[[ConvShape], str]) -> Callable[[ScheduleFunction], ScheduleFunction]:
    """The schedule of a version whose kernel takes only the layers that break none of these rules.

    A rule says what is wrong with a layer, or "".
    """

    def limit(schedule: ScheduleFunction) -> ScheduleFunction:
        @wraps(schedule)
        def limited(s: ConvShape, kernel: Kernel, *adapter: AdapterInfo, **how: str) -> Schedule:
            broken = next(filter(None, (rule(s) for rule in rules)), None)
            return refusal(kernel, broken) if broken else schedule(s, kernel, *adapter, **how)

        return limited

    return limit


def refusal(kernel: Kernel, reason: str) -> Schedule:
    """The schedule of a version that does not take a layer."""
    return Schedule((), refused=f"{kernel.name}: {reason}")


def simple_rule(s: ConvShape) -> str:
    """One stride for both axes, no dilation and one group."""
    broken = ""
    if s.stride_h != s.stride_w:
        broken = f"stride = {s.stride}: it takes one stride for both axes"
    elif s.dilation != (1, 1):
        broken = f"dilation = {s.dilation}: it takes no dilation, which is (1, 1)"
    elif s.groups > 1:
        broken = f"groups = {s.groups}: it takes one group"
    return broken and f"{broken}: choose another version"


def is_simple(s: ConvShape) -> bool:
    """Has a convolution one stride for both axes, no dilation and one group?"""
    return not simple_rule(s)


def winograd_rule(s: ConvShape) -> str:
    """3x3 filters at stride 1."""
    if (s.kernel_h, s.kernel_w, s.stride_h) == (3, 3, 1):
        return ""
    given = f"filters of {s.kernel_h}x{s.kernel_w}, stride {s.stride_h}"
    return f"{given}: it is written for 3x3 and stride 1: choose another version"


MOST_TAPS = 64  # of a filter


def windows_rule(s: ConvShape) -> str:
    """Windows side by side, and a filter small enough to write out."""
    if s.stride_h != 1:
        return f"stride = {s.stride_h}: its windows lie side by side, so it must be 1"
    if (taps := s.kernel_h * s.kernel_w) > MOST_TAPS:
        given = f"a filter of {s.kernel_h} x {s.kernel_w} = {taps} weights"
        return f"{given}: all are written out, so there may be at most {MOST_TAPS}"
    return ""


# --- direct: every convolution, one thread for the same element of some images --------------------------------

MOST_IMAGES = 4  # of a thread: more of them leave too few threads for most layers


def direct(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """One thread for each element of a block of images, which is as large as it can be while a GPU stays busy."""
    elements = prod(s.of(result)[1:])
    (images,) = chosen(kernel, IMAGES=max(1, min(MOST_IMAGES, s.batch, s.batch * elements // MANY_THREADS)))
    iterations = nested_loops(terms(s, result) // s.groups, s.kernel_h, s.kernel_w)
    schedule = one_step(flat(ceil(s.batch / images) * elements), iterations)
    return schedule._replace(constants={**layer(s, kernel), "IMAGES": images})


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
        """The same products in the tiles, and in the number of parts, that take the least time.

        What the kernel's constants fix is not changed.
        """
        if {"TILE_M", "TILE_N"} & {*dict(kernel.constants)}:
            tiles = [chosen(kernel, TILE_M=64, TILE_N=64)]
        most = max(1, min(MOST_SPLITS, self.steps, MAX_BINDING // (4 * self.m * self.n * self.groups)))
        (splits,) = chosen(kernel, SPLITS=0)
        choices = product(tiles, [splits] if splits else range(1, most + 1))
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
    tiling = Tiling(rows_of_group, numbers // rows, steps, groups=s.groups).fastest(tiles_for(rows_of_group), kernel)
    weights, split = tiling.laid_out_bytes(kernel), tiling.splits > 1
    passes = [
        Step(flat(weights // 16), 0, "lay_out_weights"),
        tiling.step("multiply_parts" if split else "main"),
        Step(flat(numbers), nested_loops(tiling.splits), "add_parts"),
    ]
    scratch = {"weights_by_k": weights, "parts": 4 * numbers * tiling.splits if split else 4}
    constants = {**layer(s, kernel), "RUN": run, **tiling.constants}
    return Schedule(tuple(passes[: 2 + split]), scratch, constants)


# --- Winograd's method: transforms, 36 matrix products, and back -----------------------------------------------

POINTS = 36  # 6 x 6


@takes(simple_rule, winograd_rule)
def winograd(s: ConvShape, kernel: Kernel, result: str) -> Schedule:
    """The schedule where images come out."""
    kernel, channels = sized(kernel, layer(s, kernel)), s.of(result)[1]
    count = kernel.value
    k, m, n, lines = count("K"), count("M"), 4 * count("N_VEC4S"), count("LINES")
    tiles, steps = (m // count("TILE_M"), POINTS, n // count("TILE_N")), k // count("TILE_K")
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

# How long it takes on a software adapter, in nanoseconds: measured with Mesa 22.3 on two cores of a 2.5 GHz Xeon.
PRODUCT_TIME, LOAD_TIME = 0.12, 1.7  # four products of a thread; one load
COMPILED_PRODUCT, COMPILED_LOAD = 1.2e6, 5e6  # each of them that is written out
RUNS = 200  # of a layer, over which the time to compile it spreads
SIDES = range(1, 17), range(1, 5), (1, 2, 4, 8)  # rows, vec4s and channels of a tile
SIMD = 8  # threads that a software adapter runs at once

SMALL = {"ROWS": 1, "VEC4S": 1, "CHANNELS": 2, "THREADS": 64}  # measured on an NVIDIA H200 with LeNet's layers


@takes(simple_rule, windows_rule)
def register_windows(s: ConvShape, kernel: Kernel, adapter: AdapterInfo | None = None, *, result: str) -> Schedule:
    """One pass, with the fastest tile of which the text is short enough.

    A GPU gets a small tile: more threads, and its driver can take minutes to compile the text of a large one.
    """
    tiles = [SMALL] if (adapter or adapter_info()).kind == "hardware" else _fastest_tiles(s, result)
    sizes = layer(s, kernel)
    kernel, refused = first_short_enough(kernel, (sizes | tile for tile in tiles))
    if refused:
        return Schedule((), refused=refused)
    (batch, channels, *_), deep = s.of(result), kernel.value("CHANNELS")
    x, y, _ = flat(batch * kernel.value("DOWN") * kernel.value("ACROSS"), kernel.value("THREADS"))
    step = Step((x, y, ceil(channels / deep)), nested_loops(terms(s, result)) + nested_loops(deep))
    return Schedule((step,), constants=dict(kernel.constants))


def _fastest_tiles(s: ConvShape, result: str) -> list[Tile]:
    """All tiles whose products may fit into a text: first the one that a software adapter compiles and runs fastest."""
    (batch, channels, height, width), taps = s.of(result), s.kernel_h * s.kernel_w

    def time(tile: Tile) -> float:
        rows, columns, deep = tile["ROWS"], 4 * tile["VEC4S"], tile["CHANNELS"]
        products = rows * tile["VEC4S"] * deep * taps
        loads = (rows + s.kernel_h - 1) * (columns + s.kernel_w - 1) + deep * taps
        threads = batch * ceil(height / rows) * ceil(width / columns) * ceil(channels / deep)
        running = threads * terms(s, result) * (products * PRODUCT_TIME + loads * LOAD_TIME)
        return RUNS * running + products * COMPILED_PRODUCT + loads * COMPILED_LOAD

    sides = [sizes for sizes in product(*SIDES) if prod(sizes) * taps <= MOST_PRODUCTS]
    return sorted(({**dict(zip(SMALL, sizes, strict=False)), "THREADS": SIMD} for sizes in sides), key=time)
