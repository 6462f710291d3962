"""Mistakes that learners are known to make in a puzzle, read from ``<puzzle>.mistakes.toml`` beside the official text.

In such a file, each mistake is a table::

    [[mistakes]]
    name = "the last element is left out"
    question = "if the array has one element, which thread owns it?"
    [[mistakes.edits]]
    old = 'i >= sizes.n'
    new = 'i + 1u >= sizes.n'

The name completes "this is what comes out when ...". The question leads the learner to the cure. An edit replaces a
piece of the official text, which occurs there once; a mistake may have several. Code of several lines stands between
``'''``, without the indent that it has in the official text; the line break before the last ``'''`` does not count.

Below a line ``[[mistakes.others]]`` come the edits of another text with the same mistake, each below a line
``[[mistakes.others.edits]]``.

A table with `include`, a path from its file to another one, stands for the mistakes there, with its values in the
place of their ``$`` names::

    [[mistakes]]
    include = "../../shared/mistakes/tiles.toml"
    values = { sum = "pre", summed = "K" }
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from helpers.data import tables
from wgsl import Kernel

Edits = tuple[tuple[str, str], ...]  # old text and new text

MISTAKE, MAY_HAVE = {"name": str, "question": str, "edits": list}, {"others": list}
OTHER = {"edits": list}
WORD = re.compile(r"\w+")
EDIT = {"old": str, "new": str}
INCLUDE, WITH_VALUES = {"include": str}, {"values": dict}


@dataclass(frozen=True)
class Mistake:
    """A known mistake: its name, which completes "this is what comes out when ...", a question, and its edits.

    `others` are the edits of other texts in which a learner makes it; `place` is where it is written.
    """

    name: str
    question: str
    edits: Edits
    others: tuple[Edits, ...] = ()
    place: str = field(default="", repr=False, compare=False)

    def made_in(self, kernel: Kernel) -> Kernel:
        """Return the official kernel with this mistake.

        Raises ValueError, with the place, where the text to be replaced does not occur exactly once.
        """
        return edited(kernel, self.edits, self.place)

    @property
    def added(self) -> set[str]:
        """The words that its edits write more often than they take them away."""
        before = Counter(WORD.findall(" ".join(old for old, _ in self.edits)))
        after = Counter(WORD.findall(" ".join(new for _, new in self.edits)))
        return {*(after - before)}

    @property
    def replaces_sum(self) -> bool:
        """True where the mistake is ``=`` in the place of ``+=``."""
        return all(new == old.replace("+=", "=") != old for old, new in self.edits)


def edited(kernel: Kernel, edits: Edits, place: str = "") -> Kernel:
    """Return a kernel with these edits, whose lines are found wherever they are indented.

    Raises ValueError, with the place, where a text to be replaced does not occur exactly once.
    """
    for old, new in edits:
        lines = [re.escape(line) for line in old.split("\n")]
        piece = re.search(r"\n *".join(lines), kernel.source)
        try:
            kernel = kernel.edit(piece[0] if piece else old, new)
        except ValueError as error:
            raise ValueError(f"{place}: {error}" if place else str(error)) from None
    return kernel


def read(path: Path, values: Mapping[str, str] | None = None) -> Iterator[Mistake]:
    """Yield the mistakes in a file, with these values in the place of its ``$`` names.

    Raises ValueError, with the file, the mistake and the key, for a table that is no mistake, and for a ``$`` name
    without a value.
    """
    for number, table in enumerate(tables.read_list(path, "mistakes"), 1):
        name = repr(table["name"]) if "name" in table else number
        place = f"{path.name}, mistake {name}"
        if "include" in table:
            tables.check(place, table, INCLUDE, WITH_VALUES)
            yield from read(path.parent / table["include"], table.get("values"))
        else:
            yield _mistake(place, table, values or {})


def read_edits(place: str, rows: list, values: Mapping[str, str] | None = None) -> Edits:
    """Return the edits that rows describe. Raises ValueError, with the place, for a row that is none."""
    if not rows:
        raise ValueError(f"{place}: edits is empty: it must have a table for each piece of text that is replaced")
    edits = []
    for number, row in enumerate(rows, 1):
        here = f"{place}, edit {number}"
        tables.check(here, row, EDIT, {})
        old = _filled(here, row["old"], values or {})
        new = _filled(here, row["new"], values or {})
        edits.append((old.removesuffix("\n"), new.removesuffix("\n")))
    return tuple(edits)


def _mistake(place: str, table: dict, values: Mapping[str, str]) -> Mistake:
    """Return the mistake that a table describes."""
    tables.check(place, table, MISTAKE, MAY_HAVE)
    name = _filled(place, table["name"], values)
    question = _filled(place, table["question"], values)
    if not question.endswith("?"):
        raise ValueError(f"{place}: question = {question!r}: it must end with a question mark")
    edits = read_edits(place, table["edits"], values)
    others = []
    for number, other in enumerate(table.get("others", []), 1):
        here = f"{place}, other {number}"
        tables.check(here, other, OTHER, {})
        others.append(read_edits(here, other["edits"], values))
    return Mistake(name, question, edits, tuple(others), place)


def _filled(place: str, text: str, values: Mapping[str, str]) -> str:
    """Return a text with values in the place of its ``$`` names."""
    try:
        return Template(text).substitute(values)
    except KeyError as error:
        raise ValueError(f"{place}: ${error.args[0]} has no value; give it in `values`, below `include`") from None
    except ValueError:
        raise ValueError(f"{place}: {text!r} has a $ without a name; write $$ for the sign itself") from None
