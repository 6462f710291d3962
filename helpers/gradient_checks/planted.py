"""Lesson 02: an edit of the official kernel that is a fault, and that the numbers of the lesson's hard case miss."""

from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import drawn, operation_of, simulated
from helpers.gradient_checks.wrong_kernels import WEIGHT_1
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Verdict
from helpers.kernels import load
from wgsl import Kernel, WgslError

HARD = ConvShape(4, 7, 19, 18, 8, 5, 6, stride=2, padding=(1, 3))  # as in the lesson: all sizes differ
OTHERS = {  # what shows the faults that it misses
    "stride 1 and a batch of 2": ConvShape(2, 3, 6, 9, 5, 4, 2, stride=1, padding=(2, 0)),
    "stride 3 and more channels": ConvShape(5, 10, 11, 8, 9, 2, 4, stride=3, padding=(3, 2)),
}
MOST_ITERATIONS = 2_000  # of a thread: the right kernel needs 360


def plant(name: str, old: str | None = None, new: str = "") -> Verdict:
    """What to say of an edit of `1_thread_per_weight`; it is simulated, so that it may do what it likes.

    Raises AnswerError, a TypeError, where `old` or `new` is no text, or `old` does not occur exactly once.
    """
    if old is None:
        return Verdict(name, NOT_ATTEMPTED, "write a piece of the kernel in place of None, and what replaces it")
    try:
        kernel = load(*WEIGHT_1.split("/")).edit(old, new)
        wrong, found = _seen(kernel, HARD)
    except WgslError as error:
        return Verdict(name, NO_COMPILE, str(error))
    except (TypeError, ValueError) as error:
        raise AnswerError(str(error)) from None
    if wrong:
        return Verdict(
            name, WRONG, f"the hard case shows it: {wrong}; which of its sizes could be written down in the kernel?"
        )
    if found:
        return Verdict(name, RIGHT, f"all its numbers are right, and only the simulator sees it: {found}")
    for how, shape in OTHERS.items():
        if seen := next(filter(None, _seen(kernel, shape)), ""):
            return Verdict(name, RIGHT, f"the hard case misses it; with {how}, {seen}")
    return Verdict(name, WRONG, "the kernel is as right as before, in three cases; what does your edit change?")


def _seen(kernel: Kernel, shape: ConvShape) -> tuple[str, str]:
    """How many numbers are wrong, and the first thing that the simulator finds, each empty where nothing is."""
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    (got,), (trace,) = simulated(kernel, shape, tensors, max_steps=MOST_ITERATIONS)
    wrong = int((got != operation.right(shape, tensors)[0]).sum())
    return f"{wrong:,} of {got.size:,} numbers are wrong" * bool(wrong), "".join(f.message for f in trace.findings[:1])
