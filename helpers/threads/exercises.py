"""What a learner works out in lesson 00 and in the appendix on a simulator: kernels to write, questions to answer."""

import numpy as np

from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Skill
from helpers.threads.indices import workgroups_for

# --- Kernels to write -----------------------------------------------------------------------------------------

THREADS, SIDE = 64, 8  # of a workgroup in a row; of one side of a square workgroup


def _drawn(*shape: int) -> np.ndarray:
    """Whole numbers from 0 to 96 in an order that no wrong index leaves unchanged."""
    return (np.arange(1, np.prod(shape) + 1) * 37 % 97).reshape(shape).astype(np.float32)


def _in_a_row(name: str, n: int, params: tuple[int, ...] = ()) -> Case:
    input = _drawn(n)
    return Case(name, (input,), 3 * input + 1, params, (workgroups_for(n, THREADS), 1, 1))


def _map_cases() -> tuple[Case, ...]:
    return _in_a_row("one_workgroup", 64), _in_a_row("four_workgroups", 256)


def _guard_cases() -> tuple[Case, ...]:
    return tuple(_in_a_row(name, n, (n,)) for name, n in (("one_element", 1), ("no_tail", 64), ("long_tail", 130)))


def _index_2d_cases() -> tuple[Case, ...]:
    return tuple(_transposed(f"{rows}_rows_{columns}_columns", rows, columns) for rows, columns in ((4, 4), (3, 11)))


def _transposed(name: str, rows: int, columns: int) -> Case:
    input, workgroups = _drawn(rows, columns), (workgroups_for(columns, SIDE), workgroups_for(rows, SIDE), 1)
    return Case(name, (input,), np.ascontiguousarray(input.T), (rows, columns), workgroups)


def _difference_cases() -> tuple[Case, ...]:
    return tuple(_differences(name, n) for name, n in (("two_elements", 2), ("full_workgroup", 65), ("with_tail", 100)))


def _differences(name: str, n: int) -> Case:
    input = _drawn(n) ** 2 % 89  # neighbors differ by more than a constant
    return Case(name, (input,), np.diff(input), (n,), (workgroups_for(n - 1, THREADS), 1, 1))


PUZZLES = (  # as the lesson has them
    Puzzle(
        "map",
        "threads",
        ("i",),
        ("one_workgroup", "four_workgroups"),
        _map_cases,
        Skill.one_thread_for("element", "four_workgroups"),
    ),
    Puzzle(
        "guard",
        "threads",
        ("i",),
        ("one_element", "no_tail", "long_tail"),
        _guard_cases,
        Skill.one_thread_for("element", "long_tail"),
    ),
    Puzzle(
        "index_2d",
        "threads",
        ("column", "row"),
        ("4_rows_4_columns", "3_rows_11_columns"),
        _index_2d_cases,
        Skill.one_thread_for("element", "3_rows_11_columns"),
    ),
    Puzzle(
        "neighbor_difference",
        "threads",
        ("i",),
        ("two_elements", "full_workgroup", "with_tail"),
        _difference_cases,
        Skill.one_thread_for("difference", "with_tail"),
    ),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS: dict[str, Question] = {  # as the lesson asks them
    "changed_numbers": Question(
        4,
        {
            8: "a second workgroup would have to double the other four",
            1: "a workgroup has as many threads as @workgroup_size says, and each doubles one number",
            2: "two workgroups would double all eight numbers; this dispatch has one",
        },
        "count the threads: one workgroup, of the size that the kernel declares",
    ),
    "global_number": Question(
        197,
        {
            8: "workgroups 0, 1 and 2 have 64 threads each, so their 192 threads come first",
            133: "three workgroups come before workgroup 3: 0, 1 and 2",
            323: "the workgroup's number is multiplied by 64, and the thread's number is added",
        },
        "count the threads of all workgroups before this one, then add the thread's number in its own",
    ),
    "idle_threads": Question(
        24,
        {
            40: "40 threads of the last workgroup have an element; the others of its 64 have none",
            16: "that is the number of workgroups",
            0: "15 workgroups are too few for 1,000 elements, so there are 16: how many threads is that?",
        },
        "round 1000 / 64 up to whole workgroups, then compare the threads with the elements",
    ),
    "seven_halves": Question(
        3.0,
        {
            3.5: "both numbers are whole, so the quotient is, too; only the result is stored as a float",
            4: "a quotient of whole numbers is not rounded to the nearest: what is behind the point is dropped",
        },
        "think of // in Python",
    ),
    "two_minus_three": Question(
        2**32 - 1,
        {
            -1: "an unsigned integer cannot be negative",
            0: "WGSL does not stop at 0: it goes on from the other end",
            2**32: "the largest u32 is one less than that",
        },
        "one below 0 is the largest number of 32 bits",
    ),
    "selected": Question(
        20.0,
        {10: "select has the order (if false, if true, condition), and the condition is true"},
        "select returns one of its first two arguments",
    ),
    "sum_up_to_10": Question(
        33,
        {
            23: "10 belongs to the sum, too: the loop goes on while k <= n",
            55: "continue skips the numbers that neither 3 nor 5 divides",
            22: "these are the numbers that continue skips; the others are added",
        },
        "add the numbers from 1 to 10 that 3 or 5 divides",
    ),
    "offset_2d": Question(
        17,
        {
            14: "that counts down the columns; in row-major order the column changes fastest",
            18: "rows, columns and offsets are counted from 0",
            11: "a row has as many elements as there are columns, 7",
        },
        "row times the number of columns, plus the column",
    ),
    "counted": Question(
        "less",
        {
            "equal": "that needs every thread to wait until the one before it has written",
            "more": "no thread adds more than 1",
        },
        'answer "less", "equal" or "more"',
    ),
    "bandwidth": Question(
        800,
        {
            400: "each number is read and written again: that is 8 bytes",
            100: "each number has 4 bytes, and is read and written",
            200: "each number has 4 bytes, and is read and written",
            0.8: "0.8 bytes per nanosecond is 0.8 GB per second, but 8,000,000 bytes take 10,000 nanoseconds",
        },
        "bytes read plus bytes written, divided by the time; a GB is 10**9 bytes",
    ),
    # In the appendix on a simulator.
    "statements_in_lockstep": Question(
        12,
        {
            7: "no thread needs more, but the simulator cannot run both blocks at once",
            5: "some threads take the other block",
            6: "the simulator does not take the mean: it runs one block, then the other",
            50: "one statement is run once for all active lanes, and not for each thread",
            71: "one statement is run once for all active lanes, and not for each thread",
        },
        "the simulator runs a block once if any lane needs it",
    ),
    "thread_0_first": Question(
        1,
        {
            36: "thread 0 adds partial[4] before thread 4 has written its number there",
            11: "nobody has written partial[4], partial[2] and partial[1] yet: they are 0",
            10: "the numbers of the other threads are not in partial yet",
            0: "thread 0 has put its own number into partial[0]",
        },
        "thread 0 writes partial[0], adds partial[4], partial[2] and partial[1], and no other thread has begun",
    ),
    "epochs_of_tree": Question(
        4,
        {
            3: "there are 3 barriers; they cut the run into one part more",
            8: "the threads do not matter: count the rounds of the loop, each of which has a barrier",
            2: "half is 4, then 2, then 1: each round has a barrier",
            1: "there is a barrier in each round of the loop",
        },
        "count the rounds of the loop, each of which passes a barrier, and the part before the first one",
    ),
    "one_reader": Question(
        "nothing",
        {"race": "thread 3 reads box[3] last, so its note is the one that is left when thread 3 writes"},
        'answer "race" or "nothing"',
    ),
}
