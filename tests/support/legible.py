"""What a reader would stumble over in a picture: words that are small, touch each other or leave the sheet."""

from collections.abc import Iterator

import numpy as np
from support.sample import sample

from helpers.pictures.canvas import Picture, outline
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
    words = [(word, mark.weight) for mark in picture.marks for word in mark.words]
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
