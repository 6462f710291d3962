"""What a reader touches: widgets with a little JavaScript, each of which stores a still picture and a sentence."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from threading import RLock

from traitlets import TraitType

HERE = Path(__file__).parent
WAKE = "To use it, run all cells down to this one."  # below what is stored of a widget, which answers nothing


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)


def in_turn(act: Callable) -> Callable:
    """A method of a widget that waits for the others: JupyterLab may run what a reader does twice in two threads."""

    @wraps(act)
    def act_in_turn(widget: object, *arguments: object, **named: object) -> object:
        with vars(widget).setdefault("_turn", RLock()):
            return act(widget, *arguments, **named)

    return act_in_turn


def script(name: str) -> str:
    """The JavaScript of a part: what all parts do when a notebook is saved and with keys, and its own."""
    return "".join((HERE / f"{each}.js").read_text(encoding="utf-8") for each in ("stored", "keys", name))
