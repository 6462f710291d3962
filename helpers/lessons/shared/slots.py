"""LeNet with a place for each kernel of the reader's, as a part of a picture."""

from collections.abc import Sequence

from helpers.data import digits
from helpers.lessons.shared.course import Slot, layers
from helpers.pictures.canvas import BLUE, GRAY, INK, PAPER, Box, Picture
from helpers.pictures.figures import draw_ink

# CSS pixels: of the digit, of a column of places, and between two columns
PIXEL = 2
WIDTH = 116
GAP = 10
# CSS pixels: above the places of a kind, and from one place to the next
TITLE = 27
PITCH = 25
KINDS = {
    "Conv2d": "convolutions",
    "MaxPool2d": "max poolings",
    "Linear": "fully connected",
    "Loss": "loss",
    "Update": "update",
}
COLUMNS = ("Conv2d",), ("Update", "MaxPool2d", "Loss"), ("Linear",)
DIGIT = 3


def draw_slots(picture: Picture, box: Box, slots: Sequence[Slot], right: frozenset[str]) -> None:
    """Draw a digit, LeNet's layers with the reader's places, and the answer; places of right puzzles are lit."""
    middle = box.middle[1] + 11
    image = Box(box.x + 8, middle - 14 * PIXEL, 28 * PIXEL, 28 * PIXEL)
    draw_ink(picture, digits.load(DIGIT + 1)[0][DIGIT], image, 255)
    x = image.right
    for kinds in COLUMNS:
        picture.arrow((x + 2, middle), (x + GAP - 2, middle))
        mine = [[slot for slot in slots if slot.kind == kind] for kind in kinds]
        heights = [TITLE + 5 + PITCH * len(places) for places in mine]
        y = middle - (sum(heights) + GAP * (len(kinds) - 1)) / 2
        for kind, places, height in zip(kinds, mine, heights, strict=True):
            _draw_kind(picture, Box(x + GAP, y, WIDTH, height), kind, places, right)
            y += height + GAP
        x += GAP + WIDTH
    picture.arrow((x + 2, middle), (x + GAP - 2, middle))
    picture.bold(x + GAP + 2, middle, str(DIGIT), 24)
    said = f"yours: {sum(is_lit(slot, right) for slot in slots)} of {len(slots)} kernels"
    picture.bold(box.right - 12, box.bottom - 8, said, 12, BLUE, "right")


def is_lit(slot: Slot, right: frozenset[str]) -> bool:
    """True where one of its puzzles is right."""
    return not right.isdisjoint(slot.puzzles)


def _draw_kind(picture: Picture, box: Box, kind: str, slots: Sequence[Slot], right: frozenset[str]) -> None:
    """LeNet's layers of one kind, with their places: empty and dashed, or lit."""
    picture.boxes([box], GRAY, line=1.4)
    count = f"{layers()[kind]} " * (layers()[kind] > 1)
    picture.write(box.middle[0], box.y + 14, f"{count}{KINDS[kind]}", 12, align="middle")
    for i, slot in enumerate(slots):
        place = Box(box.x + 6, box.y + TITLE + PITCH * i, WIDTH - 12, 22)
        edge, face, dashes, ink = (BLUE, BLUE, None, PAPER) if is_lit(slot, right) else (GRAY, None, (3, 3), INK)
        picture.boxes([place], edge, face, 1.2, dashes)
        picture.write(place.x + 5, place.middle[1], slot.result, 12, ink)
        picture.write(place.right - 4, place.middle[1], slot.lesson, 12, ink, align="right")
