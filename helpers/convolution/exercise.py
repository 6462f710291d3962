"""The learner's kernel, graded: not attempted, does not compile, wrong (and where), or right."""

import re
from collections.abc import Callable
from functools import cache
from math import ceil, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers import gpu
from helpers.convolution import check, reference
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.gpu.passes import pipeline
from helpers.grading.report import Report, compare
from helpers.grading.sandbox import UNTOUCHED, EndlessLoop, graded_apart, run_guarded, serve
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict, require_number
from helpers.wgsl import Kernel, Listing, WgslError

OFFICIAL = Kernel(Path(__file__).with_name("exercise.wgsl").read_text(encoding="utf-8"), "exercise")
_LINES = OFFICIAL.source[OFFICIAL.source.index("struct Params") :].rstrip().split("\n")


def solution() -> Listing:
    """The official kernel. It is graded in the tests as a learner's is."""
    return Listing("\n".join(line.removesuffix("// *").rstrip() for line in _LINES), 1)


def skeleton() -> str:
    """What the learner starts from: the solution without its starred lines."""
    return "\n".join(line for line in _LINES if not line.endswith("// *"))


# --- The cases --------------------------------------------------------------------------------------------


class Case(NamedTuple):
    """One test: its tensors, and what judges the kernel's answer for them."""

    name: str
    input: np.ndarray
    grad_output: np.ndarray
    judge: Callable[[np.ndarray, np.ndarray, np.ndarray], Report] = check.grad_weight

    @property
    def shape(self) -> ConvShape:
        """Its sizes."""
        return ConvShape.between(self.input.shape, self.grad_output.shape)


def against_differences(got: np.ndarray, input: np.ndarray, grad_output: np.ndarray) -> Report:
    """Move each weight by 1 up and down, watch the loss, and allow a relative error of 1e-3.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each
    weight, so that the step may be as large as 1.
    """
    want = np.zeros(got.shape)
    for index in np.ndindex(want.shape):
        step = np.zeros(want.shape)
        step[index] = 1
        up, down = (reference.conv2d(input, sign * step) * grad_output for sign in (1, -1))
        want[index] = (up.sum() - down.sum()) / 2
    return compare("grad_weight", got, want, 1e-3 * np.abs(want))


@cache
def cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(5)

    def draw(*size: int, largest: int = 4) -> np.ndarray:
        return random.integers(-largest, largest + 1, size).astype(np.float32)

    tiny = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5) % 7
    return (
        Case("conv_bw_tiny_3x3", tiny, np.arange(-4, 5, dtype=np.float32).reshape(1, 1, 3, 3)),
        Case("conv_bw_numerical_gradient_check", draw(1, 1, 6, 6), draw(1, 2, 4, 4), against_differences),
        Case("conv_bw_lenet_conv1", digits.conv1_input(), draw(1, 6, 24, 24, largest=3)),
        Case("conv_bw_lenet_conv2", digits.conv2_input(), draw(1, 16, 8, 8, largest=3)),
        Case("conv_bw_rectangular_batch", draw(2, 2, 5, 7), draw(2, 3, 3, 5)),
    )


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
        `source` is not text.
    GpuError
        This machine cannot run any kernel; that says nothing about the learner's.
    """
    if not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}: it must be the text of your kernel")
    tests = [case.name for case in cases()]
    if Kernel(source).code.split() == Kernel(skeleton()).code.split():
        return Grades.alike(tests, NOT_ATTEMPTED)
    return graded_apart("helpers.convolution.exercise", source, tests)


def _grade_here(source: str) -> Grades:
    """What the other process does."""
    kernel = Kernel(source)
    try:
        pipeline(kernel, "main")
        if kernel.bindings != OFFICIAL.bindings:
            raise WgslError("its bindings differ from the skeleton's four; copy those from the skeleton")
        if kernel.threads("main") != 256:
            raise WgslError(f"its workgroups have {kernel.threads('main')} threads; write @workgroup_size(256)")
    except WgslError as error:
        detail = re.sub("^your kernel does not compile[,:] ", "", str(error))
        return Grades.alike([case.name for case in cases()], NO_COMPILE, detail)
    return Grades(Verdict(case.name, *_outcome(kernel, case)) for case in cases())


def _outcome(kernel: Kernel, case: Case) -> tuple[str, str]:
    try:
        (answer, past_it), (with_nan, _) = (_run(kernel, case, guard) for guard in (4099, np.nan))
    except (gpu.GpuError, EndlessLoop) as error:
        return WRONG, str(error)
    report = case.judge(answer, case.input, case.grad_output)
    if (past_end := np.argwhere(np.isnan(with_nan) & ~np.isnan(answer))).size:
        return (
            WRONG,
            f"at {_place(past_end[0])} it reads past the end of an input; check the loop limits and the offsets",
        )
    if not report.ok:
        return WRONG, _first_mismatch(report)
    if (past_it != UNTOUCHED).any():
        return WRONG, "each weight is right, but a thread without a weight wrote past the last one (step 1)"
    return RIGHT, ""


def _run(kernel: Kernel, case: Case, guard: float) -> tuple[np.ndarray, np.ndarray]:
    """The weights' gradient, and what stands behind it: there is room for one number from each thread."""
    s, weights = case.shape, prod(case.shape.weight)
    workgroups = ceil(weights / 256)
    params = s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h
    written = run_guarded(kernel, (case.grad_output, case.input), workgroups * 256, params, workgroups, guard)
    return written[:weights].reshape(s.weight), written[weights:]


