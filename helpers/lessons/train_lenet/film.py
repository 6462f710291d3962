"""A film of a real run: six filters grow out of random numbers, while the loss falls.

    python -m helpers.lessons.train_lenet.film FILE

FILE ends in .webp, which takes an eighth of a GIF's bytes. It trains LeNet on the digits of the lesson.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from helpers.data.digits import seen_and_unseen
from helpers.lessons.shared.pictures.curves import CHART, HIGH, FiltersPicture
from helpers.network.network import Network
from helpers.network.training import Moment, Training
from helpers.operations.network.reference import softmax
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, WIDTH, Box, Word
from helpers.pictures.figures import colored, draw_ink
from wgsl.output import escape_what_cannot_be_printed

Array = np.ndarray
EPOCHS = 3
FRAMES = 176
SLOW = 1.6  # the step of a frame grows with this power: the start is slow
PACE = 100  # milliseconds of a frame
HOLD = 2000  # milliseconds of the last one
SHOWN = 38  # which of the unseen digits is read
# CSS pixels
DIGIT = Box(566, CHART, HIGH, HIGH)
BARS = 672  # where the bars begin
HEIGHT = 60  # of the highest bar


class FilmPicture(FiltersPicture):
    """One frame: the filters and gradients of a step, the loss up to it, and how a digit is read then.

    `logits` has the network's outputs for the digit, (steps, classes).
    """

    def __init__(self, moments: Sequence[Moment], logits: Array, digit: Array) -> None:
        self.digit = digit
        self.shares = softmax(logits)
        super().__init__(moments, logits.shape[1], width=530)

    def draw_still(self) -> None:
        """The digit, and the names of the bars, too."""
        super().draw_still()
        self.bold(DIGIT.x, CHART - 18, "a digit it never saw", 14)
        draw_ink(self, self.digit, DIGIT)
        self.lines([(BARS, DIGIT.bottom, WIDTH - MARGIN, DIGIT.bottom)], GRAY, 1)
        words = []
        for i, bar in enumerate(self._bars(0)):
            middle, _ = bar.middle
            words.append(Word(middle, DIGIT.bottom + 16, str(i), 13))
        self.words(words, GRAY)

    def draw_run(self, steps: int) -> None:
        """Not yet: it grows."""

    def draw_title(self, step: int) -> None:
        """Write what is seen, and the counter."""
        self.chart.run(self.losses[: step + 1])
        self.title(20, "LeNet learns to read: every number computed by WGSL kernels")
        self.bold(WIDTH - MARGIN, 20, f"step {step:,}", 17, BLUE, "right")
        bars = self._bars(step)
        answer = int(self.shares[step].argmax())
        self.boxes(bars, BLUE, BLUE, 0)
        self.boxes([bars[answer]], ORANGE, ORANGE, 0)
        percent = 100 * self.shares[step, answer]
        reading = f"read as {answer}: {percent:.0f} %"
        self.bold(WIDTH - MARGIN, CHART + 6, reading, 14, ORANGE, "right")

    def draw_panel(self, panel: Array, box: Box, largest: float) -> None:
        """Colors alone: signs that come and go would flicker."""
        self.image(box, colored(panel, largest))
        self.boxes([box], GRAY)

    def _bars(self, step: int) -> list[Box]:
        """A bar for each class, as high as it is likely."""
        shares = self.shares[step]
        width = (WIDTH - MARGIN - BARS) / len(shares)
        bars = []
        for i, share in enumerate(shares):
            left = BARS + i * width
            height = HEIGHT * share
            bars.append(Box(left + 1.5, DIGIT.bottom - height, width - 3, height))
        return bars


def filmed(epochs: float = EPOCHS) -> FilmPicture:
    """Train LeNet, and ask it for one digit before each step."""
    images, labels, unseen, _ = seen_and_unseen()
    network = Network(seed=0)
    digit = unseen[SHOWN : SHOWN + 1]
    training = Training(network, images, labels)
    logits = []
    last = round(epochs * training.steps_per_epoch)
    for step in range(last + 1):
        logits.append(network.logits(digit)[0])
        training.advance(1)
        print(f"\rstep {step}, loss {training.moments[-1].loss:.2f} ", end="", flush=True)
    return FilmPicture(training.moments, np.array(logits), digit[0, 0])


def steps_shown(last: int) -> list[int]:
    """The steps of the frames: at first one after the other, later with leaps between."""
    parts = np.linspace(0, 1, FRAMES) ** SLOW  # of the run
    steps = np.rint(last * parts).astype(int)
    return np.unique(steps).tolist()


def write(picture: FilmPicture, file: Path) -> None:
    """Write the film, without any loss, so that no color flickers."""
    frames = []
    for step in steps_shown(picture.last):
        sheet = picture.show(step).rgba()
        frames.append(Image.fromarray(sheet).convert("RGB"))
    first, *rest = frames
    durations = [PACE] * len(rest) + [HOLD]
    first.save(file, save_all=True, append_images=rest, duration=durations, loop=0, lossless=True, method=6)


def main() -> None:
    """The command."""
    escape_what_cannot_be_printed()
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="where to write it, such as film.webp")
    file = parser.parse_args().file
    write(filmed(), file)
    print(f"\n{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
