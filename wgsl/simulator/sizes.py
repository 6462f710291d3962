"""Runs a kernel with subgroups of every size, and finds the line that takes the size for a number.

It is found by trial: where the outputs become right once its numbers are written for another size, it is to blame.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from wgsl.diagnostics import Lines, WgslError
from wgsl.facts import Line
from wgsl.kernel import Kernel
from wgsl.simulator.memory import numbers
from wgsl.simulator.run import compiled, overridden, simulate
from wgsl.simulator.subgroups import SIZES, USUAL, checked_size
from wgsl.simulator.trace import Trace
from wgsl.subgroup_facts import DifferingWord, SubgroupSizes
from wgsl.syntax.tokens import without_comments
from wgsl.types.kinds import Array
from wgsl.types.program import Variable
from wgsl.words import sizes as words

ATTRIBUTE = re.compile(r"@\w+\s*\([^)]*\)")
WHOLE = re.compile(r"(?<![\w.])(0[xX][\da-fA-F]+|\d+)([iu]?)(?![\w.])")
SHIFT = re.compile(r"(<<|>>)=?\s*$")
MOST_LINES = 12  # that are tried
SHARE, OF_LARGEST = 1e-4, 1e-5  # how far floats may be apart: the order of a sum changes with the size


Buffers = Sequence[np.ndarray | None] | Mapping[Hashable, np.ndarray]


@dataclass(frozen=True, eq=False)
class Sizes:
    """The runs of a kernel with subgroups of several sizes, by the size, and what they show."""

    traces: Mapping[int, Trace]
    facts: SubgroupSizes

    @cached_property
    def message(self) -> str:
        """A sentence about what the outputs depend on."""
        return words.message(self.facts)

    def __str__(self) -> str:
        return self.message

    @property
    def depends(self) -> bool:
        """True where the outputs of two sizes differ, or are wrong."""
        return bool(self.facts.wrong)


def subgroup_sizes(
    kernel: str | Kernel,
    buffers: Buffers,
    workgroups: tuple[int, int, int],
    *,
    sizes: Sequence[int] = SIZES,
    expected: Buffers | None = None,
    **options: Any,
) -> Sizes:
    """Run a kernel with subgroups of every size, and say whether its outputs depend on it.

    Parameters
    ----------
    kernel, buffers, workgroups
        As `simulate` takes them.
    sizes : sequence of int, optional
        The sizes; by default 4, 8, 16, 32, 64 and 128.
    expected : mapping or sequence, optional
        The right outputs by name, as in ``{"total": total}``, or one for each binding, None where it does not matter.
        Without it, the outputs of all sizes are compared with one another. Floats may differ as sums do whose order
        changes.
    **options
        Further arguments of `simulate`.

    Returns
    -------
    Sizes
        The traces by the size, and a message: "right with 32, wrong with 16: line 14 takes the size for 32".
    """
    kernel = Kernel(kernel) if isinstance(kernel, str) else kernel
    runs = {checked_size(size): simulate(kernel, buffers, workgroups, subgroup_size=size, **options) for size in sizes}
    program = compiled(overridden(kernel, options.get("constants")), options.get("entry_point", "main"))
    compared = _Compared(program.bindings, expected)
    if expected is None:
        right = _agreeing(runs, compared)
        compared.expected = runs[USUAL if USUAL in right else right[0]].buffers
    else:
        right = tuple(size for size, trace in runs.items() if compared.same(trace.buffers))
    wrong = tuple(size for size in runs if size not in right)
    findings = tuple(size for size, trace in runs.items() if trace.findings)
    facts = SubgroupSizes(right, wrong, expected is not None, findings)
    if wrong and right:
        trial = _Trial(kernel, prod(program.workgroup_size), wrong, compared, (buffers, workgroups, options))
        facts = replace(facts, **trial.blamed(right), differing=compared.first(runs[wrong[0]], wrong[0]))
    return Sizes(runs, facts)


def _agreeing(runs: Mapping[int, Trace], compared: _Compared) -> tuple[int, ...]:
    """The sizes whose outputs are the same: as many as possible, with 32 among them where that leaves a choice.

    They are the same as those of a run without findings, where there is one.
    """
    clean = [size for size, trace in runs.items() if not trace.findings]
    alike = []
    for size in clean or runs:
        compared.expected = runs[size].buffers
        alike.append(tuple(other for other in runs if compared.same(runs[other].buffers)))
    return max(alike, key=lambda sizes: (len(sizes), USUAL in sizes))


class _Compared:
    """Buffers, compared with the `expected` ones."""

    def __init__(self, bindings: Sequence[Variable], expected: Buffers | None) -> None:
        self._bindings = bindings
        self.expected = expected
        if expected is not None:
            self._check(expected)

    def _check(self, expected: Buffers) -> None:
        if not isinstance(expected, Mapping) and len(expected) != len(self._bindings):
            raise ValueError(f"expected has {len(expected)} arrays: the kernel has {len(self._bindings)} bindings")
        if isinstance(expected, Mapping) and len(self._by_binding(expected)) < len(expected):
            names = ", ".join(variable.name for variable in self._bindings)
            raise ValueError(f"expected has {', '.join(map(repr, expected))}: the kernel has {names}")

    def _by_binding(self, arrays: Buffers) -> dict[Variable, np.ndarray]:
        """The arrays by their bindings: from a list, or by names, or by groups and bindings."""
        if not isinstance(arrays, Mapping):
            pairs = zip(self._bindings, arrays, strict=True)
            return {variable: array for variable, array in pairs if array is not None}
        found = {}
        for variable in self._bindings:
            for key in (str(variable.name), (variable.group, variable.binding)):
                if arrays.get(key) is not None:
                    found[variable] = arrays[key]
        return found

    def same(self, buffers: Buffers) -> bool:
        """Return True where no number differs."""
        return next(self._differing(buffers), None) is None

    def _differing(self, buffers: Buffers) -> Iterator[tuple[Variable, int, float, float]]:
        """Yield the first number of each buffer that differs: its place, what it should be and what it is."""
        found = self._by_binding(buffers)
        for variable, wanted in self._by_binding(self.expected).items():
            if variable.access == "read":
                continue
            got = found[variable].reshape(-1)
            wanted = np.ascontiguousarray(wanted, got.dtype).reshape(-1)
            if len(wanted) != len(got):
                raise ValueError(f"expected['{variable.name}'] has {len(wanted)} numbers: the buffer has {len(got)}")
            differ = _differ(variable, wanted, got)
            if differ.any():
                word = int(np.argmax(differ))
                yield variable, word, wanted[word].item(), got[word].item()

    def first(self, trace: Trace, size: int) -> DifferingWord:
        """The first number that is wrong with a size, with the line that stores it last."""
        variable, word, wanted, got = next(self._differing(trace.buffers))
        rows = trace.accesses
        named = np.array([name == variable.name for name in trace.variables])
        stored = rows[rows["write"] & named[rows["variable"]] & (rows["index"] == word)]
        line = None
        if len(stored):
            number = int(stored[-1]["line"])
            line = Line(number, trace.kernel.source.split("\n")[number - 1])
        index = word // variable.type.stride if isinstance(variable.type, Array) else None
        return DifferingWord(str(variable.name), index, size, wanted, got, line)


def _differ(variable: Variable, wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Mark the numbers that differ; a float among words is compared as one."""
    wanted = wanted.view(np.uint32)
    got = np.ascontiguousarray(got).view(np.uint32)
    places, scalars = numbers(variable.type, len(got))
    floats = np.zeros(len(got), bool)
    floats[places[scalars == "f32"]] = True
    differ = (wanted != got) & ~floats
    x = wanted[floats].view(np.float32).astype(np.float64)
    y = got[floats].view(np.float32).astype(np.float64)
    finite = np.abs(x[np.isfinite(x)])
    margin = OF_LARGEST * finite.max(initial=0)
    differ[floats] = ~np.isclose(y, x, rtol=SHARE, atol=margin, equal_nan=True)
    return differ


