"""Computations of lesson 08: the answers to its questions, from what its kernels load and read."""

from helpers import load
from helpers.lessons.the_speed_ladder.traffic import traffic


def tile_costs(name: str) -> float:
    """Loads of a tile of 16, or reads of threads with 8 x 8 results, for each multiply-add."""
    if name == "loads":
        tile = traffic(load("gemm_bias_act", "2_tiled"), 16, 16, 16)
    else:
        kernel = load("gemm_bias_act", "4_vec4_tiles").with_constants(TILE_M=64, TILE_N=64, TILE_K=4)
        tile = traffic(kernel, 64, 64, 4)
    return getattr(tile, name) / tile.multiply_adds
