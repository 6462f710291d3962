"""Faults that a reader would stumble over in a picture: small, pale or touching words, tensors in another color."""

import re
from collections.abc import Iterable, Iterator

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from support.sample import sample

from helpers.pictures.canvas import DARK as IN_THE_DARK
from helpers.pictures.canvas import PAPER, Box, Picture, Word, number
from helpers.pictures.marks import Mark, outline
from helpers.pictures.parts import Grid
from helpers.widgets.explorer import Explorer
from helpers.widgets.ranges import limits

SMALLEST = 13  # CSS pixels
LIGHT, DARK = "#ffffff", "#111111"  # what JupyterLab's two themes lay under an output
CONTRAST = 4.5  # of text, at least: WCAG 2.2, 1.4.3


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colors such as #005a9c."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(color: str) -> float:
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def written(picture: Picture) -> list[str]:
    """All words on a picture."""
    return [word.text for word, _ in words_of(picture)]


def words_of(picture: Picture) -> Iterator[tuple[Word, Mark]]:
    """All words on a picture, each with the mark that it belongs to."""
    for mark in picture.marks:
        for word in mark.words:
            yield word, mark


def last_sums(picture: Picture) -> tuple[str, str]:
    """The last value of the running sum at the foot of a picture, and the total that stands beside it."""
    texts = written(picture)
    beside = next(i for i, text in enumerate(texts) if text.startswith("sum of "))
    return texts[beside - 1], texts[beside].rpartition(": ")[2]


def faults(picture: Picture, smallest: float = SMALLEST) -> Iterator[str]:
    """Faults that a reader would stumble over, in the picture and in the sentence below it."""
    if picture.width > 840 or picture.height > 484:
        yield f"the sheet is {picture.width} x {picture.height}"
    for sheet in (picture, picture.caption()):
        yield from _faults(sheet, smallest)


def readable(picture: Picture) -> list[tuple[Word, str]]:
    """The words on a picture that no card covers, each with its weight."""
    cards = opaque(picture)
    words = []
    for i, mark in enumerate(picture.marks):
        later_cards = [card for place, card in cards if place > i]
        words += [(word, mark.weight) for word in mark.words if not covered(word, later_cards)]
    return words


def covered(word: Word, boxes: Iterable[Box]) -> bool:
    """Return True for a word that begins inside one of the boxes."""
    return any(over(box, word) for box in boxes)


def _faults(picture: Picture, smallest: float) -> Iterator[str]:
    words = readable(picture)
    if not words:
        return
    outlines = [outline(*word)[0] for word in words]
    boxes = np.array([[*vertices.min(axis=0), *vertices.max(axis=0)] for vertices in outlines])
    texts = [word.text for word, _ in words]
    yield from (f"{word.text!r} is small" for word, _ in words if word.size < smallest)
    off = (boxes[:, :2] < 0).any(axis=1) | (boxes[:, 2:] > (picture.width, picture.height)).any(axis=1)
    yield from (f"{texts[i]!r} leaves the sheet" for i in np.flatnonzero(off))
    apart = (boxes[:, None, :2] >= boxes[None, :, 2:] + 1).any(axis=2)
    touch = np.triu(~apart & ~apart.T, 1)
    yield from (f"{texts[i]!r} touches {texts[j]!r}" for i, j in np.argwhere(touch))


def opaque(picture: Picture) -> list[tuple[int, Box]]:
    """The cards that hide all that is below them, each with the number of its mark."""
    cards = []
    for i, mark in enumerate(picture.marks):
        if mark.path is not None and mark.face and mark.face[3] == 1:
            cards += [(i, box) for box in boxes_of(mark)]
    return cards


def boxes_of(mark: Mark) -> list[Box]:
    """The boxes around the parts of a mark's path."""
    return [Box(*part.min(0), *np.ptp(part, 0)) for part in mark.path.to_polygons()]


def pale(picture: Picture) -> Iterator[str]:
    """Words that stand out too little from what is below them, on a light page or a dark one, and colors of no page."""
    images = [mark.image[0] for mark in picture.marks if mark.image]
    below = []
    for mark in picture.marks:
        colors = {mark.edge, *({to_hex(mark.face)} if mark.face else ())}
        yield from (f"{color} has no dark one" for color in colors - {*IN_THE_DARK})
        if mark.face and mark.path is not None:
            below += [(box, mark.face) for box in boxes_of(mark)]
        for word in mark.words:
            if not covered(word, images):
                grounds = [face for box, face in below if over(box, word)]
                yield from (f"{word.text!r} is pale on a {page} page" for page in _pale_on(mark.face, grounds))


