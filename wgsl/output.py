"""Text that fits a notebook's output or a terminal."""

import sys
from io import TextIOWrapper
from textwrap import wrap

COLUMNS = 104  # of a notebook's output in a window of 1280 pixels
FENCED = 90  # of a code block in an output of Markdown, which is indented


def in_lines(text: str, columns: int = COLUMNS) -> str:
    """The text with lines that fit a notebook's output; what would be cut off goes on in the next line, indented."""
    lines = (wrap(line, columns, subsequent_indent="    ", break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)


def visible(text: str, keep: str = "") -> str:
    """Return the text with an escape, such as \\x1b, for each letter that is not seen itself.

    Such letters command a terminal, turn the direction in which text is read, or have no width. Those in `keep` stay.
    """
    return "".join(letter if letter.isprintable() or letter in keep else ascii(letter)[1:-1] for letter in text)


def escape_what_cannot_be_printed() -> None:
    """Let a command print letters that its terminal's encoding lacks as escapes, instead of ending with an error."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
