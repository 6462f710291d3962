"""Each name in the marked lines of the official kernels, with each other name that may stand in its place.

And what a puzzle's tests say of it, in the simulator alone: so where two sizes of all its tests are equal, it shows.
"""

import re
from collections.abc import Iterator
from functools import cache
from itertools import accumulate

from support.mutants import NO_COMPILE, TOKEN, Mutant

from helpers.grading.puzzle import LEARNERS_LINE
from helpers.grading.test_run import TestRun, simulated
from helpers.grading.verdict import NOT_YET, WRONG
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel, WgslError

DECLARED = re.compile(r"\b(?:let|var|const) (\w+) = (?![^;]*(?:\[|0\.0|array<|true| < ))")  # a u32
PARAMETERS = re.compile(r"\bfn \w+\((.*?)\) (?:->|{)", re.DOTALL)
STRUCT = re.compile(r"struct (\w+) {(.*?)}", re.DOTALL)


def substitutions() -> Iterator[Mutant]:
    """All of them: of indices, sizes and members of the struct with each other, and of components of vectors."""
    for puzzle in PUZZLES.values():
        kernel = Kernel(puzzle.official.source, puzzle.name)
        names, marked = _names(kernel.code), _marked(kernel.source)
        for token in TOKEN.finditer(kernel.code):
            at, old = token.start(), token[0]
            if old in names and marked[at] and at != names[old]:
                for new, start in names.items():
                    is_alias = f"let {old} = {new};" in kernel.code
                    is_alike = _of_vector(new) == _of_vector(old)
                    if new != old and is_alike and not is_alias and _known(kernel.code[start:at]):
                        yield Mutant(kernel, at, old, new)


def _names(code: str) -> dict[str, int]:
    """The names of u32 values, each with the place where it is declared."""
    names = {match[1]: match.start(1) for match in reversed([*DECLARED.finditer(code)])}
    for parameters in PARAMETERS.finditer(code):
        for name, type in re.findall(r"(\w+): (\w+)", parameters[1]):
            values = [f"{name}.x", f"{name}.y", f"{name}.z"] if type == "vec3u" else [name]
            names |= dict.fromkeys(values, parameters.end())
    for struct, members in STRUCT.findall(code):
        uniform = re.search(rf"var<uniform> (\w+): {struct};", code)
        names |= {f"{uniform[1]}.{member}": uniform.end() for member in re.findall(r"(\w+): u32", members)}
    return names


def _of_vector(name: str) -> bool:
    return name[-2:] in (".x", ".y", ".z")


def _known(between: str) -> bool:
    """Return True where a name is known behind this text, at whose beginning it is declared.

    It is, until the block that it is in has ended.
    """
    depths = accumulate(1 if brace == "{" else -1 for brace in re.findall("[{}]", between))
    return bool(between) and min(depths, default=0) >= 0


def _marked(source: str) -> list[bool]:
    """True for each letter of a text that is in a line which the learner is to write."""
    marked = []
    for line in source.splitlines(keepends=True):
        marked += [line.rstrip().endswith(LEARNERS_LINE)] * len(line)
    return marked


@cache
def _official(puzzle: str) -> list[TestRun]:
    """The official kernel in all tests, the quick ones first."""
    runs = [simulated(PUZZLES[puzzle].official, case) for case in PUZZLES[puzzle].cases()]
    return sorted(runs, key=lambda run: run.counts["statements"])


def judged(kernel: Kernel) -> str:
    """The reason for which a test of the puzzle of this name rejects a kernel; "" if all pass."""
    skill = PUZZLES[kernel.name].skill
    try:
        for ours in _official(kernel.name):
            run = simulated(kernel, ours.case)
            if run.finding or run.uses_before or run.wrong.any():
                return run.finding.kind if run.finding else WRONG
            if skill and skill.test == ours.case.name and run.lacking(skill, ours):
                return NOT_YET
    except WgslError:
        return NO_COMPILE
    return ""
