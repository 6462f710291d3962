"""Mistakes that learners are known to make in a puzzle, read from ``<puzzle>.mistakes`` beside the official text.

In such a file, each mistake is a block of lines, and a blank line separates it from the next::

    # A comment.
    the last element is left out
    if the array has one element, which thread owns it?
    - i >= sizes.n
    + i + 1u >= sizes.n

The first line completes "this is what comes out when ...". The second is a question that leads the learner to the cure.
Then come the edits of the official kernel: what follows ``- `` is a piece of its text, which occurs there once, and
what follows ``+ `` replaces it. Several lines in a row are one piece, and are not indented. After a line with ``+``,
which may be empty, a line with ``-`` begins another edit. After a line ``or`` come the edits of another text with the
same mistake.

A line ``include map`` stands for the mistakes in ``map.mistakes``, and ``include tiles sum=pre`` for those in
``tiles.mistakes`` with ``pre`` in place of ``$sum``; a path to another folder may precede the name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from wgsl import Kernel

Edits = tuple[tuple[str, str], ...]  # old text and new text
BLOCK = re.compile(r"\S.*(?:\n.+)*")
EDIT = re.compile(r"((?:- .+\n)+)((?:\+(?: .+)?\n)*)")


@dataclass(frozen=True)
class Mistake:
    """A known mistake: its name, which completes "this is what comes out when ...", a question, and its edits.

    `others` are the edits of other texts in which a learner makes it.
    """

    name: str
    question: str
    edits: Edits
    others: tuple[Edits, ...] = ()

    def made_in(self, kernel: Kernel) -> Kernel:
        """The official kernel with this mistake.

        Raises ValueError where the text to be replaced does not occur exactly once.
        """
        for old, new in self.edits:
            piece = re.search(r"\n *".join(map(re.escape, old.split("\n"))), kernel.source)
            kernel = kernel.edit(piece[0] if piece else old, new)
        return kernel

    @property
    def replaces_sum(self) -> bool:
        """Whether the mistake is ``=`` in the place of ``+=``."""
        return all(new == old.replace("+=", "=") != old for old, new in self.edits)


def read(path: Path, values: Mapping[str, str] | None = None) -> Iterator[Mistake]:
    """The mistakes in a file, with these values in the place of its ``$`` names.

    Raises ValueError, with the line, for a block that is not a mistake, or a ``$`` name without a value.
    """
    text = path.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        place = f"{path}, line {text.count(chr(10), 0, block.start()) + 1}"
        try:
            lines = Template(re.sub(r"^#.*\n?", "", block[0], flags=re.MULTILINE)).substitute(values or {})
        except KeyError as error:
            raise ValueError(f"{place}: ${error.args[0]} has no value; give it after `include`") from None
        if lines.startswith("include "):
            for line in lines.splitlines():
                _, name, *given = line.split()
                yield from read(path.parent / f"{name}.mistakes", dict(pair.split("=") for pair in given))
        elif lines:
            yield _mistake(lines, place)


def _mistake(block: str, place: str) -> Mistake:
    """The mistake that a block of lines describes."""
    name, question, texts = [*block.split("\n", 2), "", ""][:3]
    if not question.endswith("?"):
        raise ValueError(f"{place}: after the mistake comes {question!r}; the second line must be a question")
    edits, *others = (_edits(text, place) for text in texts.split("\nor\n"))
    return Mistake(name, question, edits, tuple(others))


def _edits(text: str, place: str) -> Edits:
    """The edits that lines describe."""
    pairs = EDIT.findall(f"{text}\n")
    if not pairs or EDIT.sub("", f"{text}\n"):
        raise ValueError(f"{place}: after the question, each line must begin with `- ` or `+ `, first the old text")
    return tuple((_piece(old), _piece(new)) for old, new in pairs)


def _piece(lines: str) -> str:
    """Lines without the signs before them."""
    return "\n".join(line[2:] for line in lines.splitlines())
