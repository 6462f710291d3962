"""A learner's lines that keep a note, judged by the races that a detector with them finds in many kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Self

from helpers.grading.python_lines import Program, Result
from helpers.grading.python_puzzle import PythonCase
from helpers.lessons.simulator.detector import NOBODY, Access, Note
from helpers.lessons.simulator.random_kernels import RandomKernel
from wgsl import WgslError

START = {"who": NOBODY, "when": NOBODY, "thread": 0, "epoch": 0}


@dataclass(frozen=True)
class KernelsCase(PythonCase):
    """A test on many kernels: a detector that notes what the lines say must find their races, and no others."""

    kernels: Sequence[RandomKernel] = ()

    @classmethod
    def of_kernels(cls, name: str, kernels: Sequence[RandomKernel]) -> Self:
        """A test on these kernels."""
        return cls(name, (START,), ("",), kernels=kernels)

    def results(self, program: Program) -> tuple[Result | WgslError, ...]:
        """Return what is wrong with the races that are found, or what keeps a note from being computed."""

        @cache
        def keep(note: Note, thread: int, epoch: int) -> int:
            """The thread that the lines note: many notes are alike, and each is computed once."""
            values = {"who": note.who, "when": note.when, "thread": thread, "epoch": epoch}
            return program.run(values).value

        try:
            found = [kernel.found(keep) for kernel in self.kernels]
        except WgslError as error:
            return (error,)
        first = replace(program.run(START), value=judged(self.kernels, found))
        return (first,)


def judged(kernels: Sequence[RandomKernel], found: Sequence[frozenset[int]]) -> str:
    """Return in how many kernels all is found that is a race, and the first where it is not; "" where there is none."""
    wrong = [i for i, kernel in enumerate(kernels) if found[i] != kernel.racing.keys()]
    if not wrong:
        return ""
    right = len(kernels) - len(wrong)
    first = wrong[0]
    fault = _fault(kernels[first], found[first])
    return (
        f"your notes find the races, and nothing else, in {right} of {len(kernels)} kernels; in kernel {first}, {fault}"
    )


def _fault(kernel: RandomKernel, found: frozenset[int]) -> str:
    """Return the first line of a kernel that is wrong: a race that is missed, or one that is none."""
    line = min(found ^ kernel.racing.keys())
    if line in found:
        return f"they find one in line {line}, where no access races with an earlier one"
    earlier, later = kernel.racing[line]
    word = f"word {later.word}"
    return f"they miss one: {_words(earlier, word)}, and then {_words(later, word)}, with no barrier between"


def _words(access: Access, word: str) -> str:
    does = "writes" if access.writes else "reads"
    return f"thread {access.thread} {does} {word} in line {access.line}"
