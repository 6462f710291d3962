"""The four passes of a layer in the order in which they run, as cards on which words are laid."""

from helpers.pictures.canvas import GRAY, INK, LINE, MARGIN, Box, Picture

SUMS = "6 sums of 4 products", "12 sums of 2 products", "8 sums of 3 products", "2 sums of 3 numbers"
WIDTH, HEIGHT, TOP, APART = 180, 58, 66, 16  # CSS pixels: of a card, where they begin, and between two of them


class PassesPicture(Picture):
    """What each pass adds up, for M = 3, K = 4 and N = 2, and which passes read what the first one writes."""

    def __init__(self) -> None:
        super().__init__(206)
        self.write(MARGIN, 14, "a layer with M = 3, K = 4 and N = 2", 15)
        self.boxes([Box(MARGIN, 28, self.width - 2 * MARGIN, 168)], LINE, line=1.4)
        self.write(MARGIN + 12, 46, "one recording, one bind group, one submission: from left to right", 13, GRAY)
        for i, sums in enumerate(SUMS):
            card = Box(MARGIN + 20 + (WIDTH + APART) * i, TOP, WIDTH, HEIGHT)
            self.cards[f"Pass {i + 1}"] = card
            self.boxes([card], INK, line=1.6)
            self.write(card.middle[0], card.y + HEIGHT + 14, sums, 14, align="middle")
        first, *others = (card.middle[0] for card in self.cards.values())
        y = TOP + HEIGHT + 28
        self.lines([(first, y, first, y + 14), (first, y + 14, others[-1], y + 14)])
        for x in others:
            self.arrow((x, y + 14), (x, y))
        self.write(others[0], y + 28, "these three read what pass 1 writes", 13, GRAY)
        self.sentence = f"Four passes in a row. They compute {', '.join(SUMS)}. The last three read what pass 1 writes."
