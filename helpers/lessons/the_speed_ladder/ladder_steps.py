"""The rungs of the ladder: steps that were measured on a GPU, and the reader's own kernels, which are counted."""

from dataclasses import dataclass
from functools import cache

from helpers.bench.gpu_limits import H200
from helpers.bench.recorded import Recorded
from helpers.gpu import GpuError
from helpers.grading import student_files
from helpers.grading.test_run import traced
from helpers.lessons.exercises import PUZZLES, is_right
from helpers.operations.kernels import Difference, difference
from wgsl import Kernel

LAYER = "GEMM 4096"
OWN = {  # the reader's kernels, and their names here
    "two_results": "two results",
    "register_tile": "2 × 2 results",
    "vec4_reads": "four at a time",
    "prefetch": "loads ahead",
    "register_tile_4x2": "4 × 2 results",
}
CASE = "three_tiles"
FLOAT = 4  # bytes


@dataclass(frozen=True)
class Rung:
    """One kernel for a product.

    `loads` are the numbers that it loads from storage memory for each multiply-add, and `reads` those that it reads
    from workgroup memory. `share` is the part of the GPU's arithmetic that was measured, or that the counts allow;
    `library` is how many times as fast the library is.
    """

    name: str
    words: str
    loads: float
    reads: float
    share: float
    measured: bool = True
    library: float | None = None

    @property
    def intensity(self) -> float:
        """Operations for each byte loaded; a multiply-add is two."""
        return 2 / (FLOAT * self.loads)

    @property
    def sentence(self) -> str:
        """Its counts in words, and the part of the arithmetic that follows from them."""
        counts = f"{self.loads:.3g} numbers loaded"
        if self.reads:
            counts += f", and {self.reads:.3g} read from workgroup memory"
        part = f"{100 * self.share:.2g} % of the arithmetic"
        if self.measured:
            return f"for each multiply-add, {counts}; {part} measured."
        return f"for each multiply-add, {counts}; at most {part}, because {self.limit} limits it."

    @property
    def limit(self) -> str:
        """The part of the GPU that allows least, by the counts."""
        return min(allowed(self.loads, self.reads).items(), key=lambda pair: pair[1])[0]


def allowed(loads: float, reads: float) -> dict[str, float]:
    """The share of an H200's arithmetic that memory and workgroup memory allow, if no cache helps."""
    numbers = H200.workgroup_bytes / FLOAT / H200.lanes
    return {
        "memory": min(1.0, H200.memory_bytes / FLOAT / H200.lanes / loads),
        "workgroup memory": min(1.0, numbers / reads),
    }


def measured(run: Recorded) -> list[Rung]:
    """The steps of the product that a run measured."""
    rungs = []
    for point in run.points:
        step, tile = point.step, point.step.tile
        if step.layer == LAYER and step.checked:
            reads = 1 / tile.per_read if tile.threads > 1 else 0.0
            words = f"kernels/{step.operation}/{step.version}.wgsl"
            library = 1 / point.ratio if point.ratio else None
            rungs.append(Rung(step.name, words, 1 / (FLOAT * tile.intensity), reads, point.share, library=library))
    return rungs


def own() -> list[Rung]:
    """The reader's kernels of the lesson; the official ones in the place of those that are not right yet."""
    return [_own(puzzle, name) for puzzle, name in OWN.items()]


def _own(puzzle: str, name: str) -> Rung:
    is_own = _is_own(puzzle)
    text = student_files.latest(puzzle) if is_own else PUZZLES[puzzle].solution.text
    loads, reads = counted(puzzle, text)
    whose = f"your {puzzle}" if is_own else f"our {puzzle}, until yours is right"
    return Rung(name, whose, loads, reads, min(allowed(loads, reads).values()), measured=False)


def _is_own(puzzle: str) -> bool:
    """Return whether the reader's last text is right, as far as this machine can try it."""
    try:
        return is_right(puzzle)
    except (GpuError, student_files.StudentFileError):
        return False


@cache
def counted(puzzle: str, text: str) -> tuple[float, float]:
    """The numbers loaded from storage memory, and read from workgroup memory, for each multiply-add."""
    (case,) = (case for case in PUZZLES[puzzle].cases() if case.name == CASE)
    (trace,) = traced(Kernel(text, puzzle), case)
    numbers = {"storage": 0, "workgroup": 0}
    for variable in trace.log.variables:
        if variable.space in numbers:
            threads, _ = trace.log.touched(variable, write=False)
            numbers[variable.space] += len(threads)
    m, k, n = case.params
    return numbers["storage"] / (m * k * n), numbers["workgroup"] / (m * k * n)


def beside(one: str, other: str) -> Difference:
    """The differences of two exercises' texts, without the lines that the learner writes."""
    texts = [Kernel(PUZZLES[name].skeleton, name) for name in (one, other)]
    return difference("the given lines", *texts)
