"""The learner's kernel, graded: not attempted, does not compile, wrong (and where), or right.

A learner's kernel runs in a process of its own. One that never ends or brings the driver down is reported like any
other mistake, and costs the notebook nothing.
"""

import faulthandler
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, prod
from numbers import Real
from pathlib import Path

import numpy as np

from helpers import gpu
from helpers.convolution import check, reference
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.gpu.operation import nested_loops
from helpers.gpu.passes import pipeline
from helpers.grading.report import Report, compare
from helpers.grading.sandbox import SECONDS, run_module
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict
from helpers.wgsl import Kernel, Listing, WgslError

OFFICIAL = Kernel(Path(__file__).with_name("exercise.wgsl").read_text(encoding="utf-8"), "exercise")
UNTOUCHED = np.float32(-99999.5)  # stands wherever a kernel has not written; no answer of ours

# --- The texts --------------------------------------------------------------------------------------------


def solution() -> Listing:
    """The official kernel. It is graded in the tests as a learner's is."""
    return Listing("\n".join(line.removesuffix("// *").rstrip() for line in _lines()), 1)


def skeleton() -> str:
    """What the learner starts from: the solution without its starred lines."""
    return "\n".join(line for line in _lines() if not line.endswith("// *"))


def _lines() -> list[str]:
    source = OFFICIAL.source
    return source[source.index("struct Params") :].rstrip().split("\n")


# --- The cases --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One test: its sizes, its tensors, and what judges the kernel's answer."""

    name: str
    shape: ConvShape
    input: np.ndarray
    grad_output: np.ndarray
    judge: Callable[["Case", np.ndarray], Report]


def against_reference(case: Case, got: np.ndarray) -> Report:
    """Compare with the float64 loops' answer."""
    return check.grad_weight(got, case.input, case.grad_output)


def against_differences(case: Case, got: np.ndarray) -> Report:
    """Perturb each weight by 1 up and down, watch the loss, and allow a relative error of 1e-3.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each
    weight, so that the step may be as large as 1.
    """
    want = np.zeros(case.shape.weight)
    for index in np.ndindex(want.shape):
        step = np.zeros(want.shape)
        step[index] = 1
        up, down = (reference.conv2d(case.input, sign * step) * case.grad_output for sign in (1, -1))
        want[index] = (up.sum() - down.sum()) / 2
    return compare("grad_weight", got, want, 1e-3 * np.abs(want))


@cache
def cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(5)
    tiny, tiny_grad = np.arange(25).reshape(1, 1, 5, 5) % 7, np.arange(9).reshape(1, 1, 3, 3) - 4
    return (
        _case("conv_bw_tiny_3x3", tiny, tiny_grad),
        _case("conv_bw_numerical_gradient_check", *_random(random, (1, 1, 6, 6), (1, 2, 4, 4)), against_differences),
        _case("conv_bw_lenet_conv1", digits.conv1_input(), random.integers(-3, 4, (1, 6, 24, 24))),
        _case("conv_bw_lenet_conv2", digits.conv2_input(), random.integers(-3, 4, (1, 16, 8, 8))),
        _case("conv_bw_rectangular_batch", *_random(random, (2, 2, 5, 7), (2, 3, 3, 5))),
    )


def _random(random: np.random.Generator, *sizes: tuple) -> list[np.ndarray]:
    return [random.integers(-4, 5, size) for size in sizes]


def _case(name: str, input: np.ndarray, grad_output: np.ndarray, judge=against_reference) -> Case:
    shape = ConvShape.between(input.shape, grad_output.shape)
    return Case(name, shape, input.astype(np.float32), grad_output.astype(np.float32), judge)


# --- Grading ----------------------------------------------------------------------------------------------


def grade(source: str) -> Grades:
    """Run a learner's kernel on every case, in a process of its own.

    Parameters
    ----------
    source : str
        WGSL with the bindings of the skeleton.

    Raises
    ------
    TypeError
        `source` is no text.
    GpuError
        This machine cannot run any kernel; that says nothing about the learner's.
    """
    if not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}: it must be the text of your kernel")
    if Kernel(source).code.split() == Kernel(skeleton()).code.split():
        return Grades(Verdict(case.name, NOT_ATTEMPTED) for case in cases())
    try:
        done = run_module("helpers.convolution.exercise", source)
    except subprocess.TimeoutExpired:
        return _all_wrong(f"it did not end within {SECONDS} s; does every loop count toward its limit?")
    if done.returncode == 0:
        return Grades(Verdict(**verdict) for verdict in json.loads(done.stdout.splitlines()[-1]))
    last = (done.stderr.strip() or "no message").splitlines()[-1]
    if done.returncode == 1:  # Python's own error: no adapter, say
        raise gpu.GpuError(f"your kernel could not be tried: {last}")
    return _all_wrong(f"it brought the GPU driver down ({last})")


def _all_wrong(reason: str) -> Grades:
    return Grades(Verdict(case.name, WRONG, reason) for case in cases())


