"""Pictures with sliders of appendix D: im2col, split-K, residue classes, and Winograd's method."""

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.past_the_library.pictures.f23 import F23Picture
from helpers.lessons.past_the_library.pictures.im2col import Im2colPicture
from helpers.lessons.past_the_library.pictures.residues import ResiduesPicture
from helpers.lessons.past_the_library.pictures.split_k import SplitKPicture
from helpers.lessons.past_the_library.pictures.winograd_tile import WinogradPicture
from helpers.lessons.past_the_library.small_layers import IMAGE, LARGE, PIXELS, STRIDED, WEIGHTS
from helpers.operations.convolution.winograd import IMAGES
from helpers.widgets.controls import Trials, Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule


def im2col() -> Explorer:
    """Sliders over the rows and columns of a small im2col matrix."""
    picture = Im2colPicture(IMAGE, adapter_info().short)
    rows, columns = picture.matrix.shape

    def is_most_copied(values: Values) -> bool:
        return np.count_nonzero(picture.matrix == picture.matrix[values["row"], values["column"]]) == 4

    steps: Trials = {
        "Press play: which pixels?": by_playing({"column": columns - 1}),
        "Set row to 4: how far was that?": {"row": 4},
        "Find a pixel with four copies.": is_most_copied,
    }
    rules: dict[str, Rule] = {"row": rows, "column": columns}
    start = {"row": 1, "column": 2}
    return Explorer(picture.show, rules, start, play="column", front=[*rules], steps=steps)


def split_k() -> Explorer:
    """Sliders over the slices into which the sums of a weight gradient are cut, and over the workgroups."""
    s = LARGE
    picture = SplitKPicture((s.out_channels, s.batch * s.out_h * s.out_w, s.in_channels * s.kernel_h * s.kernel_w))

    def workgroups(chosen: Values) -> int:
        return picture.tiles * chosen["slices"]

    steps: Trials = {
        "Set slices to 1: how many multiprocessors work?": lambda v: v["slices"] == 1,
        "Find the fewest slices that leave none idle.": lambda v: v["slices"] == picture.fewest,
        "Set slices to 117: how large are the parts now?": {"slices": 117},
    }
    rules: dict[str, Rule] = {"slices": (1, 120), "workgroup": workgroups}
    start = {"slices": 4, "workgroup": 4}
    return Explorer(picture.show, rules, start, play="workgroup", front=[*rules], steps=steps)


def residue_classes() -> Explorer:
    """Sliders over the pixels of an 8 x 8 image under a 3 x 3 filter with stride 2 and padding 1."""
    picture = ResiduesPicture(STRIDED)
    steps: Trials = {
        "Point at a pixel of class A: which taps reach it?": by_pointing(lambda v: v["ih"] % 2 == v["iw"] % 2 == 1),
        "Find the class that the middle tap reaches alone.": lambda v: v["ih"] % 2 == v["iw"] % 2 == 0,
        "Point at an output: which pixel is in its middle?": by_pointing({"ih": 4, "iw": 4}),
    }
    rules: dict[str, Rule] = {"ih": STRIDED.in_h, "iw": STRIDED.in_w}
    return Explorer(picture.show, rules, {"ih": 2, "iw": 3}, play=("ih", "iw"), front=[*rules], steps=steps)


def f23() -> Explorer:
    """A slider over the four products of Winograd's F(2,3)."""
    picture = F23Picture(PIXELS, WEIGHTS)
    steps: Trials = {
        "Press play: which products reach both outputs?": by_playing({"product": 3}),
        "Point at m1: add m1 and m2, and what cancels?": by_pointing({"product": 1}),
    }
    return Explorer(picture.show, {"product": 4}, play="product", front=["product"], steps=steps)


def winograd() -> Explorer:
    """Sliders over the rows and columns of the 36 products of one tile."""
    random = np.random.default_rng(5)
    picture = WinogradPicture(random.integers(0, 6, (6, 6)), random.integers(-1, 3, (3, 3)), IMAGES)
    steps: Trials = {
        "Point at a product: which outputs need it?": by_pointing(lambda v: v["row"] in range(1, 5)),
        "Find a product that reaches one output alone.": {"row": 5, "column": 5},
    }
    rules: dict[str, Rule] = {"row": 6, "column": 6}
    start = {"row": 1, "column": 3}
    return Explorer(picture.show, rules, start, play=("row", "column"), front=[*rules], steps=steps)
