"""How the convolution kernels that compute a matrix product are dispatched: tiles, and how many workgroups share a sum.

The product is that of an (m, k) and a (k, n) matrix, neither of which is stored: m counts channels, n pixels or
weights, and k the terms of a sum, which are added in steps of TILE_K = 16. Each group of channels is a product.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, prod

from helpers.convolution.schedules.layer import layer, simple_layer, with_activation
from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.adapter import MAX_BINDING, MAX_WORKGROUPS
from helpers.gpu.operation import Schedule, Step, flat, nested_loops
from helpers.wgsl import Kernel

# The multiprocessor that has the most workgroups decides how long all take. Times are in steps of a 64 x 128 tile.
MULTIPROCESSORS = 132  # of the H200 on which these numbers were measured; on a smaller GPU the cut matters less
WAITING = 3  # warps of a multiprocessor: so many of them wait as often as they compute
AT_ONCE = 3 * MULTIPROCESSORS  # workgroups of 128 threads: more of them wait for registers
AROUND = 2  # steps: what a workgroup takes before and after its sum
PARTS = 500_000  # of sums, which are written, read and added in the time of a step
PASS = 2  # steps: what another pass takes at the least
LOAD = 0.05  # steps: a part is added after the one before it has arrived
SMALL_TILE = 1.1  # times as long do the same products take in tiles of 64 x 64, which load more for each
MOST_SPLITS = 1024
FILLED = 1.25  # a tap's channels are filled up with zeros to whole steps where so many times as many do that


@dataclass(frozen=True)
class Cut:
    """How `groups` products are cut: tiles of `tile_m` x `tile_n` sums of `steps` each, in `splits` parts."""

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
        return waiting * busiest * size * (ceil(self.steps / self.splits) + AROUND) + adding

    @property
    def constants(self) -> Mapping[str, int]:
        """The kernel's constants for this cut."""
        aligned = self.m % self.tile_m == 0 and self.n % self.tile_n == 0 and self.tiles[1] <= MAX_WORKGROUPS
        sizes = {"TILE_M": self.tile_m, "TILE_N": self.tile_n, "SPLITS": self.splits}
        return {**sizes, "STEPS": self.steps, "ALIGNED": aligned}

    def step(self, entry_point: str) -> Step:
        """The dispatch of the product: tiles along n in x (and y, if they are many), all else in z."""
        rows, columns = self.tiles
        x, y, _ = flat(columns, 1)
        return Step((x, y, rows * self.groups * self.splits), nested_loops(ceil(self.steps / self.splits)), entry_point)


