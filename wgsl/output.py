"""Text that fits a notebook's output."""

from textwrap import wrap

COLUMNS = 104  # of a notebook's output in a window of 1280 pixels
FENCED = 90  # of a code block in an output of Markdown, which is indented


def in_lines(text: str, columns: int = COLUMNS) -> str:
    """The text with lines that fit a notebook's output; what would be cut off goes on in the next line, indented."""
    lines = (wrap(line, columns, subsequent_indent="    ", break_on_hyphens=False) for line in text.split("\n"))
    return "\n".join("\n".join(line) for line in lines)
