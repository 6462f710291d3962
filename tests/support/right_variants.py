"""Right texts that learners could hand in: each has the skill that its puzzle asks for, but is not the official one.

The grader must find nothing wrong with any of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from helpers.exercises import PUZZLES
from wgsl import Kernel

MAIN = re.compile(r"(@compute[^{]*\bfn main\()(.*?)(\) \{[^\n]*\n)(.*)\n\}\Z", re.DOTALL)
PLACE = re.compile(r"^// (?:main|(\d)(?:-(\d))?)\n", re.MULTILINE)  # as in "// main", "// 4" and "// 4-6"
STEP = re.compile(r"^ *// (\d)\. ", re.MULTILINE)


@dataclass(frozen=True)
class Variant:
    """What differs from an official kernel.

    Parameters
    ----------
    text : str
        The body of `main`. After a line such as ``// 4-6`` it is only what replaces these numbered steps; the blocks
        that the steps before them open are closed after it. What stands above that line, or above ``// main``, is
        declared before `main`. An empty body is the official one.
    takes : str
        The parameters of `main`; "" leaves them as they are.
    edits : mapping
        Pieces of the kernel, each of which is there once, and what replaces them.
    names : str
        Words, each with the one that replaces it everywhere: "k:channel sum:total".
    """

    text: str = ""
    takes: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)
    names: str = ""

    def source(self, puzzle: str) -> str:
        """The whole kernel, as a learner would hand it in.

        Raises ValueError where the official kernel lacks what is to be replaced.
        """
        kernel = PUZZLES[puzzle].solution.text
        if self.text or self.takes:
            before, takes, start, body = MAIN.search(kernel).groups()
            declared = kernel[: kernel.index(before)] + self._parts[0]
            kernel = f"{declared}{before}{self.takes or takes}{start}{self._body(body)}\n}}\n"
        for old, new in self.edits.items():
            kernel = Kernel(kernel, puzzle).edit(old, new).source
        for old, new in (pair.split(":") for pair in self.names.split()):
            kernel = re.sub(rf"(?<![.@])\b{old}\b", new, kernel)
        return kernel

    @property
    def _parts(self) -> tuple[str, tuple[int, int] | None, str]:
        """What is declared before `main`, the first and last step to replace, if not all, and the body's lines."""
        text = self.text.lstrip("\n")
        place = PLACE.search(text)
        if place is None:
            return "", None, text
        first, last = place.groups()
        return text[: place.start()], first and (int(first), int(last or first)), text[place.end() :]

    def _body(self, official: str) -> str:
        """The body of `main`."""
        _, steps, lines = self._parts
        if not lines or not steps:
            return lines.rstrip() or official
        starts = {int(step[1]): step.start() for step in STEP.finditer(official)}
        above, below = official[: starts[steps[0]]], official[starts.get(steps[1] + 1, len(official)) :]
        still_open = (above + lines + below).count("{") - (above + lines + below).count("}")
        return f"{above}{lines}{'}' * still_open}\n{below}".rstrip()


def right_variants() -> Iterator[tuple[str, str, str]]:
    """Each puzzle's name with the description and the text of each of its variants, from `right_variants.txt`.

    Lines of Python stand there whole.
    """
    table = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[(\w+)\]\n", table, flags=re.MULTILINE)
    for puzzle, variants in zip(parts[::2], parts[1::2], strict=True):
        _, *rows = re.split(r"^== (.*)\n", variants, flags=re.MULTILINE)
        for description, text in zip(rows[::2], rows[1::2], strict=True):
            text = text.rstrip("\n") + "\n"
            yield puzzle, description, _variant(text).source(puzzle) if puzzle in PUZZLES else text


def _variant(text: str) -> Variant:
    """A variant in the table: what stands before its text, and the text."""
    takes, names, edits, body = re.fullmatch(
        r"(?:takes: ([^\n]*)\n)?(?:names: ([^\n]*)\n)?((?:`[^`]*` -> `[^`]*`\n)*)(.*)", text, re.DOTALL
    ).groups("")
    return Variant(body, takes, dict(re.findall("`([^`]*)` -> `([^`]*)`", edits)), names)
