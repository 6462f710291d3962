"""Lesson 00: the mistakes that learners make in its four kernels, as edits of the official ones."""

from helpers.grading.puzzle import Slip

GLOBAL, FORMULA = "@builtin(global_invocation_id)", "3.0 * input[i] + 1.0"
LOCAL = Slip(  # a loop over 64 elements, or a limit of 64, writes the same numbers
    "only elements 0 to 63 are computed",
    GLOBAL,
    "@builtin(local_invocation_id)",
    "which thread owns element 64, and what does it do instead?",
)
FORMULA_SLIPS = (
    Slip(
        "1 is added before the multiplication by 3",
        FORMULA,
        "3.0 * (input[i] + 1.0)",
        "in 3 * input[i] + 1, which operation comes first?",
    ),
    Slip("the + 1 is missing", FORMULA, "3.0 * input[i]", "what is output[i] where input[i] is 0?"),
    Slip(
        "the number i stands in the place of the element input[i]",
        FORMULA,
        "3.0 * f32(i) + 1.0",
        "which array does your formula never read?",
    ),
    LOCAL,
)
TO, FROM = "output[column * sizes.rows + row]", "input[row * sizes.columns + column]"

GUARD_SLIPS = (
    *FORMULA_SLIPS,
    Slip(
        "the guard is missing, or comes one thread too late",
        "i >= sizes.n",
        "i > sizes.n",
        "which number does the first thread without an element have?",
    ),
    Slip(
        "the last element is left out",
        "i >= sizes.n",
        "i + 1u >= sizes.n",
        "if the array has one element, which thread owns it?",
    ),
    Slip(
        "the threads that own an element return, and the others go on",
        "i >= sizes.n",
        "i < sizes.n",
        "if the array has one element, what should thread 0 do, and what should thread 1 do?",
    ),
)

INDEX_2D_SLIPS = (
    Slip(
        "nothing is transposed",
        TO,
        TO.replace("column * sizes.rows + row", "row * sizes.columns + column"),
        "at which offset of the output does input[0,1] belong?",
    ),
    Slip(
        "sizes.columns stands in the place of sizes.rows in the output's offset",
        "column * sizes.rows",
        "column * sizes.columns",
        "how many elements does one row of the output have?",
    ),
    Slip(
        "sizes.rows stands in the place of sizes.columns in the input's offset",
        "row * sizes.columns",
        "row * sizes.rows",
        "how many elements does one row of the input have?",
    ),
    Slip(
        "row comes from global.x and column from global.y",
        "column = global.x;  // *\n  let row = global.y",
        "column = global.y;  // *\n  let row = global.x",
        "what does x count in this dispatch, and what does y count?",
    ),
    Slip(
        "row is compared with sizes.columns, and column with sizes.rows",
        "row >= sizes.rows || column >= sizes.columns",
        "row >= sizes.columns || column >= sizes.rows",
        "which rows are there, and which columns?",
    ),
    Slip(
        "the offsets of input and output are exchanged",
        f"{TO} = {FROM}",
        "output[row * sizes.columns + column] = input[column * sizes.rows + row]",
        "in which of the two arrays does a row have sizes.columns elements?",
    ),
    Slip(
        "sizes.rows and sizes.columns are exchanged in both offsets",
        f"{TO} = {FROM}",
        "output[column * sizes.columns + row] = input[row * sizes.rows + column]",
        "how many elements does one row of the input have, and how many one row of the output?",
    ),
    Slip(  # no guard at all, or && for ||, writes the same numbers
        "threads below the last row go on",
        "row >= sizes.rows || column",
        "column",
        "which threads have a column but no row, and what makes them return?",
    ),
    Slip(
        "the threads of row sizes.rows go on",
        "row >= sizes.rows",
        "row > sizes.rows",
        "which number does the last row have?",
    ),
    Slip(  # > for >= writes the same numbers
        "threads beyond the last column go on",
        " || column >= sizes.columns",
        "",
        "which threads have a row but no column, and what makes them return?",
    ),
)

DIFFERENCE_SLIPS = (
    Slip(
        "the difference has the opposite sign",
        "input[i + 1u] - input[i]",
        "input[i] - input[i + 1u]",
        "if the elements are 2 and 5, what is output[0]?",
    ),
    Slip(
        "the left neighbor is subtracted",
        "input[i + 1u] - input[i]",
        "input[i] - input[i - 1u]",
        "which two elements does output[0] need?",
    ),
    Slip(
        "the guard is missing, or lets the thread of the last element go on",
        "i + 1u >= sizes.n",
        "i >= sizes.n",
        "if there are two elements, which of them has a right neighbor?",
    ),
    Slip(
        "the last difference is left out",
        "i + 1u >= sizes.n",
        "i + 2u >= sizes.n",
        "if there are two elements, which thread computes their difference?",
    ),
    LOCAL,
)
