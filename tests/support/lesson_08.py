"""Computations of lesson 08: the answers to its questions, from its kernels, its table and what they load."""

from math import prod

from helpers import load
from helpers.bench.layers import SHAPES
from helpers.bench.recorded import recorded
from helpers.lessons.the_speed_ladder.traffic import traffic
from helpers.operations.convolution import indices
from helpers.operations.convolution.operations import GRAD_WEIGHT

ONE, MANY = "1_thread_per_weight", "2_workgroup_per_weight"


def workgroups(version: str) -> int:
    """The number of workgroups that a version of the weight gradient is dispatched with, for LeNet's second layer."""
    (step,) = GRAD_WEIGHT.versions[version](SHAPES["LeNet conv2, 1 image"], load("conv2d_grad_weight", version)).steps
    return prod(step.workgroups)


def most_products() -> int:
    """The most products of one weight that a thread of version 2 takes, for LeNet's first layer."""
    shape = SHAPES["LeNet conv1, 1 image"]
    return max(len(indices.products_of_thread(shape, thread, 256)) for thread in range(256))


def faster_with_many_weights() -> int:
    """The version that took less time on the last layer of the lesson's table."""
    took = recorded()[-1].microseconds("versions", "conv2d_grad_weight", "32x256x14x14 to 256, k3 s1 p1")
    return 1 if took[ONE] < took[MANY] else 2


def tile_costs(name: str) -> float:
    """Loads of a tile of 16, or reads of threads with 8 x 8 results, for each multiply-add."""
    if name == "loads":
        tile = traffic(load("gemm_bias_act", "2_tiled"), 16, 16, 16)
    else:
        kernel = load("gemm_bias_act", "4_vec4_tiles").with_constants(TILE_M=64, TILE_N=64, TILE_K=4)
        tile = traffic(kernel, 64, 64, 4)
    return getattr(tile, name) / tile.multiply_adds
