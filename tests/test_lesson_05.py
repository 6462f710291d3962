"""Lesson 05: fields to uncover, tests that a learner writes, and questions that have the answers that are computed."""

from ast import literal_eval
from contextlib import suppress
from dataclasses import replace
from itertools import product
from re import findall

import numpy as np
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS, Lesson
from support.sample import at_night, sample

import helpers
from helpers.checks.report import CheckError
from helpers.checks.tolerance import ROUNDING
from helpers.lessons.exercises import MATCHINGS, QUESTIONS
from helpers.lessons.shared.wrong_kernels import ENDLESS, WEIGHT_1, WrongKernel, named
from helpers.lessons.trusting_a_gradient import errors, escaped_checks, explorers, probes, problems, written_test
from helpers.lessons.trusting_a_gradient.pictures.probes import PLACE, UNKNOWN, ProbesPicture
from helpers.lessons.trusting_a_gradient.problems import GOOD, Problem, good, returned, shrunk
from helpers.lessons.trusting_a_gradient.tried import DATA, KERNELS, caught
from helpers.operations import harness
from helpers.operations.convolution import check, reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import LARGE, simulated
from helpers.operations.kernels import load
from wgsl import Kernel

LESSON = Lesson.read(NOTEBOOKS / "05_trusting_a_gradient.ipynb")


# --- The covered fields -----------------------------------------------------------------------------------------

MISSED = {"ones": [3], "one image": [0, 2, 3], "fractions": [], "square": [4, 5], "symmetric": [1]}


def test_one_kind_of_data_catches_all_six_faults_and_each_other_misses_one():
    for j, name in enumerate(DATA):
        assert [i for i in range(len(KERNELS)) if not caught(i, j)] == MISSED[name]
    assert len(DATA) == len(MISSED)


def test_fields_are_uncovered_one_by_one_and_a_column_ends_the_search():
    explorer = explorers.covered()
    assert f"tested on {helpers.adapter_info().short}" in written(explorer.picture)
    assert not {"caught", "missed"} & {*written(explorer.picture)}
    fields = np.zeros((6, 5))
    fields[2] = 1
    assert explorer.set(fields=fields).startswith("5 of 30 fields are open: 4 caught, 1 missed. No column")
    assert explorer.steps.done == [True, True, False]
    fields[:, 0] = fields[:, 2] = 1
    assert explorer.set(fields=fields).endswith("missed. “fractions” catches all 6 faults.")
    assert explorer.steps.done == [True, True, True]
    assert not list(faults(explorer.picture))


# --- Tests that are written -----------------------------------------------------------------------------------------


def watched(kernel: Kernel, problem: Problem, guard: float | None = LARGE) -> np.ndarray:
    """The gradient of a simulated run; without a guard, over zeros."""
    before = 0.0 if guard is None else np.array([guard, -guard])
    (gradient,), _ = simulated(kernel, problem.shape, problem.tensors, guard, before, max_steps=100)
    return gradient


def test_what_nobody_watches_returns_what_the_simulator_does():
    problem = good("conv2d_grad_weight")
    for wrong in written_test.WRONG_KERNELS[::4]:
        if wrong.reasons != ENDLESS:
            few = shrunk(wrong.wrong)
            assert np.array_equal(returned(few, problem), watched(few, problem), equal_nan=True), wrong


TRIED = [  # sizes and data, of which each says why some faults cannot show
    (written_test.shape(2, 2, 5, 6, 3, 3, 2, 2, (1, 0)), "fractions"),
    (written_test.shape(1, 1, 4, 4, 1, 2, 2, 1, 1), "ones"),
    (written_test.shape(2, 1, 4, 2, 3, 1, 3, 3, (2, 1)), "whole"),
    (written_test.shape(1, 1, 1, 2, 1, 3, 2, 3, (1, 0)), "whole"),
    (written_test.shape(2, 2, 5, 6, 3, 3, 2, 2, (1, 2)), "fractions"),
    (written_test.shape(2, 3, 4, 5, 2, 2, 4, 2, (2, 1)), "symmetric"),
]
HIDDEN = [(cause, tried) for cause, tried in product(written_test.CAUSES, TRIED) if cause.holds(*tried)]


