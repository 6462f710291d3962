"""What a learner works out in lesson 05: the fault in a kernel, from what the tests say about it, and questions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import drawn, operation_of
from helpers.gradient_checks.written_test import FUNCTIONS, GROUPS, let_through, rejected_right_kernels
from helpers.gradient_checks.wrong_kernels import BIAS_2, INPUT_1, WEIGHT_1, named
from helpers.grading.fault import Fault
from helpers.grading.matching import matchings
from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Dispatch, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from wgsl import Kernel

if TYPE_CHECKING:
    from helpers.pictures.canvas import Picture  # which takes as long to import as all the rest


def _case(kernel: Kernel, name: str, shape: ConvShape) -> Case:
    """A test in whole numbers."""
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    (step,) = operation.versions[kernel.version](shape, kernel).steps
    (expected,) = operation.right(shape, tensors)
    return Case(name, tuple(tensors.values()), expected, operation.params(shape), (Dispatch(step.workgroups),))


def _fault(name: str, kernel: str, mistake: str, axes: str, shapes: dict[str, ConvShape], **words: object) -> Fault:
    """An exercise with one of the wrong kernels; `axes` are the letters of its output, `words` the rest of a Fault."""
    row = named(kernel, mistake)
    edit = {"kernel": row.right, "old": row.old, "new": row.new}
    return Fault(
        name, "gradient_checks", axes, lambda: [_case(row.right, *case) for case in shapes.items()], **edit, **words
    )


FAULTS = (  # the easiest first
    _fault(
        "fault_in_the_input_gradient",
        INPUT_1,
        "every image is image 0",
        "n ci ih iw",
        {
            "one_image": ConvShape(1, 2, 4, 6, 5, 3, 2),
            "one_image_stride_and_padding": ConvShape(1, 2, 6, 7, 5, 3, 2, 2, 1),
            "two_images": ConvShape(2, 3, 4, 6, 5, 3, 2),
        },
        question="for one image all numbers are right; in which lines should n make a difference?",
        cure="grad_output is (N, Co, oH, oW); how many planes lie before those of image n?",
    ),
    _fault(
        "fault_in_the_weight_gradient",
        WEIGHT_1,
        "one image too many",
        "co ci kh kw",
        {
            "one_image": ConvShape(1, 2, 4, 5, 3, 3, 2),
            "four_images_stride_and_padding": ConvShape(4, 2, 9, 7, 6, 3, 2, 2, (1, 0)),
        },
        question="the line in the message only reads; which line decides which n, oh and ow are read?",
        cure="the images are numbered from 0; which is the last n?",
    ),
    _fault(
        "fault_in_the_bias_gradient",
        BIAS_2,
        "no barrier in the tree",
        "co",
        {
            "one_number": ConvShape(1, 1, 1, 1, 1, 1, 1),
            "two_images": ConvShape(2, 1, 4, 5, 3, 1, 1),
            "more_numbers_than_threads": ConvShape(2, 1, 12, 13, 2, 1, 1),
        },
        question="one thread reads what another one wrote; what must stand between the two? A line is missing: give "
        "the number of the line that should follow it",
        cure="a step reads what the step before it wrote; how often must all threads wait? A line is missing: "
        "write it and the line that follows it, with \\n between them or in triple quotes",
        halves=(
            ("partial[thread] = sum;\n", "partial[thread] = sum;\n  workgroupBarrier();\n"),  # before the loop
            ("    }\n  }\n\n  // 4.", "    }\n    workgroupBarrier();\n  }\n\n  // 4."),  # at the end of each step
        ),
    ),
)

# --- Lines to write -------------------------------------------------------------------------------------------


def _slope_case(name: str, loss: Callable[[float], float], w: float, h: float, derivative: float) -> PythonCase:
    return PythonCase(name, ({"loss": loss, "w": w, "h": h},), (derivative,))


LOSSES = (
    _slope_case("parabola", lambda w: w * w, 3, 1, 6),
    _slope_case("smaller_step", lambda w: w * w + w, -2, 0.5, -3),
    _slope_case("straight_line", lambda w: 5 * w - 2, 4, 2, 5),
    _slope_case("cubic", lambda w: w**3, 2, 0.5, 12.25),  # 12, and h * h: the truncation error
)
TWO_LOSSES = Skill("two losses for each weight", "parabola", {"loss": 1})
TESTS = (
    PythonCase("right_kernels", (FUNCTIONS,), ("",), rejected_right_kernels),
    *(PythonCase(group, (FUNCTIONS,), ("",), partial(let_through, group)) for group in GROUPS),
)
PYTHON_PUZZLES = (
    PythonPuzzle("central_difference", "gradient_checks", "derivative", lambda: LOSSES, TWO_LOSSES),
    PythonPuzzle("catch_them_all", "gradient_checks", "test", lambda: TESTS),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS = questions(__file__)


def _curves() -> "Picture":
    from helpers.gradient_checks import in_training  # here, as the process apart trains nothing

    return in_training.curves()


MATCHINGS = matchings(__file__, four_curves=([f"Curve {letter}" for letter in "ABCD"], _curves))
