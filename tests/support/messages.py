"""Stored messages, each beside the text or call that it is about, so that a person reads every change in a diff.

    python tests/support/messages.py [FAMILY ...]

writes the messages in `tests/messages` again. A file there has a family of texts, in sections with a heading in
brackets, whose further lines are indented by two blanks. A text stands behind `>`, its further lines behind `.`, and
its message below it, four blanks to the right. What a message must never say stands behind `!`, in a regular expression
of `re`; `#` begins a comment.
"""

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from textwrap import dedent, indent

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]

from support import speakers

FOLDER = Path(__file__).resolve().parents[1] / "messages"
SECTION = re.compile(r"^\[(.*(?:\n  .*)*)\]\n", re.MULTILINE)
STORED = re.compile(r"(^>.*\n(?:[.!].*\n)*)((?:    .*\n|\n(?=\n*    ))*)", re.MULTILINE)  # a text, and its message


def path(family: str) -> Path:
    return FOLDER / f"{family}.txt"


def sections(family: str) -> list[tuple[str, str]]:
    """The headings of a family's file, each with what is below it; the first has what is above all of them."""
    above, *parts = SECTION.split(path(family).read_text(encoding="utf-8"))
    return [("", above), *zip(parts[::2], parts[1::2], strict=True)]


def text_of(lines: str) -> str:
    return "\n".join(re.findall(r"^[>.] ?(.*)", lines, re.MULTILINE))


def said(family: str, heading: str, text: str) -> str:
    """The message about a text now; in a family without a speaker of its own, texts are calls."""
    return getattr(speakers, family, speakers.called)(heading, text)


def forbidden(lines: str, message: str) -> list[str]:
    """The patterns of what a message must never say that it matches."""
    return [words for words in re.findall(r"^! (.*)", lines, re.MULTILINE) if re.search(words, message)]


def stored(family: str) -> Iterator[tuple[str, str, str, str]]:
    """The family, the heading, the text and the message of each row."""
    for heading, body in sections(family):
        for lines, indented in STORED.findall(body):
            message = dedent(indented).removesuffix("\n")
            assert not forbidden(lines, message), f"{lines}{message}"
            yield family, heading, text_of(lines), message


def every(*families: str) -> pytest.MarkDecorator:
    """A test for each row of some families."""
    rows = [*chain.from_iterable(map(stored, families))]
    names = [re.sub(r"\W+", " ", f"{row[0]} {row[2]} {row[1]}")[:60] for row in rows]
    return pytest.mark.parametrize(("family", "heading", "text", "message"), rows, ids=names)


def write(family: str) -> None:
    """Write a family's file again."""
    written = ""
    for heading, body in sections(family):

        def again(row: re.Match, heading: str = heading) -> str:
            return row[1] + indent(said(family, heading, text_of(row[1])), "    ") + "\n"

        if heading:
            written += f"[{heading}]\n"
        written += STORED.sub(again, body)
    path(family).write_text(written, encoding="utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as os.environ["CONVGRAD_MY"]:  # what rows answer and grade is kept there
        for name in sys.argv[1:] or sorted(file.stem for file in FOLDER.glob("*.txt")):
            write(name)