def test_a_cause_is_named_only_where_it_is_true_and_none_of_its_faults_shows_there():
    assert {cause.words for cause, _ in HIDDEN} == {cause.words for cause in written_test.CAUSES}
    by_name = {written_test.test_name(wrong): wrong for wrong in written_test.WRONG_KERNELS}
    hidden = []
    for cause, tried in HIDDEN:
        hidden += [(cause, tried, by_name[name]) for name in cause.hides]
    for cause, tried, wrong in sample(hidden, 25):
        (named,) = findall(", because (.*?): ", written_test.let_through(wrong, tried))
        true = {another.words for another, test in HIDDEN if test == tried}
        assert {named, cause.words} <= true, (cause, wrong)


ASKED = [  # shapes of checks, each of which hides a fault or two
    (1, 2, 4, 5, 2, 2, 3, 2, (1, 2)),
    (2, 3, 3, 4, 2, 2, 3, 1, (0, 1)),
    (2, 3, 5, 4, 2, 3, 2, 2, (1, 1)),
    (2, 1, 5, 4, 3, 3, 2, 2, (1, 2)),
    (2, 3, 5, 4, 1, 3, 2, 2, (2, 1)),
    (2, 2, 5, 6, 3, 2, 2, 2, (1, 0)),
    (2, 2, 5, 6, 3, 1, 2, 2, (0, 1)),
]


def returns_the_right_gradient(fault: str, shape: ConvShape, dy: np.ndarray, w: np.ndarray) -> bool:
    """Return whether the kernel with a fault returns what a right one does."""
    wrong = next(case for case in escaped_checks.CHECKED if case.fault == fault)
    gradients = []
    for case in escaped_checks.CHECKED[0], wrong:
        ask = case.given[0]["grad_input"]
        gradients.append(ask(written_test.Tensor(dy), written_test.Tensor(w), shape).values)
    return np.array_equal(*gradients)


def test_where_a_cause_is_true_no_check_can_see_its_faults():
    seen = set()
    for sizes, ones in product(ASKED, ("", "dy", "w")):
        shape = written_test.shape(*sizes)
        dy, w = harness.whole(shape.of("grad_output"), 3), harness.whole(shape.weight, 2)
        dy = np.ones_like(dy) if ones == "dy" else dy
        w = np.ones_like(w) if ones == "w" else w
        for cause in escaped_checks.CAUSES:
            if cause.holds(written_test.Asked(dy, w, shape)):
                seen.add(cause.words)
                assert all(returns_the_right_gradient(fault, shape, dy, w) for fault in cause.hides), (cause, sizes)
    assert seen == {cause.words for cause in escaped_checks.CAUSES}


# --- Questions --------------------------------------------------------------------------------------------------------


def easy_test(old: str, new: str) -> int:
    """The number of wrong ones of 18 in the test that the question describes, with an edit of the kernel."""
    image = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5)
    ones = np.ones((1, 2, 3, 3), np.float32)
    kernel = load(WEIGHT_1).edit(old, new)
    gradient = helpers.conv2d_grad_weight(image, (2, 1, 3, 3), ones, kernel=kernel)
    report = check.grad_weight(gradient, image, ones)
    assert report.count == 18
    return report.wrong


def test_ones_hide_which_of_them_was_read():
    assert easy_test("grad_row + ow", "grad_row") == QUESTIONS["wrong_with_ones"].right
    assert easy_test("ow * params.stride + kw", "ow * params.stride")


def test_a_flip_is_hidden_by_a_symmetric_filter():
    random = np.random.default_rng(0)
    gradient, filter = random.integers(-4, 5, (2, 3, 3))
    symmetric = filter + filter[::-1, ::-1]
    question = QUESTIONS["flipped_and_symmetric"]
    weights, gradients = np.array([1, 3, 1]), np.array([5, 0, -3])
    for values, case in (symmetric.ravel(), gradient.ravel()), (weights, gradients):
        assert (values * case).sum() - (values * case[::-1]).sum() == question.right
    differences = gradients - gradients[::-1]
    product = (weights * gradients).sum()
    turned = abs(-product - product)  # the sign of the product changes
    assert {*question.mistakes} == {differences[0], differences[2], abs(differences).sum(), product, turned}


