"""Right texts that learners could hand in: each has the skill that its puzzle asks for, but is not the official one.

The grader must find nothing wrong with any of them. `right_variants.toml` has what differs from the official text.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from helpers.data import tables
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel

FILE = Path(__file__).with_name("right_variants.toml")
MAIN = re.compile(r"(@compute[^{]*\bfn main\()(.*?)(\) \{[^\n]*\n)(.*)\n\}\Z", re.DOTALL)
STEP = re.compile(r"^ *// (\d)\. ", re.MULTILINE)
NEEDED = {"differs": str}
OF_A_KERNEL = {"takes": str, "names": dict, "edits": list, "declared": str, "steps": list, "main": str}
OF_PYTHON = {"python": str}


def source(puzzle: str, variant: dict[str, object]) -> str:
    """Return a variant as a learner would hand it in, from what differs from the official kernel.

    `main` replaces the body of the official `main`; with `steps`, such as [4, 6], only these numbered ones, and the
    blocks that the steps before them open are closed after it. `declared` stands before `main`, and `takes` are the
    parameters of `main`. `edits` replace pieces, each of which is there once; `names` replace words everywhere.

    Raises ValueError where the official kernel lacks what is to be replaced.
    """
    kernel = PUZZLES[puzzle].solution.text
    if {"takes", "declared", "main"} & variant.keys():
        kernel = with_main(kernel, variant)
    for edit in variant.get("edits", []):
        kernel = Kernel(kernel, puzzle).edit(edit["old"], edit["new"]).source
    for old, new in variant.get("names", {}).items():
        kernel = re.sub(rf"(?<![.@])\b{old}\b", new, kernel)
    return kernel


def with_main(kernel: str, variant: dict[str, object]) -> str:
    """Return a kernel with the parameters, the body and the declarations of a variant, where it has some."""
    before, parameters, start, body = MAIN.search(kernel).groups()
    parameters = variant.get("takes", parameters)
    body_of_variant = variant.get("main", "")
    if "steps" in variant:
        body_of_variant = with_steps(body, *variant["steps"], body_of_variant)
    head = kernel[: kernel.index(before)] + variant.get("declared", "")
    return f"{head}{before}{parameters}{start}{body_of_variant.rstrip() or body}\n}}\n"


def with_steps(body: str, first: int, last: int, lines: str) -> str:
    """Return a body with lines in place of the steps from the first to the last."""
    starts = {int(step[1]): step.start() for step in STEP.finditer(body)}
    above = body[: starts[first]]
    below = body[starts.get(last + 1, len(body)) :]
    text = above + lines + below
    still_open = text.count("{") - text.count("}")
    braces = "}" * still_open
    return f"{above}{lines}{braces}\n{below}"


def right_variants(file: Path = FILE) -> Iterator[tuple[str, str, str]]:
    """Yield each puzzle's name with the description and the text of each of its variants.

    Raises ValueError, which names the file, the variant, the key and the rule, where a variant is malformed.
    """
    for puzzle, variants in tables.parse(file).items():
        for number, variant in enumerate(variants, 1):
            place = f"{file.name}, [[{puzzle}]], number {number}"
            check(variant, place, puzzle in PUZZLES)
            text = source(puzzle, variant) if puzzle in PUZZLES else variant["python"]
            yield puzzle, variant["differs"], text


def check(variant: object, place: str, is_kernel: bool) -> None:
    """Raise ValueError where a variant does not have the keys of its kind, or one of its edits has not both."""
    if not is_kernel:
        tables.check(place, variant, NEEDED | OF_PYTHON, {})
        return
    tables.check(place, variant, NEEDED, OF_A_KERNEL)
    for edit in variant.get("edits", []):
        tables.check(f"{place}: edits", edit, {"old": str, "new": str}, {})
    steps = variant.get("steps", [1, 1])
    if len(steps) != 2 or not all(isinstance(step, int) for step in steps):
        raise ValueError(f"{place}: steps = {steps!r:.60}: it must be two numbers, the first step and the last one")
