"""The four passes of a layer in the order in which somebody recorded them, as cards on which words are laid."""

from helpers.pictures.canvas import INK, LINE, MARGIN, Box, Picture

M = 40
K = 70
N = 48
GRIDS = (3, 3), (3, 5), (1, 1), (5, 3)  # workgroups in x and y
# CSS pixels: of a card, where they begin, and between two of them
WIDTH = 180
HEIGHT = 58
TOP = 66
APART = 16


class PassesPicture(Picture):
    """The workgroups that each pass starts, in x and y, for a layer of which M, K and N are written above it."""

    def __init__(self) -> None:
        super().__init__(174)
        self.write(MARGIN, 14, f"a layer with M = {M}, K = {K} and N = {N}; tiles of 16 × 16", 15)
        self.boxes([Box(MARGIN, 28, self.width - 2 * MARGIN, 136)], LINE, line=1.4)
        self.note(MARGIN + 12, 46, "one recording, one bind group, one submission: from left to right")
        grids = [f"x: {x}, y: {y}" for x, y in GRIDS]
        for i, grid in enumerate(grids):
            card = Box(MARGIN + 20 + (WIDTH + APART) * i, TOP, WIDTH, HEIGHT)
            self.cards[f"Pass {i + 1}"] = card
            self.boxes([card], INK, line=1.6)
            self.write(card.middle[0], card.y + HEIGHT + 16, f"workgroups in {grid}", 14, align="middle")
        started = "; ".join(f"pass {i}, {grid}" for i, grid in enumerate(grids, 1))
        self.sentence = f"Four passes in a row, of a layer with M = {M}, K = {K} and N = {N}. Workgroups: {started}."
