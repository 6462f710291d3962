"""Planted mistakes: the simulator finds each one where it is, or shows its wrong numbers.

Most are made by rule, one at every place of every kernel where the rule applies. The sizes are those at which the
mistakes act: no two alike, tiles and workgroups that are not full, several iterations of every loop.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from support.grading import MISTAKES
from support.problems import GENERAL_VERSIONS, kind_of, with_its
from support.sample import sample
from support.small_kernels import run_case

from helpers.convolution.shapes import ConvShape
from helpers.exercises import PUZZLES
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Shape
from helpers.gradient_checks.harness import Tensors, drawn, operation_of, simulated
from helpers.kernels import load
from helpers.summation.shapes import SumShape
from wgsl import Kernel
from wgsl.simulator.trace import Finding

SHAPES: dict[type, tuple[Shape, ...]] = {
    ConvShape: (ConvShape(2, 3, 7, 9, 4, 3, 2, 2, (1, 2)), ConvShape(2, 3, 5, 7, 4, 3, 2)),
    GemmShape: (
        GemmShape(3, 5, 7, 2, "relu"),
        GemmShape(3, 5, 7, 2, "none", True, True),
        GemmShape(9, 18, 17, 2, "relu"),  # two steps of 16
    ),
    SumShape: (SumShape(37),),
}
FULL_TILES = GemmShape(2, 4, 6, 2)
ITERATIONS = 100  # of one thread, in all its loops; a right kernel needs fewer
SMALL = {ConvShape: {"TILE": 4, "THREADS": 8}, GemmShape: {"TILE": 2, "DEPTH": 16}, SumShape: {"THREADS": 8}}


def small(kernel: Kernel) -> Kernel:
    """A kernel with so few threads and weights at once that small problems need several iterations and have an edge."""
    fitted = with_its(kernel, SMALL[kind_of(kernel)])
    return replace(fitted, source=kernel.source.replace("CHUNK: u32 = 4096u", "CHUNK: u32 = 3u"))


# --- Mistakes by rule -------------------------------------------------------------------------------------------


class Planted(NamedTuple):
    """A kernel with one mistake, and the line it is in."""

    kernel: Kernel
    rule: str
    line: int

    @property
    def text(self) -> str:
        """The line with the mistake."""
        return self.kernel.source.split("\n")[self.line - 1].partition("//")[0].strip()

    def __str__(self) -> str:
        return f"{self.kernel.name}:{self.line}: {self.rule}: {self.text}"


INTEGER = r"(?!\d*\.\d)"  # no number with a point follows: a bound, not a float's limit
CONDITION = r"\bif \(((?:(?!\d\.\d).)*)\) \{"
UPWARD = r"\bfor \((var (\w+) = 0u; \2 < ([^;]*); \2\+\+)\)"
SLOT = r"\b(?:partial|left|right|shared_weights)\[([^\]]*)\](?= \+?= )"
# Each rule changes the first group of its pattern, wherever that matches.
RULES: dict[str, tuple[str, Callable[[re.Match], str]]] = {
    "barrier removed": (r"(workgroupBarrier\(\);)", lambda m: ""),
    "barrier in an if": (r"(workgroupBarrier\(\);)", lambda m: f"if ({first_thread(m.string)}) {{ {m[1]} }}"),
    "< becomes <=": (rf" (<) {INTEGER}", lambda m: "<="),
    ">= becomes >": (rf" (>=) {INTEGER}", lambda m: ">"),
    "> becomes >=": (rf" (>) {INTEGER}", lambda m: ">="),
    "guard removed": (CONDITION, lambda m: "false" if leaves(m) else "true"),
    "left condition dropped": (
        r"(?:if \(|inside = |whole = )([^&|;{}\n]+?) (?:&&|\|\|)",
        lambda m: "true" if "&&" in m[0] else "false",
    ),
    "right condition dropped": (
        r"(?:&&|\|\|) ([^&|;{}\n]+?)(?=\) \{|;| &&)",
        lambda m: "true" if "&&" in m[0] else "false",
    ),
    "no update": (r"\bfor \([^;]*;[^;]*; ([^)]*)\) \{", lambda m: ""),
    "step that is none": (r"half (/= 2u)", lambda m: "/= 1u"),
    "countdown": (UPWARD, lambda m: f"var {m[2]} = {m[3]} - 1u; {m[2]} >= 0u; {m[2]}--"),
    "thread 1 writes": (r"if \((thread == 0u)\)", lambda m: "thread == 1u"),
    "all threads write": (r"if \((thread == 0u)\)", lambda m: "true"),
    "two share a slot": (SLOT, lambda m: f"({m[1]}) / 2u"),
    "added to what was there": (r"\n +\w+\[.*\] (=) (?!read_)", lambda m: "+="),
}
RACES, UNINITIALIZED = {"data race", "overlapping writes"}, {"uninitialized read"}
BOUNDS = {"out-of-range read", "out-of-range write", "index overflow", *RACES, *UNINITIALIZED}
EXPECTED = {
    "barrier removed": {"data race"},
    "barrier in an if": {"non-uniform barrier"},
    "> becomes >=": {"endless loop"},
    "no update": {"endless loop"},
    "step that is none": {"endless loop"},
    "countdown": {"endless loop"},
    "thread 1 writes": {"data race"},
    "all threads write": RACES,
    "two share a slot": RACES | UNINITIALIZED,
}
WHOSE_TILE = re.compile("k_tiles|m_tiles|in_d_")
# What a mistake changes nothing about: (rule, part of the line) and the reason.
EQUIVALENT = {
    ("< becomes <=", "first <= params."): "one more tile, of zeros",
    ("< becomes <=", "first <= end; first += DEPTH"): "one more tile, of zeros",
    ("< becomes <=", "first <= taps"): "one more piece, of no weights",
    ("guard removed", "if (true) {                // stride"): "a division by 1",
    ("added to what was there", "partial[thread] += parts"): "the line above has set it to 0",
}


def first_thread(code: str) -> str:
    """The condition that holds for few threads of a workgroup, in the names of a kernel."""
    return "thread < 1u" if re.search(r"\bthread\b", code) else "local.x < 1u"


def leaves(guard: re.Match) -> bool:
    """Whether a guard's body leaves the loop or function."""
    return bool(re.match(r"\s*(return|continue);", guard.string[guard.end() :]))


