"""Pictures: in every state that a slider can reach, words are legible, apart from each other and on the sheet."""

from support.legible import faults, words_of
from support.sample import sample

from helpers.lessons.bias_gradient.pictures.tree import TreePicture
from helpers.lessons.weight_gradient.pictures import ThreadsPicture
from helpers.operations.convolution.shapes import ConvShape

# --- Threads ---------------------------------------------------------------------------------


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