def test_of_three_dot_products_two_agree_and_the_third_is_that_of_a_filter_that_is_not_flipped():
    question = QUESTIONS["three_dot_products"]
    rows = [literal_eval(text) for text in findall(r"`(\[.*?\])`", question.asked)]
    filter, image, output, upstream, grad_filter, not_flipped = (np.float32(row)[None, None, None] for row in rows)
    assert np.array_equal(reference.conv2d(image, filter), output)
    assert np.array_equal(reference.conv2d_grad_weight(image, filter.shape, upstream), grad_filter)
    assert np.array_equal(reference.conv2d_grad_input(image.shape, filter[..., ::-1], upstream), not_flipped)
    agreed = np.vdot(output, upstream)
    assert agreed == np.vdot(filter, grad_filter)
    assert question.right == np.vdot(image, not_flipped)
    assert {agreed, question.right - agreed} < {*question.mistakes}


def test_the_best_step_of_the_three_is_the_one_that_the_question_says():
    offered = errors.STEPS.index(-10), errors.STEPS.index(-5), errors.STEPS.index(0)
    best = offered[np.argmin(errors.convolution_differences().errors[[*offered]])]
    question = QUESTIONS["best_step_for_convolution"]
    assert question.right == 2.0 ** errors.STEPS[best]
    assert {question.right, *question.mistakes} == {2.0 ** errors.STEPS[i] for i in offered}


def test_the_probe_reads_what_the_question_says():
    input = probes.numbered((1, 1, 5, 7))
    upstream = probes.one_hot((1, 1, 3, 5), (0, 0, 0, 3))
    read = helpers.conv2d_grad_weight(input, (1, 1, 3, 3), upstream)[0, 0]
    question = QUESTIONS["probe_reads"]
    assert read[1, 0] == question.right
    for row, column in (0, 0), (1, 1), (0, 1):
        assert f"weight [{row},{column}]" in question.mistakes[read[row, column]]


def test_the_patterns_are_those_of_the_faults_whose_words_are_right():
    words = {"one padding for both axes": "padding", "filter flipped": "flip", "stride forgotten": "stride"}
    assert MATCHINGS["fault_from_a_probe"].right == tuple(words[fault] for fault in UNKNOWN.values())
    assert MATCHINGS["fault_from_a_probe"].cards == tuple(UNKNOWN) == tuple(ProbesPicture().cards)
    other = probes.probe(named(WEIGHT_1, "index decoded by rows").wrong, probes.SHAPE, *PLACE)
    assert (np.diff(other) != 1).any()  # neighbors are not beside each other, as the reply says
    assert not list(faults(ProbesPicture()))


def test_the_blind_length_is_the_first_one_offered():
    offered = (256, 1024, 4096, 16384)
    assert next(n for n in offered if n * n * ROUNDING > 1) == QUESTIONS["blind_length"].right


SQUARE = replace(GOOD, in_w=GOOD.in_h, kernel_w=GOOD.kernel_h, padding=GOOD.padding_h)
POOR = {  # data, and what follows them
    "ones": (problems.all_ones(good("conv2d_grad_weight")), LARGE),
    "symmetric": (problems.symmetric(good("conv2d_grad_weight")), LARGE),
    "whole": (problems.whole_numbers(good("conv2d_grad_weight")), LARGE),
    "single": (problems.batch_1(good("conv2d_grad_weight")), LARGE),
    "square": (good("conv2d_grad_weight", SQUARE), LARGE),
    "unguarded": (good("conv2d_grad_weight"), None),
}


def misses(wrong: WrongKernel, problem: Problem, guard: float | None) -> bool:
    """True if the numbers of a wrong kernel are right; nobody watches it where all of its loops end."""
    few = shrunk(wrong.wrong)
    if guard and wrong.reasons != ENDLESS:
        return not problems.is_wrong(few, problem)
    with suppress(CheckError):
        return problem.is_solved_by(watched(few, problem, guard))
    return False


@at_night
def test_the_worst_data_are_those_that_the_question_says():
    missed = {}
    for name, data in POOR.items():
        missed[name] = sum(misses(wrong, *data) for wrong in written_test.WRONG_KERNELS)
    assert sorted(missed.values())[-2] < missed[QUESTIONS["worst_data"].right] == max(missed.values())
    assert {*QUESTIONS["worst_data"].mistakes} == {*POOR} - {"unguarded"}
    last = f"misses {missed['unguarded']} wrong kernels; the next worst, square images, misses {missed['square']}."
    assert QUESTIONS["worst_data"].why.endswith(last)
    assert missed["square"] == sorted(missed.values())[-2]