def _grade_here(source: str) -> Grades:
    """What the other process does."""
    kernel = Kernel(source)
    try:
        pipeline(kernel, "main")
        if kernel.bindings != OFFICIAL.bindings:
            raise WgslError("its bindings are not the skeleton's four; put them back as they were")
        if kernel.threads("main") != 256:
            raise WgslError(f"its workgroups have {kernel.threads('main')} threads; it is launched for 256")
    except WgslError as error:
        said = re.sub("^your kernel does not compile[,:] ", "", str(error))
        return Grades(Verdict(case.name, NO_COMPILE, "" if i else said) for i, case in enumerate(cases()))
    return Grades(_verdict(kernel, case) for case in cases())


def _verdict(kernel: Kernel, case: Case) -> Verdict:
    try:
        answer, past_it = np.split(_run(kernel, case), [prod(case.shape.weight)])
    except gpu.GpuError as error:
        return Verdict(case.name, WRONG, str(error))
    report = case.judge(case, answer.reshape(case.shape.weight))
    if not report.ok:
        return Verdict(case.name, WRONG, _first_mismatch(report))
    if (past_it != UNTOUCHED).any():
        return Verdict(case.name, WRONG, "each weight is right, but a thread without a weight wrote past them (step 1)")
    return Verdict(case.name, RIGHT)


def _run(kernel: Kernel, case: Case) -> np.ndarray:
    """What stands in the buffer of weights and in as much room behind it as there are threads."""
    s = case.shape
    groups = ceil(prod(s.weight) / 256)
    answer = gpu.upload(np.full(groups * 256, UNTOUCHED), "grad_weights")
    params = gpu.uniform((s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h))
    buffers = gpu.upload(case.grad_output, "grad_output"), gpu.upload(case.input, "input"), answer, params
    loops = nested_loops(s.batch, s.out_h, s.out_w)
    gpu.run(gpu.Pass(kernel, buffers, (groups, 1, 1), loops))
    return gpu.read(answer, (groups * 256,))


def _first_mismatch(report: Report) -> str:
    index, got, want = report.mismatches[0]
    place = ", ".join(f"{letter} = {i}" for letter, i in zip(("k", "c", "fh", "fw"), index, strict=True))
    yours = f"yours is {got:g}"
    if got == UNTOUCHED:
        yours = "nothing was written"
    elif got == np.float32(UNTOUCHED + np.float32(want)):
        yours = "yours was added to what stood there before (write =, not +=)"
    return f"{report.wrong} of {prod(report.shape)} weights; first at {place}: {yours}, right is {want:g}"


# --- Pen and paper ----------------------------------------------------------------------------------------


def predict(answer: float | None, input: np.ndarray, grad_output: np.ndarray, kh: int, kw: int) -> Verdict:
    """Check a value of one weight's gradient that was worked out by hand, and name the likely slip.

    Parameters
    ----------
    answer : float or None
        The reader's number; None while there is none.
    input : array (1, 1, H, W)
    grad_output : array (1, 1, oH, oW)
    kh, kw : int
        Which weight.

    Raises
    ------
    TypeError
        `answer` is no number.
    IndexError
        There is no such weight.
    """
    test = f"dW[{kh},{kw}]"
    if answer is None:
        return Verdict(test, NOT_ATTEMPTED, "put your number in place of None")
    if not isinstance(answer, Real):
        raise TypeError(f"answer = {answer!r} is a {type(answer).__name__}: it must be a number")
    size = ConvShape.between(input.shape, grad_output.shape).weight
    right = reference.conv2d_grad_weight(input, size, grad_output)[0, 0]
    flipped = reference.conv2d_grad_weight(input, size, grad_output[:, :, ::-1, ::-1])[0, 0]
    if answer == right[kh, kw]:
        return Verdict(test, RIGHT)
    if answer == flipped[kh, kw]:
        return Verdict(test, WRONG, f"{answer:g} comes out when the upstream gradient is flipped; there is no flip")
    slips = {
        "transposed": reference.conv2d_grad_weight(input, size, grad_output.swapaxes(2, 3)),
        "taken without its minus signs": reference.conv2d_grad_weight(input, size, np.abs(grad_output)),
    }
    for slip, numbers in slips.items() if grad_output.shape[2] == grad_output.shape[3] else ():
        if answer == numbers[0, 0, kh, kw]:
            return Verdict(test, WRONG, f"{answer:g} comes out when the upstream gradient is {slip}")
    for row, column in np.argwhere(right == answer):
        return Verdict(test, WRONG, f"{answer:g} is dW[{row},{column}]; the window starts at row {kh}, column {kw}")
    advice = f"lay the upstream gradient's corner over the pixel at row {kh}, column {kw}, and try again"
    return Verdict(test, WRONG, f"it is not {answer:g}; {advice}")


if __name__ == "__main__":
    faulthandler.dump_traceback_later(SECONDS + 5, exit=True)  # where the parent died first, end all the same
    print(json.dumps([asdict(verdict) for verdict in _grade_here(sys.stdin.read())]))
