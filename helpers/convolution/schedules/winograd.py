"""How the versions that use Winograd's method are dispatched: transforms, 36 matrix products, and back."""

from math import ceil

from helpers.convolution.schedules.layer import simple_layer, with_activation
from helpers.convolution.schedules.limits import simple_only
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Schedule, Step, nested_loops
from helpers.wgsl import Kernel

POINTS = 36  # 6 x 6
TILE = 64  # rows and columns of a product's tile
TILE_K = 16
LINE = 64  # threads of a workgroup in the transforms of images
QUADS = 8  # of a workgroup that writes weights
BUSY = 65_536  # threads that keep a large GPU busy, where each of them holds over 100 registers
SHORTEST = 8  # steps of a part: a shorter one costs more to write and to add than it gains
MOST_PARTS = 14  # of a sum: on an H200, more of them cost more to add up than they gain


@simple_only
def grad_input(s: ConvShape, kernel: Kernel) -> Schedule:
    return _images(s, kernel, "transformed_grad", s.out_channels, s.in_channels, _tiles(s, s.in_h, s.in_w))


@simple_only
def forward(s: ConvShape, kernel: Kernel) -> Schedule:
    tiles = _tiles(s, s.out_h, s.out_w)
    return with_activation(s, _images(s, kernel, "transformed_input", s.in_channels, s.out_channels, tiles))


@simple_only
def grad_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    given = dict(kernel.constants)
    steps = ceil(_tiles(s, s.out_h, s.out_w) / TILE_K)
    tile_n = given.get("TILE_N", 2 * TILE if _threads(s, 2 * TILE) >= BUSY else TILE)
    enough = min(ceil(BUSY / _threads(s, tile_n)), ceil(steps / SHORTEST), MOST_PARTS)
    parts = given.get("PARTS", enough)
    m, n = _filled(s.out_channels, TILE), _filled(s.in_channels, tile_n)
    return Schedule(
        (
            Step(((m + n) // LINE * 4, steps, 1), 0, "transform"),
            Step((m // TILE * (n // tile_n), POINTS, parts), nested_loops(ceil(steps / parts)), "multiply_points"),
            Step((s.out_channels * n // 4 // QUADS, 1, 1), nested_loops(parts), "write_weights"),
        ),
        scratch={
            "transformed_grad": 4 * POINTS * steps * TILE_K * m,
            "transformed_input": 4 * POINTS * steps * TILE_K * n,
            "products": 4 * POINTS * parts * m * n,
        },
        constants=_layer(s) | {"TILE_N": tile_n, "PARTS": parts},
        refused=_refusal(s, kernel),
    )


def _images(s: ConvShape, kernel: Kernel, transformed: str, channels: int, results: int, tiles: int) -> Schedule:
    """The schedule where images come out: `tiles` of `results` channels each, from `channels` that are added up."""
    tile_n = dict(kernel.constants).get("TILE_N", TILE)
    k, m, n = _filled(channels, TILE_K), _filled(results, TILE), _filled(tiles, tile_n)
    lines = ceil(n / 4 / LINE)
    return Schedule(
        (
            Step((k, lines + ceil(m / 4 / LINE), 1), 0, "transform"),
            Step((m // TILE, POINTS, n // tile_n), nested_loops(k // TILE_K), "multiply_points"),
            Step((results, lines, 1), 0, "write_pixels"),
        ),
        scratch={
            "transformed_weight": 4 * POINTS * k * m,
            transformed: 4 * POINTS * k * n,
            "products": 4 * POINTS * m * n,
        },
        constants=_layer(s) | {"TILE_N": tile_n},
        refused=_refusal(s, kernel),
    )


def _tiles(s: ConvShape, rows: int, columns: int) -> int:
    """How many pieces of 4 x 4 cover the images."""
    return s.batch * ceil(rows / 4) * ceil(columns / 4)


def _filled(size: int, tile: int) -> int:
    """A size in full tiles."""
    return ceil(size / tile) * tile


def _threads(s: ConvShape, tile_n: int) -> int:
    """Threads at work on the products of `grad_weight` where a sum is one part."""
    return POINTS * ceil(s.out_channels / TILE) * ceil(s.in_channels / tile_n) * TILE * tile_n // 64


def _layer(s: ConvShape) -> dict[str, int]:
    """The layer's sizes by the names of the kernels' constants, without those that are always the same."""
    return {name: size for name, size in simple_layer(s).items() if name not in ("KERNEL_H", "KERNEL_W", "STRIDE")}


def _refusal(s: ConvShape, kernel: Kernel) -> str | None:
    """Why Winograd's method does not take this layer, or None."""
    if (s.kernel_h, s.kernel_w, s.stride_h) == (3, 3, 1):
        return None
    given = f"filters of {s.kernel_h}x{s.kernel_w}, stride {s.stride_h}"
    return f"{kernel.name}: {given}: it is written for 3x3 and stride 1: choose another version"
