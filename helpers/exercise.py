"""The learner's kernel, graded: not attempted, does not compile, wrong (and where), or right.

A learner's kernel runs in a process of its own. One that never ends or brings the driver down is reported like any
other mistake, and costs the notebook nothing.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache
from math import ceil, prod
from pathlib import Path

import numpy as np

from helpers import check, digits, gpu, ops, reference
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel, Listing, WgslError, load

SECONDS = 30  # how long a learner's kernel may take in all
NOT_ATTEMPTED, NO_COMPILE, WRONG, RIGHT = "not attempted", "does not compile", "wrong", "right"

# --- The texts --------------------------------------------------------------------------------------------


def solution() -> Listing:
    """The official kernel. It is graded in the tests as a learner's is."""
    return Listing("\n".join(line.removesuffix("// *").rstrip() for line in _lines()), 1)


def skeleton() -> str:
    """What the learner starts from: the solution without its starred lines."""
    return "\n".join(line for line in _lines() if not line.endswith("// *"))


def _lines() -> list[str]:
    source = load("exercise_conv_bw", "1_weight").source
    return source[source.index("struct Params") :].rstrip().split("\n")


# --- The cases --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Case:
    """One test: its sizes, its tensors, and what judges the kernel's answer."""

    name: str
    shape: ConvShape
    input: np.ndarray
    grad_output: np.ndarray
    judge: Callable[["Case", np.ndarray], check.Report]


def against_reference(case: Case, got: np.ndarray) -> check.Report:
    """Compare with the float64 loops' answer."""
    return check.grad_weight(got, case.input, case.grad_output)


def against_differences(case: Case, got: np.ndarray) -> check.Report:
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
    return check.compare("grad_weight", got, want, 1e-3 * np.abs(want))


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
        _case("conv_bw_batch_of_oblongs", *_random(random, (2, 2, 5, 7), (2, 3, 3, 5))),
    )


def _random(random: np.random.Generator, *sizes: tuple) -> list[np.ndarray]:
    return [random.integers(-4, 5, size) for size in sizes]


def _case(name: str, input: np.ndarray, grad_output: np.ndarray, judge=against_reference) -> Case:
    n, ci, in_h, in_w = input.shape
    _, co, out_h, out_w = grad_output.shape
    shape = ConvShape(n, ci, in_h, in_w, co, in_h - out_h + 1, in_w - out_w + 1)
    return Case(name, shape, input.astype(np.float32), grad_output.astype(np.float32), judge)


# --- Grading ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Verdict:
    """What one test says: its name, one of the four outcomes, and the reason."""

    test: str
    outcome: str
    detail: str = ""

    def __repr__(self) -> str:
        return f"{self.test:<34}{self.outcome}{': ' if self.detail else ''}{self.detail}"


class Grades(tuple[Verdict, ...]):
    """All verdicts on one kernel, and how many of the tests it passes."""

    @property
    def passed(self) -> int:
        """How many tests say right."""
        return sum(verdict.outcome == RIGHT for verdict in self)

    def __repr__(self) -> str:
        return "\n".join([*map(repr, self), f"{self.passed} of {len(self)} tests pass"])


def grade(source: str) -> Grades:
    """Run a learner's kernel on every case, in a process of its own.

    Parameters
    ----------
    source : str
        WGSL with the bindings of the skeleton.

    Raises TypeError where `source` is no text.
    """
    if not isinstance(source, str):
        raise TypeError(f"source is a {type(source).__name__}: it must be the text of your kernel")
    names = [case.name for case in cases()]
    if Kernel(source).code.split() == Kernel(skeleton()).code.split():
        return Grades(Verdict(name, NOT_ATTEMPTED) for name in names)
    command = [sys.executable, "-m", "helpers.exercise"]
    root = Path(__file__).parents[1]
    try:
        done = subprocess.run(command, input=source, cwd=root, capture_output=True, encoding="utf-8", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return _all_wrong(f"it did not end within {SECONDS} s; does every loop count toward its limit?")
    if done.returncode:
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        return _all_wrong(f"it brought the GPU driver down ({last})")
    return Grades(Verdict(**verdict) for verdict in json.loads(done.stdout))


def _all_wrong(reason: str) -> Grades:
    return Grades(Verdict(case.name, WRONG, reason) for case in cases())


def _grade_here(source: str) -> Grades:
    """What the other process does."""
    kernel = Kernel(source)
    try:
        if kernel.bindings != load("exercise_conv_bw", "1_weight").bindings:
            raise WgslError("its bindings are not the skeleton's four; put them back as they were")
        gpu.pipeline(kernel, "main")
    except WgslError as error:
        said = str(error).removeprefix("your kernel does not compile, ")
        return Grades(Verdict(case.name, NO_COMPILE, "" if i else said) for i, case in enumerate(cases()))
    return Grades(_verdict(kernel, case) for case in cases())


def _verdict(kernel: Kernel, case: Case) -> Verdict:
    report = case.judge(case, _run(kernel, case))
    return Verdict(case.name, RIGHT) if report.ok else Verdict(case.name, WRONG, _first_mismatch(report))


def _run(kernel: Kernel, case: Case) -> np.ndarray:
    """The kernel's answer, NaN where it wrote nothing."""
    s = case.shape
    answer = gpu.upload(np.full(s.weight, np.nan, np.float32), "grad_weights")
    params = gpu.uniform((s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h))
    buffers = gpu.upload(case.grad_output, "grad_output"), gpu.upload(case.input, "input"), answer, params
    groups = ceil(prod(s.weight) / 256), 1, 1
    loops, _ = ops.loop(s.batch, ops.loop(s.out_h, ops.loop(s.out_w)))
    gpu.run(gpu.Pass(kernel, buffers, groups, loops))
    return gpu.read(answer, s.weight)


def _first_mismatch(report: check.Report) -> str:
    index, got, want = report.mismatches[0]
    place = ", ".join(f"{letter} = {i}" for letter, i in zip(("k", "c", "fh", "fw"), index, strict=True))
    yours = "nothing was written" if np.isnan(got) else f"yours is {got:g}"
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
    """
    test = f"dW[{kh},{kw}]"
    if answer is None:
        return Verdict(test, NOT_ATTEMPTED, "put your number in place of None")
    size = tuple(1 + i - o for i, o in zip(input.shape, grad_output.shape, strict=True))
    right = reference.conv2d_grad_weight(input, size, grad_output)[0, 0]
    flipped = reference.conv2d_grad_weight(input, size, grad_output[:, :, ::-1, ::-1])[0, 0]
    if answer == right[kh, kw]:
        return Verdict(test, RIGHT)
    if answer == flipped[kh, kw]:
        return Verdict(test, WRONG, f"{answer:g} comes out when the upstream gradient is flipped; there is no flip")
    for row, column in np.argwhere(right == answer):
        return Verdict(test, WRONG, f"{answer:g} is dW[{row},{column}]; the window starts at row {kh}, column {kw}")
    return Verdict(test, WRONG, f"it is not {answer:g}; lay G over the pixel at row {kh}, column {kw} and try again")


if __name__ == "__main__":
    print(json.dumps([asdict(verdict) for verdict in _grade_here(sys.stdin.read())]))
