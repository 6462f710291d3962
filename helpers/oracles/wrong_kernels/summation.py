"""Wrong kernels of the long sum."""

from helpers.oracles.wrong_kernels.row import (
    ENDLESS,
    MISSED_BARRIER,
    NUMBERS,
    OVERLAP,
    RACE,
    READ,
    UNINITIALIZED,
    UNWRITTEN,
    WRAPPED,
    WrongKernel,
)
from helpers.summation.shapes import SumShape

FEW = SumShape(21)
MANY = SumShape(700)  # more numbers than 256 threads, and no multiple of them

SUM_1, SUM_2, SUM_3 = "sum/1_one_thread", "sum/2_tree", "sum/3_two_passes"

STEP = "    workgroupBarrier();  // the sums that this step reads are written\n"
BRANCH = "    if (thread < half) {\n"

WRONG_KERNELS = (
    WrongKernel(SUM_1, "only the last number", FEW, "sum += input", "sum = input"),
    WrongKernel(SUM_1, "first number left out", FEW, "var i = 0u", "var i = 1u"),
    WrongKernel(SUM_1, "one number too many", FEW, "i < params.count", "i <= params.count", READ),
    WrongKernel(
        SUM_1,
        "counts down past 0",
        FEW,
        "var i = 0u; i < params.count; i++",
        "var i = params.count - 1u; i >= 0u; i--",
        ENDLESS + WRAPPED + READ,
    ),
    WrongKernel(SUM_1, "added to what was there", FEW, "total[0] = sum", "total[0] += sum"),
    WrongKernel(SUM_2, "one number per thread", MANY, "i += THREADS", "i += params.count"),
    WrongKernel(SUM_2, "one number too many", MANY, "i < params.count", "i <= params.count", READ),
    WrongKernel(SUM_2, "tree stops at two", MANY, "half > 0u", "half > 1u"),
    WrongKernel(SUM_2, "tree begins at a quarter", MANY, "half = THREADS / 2u", "half = THREADS / 4u"),
    WrongKernel(SUM_2, "tree takes one step too many", MANY, "half > 0u", "half >= 0u", ENDLESS),
    WrongKernel(SUM_2, "no barrier in the tree", MANY, STEP, "", RACE),
    WrongKernel(SUM_2, "barrier for another memory", MANY, "workgroupBarrier();", "storageBarrier();", RACE),
    WrongKernel(SUM_2, "half of the threads miss a barrier", MANY, STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
    WrongKernel(SUM_2, "all threads write", MANY, "if (thread == 0u)", "if (true)", RACE + OVERLAP),
    WrongKernel(
        SUM_2,
        "two threads share a slot",
        MANY,
        "partial[thread] = sum",
        "partial[thread / 2u] = sum",
        RACE + OVERLAP + UNINITIALIZED + NUMBERS,
    ),
    WrongKernel(SUM_3, "workgroups share nothing", MANY, "workgroup.x * THREADS + thread", "thread"),
    WrongKernel(SUM_3, "numbers added twice", MANY, "i += grid.x * THREADS", "i += THREADS"),
    WrongKernel(SUM_3, "tree stops at two", MANY, "half > 0u", "half > 1u"),
    WrongKernel(SUM_3, "no barrier in the tree", MANY, STEP, "", RACE),
    WrongKernel(
        SUM_3, "all workgroups write one part", MANY, "parts[workgroup.x]", "parts[0]", RACE + UNWRITTEN + NUMBERS
    ),
    WrongKernel(SUM_3, "last part left out", MANY, "thread < array", "thread + 1u < array"),
    WrongKernel(SUM_3, "parts read past the end", MANY, "if (thread < arrayLength(&parts))", "if (true)", READ),
    WrongKernel(
        SUM_3,
        "each workgroup writes the total",
        MANY,
        "parts[workgroup.x] = partial[0];",
        "parts[workgroup.x] = partial[0];\n    total[0] = partial[0];",
        RACE,
    ),
)
