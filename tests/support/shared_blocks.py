"""The shared blocks of the kernels: what several files in `kernels/` have, from one text in `kernels/shared/`.

    python tests/support/shared_blocks.py

writes the blocks in all files again, and the activations' numbers in them as helpers/operations/activations.py has
them. A block stands last in its file, below a line that names it (`wgsl.SHARED`): to give a file one more, write
this line at its end, and run the command.
"""

import re
import sys
from pathlib import Path
from textwrap import wrap

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # this file is a script, too

from helpers.operations.activations import ACTIVATIONS
from helpers.operations.kernels import KERNELS
from wgsl import SHARED, without_comments

BLOCKS = KERNELS / "shared"
FILES = sorted(path for path in KERNELS.glob("*/*.wgsl") if path.parent != BLOCKS)
RUN = 6  # code lines, one after the other


NUMBERS = re.compile(r"^(.*// )0 none.*(\n +// \d.*)*", re.MULTILINE)
NUMBERED = " ".join(f"{number}~{name}," for number, name in enumerate(ACTIVATIONS)).rstrip(",")


def numbered(numbers: re.Match) -> str:
    """The line of a comment with all activations' numbers, and as many more as it takes."""
    lines = wrap(NUMBERED, 84 - len(numbers[1]))
    return (numbers[1] + f"\n{'//':>{len(numbers[1]) - 1}} ".join(lines)).replace("~", " ")


def block(name: str) -> str:
    """The canonical text of a block."""
    return NUMBERS.sub(numbered, (BLOCKS / f"{name}.wgsl").read_text(encoding="utf-8").strip())


def own(text: str) -> str:
    """What a file has above its shared blocks."""
    return SHARED.split(text, maxsplit=1)[0].rstrip() + "\n"


def with_blocks(text: str) -> str:
    """A file's text with its blocks as they are in `kernels/shared` now."""
    return own(text) + "".join(f"\n{line[0]}\n\n{block(line[1])}\n" for line in SHARED.finditer(text))


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
    runs = [[tuple(lines[i : i + RUN]) for i in range(len(lines) - RUN + 1)] for lines in files]
    found = [set(file) for file in runs]
    copied = 0
    for number, file in enumerate(runs):
        others = found[:number] if before else found[:number] + found[number + 1 :]
        at = {i + k for i, run in enumerate(file) if any(run in other for other in others) for k in range(RUN)}
        copied += len(at)
    return copied / sum(map(len, files))


if __name__ == "__main__":
    texts = {path: path.read_text(encoding="utf-8") for path in FILES}
    for path, text in texts.items():
        path.write_text(with_blocks(text), encoding="utf-8", newline="\n")
    for words, parts in ("whole files", [*texts.values()]), ("outside the shared blocks", [*map(own, texts.values())]):
        copies, common = in_runs(parts, before=True), in_runs(parts, before=False)
        print(f"{words}: {copies:.1%} of code lines are copies of six or more, {common:.1%} have one in another file")
