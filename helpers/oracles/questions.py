"""The questions of lesson 05."""

from helpers.grading.prediction import Question

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
