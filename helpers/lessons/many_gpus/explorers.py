"""Pictures to touch of a batch that workers share, and of the tree that combines its parts."""

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.many_gpus import indices
from helpers.lessons.many_gpus.pictures import MOST, WAYS, ManyPicture, SharedPicture, TreePicture
from helpers.operations.convolution.operations import conv2d_grad_input, conv2d_grad_weight
from helpers.widgets.controls import Trials, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

IMAGES = 8
SIDE = 3


def shared_batch() -> Explorer:
    """A batch of eight images, whose gradients 2, 3 or 4 workers compute: what does each of them hand over?"""
    random = np.random.default_rng(3)
    x = random.integers(0, 3, (IMAGES, 1, SIDE, SIDE)).astype(np.float32)
    weight = random.integers(-2, 3, (1, 1, SIDE, SIDE)).astype(np.float32)
    dy = random.integers(-2, 3, (IMAGES, 1, 1, 1)).astype(np.float32)
    dx = conv2d_grad_input(x.shape, weight, dy)
    planes = {
        "input": x[:, 0],
        "grad_output": dy[:, 0],
        "grad_input": dx[:, 0],
    }
    weights = {workers: _gradients_of_workers(x, weight.shape, dy, workers) for workers in (2, 3, 4)}
    picture = SharedPicture(planes, weights, adapter_info().short)
    steps: Trials = {
        "Point at image 5: what does its worker hand over?": by_pointing({"worker": 1}),
        "Take 3 workers: which one has less to do?": {"workers": 3, "worker": 2},
    }
    rules: dict[str, Rule] = {"workers": (2, 4), "worker": lambda v: v["workers"]}
    return Explorer(picture.show, rules, steps=steps)


def _gradients_of_workers(x: np.ndarray, shape: tuple[int, ...], dy: np.ndarray, workers: int) -> np.ndarray:
    """The weight gradient of each worker's images, (workers, rows, columns)."""
    gradients = []
    for first, end in indices.bounds(IMAGES, workers):
        gradient = conv2d_grad_weight(x[first:end], shape, dy[first:end])
        gradients.append(gradient[0, 0])
    return np.stack(gradients)


def part_tree() -> Explorer:
    """A tree over eight parts, held by 2 to 4 workers, of which one is killed after some rounds: what is lost?"""
    picture = TreePicture(np.array([3, 1, 4, -2, 5, 9, 2, -6]))
    steps: Trials = {
        "Kill worker 1 before the first round: which parts are lost?": {"killed": 2, "rounds": 0},
        "Play to round 1, and kill worker 0: what is computed again?": by_playing({"killed": 1, "rounds": 1}),
        "Find a round in which killing worker 1 costs nothing.": lambda v: v["killed"] == 2 and v["rounds"] > 1,
    }
    rules: dict[str, Rule] = {
        "workers": (2, 4),
        "rounds": 4,
        "killed": lambda v: v["workers"] + 1,
    }
    front = ["workers", "rounds"]
    choices = {"killed": ["nobody", "worker 0", "worker 1", "worker 2", "worker 3"]}
    return Explorer(picture.show, rules, front=front, choices=choices, play="rounds", steps=steps)


def to_1000() -> Explorer:
    """Sliders over how long a step computes, and how many workers share it; what handing over costs was measured."""
    steps: Trials = {
        "Play: when does Dask's step take longer again?": by_playing({"workers": MOST}),
        "Click NCCL, and take 1,024 workers.": {"way": 1, "workers": MOST},
        "With NCCL and 10 ms, which number is fastest?": {"way": 1, "computing": 10},
    }
    rules: dict[str, Rule] = {
        "computing": (1, 1000),
        "workers": MOST + 1,
        "way": len(WAYS),
    }
    picture = ManyPicture()
    start = {"computing": 200}
    front = ["computing", "workers"]
    return Explorer(picture.show, rules, start, front=front, choices={"way": WAYS}, play="workers", steps=steps)