def _first_mismatch(report: Report) -> str:
    index, got, want = report.mismatches[0]
    yours = f"yours is {got:g}"
    if got == UNTOUCHED:
        yours = "nothing was written"
    elif got == np.float32(UNTOUCHED + np.float32(want)):
        yours = "yours was added to the number that was there before (write =, not +=)"
    return f"{report.wrong} of {prod(report.shape)} weights; first at {_place(index)}: {yours}, right is {want:g}"


def _place(index: tuple[int, ...]) -> str:
    return ", ".join(f"{letter} = {i}" for letter, i in zip(("k", "c", "fh", "fw"), index, strict=True))


# --- Pen and paper ----------------------------------------------------------------------------------------


def predict(answer: float | None, input: np.ndarray, grad_output: np.ndarray, kh: int, kw: int) -> Verdict:
    """Check a value of one weight's gradient that was worked out by hand, and name the likely mistake.

    Parameters
    ----------
    answer : float or None
        The reader's number; None while there is none.
    input : array (1, 1, H, W)
    grad_output : array (1, 1, oH, oW)
    kh, kw : int
        Which weight.

    Raises TypeError where `answer` is not a number, IndexError where there is no such weight.
    """
    test = f"dW[{kh},{kw}]"
    if answer is None:
        return Verdict(test, NOT_ATTEMPTED, "write your number in place of None")
    require_number(answer)
    size = ConvShape.between(input.shape, grad_output.shape).weight

    def gradient(upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_weight(input, size, upstream)[0, 0]

    right = gradient(grad_output)
    if answer == right[kh, kw]:
        return Verdict(test, RIGHT)
    mistakes = {
        "flipped; there is no flip": grad_output[:, :, ::-1, ::-1],
        "transposed": grad_output.swapaxes(2, 3),
        "taken without its minus signs": abs(grad_output),
    }
    for mistake, upstream in mistakes.items():
        if upstream.shape == grad_output.shape and answer == gradient(upstream)[kh, kw]:
            return Verdict(test, WRONG, f"you get {answer:g} when the upstream gradient is {mistake}")
    for row, column in np.argwhere(right == answer):
        return Verdict(test, WRONG, f"{answer:g} is dW[{row},{column}]; start the window at row {kh}, column {kw}")
    return Verdict(test, WRONG, f"place the upstream gradient's corner on the pixel at row {kh}, column {kw}")


if __name__ == "__main__":
    serve(_grade_here)
