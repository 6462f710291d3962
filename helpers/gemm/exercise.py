"""What a learner works out in the GEMM lesson: kernels in tiles, questions to answer, and one derivative in WGSL."""

import re
from dataclasses import replace
from functools import cache
from math import ceil

import numpy as np

from helpers.gemm import reference
from helpers.gemm.operations import gemm_bias_act_backward
from helpers.gemm.shapes import GemmShape
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Slip
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict
from helpers.wgsl import Kernel, WgslError, load, without_comments

# --- The passes of the backward pass, and a product in tiles --------------------------------------------------


@cache
def _layers(summed: str) -> dict[str, tuple[GemmShape, dict[str, np.ndarray]]]:
    """The layers of the tests, with relu: each one's sizes and arrays, by the test's name.

    `summed` is the letter along which the pass adds up: M, K or N.
    """
    random, long = np.random.default_rng(6), {letter: 48 if letter == summed else 16 for letter in "MKN"}
    shapes = {
        "tiny": GemmShape(3, 4, 2, 1, "relu"),
        "one_full_tile": GemmShape(16, 16, 16, 1, "relu"),
        "three_tiles": GemmShape(*long.values(), 1, "relu"),
        "past_the_edges": GemmShape(19, 21, 37, 1, "relu"),
        "batch_of_2": GemmShape(18, 35, 20, 2, "relu"),
        "300_columns": GemmShape(5, 4, 300, 2, "relu"),
    }
    names = "a", "b", "bias", "grad"
    draw = {name: {t: random.integers(-3, 4, s.of(t)).astype(np.float32) for t in names} for name, s in shapes.items()}
    return {name: (shape, draw[name] | _results(**draw[name])) for name, shape in shapes.items()}


def _results(a: np.ndarray, b: np.ndarray, bias: np.ndarray, grad: np.ndarray) -> dict[str, np.ndarray]:
    grad_pre = grad * reference.derivative(reference.pre(a, b, bias), "relu")
    d_a, d_b, d_bias = reference.sums(a, b, grad_pre, per_item=False)
    found = {"c": (a @ b)[0], "grad_pre": grad_pre, "d_a": d_a, "d_b": d_b, "d_bias": d_bias}
    return {name: array.astype(np.float32) for name, array in found.items()}


def _cases(summed: str, inputs: str, output: str, params: str, tests: tuple[str, ...]) -> tuple[Case, ...]:
    """The tests of one pass: the names of its arrays, and the letters of its uniform, where B is the batch."""
    cases = []
    for test in tests:
        shape, arrays = _layers(summed)[test]
        sizes = {"M": shape.m, "K": shape.k, "N": shape.n, "B": shape.batch_size}
        layers, rows, columns = (1, 1, *arrays[output].shape)[-3:]
        grid = (ceil(columns / 16), ceil(rows / 16), layers) if rows > 1 else (ceil(columns / 256), 1, 1)
        given = tuple(arrays[name] for name in inputs.split())
        cases.append(Case(test, given, arrays[output], tuple(sizes[letter] for letter in params), grid))
    return tuple(cases)


def _puzzle(
    name: str, axes: str, tests: tuple[str, ...], arrays: tuple[str, ...], slips: dict[str, tuple[str, str]], barriers=2
) -> Puzzle:
    """A puzzle whose tests are `_cases(*arrays, tests)`; `slips` names each edit (old, new) of the official text."""
    listed = tuple(Slip(mistake, *edit) for mistake, edit in slips.items())
    return Puzzle(name, "gemm", tuple(axes.split()), tests, lambda: _cases(*arrays, tests), listed, barriers)


TILED = ("tiny", "one_full_tile", "three_tiles", "past_the_edges", "batch_of_2")
PRODUCT = "left[local.y * TILE + i] * right[i * TILE + local.x]"
IN_THE_PRODUCT = {  # mistakes in step "add the products", which all tiled kernels share
    "local.x and local.y are swapped in the products": (
        PRODUCT,
        "left[local.x * TILE + i] * right[i * TILE + local.y]",
    ),
    "the products stop before the last number of each tile": ("i < TILE; i++", "i < TILE - 1u; i++"),
}
PUZZLES: tuple[Puzzle, ...] = (
    _puzzle(
        "tiled_product",
        "m n",
        TILED[:-1],
        ("K", "a b", "c", "MKN"),
        {
            "past an edge, left is not filled with zeros": ("m < params.M && k_left < params.K", "true"),
            "past an edge, right is not filled with zeros": ("k_right < params.K && n < params.N", "true"),
            "rows of a are taken to be as long as those of b": ("m * params.K + k_left", "m * params.N + k_left"),
            "only the first tile is added up": ("first < params.K; first", "first < 1u; first"),
            **IN_THE_PRODUCT,
        },
    ),
    _puzzle(
        "gemm_bwd_grad_pre",
        "item m n",
        TILED,
        ("K", "a b bias grad", "grad_pre", "MKNB"),
        {
            "the bias is not added": ("pre + bias[n] > 0.0", "pre > 0.0"),
            "the derivative is not multiplied": ("select(0.0, grad[at], pre + bias[n] > 0.0)", "grad[at]"),
            "the derivative at pre = 0 is 1; it is 0 here": ("bias[n] > 0.0", "bias[n] >= 0.0"),
            "the two values of select are swapped: the one for false comes first": ("0.0, grad[at]", "grad[at], 0.0"),
            "grad is multiplied by relu itself, not by its derivative": (
                "select(0.0, grad[at], pre + bias[n] > 0.0)",
                "grad[at] * max(0.0, pre + bias[n])",
            ),
            "a is read from item 0 for every item": ("read_a(item, m", "read_a(0u, m"),
            **IN_THE_PRODUCT,
        },
    ),
    _puzzle(
        "gemm_bwd_da",
        "item m k",
        TILED,
        ("N", "grad_pre b", "d_a", "MKNB"),
        {
            "the tile of b is not transposed": ("right[local.x * TILE + local.y]", "right[local.y * TILE + local.x]"),
            "k and n are swapped in read_b, so that b itself is multiplied": (
                "read_b(load_k, first + local.x)",
                "read_b(first + local.x, load_k)",
            ),
            "grad_pre is read from item 0 for every item": ("read_grad_pre(item, m", "read_grad_pre(0u, m"),
            **IN_THE_PRODUCT,
        },
    ),
    _puzzle(
        "gemm_bwd_db",
        "k n",
        TILED,
        ("M", "a grad_pre", "d_b", "MKNB"),
        {
            "only the first item of the batch is added up": ("item < params.batch", "item < 1u"),
            "the tile of a is not transposed": ("left[local.x * TILE + local.y]", "left[local.y * TILE + local.x]"),
            "m and k are swapped in read_a": ("first + local.y, load_k", "load_k, first + local.y"),
            "only the first tile is added up": ("first < params.M; first", "first < 1u; first"),
            **IN_THE_PRODUCT,
        },
    ),
    _puzzle(
        "gemm_bwd_dbias",
        "n",
        ("tiny", "past_the_edges", "batch_of_2", "300_columns"),
        ("M", "grad_pre", "d_bias", "MNB"),
        {
            "only the first item of the batch is added up": ("row < params.batch * params.M", "row < params.M"),
            "M stands in the place of N in the offset": ("row * params.N", "row * params.M"),
            "the sum starts at row 1": ("var row = 0u", "var row = 1u"),
        },
        barriers=0,
    ),
)

