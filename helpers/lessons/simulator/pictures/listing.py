"""Some lines of a kernel in a picture, with the one framed that has just run."""

from helpers.pictures.canvas import ORANGE, Box, Picture, Word

PITCH = 18  # CSS pixels from one line to the next
SIZE = 13
INDENT = "  "  # of all lines
LETTER = 7.83  # the width of each, in letters of this size


class Listing:
    """The lines of a kernel from one to another, counted from 0, below each other."""

    def __init__(self, picture: Picture, text: str, body: tuple[int, int], x: float, y: float, width: float) -> None:
        first, end = body
        self._picture = picture
        self._first_line = first + 1  # as lines are counted
        self._place = Box(x, y, width, PITCH)
        lines = text.split("\n")[first:end]
        words = []
        for i, line in enumerate(lines):
            code = line.lstrip()
            indent = len(line) - len(code) - len(INDENT)
            words.append(Word(x + 6 + indent * LETTER, y + PITCH * (i + 0.5), code, SIZE, "left", code=True))
        self.bottom = y + PITCH * len(lines)
        picture.words(words)

    def frame(self, line: int) -> None:
        """Frame a line, by its number in the kernel."""
        y = self._place.y + PITCH * (line - self._first_line)
        self._picture.tinted([self._place._replace(y=y)], ORANGE, 1.6)
