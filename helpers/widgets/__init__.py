"""Widgets for a reader to touch, with a little JavaScript: each of them stores a still picture and a sentence."""

from collections.abc import Mapping
from pathlib import Path

from IPython import get_ipython
from traitlets import TraitType

HERE = Path(__file__).parent
WAKE = "To use it, run all cells down to this one."  # below what is stored of a widget, which answers nothing
VIEW = "application/vnd.jupyter.widget-view+json"  # the name of the live widget, which a page prefers to a picture


def displayed(bundle: Mapping[str, object]) -> dict[str, object]:
    """The output that a cell shows of a widget: only the picture or the words where a program runs the notebook.

    nbconvert, papermill and nbclient end the kernel before anybody opens what they write, and a live widget without its
    kernel is blank there. They tell the kernel that nobody can type.
    """
    return {kind: content for kind, content in bundle.items() if kind != VIEW or _has_reader()}


def _has_reader() -> bool:
    """Return whether a reader can type where this cell runs, as the request to run it says; where it does not, yes."""
    request = getattr(get_ipython(), "parent_header", {})
    return request.get("content", {}).get("allow_stdin", True)


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)


def script(name: str) -> str:
    """The JavaScript of a part: what all parts do when a notebook is saved and with keys, and its own."""
    return "".join((HERE / f"{part}.js").read_text(encoding="utf-8") for part in ("stored", "keys", name))