def planted(kernel: Kernel) -> Iterator[Planted]:
    """All mistakes that the rules make in a kernel, except where it says which workgroup has which tile."""
    for rule, (pattern, change) in RULES.items():
        for match in re.finditer(pattern, kernel.code):
            start, end = match.span(1)
            if WHOSE_TILE.search(kernel.source[kernel.source.rindex("\n", 0, start) : kernel.source.index("\n", end)]):
                continue
            source = kernel.source[:start] + change(match) + kernel.source[end:]
            yield Planted(replace(kernel, source=source), rule, kernel.source.count("\n", 0, start) + 1)


def reason(each: Planted) -> str:
    """Why a mistake changes nothing, or nothing where it does."""
    line = each.kernel.source.split("\n")[each.line - 1]
    return next((why for (rule, part), why in EQUIVALENT.items() if rule == each.rule and part in line), "")


# The rules are those of sums. What else the kernels of a network do, tests/mutation.py changes.
OF_SUMS = [kernel for kernel in GENERAL_VERSIONS if kind_of(kernel) in SHAPES]
ALL = [each for kernel in OF_SUMS for each in planted(small(kernel))]


@cache
def problem(kernel_name: str, shape: Shape) -> tuple[Tensors, tuple[np.ndarray, ...]]:
    """Whole numbers, and the right outputs of an operation."""
    operation = operation_of(load(*kernel_name.split("/")))
    tensors = drawn(operation, shape)
    return tensors, operation.right(shape, tensors)


def seen(kernel: Kernel, shape: Shape) -> tuple[list[Finding], bool]:
    """The findings, and whether the numbers are wrong."""
    tensors, right = problem(kernel.name, shape)
    outputs, traces = simulated(kernel, shape, tensors, max_steps=ITERATIONS)
    return [f for trace in traces for f in trace.findings], not all(map(np.array_equal, outputs, right))


def first_seen(each: Planted) -> tuple[list[Finding], bool]:
    """What shows a mistake, on the first problem on which it acts."""
    for shape in SHAPES[kind_of(each.kernel)]:
        found, wrong = seen(each.kernel, shape)
        if found or wrong:
            break
    return found, wrong


