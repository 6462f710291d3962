"""Shadow memory: beside each word of a memory, who wrote it and who read it since the last barrier."""

import numpy as np

from helpers.lessons.simulator.detector import NOBODY, Note, Shadow, note_last
from helpers.lessons.simulator.pictures.listing import Listing
from helpers.lessons.simulator.runs import NUMBERS, WATCHED, MemoryStep, WatchedKernel, accesses
from helpers.pictures.canvas import BLUE, GRAY, MARGIN, ORANGE, Box, Picture
from helpers.pictures.parts import Area, Grid
from helpers.pictures.touchable import Touchable

WORDS = len(NUMBERS)
FIRST = Box(522, 70, 75, 38)  # CSS pixels: a note of word 0
STEP = Box(MARGIN, 206, 45, 40)  # the first access


class ShadowPicture(Picture):
    """A kernel's lines, the notes beside the words of its memory, and all of its accesses in a row."""

    def __init__(self) -> None:
        super().__init__(int(STEP.bottom + 12))

    def draw(self, kernel: int, step: int, word: int) -> str:
        """Show the notes after an access, and point at a word."""
        shown = WATCHED[kernel]
        steps = accesses(shown)
        if self.starts(kernel):
            self._draw_frame(shown, steps)
            self.stands_still()
        now = steps[step]
        shadow = Shadow(WORDS, note_last)
        races = []
        for i, done in enumerate(steps[: step + 1]):
            races = []
            if done.access:
                races = shadow.races(done.access)
                shadow.note(done.access)
            self._draw_step(i, done, bool(races), i == step)
        self.listing.frame(now.line)
        self._draw_notes(shadow, now, word)
        self.write(FIRST.x + WORDS * FIRST.width, 20, f"epoch {now.epoch}", 15, BLUE, "bold", "right")
        return f"{_sentence(shown, now, races)} {_notes_sentence(shown, shadow, word, now.epoch)}"

    def _draw_frame(self, kernel: WatchedKernel, steps: tuple[MemoryStep, ...]) -> None:
        self.listing = Listing(self, kernel.text, kernel.body, MARGIN, 14, 422)
        self.bold(FIRST.x, 20, "notes beside each word", 15)
        for word in range(WORDS):
            name = f"{kernel.variable}[{word}]"
            self.write(FIRST.x + FIRST.width * (word + 0.5), 54, name, 13, align="middle")
        for row, name in enumerate(("written by", "read by")):
            self.write(FIRST.x - 10, FIRST.y + FIRST.height * (row + 0.5), name, 13, GRAY, align="right")
        note = "the accesses in lockstep: w writes, r reads; below, the thread; wait: all threads pass a barrier"
        self.write(MARGIN, STEP.y - 16, note, 13, GRAY)
        whole = STEP._replace(width=STEP.width * len(steps))
        area = Area(self, np.zeros((1, len(steps))), whole, "accesses")
        area.touch("accesses", "step")

    def _draw_step(self, i: int, step: MemoryStep, is_race: bool, is_now: bool) -> None:
        """An access, or a barrier, in the row of all that were made."""
        box = STEP._replace(x=STEP.x + STEP.width * i)
        if step.access is None:
            self.label([box], ["wait"], 13, GRAY)
            self.boxes([box], GRAY, dashes=(3, 3))
        else:
            self.boxes([box])
            letter = "w" if step.access.writes else "r"
            self.label([box], [f"{letter}[{step.access.word}]"], 13, down=-8)
            self.label([box], [step.access.thread], 13, GRAY, down=10)
        if is_race:
            self.tinted([box], ORANGE, 1.6, 0.5)
        if is_now:
            self.boxes([box], BLUE, line=3)

    def _draw_notes(self, shadow: Shadow, now: MemoryStep, word: int) -> None:
        """The last writer and the last reader of each word; what lies before the last barrier is gray."""
        notes = (shadow.writes, shadow.reads)
        who = [[note.who if note.who != NOBODY else np.nan for note in row] for row in notes]
        grid = Grid(self, who, FIRST.x, FIRST.y, (FIRST.width, FIRST.height), numbers=False)
        cells = {cell: {"word": cell[1]} for cell in np.ndindex(2, WORDS)}
        self.touchable["notes"] = Touchable(grid, cells)
        for (row, column), cell_who in np.ndenumerate(np.array(who)):
            note = notes[row][column]
            if not np.isnan(cell_who):
                is_new = note.when == now.epoch
                text = f"thread {note.who}"
                self.label([grid.box(row, column)], [text], 13, weight="bold" if is_new else "normal", down=-8,
                           color=BLUE if is_new else GRAY)  # fmt: skip
                self.label([grid.box(row, column)], [f"epoch {note.when}"], 13, GRAY, down=9)
        if now.access:
            row = 0 if now.access.writes else 1
            grid.tinted([(row, now.access.word)], BLUE, 1.6)
        self.boxes([grid.box(0, word, 2)], BLUE, line=2.4)


def _sentence(kernel: WatchedKernel, step: MemoryStep, races: tuple[Note, ...]) -> str:
    """Say what an access does, and with which earlier one it is a race."""
    if step.access is None:
        return f"All threads pass the barrier: epoch {step.epoch} begins."
    access = step.access
    does = "writes" if access.writes else "reads"
    sentence = f"Thread {access.thread} {does} {kernel.variable}[{access.word}]"
    if not races:
        return f"{sentence}: no race is found."
    return f"{sentence}, which thread {races[0].who} has used in this epoch: a race."


def _notes_sentence(kernel: WatchedKernel, shadow: Shadow, word: int, epoch: int) -> str:
    """Say who has used a word in this epoch."""
    parts = []
    for verb, note in {"written": shadow.writes[word], "read": shadow.reads[word]}.items():
        if note.when == epoch:
            parts.append(f"{verb} by thread {note.who}")
    notes = " and ".join(parts) or "used by nobody"
    return f"Since the last barrier, {kernel.variable}[{word}] was {notes}."
