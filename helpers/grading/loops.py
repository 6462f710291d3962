"""A copy of a kernel's text that counts loop iterations, and ends loops that never would.

An endless kernel may hang a GPU for good, and some drivers stop its loops without an error, so that its results look
right. So a kernel that may be endless runs as a counting copy only.
"""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from helpers.wgsl import Kernel, without_comments

BUDGET = 16_000  # iterations of one invocation: many times what an exercise needs, and below every driver's limit

COUNTERS = """
@group(0) @binding({binding}) var<storage, read_write> {x}seen: array<atomic<u32>, {loops} + 1>;
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
"""


class Counted(NamedTuple):
    """A counting copy: an invocation that exceeds the budget leaves all its loops."""

    kernel: Kernel
    lines: list[int]  # where each loop begins
    budget: int
    binding: int  # of the counts, u32 in a storage buffer that holds zeros at the start

    @property
    def nbytes(self) -> int:
        """The size of the buffer of counts."""
        return 4 * (max(1, len(self.lines)) + 1)

    def endless_line(self, counts: np.ndarray) -> int | None:
        """The line of the loop that used up the budget, or None where every invocation stayed within it.

        It is the loop that had run longest compared with how long it took whenever it ended.
        """
        return self.lines[int(np.argmax(counts[1:]))] if counts[0] > self.budget else None


def counted(kernel: Kernel, budget: int = BUDGET, binding: int | None = None) -> Counted:
    """The counting copy of a kernel that compiles; its lines keep their numbers.

    `budget` is how many iterations one invocation may make in all its loops together. The counts are bound behind
    all other bindings by default; `binding` may name one of these that no entry point uses.
    """
    code, source = without_comments(kernel.source), kernel.source
    prefix = "counted_"
    while prefix in source:  # a name that the kernel does not use
        prefix += "x_"
    inserted, lines = [], []
    for number, loop in enumerate(re.finditer(r"\b(for|while|loop)\b[^{]*\{", code)):
        inserted.append((loop.end(), f" if ({prefix}over({number})) {{ break; }}"))
        inserted.append((_end_of_block(code, loop.end()), f" {prefix}ended({number});"))
        lines.append(1 + code.count("\n", 0, loop.start()))
    for at, text in sorted(inserted, reverse=True):
        source = source[:at] + text + source[at:]
    binding = len(kernel.bindings) if binding is None else binding
    source += COUNTERS.format(x=prefix, binding=binding, loops=max(1, len(lines)), budget=budget)
    return Counted(replace(kernel, source=source), lines, budget, binding)


def _end_of_block(code: str, at: int) -> int:
    """The place behind the brace that closes the block whose text begins at `at`."""
    depth = 1
    for brace in re.finditer(r"[{}]", code[at:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return at + brace.end()
    return len(code)  # never closed: it does not compile
