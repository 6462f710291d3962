"""What a reader would stumble over in a picture: words that are small, pale or touch, tensors in another color."""

import re
from collections.abc import Iterator

import numpy as np
from matplotlib.colors import to_hex, to_rgb
from support.sample import sample

from helpers.pictures.canvas import DARK as IN_THE_DARK
from helpers.pictures.canvas import PAPER, Box, Picture, Word, number, outline
from helpers.widgets.explorer import Explorer, limits

SMALLEST = 12  # CSS pixels
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
    return [word.text for mark in picture.marks for word in mark.words]


def last_sums(picture: Picture) -> tuple[str, str]:
    """Where the running sum at the foot of a picture ends, and the total that stands beside it."""
    texts = written(picture)
    beside = next(i for i, text in enumerate(texts) if text.startswith("sum of "))
    return texts[beside - 1], texts[beside].rpartition(": ")[2]


def faults(picture: Picture, smallest: float = SMALLEST) -> Iterator[str]:
    """What a reader would stumble over, in the picture and in the sentence below it."""
    if picture.width > 840 or picture.height > 484:
        yield f"the sheet is {picture.width} x {picture.height}"
    for sheet in (picture, picture.caption()):
        yield from _faults(sheet, smallest)


def _faults(picture: Picture, smallest: float) -> Iterator[str]:
    cards = opaque(picture)
    words = [
        (word, mark.weight)
        for i, mark in enumerate(picture.marks)
        for word in mark.words
        if not any(later > i and over(card, word) for later, card in cards)  # what a card covers is not read
    ]
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
    marks = [(i, mark) for i, mark in enumerate(picture.marks) if mark.path is not None and mark.face]
    parts = [(i, part) for i, mark in marks if mark.face[3] == 1 for part in mark.path.to_polygons()]
    return [(i, Box(*part.min(0), *np.ptp(part, 0))) for i, part in parts]


def pale(picture: Picture) -> Iterator[str]:
    """Words that stand out too little from what is below them, on a light page or a dark one, and colors of no page."""
    below, images = [], [mark.image[0] for mark in picture.marks if mark.image]
    for mark in picture.marks:
        colors = {mark.edge, *({to_hex(mark.face)} if mark.face else ())}
        yield from (f"{color} has no dark one" for color in colors - {*IN_THE_DARK})
        if mark.face and mark.path is not None:
            below += [(Box(*part.min(0), *np.ptp(part, 0)), mark.face) for part in mark.path.to_polygons()]
        for word in (word for word in mark.words if not any(over(image, word) for image in images)):
            grounds = [face for box, face in below if over(box, word)]
            for page, color_of in (("light", str), ("dark", IN_THE_DARK.get)):
                paper = np.array(to_rgb(color_of(PAPER)))
                for face in grounds:
                    paper = paper + face[3] * (np.array(to_rgb(color_of(to_hex(face)))) - paper)
                if contrast(color_of(to_hex(mark.face)), to_hex(paper)) < CONTRAST:
                    yield f"{word.text!r} is pale on a {page} page"


def over(box: Box, word: Word) -> bool:
    return box.x < word.x < box.x + box.width and box.y < word.y < box.y + box.height


# A tensor's ink in all pictures, light, and the names of its elements; none of its grids may look otherwise.
LOOKS = {
    ("#1a1a1a", "[a-z]"): "input images grad_input x dX a d_a",
    ("#00684a", r"w\d\d"): "weight filter grad_weight w b d_b bias grad_bias d_bias",
    ("#a84200", "[G-Z]"): "output grad_output conv2d dy pre grad_pre results",
}
OF = {tensor: look for look, tensors in LOOKS.items() for tensor in tensors.split()}
NAME = re.compile("[a-zA-Z]|w[0-9]{2}")


def otherwise(picture: Picture) -> Iterator[str]:
    """Tensors whose titles, numbers or names look otherwise here than in the other pictures."""
    cards = [card for _, card in opaque(picture)]
    words = [(word, to_hex(mark.face), mark.weight) for mark in picture.marks for word in mark.words]
    words = [each for each in words if not any(over(card, each[0]) for card in cards)]  # a card flies over a grid
    for word, color, weight in words:
        tensor = re.match(r"(\w*)(\[[\d,]*\]|  .*|, .*)?$", word.text)
        if weight == "bold" and word.size >= 13 and tensor and OF.get(tensor[1], (color,))[0] != color:
            yield f"the title {word.text!r} has another color"
    for grid in (each for each in picture.numbered if hasattr(each, "look")):
        ink, named = OF.get(re.match(r"\w*", grid.caption)[0], (None, ""))
        for box, value in zip(grid.boxes, grid.values.flat, strict=True):
            for word, color, _ in words if ink else ():
                if over(box, word):
                    is_name = NAME.fullmatch(word.text) and not re.fullmatch(named, word.text)
                    if is_name or (word.text == number(value) and color != ink):
                        yield f"{word.text!r} in {grid.caption} looks otherwise"


def states(explorer: Explorer) -> list[dict[str, int]]:
    """Every combination of values that the sliders can reach."""
    reached: list[dict[str, int]] = [{}]
    for name, rule in explorer._rules.items():
        allowed = ((values, limits(rule, values)) for values in reached)
        reached = [values | {name: value} for values, (low, high) in allowed for value in range(low, high + 1)]
    return reached


def illegible(explorer: Explorer, count: int = 99, smallest: float = SMALLEST) -> list[str]:
    """What a reader would stumble over in some of the states of an explorer, and their sentences."""
    seen = [(explorer.set(**values), *faults(explorer.picture, smallest)) for values in sample(states(explorer), count)]
    return [state for state in seen if state[1:]]
