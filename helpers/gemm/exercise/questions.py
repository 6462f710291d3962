"""The questions of lesson 06."""

import numpy as np

from helpers.grading.prediction import Question


def _by_hand(row: int, column: int) -> Question:
    """One number of d_b, worked out by hand for the lesson's small layer with another upstream gradient."""
    a = np.array([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]])
    grad, positive = np.array([[1, -2], [3, 1], [-1, 2]]), np.array([[0, 1], [1, 0], [1, 1]])  # pre > 0
    right, place = a.T @ (grad * positive), (row, column)
    advice = f"take column {row} of a and column {column} of grad_pre"
    others = [i for i in np.ndindex(right.shape) if right[i] != right[place]]
    mistakes = {int(right[i]): f"this is d_b[{i[0]},{i[1]}]; {advice}" for i in others}
    mistakes[int((a.T @ grad)[place])] = "you get this from grad; use grad_pre, its product with the derivative"
    return Question(int(right[place]), mistakes, advice)


QUESTIONS: dict[str, Question] = {  # lesson 06
    "d_b[3,1]": _by_hand(3, 1),
    "loads_with_tiles": Question(
        34,
        {
            514: "this is the kernel without tiles; with them, a thread loads 1 number of each operand for 16 products",
            32: "these are the loads of a and b; two more numbers are needed for each element",
            18: "there are two operands, and a thread loads one number of each for every tile",
            16: "these are the loads of one operand; there are two, and a bias and an upstream gradient",
            256: "with tiles, a thread does not load all the numbers that it multiplies",
        },
        "K = 256 products are 16 tiles of 16; how many numbers does a thread load for each of them, and what else?",
    ),
    "slot_of_thread_6": Question(
        9,
        {
            6: "this is its own slot, as in the first pass; here local.x and local.y are swapped",
            24: "thread 6 is in the second row of 4 x 4 threads: local.x = 2, local.y = 1",
            33: "TILE is 4 here, not 16",
        },
        "thread 6 = 1 * 4 + 2 has local.x = 2 and local.y = 1; put them into local.x * TILE + local.y",
    ),
    "wrong_without_a_barrier": Question(
        3,
        {
            1: "the pass computes grad_pre, from which all three results are computed",
            2: "d_bias is computed from grad_pre, too",
            0: "a thread may then multiply what its neighbor has not loaded yet",
        },
        "the first pass computes grad_pre; which of the three results are computed from it?",
    ),
    "hidden_by_one_tile": Question(
        "products",
        {
            "loads": "in this one turn, a thread multiplies what others load; without this barrier, it may be early",
            "both": "one turn has loads and products, too; between them, the threads still have to wait",
            "none": "if no tile is loaded after this one, which of the two barriers protects nothing?",
        },
        "answer loads or products: which barrier protects nothing if no further tile is loaded?",
    ),
    "first_pass_last": Question(
        0,
        {
            4: "this is the right d_b[0,0]; but the pass that computes it runs before there is a grad_pre",
            9: "this is d_b[0,0] for grad itself, without the derivative",
        },
        "the pass of d_b multiplies a by what is in grad_pre at that time; what does a new buffer hold?",
    ),
    "first_pass_last_again": Question(
        4,
        {
            -4: "this is what the right order gives; but the pass of d_b runs before grad_pre is computed again",
            0: "the buffer of grad_pre is no longer new: what did the previous run leave there?",
        },
        "the pass of d_b reads what is in grad_pre at that time: what the previous run wrote",
    ),
    "longest_step": Question(
        "pipelines",
        {
            "module": "here the text is only checked and parsed; which step makes instructions for your GPU of it?",
            "readback": "the kernel's work is small here, so this is short; one step takes far longer, once",
        },
        "choose one of module, layouts, pipelines, upload, prepare, submit, readback",
    ),
}
