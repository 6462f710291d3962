"""Appendix D: its pictures show what the kernels read, its figures are those of the recorded run, and its answers."""

from dataclasses import replace
from itertools import product
from math import ceil

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from support.grading import edited
from support.legible import written
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.bench.gpu_limits import H200
from helpers.bench.ladder import STEPS
from helpers.bench.recorded import measured, recorded
from helpers.gpu import adapter_info
from helpers.grading.puzzle import Case
from helpers.grading.test_run import simulated
from helpers.lessons.exercises import PUZZLES, QUESTIONS
from helpers.lessons.past_the_library import explorers
from helpers.lessons.past_the_library.indices import slice_of, taps_of_class
from helpers.lessons.past_the_library.pictures.split_k import SplitKPicture
from helpers.lessons.past_the_library.small_layers import F23, IMAGE, LARGE, PIXELS, STRIDED, WEIGHTS, rows_by_winograd
from helpers.operations.convolution.indices import taps_of_pixel
from helpers.operations.convolution.schedules import conv2d_grad_weight
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.choice import forward
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, ones, operation_of
from helpers.operations.harness import simulated as traces_of
from wgsl import Kernel, simulate

PAGE = Lesson.read(NOTEBOOKS / "appendix_d_past_the_library.ipynb")
WORDS = " ".join(" ".join(cell.source.split()) for cell in PAGE.prose)

# --- The pictures ---------------------------------------------------------------------------------------------------


def picture_case(name: str) -> Case:
    """The test of a puzzle that is its picture's layer."""
    (case,) = (case for case in PUZZLES[name].cases() if case.name in ("the_picture", "by_hand"))
    return case


def test_the_matrix_has_the_addresses_that_the_official_kernel_reads():
    """In the image: channel by channel, it reads each column of the matrix."""
    picture = explorers.im2col().picture
    case = picture_case("implicit_address")
    (dispatch,) = case.dispatches
    arrays = [*case.inputs, np.zeros(case.expected.size, np.float32), np.uint32(case.params)]
    trace = simulate(PUZZLES["implicit_address"].official, arrays, dispatch.workgroups)
    loads = trace.accesses[(trace.accesses["binding"] == 0) & ~trace.accesses["write"]]
    assert sorted(loads["index"]) == sorted(picture.matrix.flat)
    assert picture.matrix.shape == (2 * 2 * 2, 2 * 3)
    assert (IMAGE.in_h, IMAGE.in_w) == picture.addresses.shape[1:]


def test_weights_times_the_matrix_are_the_convolution():
    random = np.random.default_rng(0)
    image, weight = random.integers(-4, 5, IMAGE.input), random.integers(-4, 5, IMAGE.weight)
    matrix = image.reshape(-1)[explorers.im2col().picture.matrix]
    outputs = (weight.reshape(len(weight), -1) @ matrix).reshape(IMAGE.output)
    assert (outputs == helpers.conv2d(image.astype(np.float32), weight.astype(np.float32))).all()


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        (H200.multiprocessors - 1, "131 workgroups: 1 of 132 multiprocessors has nothing to do."),
        (H200.multiprocessors, "132 workgroups: all 132 multiprocessors work."),
        (H200.multiprocessors + 1, "133 workgroups: all 132 multiprocessors work."),
    ],
)
def test_the_multiprocessors_without_a_workgroup_are_counted(slices, words):
    assert words in SplitKPicture((64, 100_000, 64)).show(slices, 0).sentence


def test_slices_are_those_that_the_workgroups_of_split_k_read():
    shape, splits = ConvShape(1, 4, 9, 8, 64, 3, 3, 1, 1), 3
    kernel = helpers.load("conv2d_grad_weight", "3_split_k").with_constants(SPLITS=splits)
    trace, _ = traces_of(kernel, shape, drawn(operation_of(kernel), shape, ones), before=0)[1]
    read = trace.accesses[(trace.accesses["binding"] == 0) & ~trace.accesses["write"]]
    for split in range(splits):
        places = read["index"][read["workgroup"][:, 2] == split] % (9 * 8)
        assert {*(places // 16).tolist()} == {*slice_of(split, splits, -(-9 * 8 // 16))}


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 1), (5, 3, 2), (1, 2, 0)])
def test_the_taps_of_a_class_are_those_that_reach_its_pixels(kernel, stride, padding):
    shape = ConvShape(1, 1, 24, 24, 1, kernel, kernel, stride, padding)
    for ih, iw in product(range(6, 14), repeat=2):  # far from the edges
        rows, columns = (taps_of_class((i + padding) % stride, kernel, stride) for i in (ih, iw))
        reached = {(tap.kh, tap.kw) for tap in taps_of_pixel(shape, ih, iw)}
        assert reached == set(product(rows, columns))


