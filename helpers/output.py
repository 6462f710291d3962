"""Text that fits a notebook's output."""

from textwrap import wrap

COLUMNS = 104  # of a notebook's output in a window of 1280 pixels


def in_lines(text: str) -> str:
    """The text with lines that fit a notebook's output; what would be cut off goes on in the next line, indented."""
    lines = (wrap(line, COLUMNS, subsequent_indent="    ", break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)
