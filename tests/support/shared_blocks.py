"""The shared blocks of the kernels: what several files in `kernels/` have, from one text in `kernels/shared/`.

    python tests/support/shared_blocks.py

writes the blocks in all files again, and the activations' numbers in them as helpers/operations/activations.py has
them. A file is a header and sections, each below a line with its name: a shared block (`wgsl.SHARED`), or what only
this file has. To give a file one more block, write its line where the block should stand, and run the command.
"""

import re
import sys
from itertools import pairwise
from pathlib import Path
from textwrap import wrap

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this file is a script, too

from helpers.operations.activations import ACTIVATIONS
from helpers.operations.kernels import KERNELS
from wgsl import SECTION, SHARED, without_comments

BLOCKS = KERNELS / "shared"
FILES = sorted(path for path in KERNELS.glob("*/*.wgsl") if path.parent != BLOCKS)
RUN = 6  # code lines, one after the other
UNIFORM = "var<uniform> params: Params;"


NUMBERS = re.compile(r"^(.*// )0 none.*(\n +// \d.*)*", re.MULTILINE)
NUMBERED = " ".join(f"{number}~{name}," for number, name in enumerate(ACTIVATIONS)).rstrip(",")


def numbered(numbers: re.Match) -> str:
    """The line of a comment with all activations' numbers, and as many more as it takes."""
    lines = wrap(NUMBERED, 84 - len(numbers[1]))
    return (numbers[1] + f"\n{'//':>{len(numbers[1]) - 1}} ".join(lines)).replace("~", " ")


def block(name: str, in_text: str) -> str:
    """The text of a block as it stands in a file with this text.

    Where the sizes come from a uniform, the activation's number is `params.activation` and not a constant.
    """
    text = NUMBERS.sub(numbered, (BLOCKS / f"{name}.wgsl").read_text(encoding="utf-8").strip())
    if UNIFORM in in_text:
        return re.sub(r"\bACTIVATION\b", "params.activation", text)
    return text


def sections(text: str) -> list[str]:
    """The parts of a file's text: the header, with what follows it, then the sections, each with its line."""
    starts = [0, *(line.start() for line in SECTION.finditer(text)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(starts)]


def own(text: str) -> str:
    """The text of a file outside its shared blocks."""
    return "\n\n".join(section for section in sections(text) if not SHARED.match(section)) + "\n"


def with_blocks(text: str) -> str:
    """A file's text with its blocks as they are in `kernels/shared` now."""
    written = sections(text)
    for number, section in enumerate(written):
        if line := SHARED.match(section):
            written[number] = f"{line[0]}\n\n{block(line[1], text)}"
    return "\n\n".join(written) + "\n"


# --- How much the files have in common ----------------------------------------------------------------------


def code_lines(text: str) -> list[str]:
    """The lines of code: without comments, blanks and lines of punctuation, and with their blanks folded."""
    lines = (" ".join(line.split()) for line in without_comments(text).split("\n"))
    return [line for line in lines if re.search(r"\w", line)]


def in_runs(texts: list[str], before: bool) -> float:
    """The share of code lines that lie in a run of six or more which another of the texts has.

    `before` counts what an earlier text has: the copies, without the first of them.
    """
    files = [code_lines(text) for text in texts]
    runs = [runs_of(lines) for lines in files]
    copied = 0
    for number, file in enumerate(runs):
        others = runs[:number] if before else runs[:number] + runs[number + 1 :]
        elsewhere = set().union(*others)
        lines = set()
        for i, run in enumerate(file):
            if run in elsewhere:
                lines |= {*range(i, i + RUN)}
        copied += len(lines)
    return copied / sum(map(len, files))


def runs_of(lines: list[str]) -> list[tuple[str, ...]]:
    """All runs of six lines, one from each line on."""
    return [tuple(lines[i : i + RUN]) for i in range(len(lines) - RUN + 1)]


if __name__ == "__main__":
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    for path, text in texts.items():
        path.write_text(with_blocks(text), encoding="utf-8", newline="\n")
    for words, parts in ("whole files", [*texts.values()]), ("outside the shared blocks", [*map(own, texts.values())]):
        copies, common = in_runs(parts, before=True), in_runs(parts, before=False)
        print(f"{words}: {copies:.1%} of code lines are copies of six or more, {common:.1%} have one in another file")