def fastest(m: int, n: int, steps: int, tiles: Sequence[tuple[int, int]], kernel: Kernel, groups: int = 1) -> Cut:
    """The cut that takes the least time; what the kernel's constants fix is taken as it is."""
    given = dict(kernel.constants)
    if "TILE_M" in given or "TILE_N" in given:
        tiles = [(given.get("TILE_M", 64), given.get("TILE_N", 64))]
    most = max(1, min(MOST_SPLITS, steps, MAX_BINDING // (4 * m * n * groups)))
    splits = [given["SPLITS"]] if "SPLITS" in given else range(1, most + 1)
    return min((Cut(m, n, steps, *tile, each, groups) for tile in tiles for each in splits), key=lambda cut: cut.time)


def tiles_for(rows: int) -> Sequence[tuple[int, int]]:
    """Tiles for a product with so many rows, where columns are many."""
    if rows <= 32:
        return [(32, 128)]
    return [(64, 128), (64, 64)] if rows % 128 else [(128, 64), (64, 128)]


def whole_steps(channels: int, kernel: Kernel) -> int:
    """A tap's channels, filled up to whole steps."""
    return ceil(channels / kernel.value("TILE_K")) * kernel.value("TILE_K")


def forward(s: ConvShape, kernel: Kernel) -> Schedule:
    """Rows are output channels, columns output pixels, terms taps and input channels."""
    return with_activation(s, _pixels(s, kernel, s.out_channels, s.in_channels, s.output))


def grad_input(s: ConvShape, kernel: Kernel) -> Schedule:
    """Rows are input channels, columns input pixels, terms taps and output channels."""
    return _pixels(s, kernel, s.in_channels, s.out_channels, s.input)


def _pixels(s: ConvShape, kernel: Kernel, rows: int, channels: int, result: tuple[int, ...]) -> Schedule:
    """Lay out the weights, multiply, and where sums are in parts, add them."""
    of_group = channels // s.groups
    filled = whole_steps(of_group, kernel)
    run = filled if filled <= FILLED * of_group else of_group
    steps = ceil(s.kernel_h * s.kernel_w * run / kernel.value("TILE_K"))
    tiles = tiles_for(rows // s.groups)
    product = fastest(rows // s.groups, prod(result) // rows, steps, tiles, kernel, s.groups)
    weights = _weights(product, steps, kernel)
    passes = [Step(flat(weights // 16), 0, "lay_out_weights")]
    if product.splits == 1:
        passes.append(product.step("main"))
    else:
        passes.append(product.step("multiply_parts"))
        passes.append(Step(flat(prod(result)), nested_loops(product.splits), "add_parts"))
    scratch = {"weights_by_k": weights, "parts": 4 * prod(result) * product.splits if product.splits > 1 else 4}
    return Schedule(tuple(passes), scratch, {**layer(s), "RUN": run, **product.constants})


def _weights(product: Cut, steps: int, kernel: Kernel) -> int:
    """Bytes of the weights, laid out for so many steps and filled up to whole tiles."""
    return 4 * steps * kernel.value("TILE_K") * product.groups * product.tiles[0] * product.tile_m


def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    """Rows are output channels, columns weights of a filter (channels in fours), terms output pixels of all images."""
    rows, columns = s.out_channels // s.groups, s.kernel_h * s.kernel_w * ceil(s.weight[1] / 4) * 4
    steps = ceil(s.batch * s.out_h * s.out_w / kernel.value("TILE_K"))
    tiles = [(32, 128)] if rows <= 32 else [(64, 128), (128, 64), (64, 64)]
    product = fastest(rows, columns, steps, tiles, kernel, s.groups)
    add = Step(flat(s.out_channels * columns // 4, 16), nested_loops(ceil(product.splits / 8)), "add_parts")
    scratch = {"parts": 4 * s.out_channels * columns * product.splits}
    return Schedule((product.step("multiply_parts"), add), scratch, {**layer(s), **product.constants})


@simple_only
def residue_classes(s: ConvShape, kernel: Kernel) -> Schedule:
    """One product for each class of pixels, and more than one for a class with many taps."""
    run = whole_steps(s.out_channels, kernel)
    down, across = (_taps(size, s.stride_h) for size in (s.kernel_h, s.kernel_w))
    steps = [h * w * run // kernel.value("TILE_K") for h in down for w in across]  # the first class has the most
    pixels = s.batch * ceil(s.in_h / s.stride_h) * ceil(s.in_w / s.stride_w)
    given = dict(kernel.constants)
    tile_m, tile_n = tiles_for(s.in_channels)[0]
    tile = given.get("TILE_M", tile_m), given.get("TILE_N", tile_n)
    product = Cut(s.in_channels, pixels, sum(steps), *tile)
    pieces = given.get("PIECES", _pieces(product, steps))
    piece_steps, layers = ceil(steps[0] / pieces), len(steps) * pieces
    weights = _weights(product, product.steps, kernel)
    passes = (
        Step(flat(weights // 16), 0, "lay_out_weights"),
        replace(product, splits=layers).step("main")._replace(iterations=nested_loops(piece_steps)),
        Step(flat(prod(s.input)), nested_loops(pieces), "interleave"),
    )
    constants = {**simple_layer(s), **product.constants, "RUN": run, "PIECES": pieces, "PIECE_STEPS": piece_steps}
    del constants["SPLITS"]
    scratch = {"weights_by_k": weights, "parts": 4 * layers * s.in_channels * pixels}
    advice = f"{kernel.name}: stride = 1: all pixels are in one class, so that the stride must be 2 or more"
    return Schedule(passes, scratch, constants, advice if s.stride_h == 1 else None)


def _taps(size: int, stride: int) -> list[int]:
    """How many taps along one side of a filter belong to each class of pixels that has any."""
    return [len(range(rest, size, stride)) for rest in range(min(stride, size))]


def _pieces(product: Cut, steps: Sequence[int]) -> int:
    """Into how many pieces the first class is cut, and the others into pieces of the same size: the fastest."""
    most = max(1, min(steps[0], MAX_BINDING // (4 * product.m * product.n * len(steps))))
    return min(range(1, most + 1), key=lambda pieces: _time_of_pieces(product, steps, pieces))


def _time_of_pieces(product: Cut, steps: Sequence[int], pieces: int) -> float:
    """As `Cut.time`, but workgroups differ: those that start later fill gaps, and if all start at once, gaps remain."""
    size = ceil(steps[0] / pieces)
    count = sum(ceil(each / size) for each in steps)
    shared = prod(product.tiles) * (sum(steps) + AROUND * count) / MULTIPROCESSORS
    gaps = size / 2 if prod(product.tiles) * count <= AT_ONCE else 0
    return shared + gaps + count * product.m * product.n / PARTS
