"""LeNet with a place for each kernel of the reader's, as a part of a picture."""

from collections.abc import Sequence

from helpers.data import digits
from helpers.lessons.shared.course import Slot, layers
from helpers.pictures.canvas import BLUE, GRAY, INK, PAPER, Box, Picture
from helpers.pictures.figures import draw_ink

# CSS pixels
PIXEL = 2  # of the digit
WIDTH = 120  # of a column of places
GAP = 9  # between two columns
TITLE = 27  # above the places of a kind
PITCH = 25  # from one place to the next
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
    images, _ = digits.load(DIGIT + 1)
    draw_ink(picture, images[DIGIT], image, 255)
    x = image.right
    for kinds in COLUMNS:
        picture.arrow((x + 2, middle), (x + GAP - 2, middle))
        _draw_column(picture, x + GAP, middle, kinds, slots, right)
        x += GAP + WIDTH
    picture.arrow((x + 2, middle), (x + GAP - 2, middle))
    picture.bold(x + GAP + 2, middle, str(DIGIT), 24)
    lit = sum(is_lit(slot, right) for slot in slots)
    picture.bold(box.right - 12, box.bottom - 8, f"yours: {lit} of {len(slots)} kernels", 13, BLUE, "right")


def _draw_column(
    picture: Picture, x: float, middle: float, kinds: Sequence[str], slots: Sequence[Slot], right: frozenset[str]
) -> None:
    """Kinds of layers below each other, around the height of the middle."""
    places = {}
    heights = {}
    for kind in kinds:
        places[kind] = [slot for slot in slots if slot.kind == kind]
        heights[kind] = TITLE + 5 + PITCH * len(places[kind])
    height = sum(heights.values()) + GAP * (len(kinds) - 1)
    y = middle - height / 2
    for kind in kinds:
        box = Box(x, y, WIDTH, heights[kind])
        _draw_kind(picture, box, kind, places[kind], right)
        y += heights[kind] + GAP


def is_lit(slot: Slot, right: frozenset[str]) -> bool:
    """True where one of its puzzles is right."""
    return not right.isdisjoint(slot.puzzles)


def _draw_kind(picture: Picture, box: Box, kind: str, slots: Sequence[Slot], right: frozenset[str]) -> None:
    """LeNet's layers of one kind, with their places: empty and dashed, or lit."""
    picture.boxes([box], GRAY, line=1.4)
    count = layers()[kind]
    title = KINDS[kind] if count == 1 else f"{count} {KINDS[kind]}"
    picture.write(box.middle[0], box.y + 14, title, 13, align="middle")
    for i, slot in enumerate(slots):
        place = Box(box.x + 4, box.y + TITLE + PITCH * i, WIDTH - 8, 22)
        if is_lit(slot, right):
            ink = PAPER
            picture.boxes([place], BLUE, BLUE, 1.2)
        else:
            ink = INK
            picture.boxes([place], GRAY, line=1.2, dashes=(3, 3))
        picture.write(place.x + 4, place.middle[1], slot.result, 13, ink)
        picture.write(place.right - 4, place.middle[1], slot.lesson, 13, ink, align="right")