# --- Questions --------------------------------------------------------------------------------------------------


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
        2,
        {1: "with one tile, a thread still reads what the others load; without the first barrier, it may be too early"},
        "answer with the number of a barrier, 1 or 2: which of them does nothing if no further tile is loaded?",
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
            "module": "the module is checked and translated only a little; who makes a program for your GPU of it?",
            "readback": "the kernel's work is small here, so this is short; one step takes far longer, once",
        },
        "choose one of module, layouts, pipelines, upload, prepare, submit, readback",
    ),
}

# --- An activation of the learner's own -------------------------------------------------------------------------

RELU = "return select(0.0, 1.0, x > 0.0);"  # the learner's expression takes its place
TESTS = {  # where ELU's derivative is asked for
    "derivative_right_of_0": (0.5, 1.0, 3.0),
    "derivative_left_of_0": (-0.5, -1.0, -3.0),
    "derivative_at_0": (0.0, -0.0),
    "derivative_far_out": (100.0, -100.0, 1e4, -1e4, 3e38, -3e38),
}


def elu_derivative(x: np.ndarray) -> np.ndarray:
    """The derivative of ELU, which is x where x is positive and exp(x) - 1 elsewhere, in float64."""
    return np.exp(np.minimum(x, 0.0).astype(np.float64))


def grade(expression: str | None) -> Grades:
    """Run a derivative of ELU through the whole backward pass at every test's points.

    Parameters
    ----------
    expression : str or None
        WGSL in `x`; None or nothing while there is none.

    Raises TypeError where `expression` is not text.
    """
    if expression is None or expression == "":
        return Grades.alike(list(TESTS), NOT_ATTEMPTED)
    if not isinstance(expression, str):
        raise TypeError(f"expression is a {type(expression).__name__}: it must be WGSL text, in quotes")
    code = without_comments(expression).rstrip().removesuffix(";")
    if re.search(r"[;{}]", code):  # no statement, and so no loop
        return Grades.alike(list(TESTS), NO_COMPILE, "write one expression in x, without semicolons or braces")
    kernel = _with(code)
    try:
        return Grades(_verdict(name, kernel, np.float32(points)) for name, points in TESTS.items())
    except WgslError as error:
        return Grades.alike(list(TESTS), NO_COMPILE, *str(error).partition(" does not compile, ")[2].split("\n", 1))


def _with(code: str) -> Kernel:
    """The tiled kernel with an expression in the place of relu's derivative."""
    theirs = f"let your_derivative: f32 =\n{code}\n;"
    kernel = load("gemm_bias_act_backward", "2_tiled").edit(
        f"case 1u: {{ {RELU}", f"case 1u: {{ {theirs} return your_derivative;"
    )
    first = kernel.source[: kernel.source.index(theirs)].count("\n") + 2
    return replace(kernel, pasted=range(first, first + code.count("\n") + 1))


def derivatives(kernel: Kernel, points: np.ndarray) -> np.ndarray:
    """The derivative that a kernel uses for relu at each point: d_bias of a layer whose pre is its bias."""
    count = len(points)
    a, b, grad = np.zeros((1, 1, 1), np.float32), np.zeros((1, count), np.float32), np.ones((1, 1, count), np.float32)
    return gemm_bias_act_backward(a, b, points, grad, "relu", kernel=kernel)[2]


def _verdict(name: str, kernel: Kernel, points: np.ndarray) -> Verdict:
    for x, got, want in zip(points, derivatives(kernel, points), elu_derivative(points), strict=True):
        if not np.isclose(got, want, rtol=1e-5, atol=1e-30):  # exp may be off by a few last digits
            return Verdict(name, WRONG, f"at x = {x:g} yours is {got:g}, right is {want:g}")
    return Verdict(name, RIGHT)
