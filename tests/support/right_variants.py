"""Right texts that learners could hand in: each has the skill that its puzzle asks for, but is not the official one.

The grader must find nothing wrong with any of them.
"""

import re
from collections.abc import Iterator

from support.problem_lists import sections

from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel

MAIN = re.compile(r"(@compute[^{]*\bfn main\()(.*?)(\) \{[^\n]*\n)(.*)\n\}\Z", re.DOTALL)
STEP = re.compile(r"^ *// (\d)\. ", re.MULTILINE)
EDIT = re.compile("`([^`]*)` -> `([^`]*)`\n")
VARIANT = re.compile(
    rf"(?:takes: ([^\n]*)\n)?(?:names: ([^\n]*)\n)?((?:{re.sub('[()]', '', EDIT.pattern)})*)"
    r"(?:(.*?)^// (?:main|(\d)(?:-(\d))?)\n)?(.*)",  # as in "// main", "// 4" and "// 4-6"
    re.DOTALL | re.MULTILINE,
)


def source(puzzle: str, text: str) -> str:
    """A variant as a learner would hand it in, from what differs from the official kernel.

    That is the body of `main`. After a line such as ``// 4-6`` it is only what replaces these numbered steps; the
    blocks that the steps before them open are closed after it. What stands above that line, or above ``// main``, is
    declared before `main`. An empty body is the official one. First of all may stand ``takes:`` and the parameters of
    `main`; ``names:`` and words, each with the one that replaces it everywhere, as in "k:channel sum:total"; and edits
    of pieces, each of which is there once.

    Raises ValueError where the official kernel lacks what is to be replaced.
    """
    takes, names, edits, declared, first, last, lines = VARIANT.fullmatch(text).groups("")
    kernel = PUZZLES[puzzle].solution.text
    if takes or declared or lines:
        before, its_own, start, body = MAIN.search(kernel).groups()
        if first:
            starts = {int(step[1]): step.start() for step in STEP.finditer(body)}
            above, below = body[: starts[int(first)]], body[starts.get(int(last or first) + 1, len(body)) :]
            still_open = (above + lines + below).count("{") - (above + lines + below).count("}")
            lines = f"{above}{lines}{'}' * still_open}\n{below}"
        head = f"{kernel[: kernel.index(before)]}{declared}{before}{takes or its_own}{start}"
        kernel = f"{head}{lines.rstrip() or body}\n}}\n"
    for old, new in EDIT.findall(edits):
        kernel = Kernel(kernel, puzzle).edit(old, new).source
    for old, new in (pair.split(":") for pair in names.split()):
        kernel = re.sub(rf"(?<![.@])\b{old}\b", new, kernel)
    return kernel


def right_variants() -> Iterator[tuple[str, str, str]]:
    """Each puzzle's name with the description and the text of each of its variants, from `right_variants.txt`.

    Lines of Python stand there whole.
    """
    for puzzle, variants in sections("right_variants").items():
        _, *rows = re.split(r"^== (.*)\n", variants, flags=re.MULTILINE)
        for description, text in zip(rows[::2], rows[1::2], strict=True):
            text = text.strip("\n") + "\n"
            yield puzzle, description, source(puzzle, text) if puzzle in PUZZLES else text
