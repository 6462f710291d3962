"""A copy of a kernel's text that counts loop iterations and barriers, and ends loops that never would.

An endless kernel may hang a GPU for good, and some drivers stop its loops without an error, so that its results look
right. So a kernel that may be endless runs as a counting copy only. A barrier that not all threads of a workgroup reach
may go unnoticed, too; the copy counts how many do.
"""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from helpers.wgsl import Kernel, closing, without_comments

BUDGET = 16_000  # iterations of one invocation: many times what an exercise needs, and below every driver's limit

COUNTERS = """
@group(0) @binding({binding}) var<storage, read_write> {x}seen: array<atomic<u32>, {loops} + 1 + {barriers}>;
var<private> {x}total: u32;                     // iterations of this invocation, in all loops
var<private> {x}current: array<u32, {loops}>;   // of each loop, since it was last entered
var<private> {x}longest: array<u32, {loops}>;   // of each loop, the most until it ended

fn {x}over(i: u32) -> bool {{
  {x}total++;
  {x}current[i]++;
  atomicMax(&{x}seen[0], {x}total);
  if ({x}total == {budget}u + 1u) {{
    for (var k = 0u; k < {loops}; k++) {{ atomicMax(&{x}seen[k + 1], {x}current[k] / (1 + {x}longest[k])); }}
  }}
  return {x}total > {budget}u;
}}

fn {x}ended(i: u32) {{
  {x}longest[i] = max({x}longest[i], {x}current[i]);
  {x}current[i] = 0u;
}}

fn {x}barrier(i: u32) {{
  atomicAdd(&{x}seen[{loops} + 1 + i], 1u);
  workgroupBarrier();
}}
"""


class Counted(NamedTuple):
    """A counting copy: an invocation that exceeds the budget leaves all its loops."""

    kernel: Kernel
    lines: list[int]  # where each loop begins
    barriers: list[int]  # where each barrier stands
    budget: int
    binding: int  # of the counts, u32 in a storage buffer that holds zeros at the start

    @property
    def nbytes(self) -> int:
        """The size of the buffer of counts."""
        return 4 * (max(1, len(self.lines)) + 1 + len(self.barriers))

    def endless_line(self, counts: np.ndarray) -> int | None:
        """The line of the loop that used up the budget, or None where every invocation stayed within it.

        It is the loop that had run longest compared with how long it took whenever it ended.
        """
        return self.lines[int(np.argmax(counts[1 : len(self.lines) + 1]))] if counts[0] > self.budget else None

    def missed_barrier(self, counts: np.ndarray, threads: int) -> int | None:
        """The line of a barrier that not all `threads` of a workgroup reached, or None where none is seen to be one.

        Where all do, they reach it equally often, and the count is a multiple of their number.
        """
        reached = counts[len(counts) - len(self.barriers) :]
        return next((line for line, n in zip(self.barriers, reached, strict=True) if n % threads), None)


def counted(kernel: Kernel, budget: int = BUDGET, binding: int | None = None) -> Counted:
    """The counting copy of a kernel that compiles; its lines keep their numbers.

    `budget` is how many iterations one invocation may make in all its loops together. The counts are bound behind
    all other bindings by default; `binding` may name one of these that no entry point uses.
    """
    code, source = without_comments(kernel.source), kernel.source
    prefix = "counted_"
    while prefix in source:  # a name that the kernel does not use
        prefix += "x_"
    edits, lines, barriers = [], [], []
    for number, loop in enumerate(re.finditer(r"\b(for|while|loop)\b[^{]*\{", code)):
        end = closing(code, loop.end() - 1) + 1
        edits.append((loop.end(), loop.end(), f" if ({prefix}over({number})) {{ break; }}"))
        edits.append((end, end, f" {prefix}ended({number});"))
        lines.append(1 + code.count("\n", 0, loop.start()))
    for number, barrier in enumerate(re.finditer(r"\bworkgroupBarrier\s*\(\s*\)", code)):
        edits.append((*barrier.span(), f"{prefix}barrier({number})"))
        barriers.append(1 + code.count("\n", 0, barrier.start()))
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    binding = len(kernel.bindings) if binding is None else binding
    sizes = {"loops": max(1, len(lines)), "barriers": len(barriers)}
    source += COUNTERS.format(x=prefix, binding=binding, budget=budget, **sizes)
    return Counted(replace(kernel, source=source), lines, barriers, budget, binding)