def test_a_pixel_has_the_letter_of_the_taps_that_reach_it():
    """A pixel of an odd row and an odd column, counted with the padding of 1, is in class D."""
    letters = [text for text in written(explorers.residue_classes().picture) if text in "ABCD"]
    assert "".join(letters[:64]) == "".join(["DCDCDCDC", "BABABABA"] * 4)


def test_a_tap_and_an_output_of_the_picture_lead_to_a_pixel_that_has_them():
    picture = explorers.residue_classes().picture
    for (kh, kw), values in picture.touchable["filter, its taps kh,kw"].values.items():
        assert (kh, kw) in {(tap.kh, tap.kw) for tap in taps_of_pixel(STRIDED, values["ih"], values["iw"])}
    for (oh, ow), values in picture.touchable["grad_output, with the tap that reaches the pixel"].values.items():
        assert (oh, ow) in {(tap.oh, tap.ow) for tap in taps_of_pixel(STRIDED, values["ih"], values["iw"])}


def test_winograds_outputs_are_those_of_the_direct_way():
    tile = explorers.winograd().picture
    windows = sliding_window_view(tile.grids["pixels"].values, (3, 3))
    np.testing.assert_allclose(tile.outputs, (windows * tile.grids["filter"].values).sum(axis=(2, 3)))
    assert explorers.f23().picture.outputs.tolist() == np.correlate(PIXELS, WEIGHTS).tolist()
    assert picture_case("winograd_f23").expected.ravel().tolist() == np.correlate(PIXELS, WEIGHTS).tolist()


def test_rows_by_winograd_are_the_sums_of_products_and_no_smaller_with_absolute_values():
    random = np.random.default_rng(1)
    image, weight = random.standard_normal((3, 10)), random.standard_normal((2, 3, 3))
    direct = sum(sliding_window_view(image, 3, 1)[:, :, k].T @ weight[:, :, k].T for k in range(3)).T
    np.testing.assert_allclose(rows_by_winograd(image, weight), direct)
    bound = rows_by_winograd(abs(image), abs(weight), F23.absolute())
    assert (bound >= abs(direct)).all()


TRIED = {
    "im2col": ([{"column": 5}, "play"], [{"row": 4}, ""], [{"row": 0, "column": 4}, "point"]),
    "split_k": ([{"slices": 1}, ""], [{"slices": 15}, ""], [{"slices": 117}, ""]),
    "residue_classes": ([{"ih": 3, "iw": 3}, "point"], [{"ih": 2, "iw": 2}, ""], [{"ih": 4, "iw": 4}, "point"]),
    "f23": ([{"product": 3}, "play"], [{"product": 1}, "point"]),
    "winograd": ([{"row": 2, "column": 2}, "point"], [{"row": 5, "column": 5}, ""]),
}


@pytest.mark.parametrize("name", TRIED)
def test_what_to_try_can_be_done(name):
    explorer = getattr(explorers, name)()
    assert not any(explorer.steps.done)
    for values, by in TRIED[name]:
        explorer._reach(values, by)
    assert all(explorer.steps.done)