def _pale_on(ink: tuple[float, ...], grounds: list[tuple[float, ...]]) -> Iterator[str]:
    """The pages, "light" or "dark", on which an ink stands out too little from the colors below it."""
    for page, color_of in (("light", str), ("dark", IN_THE_DARK.get)):
        paper = np.array(to_rgb(color_of(PAPER)))
        for face in grounds:
            paper = paper + face[3] * (np.array(to_rgb(color_of(to_hex(face)))) - paper)
        if contrast(color_of(to_hex(ink)), to_hex(paper)) < CONTRAST:
            yield page


def over(box: Box, word: Word) -> bool:
    return box.x < word.x < box.x + box.width and box.y < word.y < box.y + box.height


# A tensor's ink in all pictures, light, and the names of its elements; none of its grids may look otherwise.
LOOKS = {
    ("#1a1a1a", "[a-z]"): "input images grad_input x dX a d_a",
    ("#00684a", r"w\d\d"): "weight filter grad_weight w b d_b bias grad_bias d_bias",
    ("#a84200", "[G-Z]"): "output grad_output conv2d dy pre grad_pre results",
}
LOOK_OF = {}
for look, tensors in LOOKS.items():
    LOOK_OF |= dict.fromkeys(tensors.split(), look)
NAME = re.compile("[a-zA-Z]|w[0-9]{2}")


def otherwise(picture: Picture) -> Iterator[str]:
    """Tensors whose titles, numbers or names look otherwise here than in the other pictures."""
    cards = [card for _, card in opaque(picture)]  # a card flies over a grid
    words = [(word, to_hex(mark.face), mark.weight) for word, mark in words_of(picture) if not covered(word, cards)]
    for word, color, weight in words:
        tensor = re.match(r"(\w*)(\[[\d,]*\]|  .*|, .*)?$", word.text)
        if weight == "bold" and word.size >= 13 and tensor and LOOK_OF.get(tensor[1], (color,))[0] != color:
            yield f"the title {word.text!r} has another color"
    for grid in picture.numbered:
        if hasattr(grid, "look"):
            yield from _otherwise_in(grid, words)


def _otherwise_in(grid: Grid, words: list[tuple[Word, str, str]]) -> Iterator[str]:
    """The words in a tensor's grid that have another color than its numbers, or are another tensor's names."""
    tensor = re.match(r"\w*", grid.caption)[0]
    ink, names = LOOK_OF.get(tensor, ("", ""))
    for box, value in zip(grid.boxes, grid.values.flat, strict=True):
        for word, color, _ in words:
            if ink and over(box, word):
                is_other_name = NAME.fullmatch(word.text) and not re.fullmatch(names, word.text)
                if is_other_name or (word.text == number(value) and color != ink):
                    yield f"{word.text!r} in {grid.caption} looks otherwise"


def states(explorer: Explorer) -> list[dict[str, int]]:
    """Every combination of values that the sliders can reach."""
    reached: list[dict[str, int]] = [{}]
    for name, rule in explorer._rules.items():
        longer = []
        for values in reached:
            low, high = limits(rule, values)
            longer += [values | {name: value} for value in range(low, high + 1)]
        reached = longer
    return reached


def different(reached: list[dict[str, int]], orders: list[tuple[int, ...]]) -> set[tuple]:
    """The states that differ: where they have an order and a turn, what comes after that turn is not shown yet."""
    shown = set()
    for values in reached:
        if "turn" in values:
            shown.add(orders[values["order"]][: values["turn"]])
        else:
            shown.add(tuple(values.values()))
    return shown


def illegible(explorer: Explorer, count: int = 99, smallest: float = SMALLEST) -> list[str]:
    """Faults that a reader would stumble over in some of the states of an explorer, with the states' sentences."""
    seen = [(explorer.set(**values), *faults(explorer.picture, smallest)) for values in sample(states(explorer), count)]
    return [state for state in seen if state[1:]]
