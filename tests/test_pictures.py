"""Pictures: in every state that a slider can reach, words are legible, apart from each other and on the sheet."""

from itertools import chain

import numpy as np
import pytest
from support.legible import faults, words_of, written
from support.sample import sample

from helpers.lessons.bias_gradient.pictures.tree import TreePicture
from helpers.lessons.shared.pictures.groups import GroupsPicture
from helpers.lessons.weight_gradient.pictures import ThreadsPicture
from helpers.operations.convolution import reference as convolution
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import number

# --- Groups and threads ---------------------------------------------------------------------------------


def gradients(*groups: int, channels: tuple[int, int] = (4, 4)) -> list[np.ndarray]:
    """The gradient of a layer's weights, of which each pair of channels has at most one, for numbers of groups."""
    ci, co = channels
    random = np.random.default_rng(0)
    image = random.integers(0, 9, (1, ci, 3, 3))
    upstream = random.integers(-4, 5, (1, co, 3, 3))
    return [convolution.conv2d_grad_weight(image, (co, ci // g, 1, 1), upstream, groups=g) for g in groups]


@pytest.mark.parametrize("channels", [(4, 4), (4, 8), (4, 2)], ids=str)
def test_the_blocks_of_groups_are_legible_and_hold_their_gradients(channels):
    grads = gradients(1, 2, channels=channels)
    picture = GroupsPicture(grads)
    assert not list(faults(picture))
    numbers = [text for text in written(picture) if text.lstrip("−").isdigit()]
    wanted = []
    for grad in grads:  # its numbers, and those of its channels
        wanted += [number(value) for value in grad.flat]
        wanted += map(str, chain(*map(range, channels)))
    assert sorted(numbers) == sorted(wanted)


def test_pictures_of_threads_are_legible():
    shape = ConvShape(1, 1, 28, 28, 6, 5, 5)
    threads = ThreadsPicture(shape)
    for thread in sample(range(0, 256, 5), 12):
        assert not list(faults(threads.show(thread)))
    sizes = [word.size for word, _ in words_of(threads) if len(word.text) == 3]
    assert min(sizes) >= 12.9  # three digits that the back row of a classroom can read
    tree = TreePicture([-10.25 * i for i in range(16)], -1230)
    for step in range(5):
        assert not list(faults(tree.show(step, 0), 10))
