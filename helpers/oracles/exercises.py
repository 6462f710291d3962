"""What a learner works out in lesson 05: the fault in a kernel, from what the tests say about it, and questions."""

from functools import partial

from helpers.convolution.shapes import ConvShape
from helpers.grading.fault import Fault
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case
from helpers.oracles.run import answer, drawn, inputs_of, operation_of
from helpers.oracles.wrong_kernels import WRONG_KERNELS
from helpers.wgsl import Kernel

Shapes = dict[str, ConvShape]


def _cases(kernel: Kernel, shapes: Shapes) -> tuple[Case, ...]:
    """A test for each shape, in whole numbers."""
    return tuple(_case(kernel, name, shape) for name, shape in shapes.items())


def _case(kernel: Kernel, name: str, shape: ConvShape) -> Case:
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    (step,) = operation.versions[kernel.version](shape, kernel).steps
    (expected,) = answer(operation, shape, tensors)
    inputs = tuple(tensors[each] for each in inputs_of(operation))
    return Case(name, inputs, expected, operation.params(shape), step.workgroups)


def _fault(name: str, kernel: str, mistake: str, axes: str, shapes: Shapes, **words: object) -> Fault:
    """An exercise with one of the wrong kernels; `axes` are the letters of its output, `words` the rest of a Fault."""
    (row,) = (row for row in WRONG_KERNELS if (row.kernel, row.name) == (kernel, mistake))
    edit = {"kernel": row.right, "old": row.old, "new": row.new}
    cases = partial(_cases, row.right, shapes)
    return Fault(name, "oracles", tuple(axes.split()), tuple(shapes), cases, **edit, **words)


FAULTS = (  # the easiest first
    _fault(
        "fault_in_the_input_gradient",
        "conv2d_grad_input/1_gather",
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
        "conv2d_grad_weight/1_thread_per_weight",
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
        "conv2d_grad_bias/2_workgroup_per_channel",
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

QUESTIONS = {
    "wrong_with_ones": Question(
        0,
        dict.fromkeys((9, 12, 18), "look at the data: what does the kernel read, and what should it have read?"),
        "every upstream gradient of this test is 1; what does the kernel read instead of the right one?",
    ),
    "best_step_for_convolution": Question(
        1,
        {
            1 / 1024: "what is left of two losses of about 100 when you subtract them, and divide by 1/512?",
            1 / 32: "a middle way is right for a curved function; how curved is a sum of weights times pixels?",
        },
        "answer with one of the steps 1/1024, 1/32 and 1",
    ),
    "flipped_and_symmetric": Question(
        0, advice="the dot product pairs each weight with a gradient; which weight stands at the flipped place?"
    ),
    "probe_reads": Question(
        11,
        {
            4: "this is the pixel of weight [0,0]; the row kh = 1 is one row further down",
            10: "pixels are numbered from 1, and a row has 7 of them",
            12: "this is weight [1,1]; column 0 is the first",
            9: "a row of the image has 7 pixels, not 5",
        },
        "which pixel does weight [1,0] multiply for output [0,3], and which number does it have?",
    ),
    "blind_length": Question(
        4096,
        {
            256: "n u n is 2 to the power 8 - 23 + 8 here: far below 1",
            1024: "n u n is 2 to the power 10 - 23 + 10 here: still below 1",
            16384: "it goes unnoticed here, but also at a shorter length",
        },
        "compare n u n with 1, where u is 2 to the power -23",
    ),
    "worst_data": Question(
        "guard",
        {
            "ones": "ones hide which upstream gradient was read; what hides how far behind the data a kernel reads?",
            "symmetric": "symmetric data hide a flip, and little else",
            "whole": "whole numbers hide a sum that is cut to a whole number; how many kernels do that?",
            "batch": "one image hides what is wrong with the second; in both versions, something else hides even more",
            "square": "square images hide rows taken for columns; something else hides a little more",
        },
        'answer "ones", "symmetric", "whole", "batch", "square" or "guard"',
    ),
    "same_loop": Question(
        "survives",
        {"caught": "n grows by 1 from 0: is there a bound at which the two loops end at different places?"},
        'answer "caught" or "survives"',
    ),
}