@pytest.mark.parametrize("kernel", OF_SUMS, ids=lambda kernel: kernel.name)
def test_the_right_kernels_are_right_at_these_sizes(kernel):
    for shape in SHAPES[kind_of(kernel)]:
        assert seen(small(kernel), shape) == ([], False)


@pytest.mark.parametrize("each", sample([each for each in ALL if not reason(each)], 100), ids=str)
def test_a_mistake_is_found_where_it_is_or_gives_wrong_numbers(each):
    found, wrong = first_seen(each)
    expected = EXPECTED.get(each.rule, BOUNDS)
    if each.rule not in EXPECTED and not found:
        assert wrong
    else:
        assert expected & {finding.kind for finding in found}
    for finding in found:
        require_its_place(each, finding)


def require_its_place(each: Planted, finding: Finding) -> None:
    """Raise AssertionError unless a finding is of a kind and in a line to which its mistake leads."""
    expected = EXPECTED.get(each.rule, BOUNDS)
    assert finding.kind in (expected | BOUNDS if expected == {"endless loop"} else expected)
    if finding.kind in ("non-uniform barrier", "endless loop"):
        assert finding.line == each.line
    elif each.rule == "barrier removed":
        assert racing(each, finding)
    elif each.rule in ("thread 1 writes", "all threads write"):
        assert finding.line == next_line(each, "] = partial[0];")
    elif each.rule == "two share a slot" and finding.kind in RACES:
        assert each.line in (finding.line, finding.other_line)
    else:
        named = re.findall(r"`(\w+)[`\[]", finding.message)
        assert f"{named[-1]}[" in finding.source_line


# The two accesses of a race, the later one first, where a barrier is gone.
TREE, FILL, USE = "partial[thread] += partial[thread + half]", "] = read_", "left[row * TILE + i]"
FILL_DEEP, USE_DEEP = "] = next_", "STRIDE + four]"
PAIRS = {
    (USE_DEEP, FILL_DEEP),
    (FILL_DEEP, USE_DEEP),
    ("sum += parts[", "parts[thread] = part;"),
    (TREE, "partial[thread] = "),  # the first step of a tree
    (TREE, TREE),
    (USE, FILL),  # behind the loads
    (FILL, USE),  # behind the products
    ("sum += shared_weights[i]", "shared_weights[i] = weight"),
    ("shared_weights[i] = weight", "sum += shared_weights[i]"),
}


def racing(each: Planted, finding: Finding) -> bool:
    """Whether a race's two lines are one of the pairs."""
    lines = each.kernel.source.split("\n")
    later, earlier = lines[finding.line - 1], lines[finding.other_line - 1]
    return any(pair[0] in later and pair[1] in earlier for pair in PAIRS)


def next_line(each: Planted, text: str) -> int:
    """The first line behind a mistake that contains a text."""
    lines = enumerate(each.kernel.source.split("\n"), 1)
    return next(number for number, line in lines if number > each.line and text in line)


@pytest.mark.parametrize("each", [each for each in ALL if reason(each)], ids=str)
def test_a_mistake_that_changes_nothing_has_no_finding(each):
    shapes = SHAPES[kind_of(each.kernel)] + ((FULL_TILES,) if kind_of(each.kernel) is GemmShape else ())
    assert [seen(each.kernel, shape) for shape in shapes] == [([], False)] * len(shapes)


def test_every_rule_applies_and_few_mistakes_change_nothing():
    assert {each.rule for each in ALL} == {*RULES}
    assert sum(bool(reason(each)) for each in ALL) == 11


# --- The known mistakes of the puzzles --------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mistake"), sample(MISTAKES, 70), ids=lambda part: getattr(part, "name", part))
def test_a_known_mistake_in_a_puzzle_is_shown(name, mistake):
    puzzle = PUZZLES[name]
    wrong = puzzle.with_mistake(mistake)
    for case in sorted(puzzle.cases(), key=lambda case: sum(array.size for array in case.inputs)):
        trace, differs = run_case(wrong, case, max_steps=3000)
        if trace.findings or differs:
            return
    assert puzzle.skill, "every case is right, and nothing is found"
    got, right = trace.counts.total, run_case(puzzle.official, case)[0].counts.total
    assert any(got[key] > limit * right[key] for key, limit in puzzle.skill.limits.items() if key in got)