# --- The exercises --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("named", [False, True])
def test_multiplications_are_counted_whether_or_not_a_sum_takes_them_with_it(named):
    """Four for each pair of outputs and channel, and two for each filter of the first pass."""
    puzzle = PUZZLES["winograd_f23"]
    text = puzzle.solution.text
    if named:
        text = edited(
            "winograd_f23", ("m3 += (d1 - d3) * u[first + 3u];", "let m = (d1 - d3) * u[first + 3u]; m3 += m;")
        )
    for case in puzzle.cases():
        channels, _, filters, outputs = case.params
        run = simulated(Kernel(text), case)
        assert run.counts["multiplications"] == filters * channels * (4 * outputs // 2 + 2)


# --- The figures ----------------------------------------------------------------------------------------------------

LAYER = "32x64x56x56 to 64, k3 s1 p1"
RUN = recorded()[-1]


def microseconds(operation: str, version: str, layer: str = LAYER) -> float:
    """The time that was measured of a version, or of the library."""
    kind = "libraries" if version == RUN.table["library"] else "versions"
    return RUN.microseconds(kind, operation, layer)[version]


def ratio(one: str, other: str) -> float:
    """The time of a version on the large square product, as a multiple of that of another one."""
    times = RUN.microseconds("versions", "gemm_bias_act", "GEMM 4096")
    return times[one] / times[other]


def test_times_are_those_of_the_recorded_run():
    library = RUN.table["library"]
    names = "2_workgroup_per_weight", "3_split_k", "4_winograd", library
    slow, split_k, winograd, theirs = (microseconds("conv2d_grad_weight", name) / 1e3 for name in names)
    first = "32x3x224x224 to 64, k7 s2 p3"
    ours, ahead = (microseconds("conv2d_grad_input", name, first) / 1e3 for name in ("4_residue_classes", library))
    for words in (
        f"split-K takes {split_k:.2f} ms",
        f"A workgroup for each weight takes {slow:.1f} ms, and the library {theirs:.2f} ms",
        f"| split-K | {split_k:.3f} ms |",
        f"| Winograd | {winograd:.3f} ms |",
        f"| the library, float32 | {theirs:.3f} ms |",
        f"takes {ours:.2f} ms, and the library {ahead:.2f} ms",
        f"driver {RUN.driver}",
    ):
        assert words in WORDS


def test_ratios_are_those_of_the_recorded_run():
    assert f"this is {measured('implicit GEMM').gain:.0f} times as fast as the gather" in WORDS
    assert f"That is {measured('residue classes').gain:.1f} times as fast" in WORDS
    assert f"that is {100 * measured('Winograd').share:.0f} % of the arithmetic" in WORDS
    assert f"{ratio('6_registers_only', '5_prefetch'):.0f} times as slow as the fastest one" in WORDS
    why = QUESTIONS["gains_without_checks"].why
    naive = ratio("1_thread_per_element", "1_thread_per_element, unchecked")
    assert f"{naive:.1f} times as fast" in why
    assert f": {ratio('5_prefetch', '5_prefetch, unchecked'):.2f} times." in why


def test_the_kernel_takes_as_many_slices_as_the_lesson_says():
    (shape,) = (step.shape for step in STEPS if step.name == "split-K")
    splits = conv2d_grad_weight.split_k(shape, helpers.load("conv2d_grad_weight", "3_split_k")).constants["SPLITS"]
    assert f"takes {splits} slices" in WORDS
    assert shape == LARGE


# --- The questions --------------------------------------------------------------------------------------------------


def products_by_hand(pixels: tuple, weights: tuple) -> tuple[float, ...]:
    """The four products of F(2,3)."""
    return tuple(((F23.data @ pixels) * (F23.filter @ weights)).tolist())


def megabytes(times: float) -> float:
    """Millions of bytes of a number of copies of the images."""
    return 4 * np.prod(LARGE.input) * times / 1e6


def classes() -> tuple[int, ...]:
    """The taps of the classes of a 3 x 3 filter with stride 2, from the fewest to the most."""
    return tuple(sorted(len(taps_of_class(i, 3, 2)) * len(taps_of_class(j, 3, 2)) for i, j in np.ndindex(2, 2)))


COMPUTED = {
    "im2col_megabytes": lambda: round(megabytes(LARGE.kernel_h * LARGE.kernel_w), 1),
    "slices_to_fill": lambda: ceil(H200.multiprocessors / SplitKPicture((64, 100_352, 576)).tiles),
    "taps_of_the_classes": classes,
    "f23_by_hand": lambda: products_by_hand((4, 2, 3, 1), (2, 2, 6)),
    "products_for_an_output": lambda: (4 + 3 - 1) ** 2 / 4**2,
}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_right_answer_is_what_is_computed(name):
    assert QUESTIONS[name].right == COMPUTED[name]()


def test_likely_wrong_answers_are_what_they_are_said_to_be():
    mistakes = QUESTIONS["im2col_megabytes"].mistakes
    assert "three times" in mistakes[round(megabytes(3), 1)]
    assert "one channel" in mistakes[round(megabytes(9) / 64, 2)]
    assert "one image" in mistakes[round(megabytes(9) / 32, 2)]
    assert "in millions" in mistakes[round(megabytes(9) / 4, 1)]
    by_hand = QUESTIONS["f23_by_hand"].mistakes
    assert "pixels, transformed" in by_hand[tuple((F23.data @ (4, 2, 3, 1)).tolist())]
    assert "weights, transformed" in by_hand[tuple((F23.filter @ (2, 2, 6)).tolist())]


def test_fastest_on_a_processor_is_what_is_chosen_there():
    chosen, *_ = forward(GemmShape(512, 512, 512), replace(adapter_info(), kind="software"))
    assert chosen.version == "6_registers_only"
    assert QUESTIONS["fastest_on_a_processor"].right in chosen.version
