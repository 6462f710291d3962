"""The reader's own kernels in a network: the right gradients where they are right, and nothing that could do harm."""

import numpy as np
import pytest
from support.sample import at_night, sample

import helpers
from helpers.data.digits import seen_and_unseen
from helpers.grading import student_files
from helpers.lessons.exercises import PUZZLES
from helpers.lessons.shared.student_kernels import PLACES, student_kernels
from helpers.lessons.train_lenet.training_apart import RefusedError, _found, train_apart
from helpers.network.check_layers import UPDATE, check_step
from helpers.network.network import Network
from helpers.network.training import Training
from helpers.operations.gemm.shapes import GemmShape
from wgsl import Kernel

IMAGES, LABELS, _, _ = seen_and_unseen()
OFFICIAL = {name: PUZZLES[name].solution.text for name in PLACES}
WEIGHT, STRIDED, BIAS = "conv2d_grad_weight", "strided_grad_weight", "gemm_bwd_dbias"


def without(*puzzles: str) -> dict[str, str]:
    return {name: text for name, text in OFFICIAL.items() if name not in puzzles}


# --- In a network ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "others",
    [
        {WEIGHT, "conv2d", "conv2d_grad_input", "gemm_bwd_da", "gemm_bwd_db"},
        {STRIDED, "strided_conv2d", "strided_grad_input", "transposed_product", "transposed_tile"},
    ],
)
def test_all_official_kernels_of_puzzles_compute_the_gradients_of_lenet(others):
    network = Network(kernels=student_kernels(without(*others)))
    assert not check_step(network, IMAGES[:3], LABELS[:3]).wrong
    space = network.workspace(3)
    passes = *space.forward, *space.backward, *network.update(1, 0)
    run = {step.kernel.name.removeprefix("your ") for step in passes}
    assert {*without(*others)} <= run


WRONG = (
    ("add_bias", " + bias", " - bias"),
    ("conv2d", " sum += ", " sum -= "),
    ("conv2d_grad_input", " sum += ", " sum -= "),
    ("gemm_bwd_db", " sum += ", " sum -= "),
    ("transposed_tile", " sum += ", " sum -= "),
    ("transposed_product", " sum += ", " sum -= "),
    ("max_pool2d_backward", " sum += ", " sum -= "),
    ("relu_gate", "> 0.0", "> -1.0"),
    ("softmax_minus_truth", "(softmax - truth)", "softmax"),
)


@pytest.mark.parametrize(("puzzle", "old", "new"), WRONG)
def test_a_wrong_one_is_wrong_in_its_own_steps(puzzle, old, new):
    text = OFFICIAL[puzzle].replace(old, new)
    wrong = check_step(Network(kernels=student_kernels({puzzle: text})), IMAGES[:3], LABELS[:3]).wrong
    assert {step.partition(": ")[2] for step in wrong} == {PLACES[puzzle].operation.name}


def test_a_wrong_update_is_named():
    text = OFFICIAL["momentum_step"].replace("parameter[i] - params", "parameter[i] + params")
    network = Network(kernels=student_kernels({"momentum_step": text}))
    assert check_step(network, IMAGES[:3], LABELS[:3]).wrong == [UPDATE]


def test_the_workgroups_are_those_of_the_task():
    layer = GemmShape(17, 40, 33)
    product, bias = PLACES["gemm_bwd_da"], PLACES[BIAS]
    assert product.operation.name == bias.operation.name == "gemm_bias_act_backward"
    assert product.workgroups(layer) == (3, 2, 1)  # d_a has 17 x 40 numbers
    assert PLACES["gemm_bwd_db"].workgroups(layer) == (3, 3, 1)  # d_b has 40 x 33
    assert bias.workgroups(layer) == (1, 1, 1)
    assert bias.workgroups(GemmShape(1, 1, 257)) == (2, 1, 1)
    assert product.workgroups(GemmShape(17, 40, 33, batch_size=5)) == (3, 2, 5)


def test_a_batch_with_too_many_loops_for_the_driver_is_refused():
    place = PLACES[WEIGHT]
    shape = Network().workspace(128).steps[0].shape
    made = place.dispatch(Kernel(OFFICIAL[WEIGHT]), dict.fromkeys(place.tensors.split()), shape)
    assert made.iterations > 65_535


# --- In a process apart ---------------------------------------------------------------------------------------


@at_night
def test_a_wrong_gradient_trains_as_it_would_here_and_the_notebooks_network_is_not_touched():
    text = OFFICIAL[BIAS].replace("row = 0u", "row = 1u")
    student_files.keep(BIAS, text)
    heard = []
    run = helpers.train_apart(BIAS, digits=32, batch=8, unseen=50, show=lambda losses: heard.append(tuple(losses)))
    here = Training(Network(kernels=student_kernels({BIAS: text})), IMAGES[:32], LABELS[:32], batch=8).run()
    assert run.losses == pytest.approx([moment.loss for moment in here.moments], rel=1e-5)
    assert heard == [(), run.losses]
    assert repr(run).startswith(f"4 steps with your {BIAS}, mean loss of the last ten 2.3")
    network = Network(seed=1)
    network.load_parameters(run.parameters)
    for name, array in here.network.parameters().items():
        np.testing.assert_allclose(network.parameters()[name], array, atol=1e-5)


VERTEX = "@vertex fn seen() -> @builtin(position) vec4f { return vec4f(); }\n"
REFUSED = {  # what is said of a text, and the edit of the official one
    "write it first, with helpers.write": None,
    "does not compile; see helpers.grade": ("var sum", "sum"),
    "is unsafe; see helpers.grade": ("if (n >= params.N) { return; }", ""),
    "our simulator cannot try it; see helpers.grade": ("@compute", f"{VERTEX}@compute"),
    "this loop is still running": ("row++", "row *= 2u"),  # a loop without an end is wrong, not unsafe
}


@pytest.mark.parametrize("reason", sample(REFUSED, 1))
def test_a_text_that_could_do_harm_is_refused_with_what_to_do(reason):
    if REFUSED[reason]:
        student_files.keep(BIAS, Kernel(OFFICIAL[BIAS]).edit(*REFUSED[reason]).source)
    with pytest.raises(RefusedError, match=f"your {BIAS} is not run: .*{reason}") as caught:
        train_apart(BIAS, digits=32, batch=8)
    assert caught.value._render_traceback_() == [str(caught.value)]


def test_what_only_lenets_layers_show_is_found():
    late = Kernel(OFFICIAL[BIAS]).edit("n >= params.N", "n >= params.N + u32(params.N == 84u)")
    assert _found(BIAS, late).kind in ("out-of-range write", "out-of-range read")
    late = Kernel(OFFICIAL["momentum_step"]).edit("velocity[i] = p", "velocity[i + u32(params.n > 300u)] = p")
    assert _found("momentum_step", late).kind in ("out-of-range write", "out-of-range read")
    for puzzle in (BIAS, "add_bias", "conv2d", "relu_gate", "softmax_minus_truth", "momentum_step"):
        assert _found(puzzle, Kernel(OFFICIAL[puzzle])) is None
