"""Small runs for the stepper: a swap, with and without its barrier, a race of two workgroups, a tree and a product."""

import numpy as np

from helpers import simulate
from helpers.operations.kernels import load
from helpers.widgets.stepper import stepper

SWAP = """
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;

var<workgroup> box: array<f32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) thread: u32) {
  box[thread] = numbers[thread];
  workgroupBarrier();
  numbers[thread] = box[3u - thread];
}
"""
ADD = """
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) global: vec3u) {
  total[0] += input[global.x];
}
"""
PUT, TAKE = 8, 10  # lines of SWAP
ALL = range(1000)


def numbers(n):
    return np.random.default_rng(n).integers(1, 9, n).astype(np.float32)


def tree():
    """16 numbers and 8 threads that each take two in a row, so that they need two sectors in each iteration."""
    kernel = load("sum", "2_tree").with_constants(THREADS=8).edit("sum += input[i];", "sum += input[i * 2u % 15u];")
    buffers = numbers(16), np.zeros(1, np.float32), np.array([16], np.uint32)
    return simulate(kernel, buffers, (1, 1, 1)), {"input": (16,), "partial": (8,), "total": (1,)}


def sum_steps(input, threads, **options):
    """The stepper of one workgroup that adds up a list, and whose variables are watched."""
    kernel = load("sum", "2_tree").with_constants(THREADS=threads)
    buffers = input, np.zeros(1, np.float32), np.uint32([len(input)])
    trace = simulate(kernel, buffers, (1, 1, 1), watch=["thread", "i", "sum", "half"])
    return stepper(trace, **options)


def watched(**options):
    """The tree of `tree`, whose variables are watched."""
    return sum_steps(numbers(16), 8, **options)


def swap(old="", new=""):
    text = SWAP.replace(old, new) if old else SWAP
    return simulate(text, [numbers(4)], (1, 1, 1)), {"numbers": (4,), "box": (4,)}


def race():
    return swap("  workgroupBarrier();\n", "\n")


def two_groups():
    return simulate(ADD, [numbers(4), np.zeros(1, np.float32)], (2, 1, 1)), {"input": (2, 2), "total": (1,)}


def tiled():
    """Two tiles of a product whose edge lies inside the last one."""
    kernel = load("gemm_bias_act", "2_tiled").with_constants(TILE=4)
    zeros = np.zeros(16, np.float32)
    sizes = np.array([4, 7, 4, 1, 0, 0, 0, 0], np.uint32)
    buffers = numbers(28), numbers(28), zeros[:4], zeros, sizes
    shapes = {"a": (4, 7), "output": (4, 4), "b": (7, 4), "left": (4, 4), "right": (4, 4)}
    return simulate(kernel, buffers, (1, 1, 1)), shapes
