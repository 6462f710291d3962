"""What a reader touches: widgets with a little JavaScript, each of which stores a still picture and a sentence."""

from pathlib import Path

from traitlets import TraitType

FOLDER = Path(__file__).parent


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)


def script(name: str) -> str:
    """The JavaScript of a part: what all parts do with keys, and its own."""
    return "".join((FOLDER / f"{each}.js").read_text(encoding="utf-8") for each in ("keys", name))
