"""What a reader touches: widgets with a little JavaScript, each of which stores a still picture and a sentence."""

from pathlib import Path

from traitlets import TraitType

HERE = Path(__file__).parent
WAKE = "To use it, run all cells down to this one."  # below what is stored of a widget, which answers nothing


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)


def script(name: str) -> str:
    """The JavaScript of a part: what all parts do when a notebook is saved and with keys, and its own."""
    return "".join((HERE / f"{each}.js").read_text(encoding="utf-8") for each in ("stored", "keys", name))