# --- The line that takes the size for a number --------------------------------------------------------------------


class _Trial:
    """Writes the numbers of lines for another size, and looks whether the outputs become right."""

    def __init__(
        self, kernel: Kernel, threads: int, wrong: tuple[int, ...], compared: _Compared, run: tuple[Any, Any, Any]
    ) -> None:
        self._kernel = kernel
        self._threads = threads
        self._wrong = wrong
        self._compared = compared
        self._run = run
        self._text = Lines(kernel.source)

    def blamed(self, right: tuple[int, ...]) -> dict[str, Any]:
        """The size that lines take for granted, and these lines; nothing where that explains nothing."""
        for taken in sorted(right, key=lambda size: size != USUAL):
            if lines := self._lines(taken):
                shown = tuple(Line(number, self._text.lines[number - 1]) for number in lines)
                return {"taken": taken, "lines": shown}
        return {}

    def _lines(self, taken: int) -> list[int]:
        """The fewest lines whose numbers must be written for another size."""
        places = self._places(taken)
        candidates = sorted({self._text.place(at)[0] for at, *_ in places})[:MOST_LINES]
        for line in candidates:
            if self._cures(taken, places, [line]):
                return [line]
        if len(candidates) < 2 or not self._cures(taken, places, candidates):
            return []
        kept = candidates
        for line in candidates:
            fewer = [other for other in kept if other != line]
            if self._cures(taken, places, fewer):
                kept = fewer
        return kept

    def _places(self, taken: int) -> list[tuple[int, int, str, str]]:
        """The numbers of the text that may stand for a size: where each begins and ends, its part, and its suffix."""
        code = ATTRIBUTE.sub(lambda match: " " * len(match[0]), without_comments(self._kernel.source))
        found = []
        for match in WHOLE.finditer(code):
            part = self._part(int(match[1], 0), taken, bool(SHIFT.search(code[: match.start()])))
            if part:
                found.append((match.start(), match.end(), part, match[2]))
        return found

    def _part(self, number: int, taken: int, shifts: bool) -> str:
        """Return what a number may be of a size; "" for another one."""
        if shifts:
            return "shift" if number == taken.bit_length() - 1 else ""
        return next((part for part, of in PARTS.items() if number == of(taken, self._threads)), "")

    def _cures(self, taken: int, places: list[tuple[int, int, str, str]], lines: Sequence[int]) -> bool:
        """Return True where every wrong size becomes right once these lines are written for it."""
        buffers, workgroups, options = self._run
        for size in self._wrong:
            text = self._kernel.source
            for at, end, part, suffix in reversed(places):
                if self._text.place(at)[0] in lines:
                    number = size.bit_length() - 1 if part == "shift" else PARTS[part](size, self._threads)
                    text = f"{text[:at]}{number}{suffix}{text[end:]}"
            try:
                written = replace(self._kernel, source=text)
                trace = simulate(written, buffers, workgroups, subgroup_size=size, **options)
            except (WgslError, ValueError):
                return False
            if not self._compared.same(trace.buffers):
                return False
        return True


PARTS = {  # of a size, and of the number of threads of a workgroup: what a kernel writes as a number
    "size": lambda size, _: size,
    "last": lambda size, _: size - 1,
    "half": lambda size, _: size // 2,
    "subgroups": lambda size, threads: -(-threads // size),
}
