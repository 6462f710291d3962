"""Widgets for a reader to touch, with a little JavaScript: each of them stores a still picture and a sentence."""

import ast
import builtins
import html
import re
from collections.abc import Mapping
from pathlib import Path

from IPython import get_ipython
from traitlets import TraitType

HERE = Path(__file__).parent
# below what is stored of a widget, which answers nothing
WAKE = "To use it, run all cells down to this one."
ALONE = "To use it, run this cell."
VIEW = "application/vnd.jupyter.widget-view+json"  # the name of the live widget, which a page prefers to a picture


def displayed(bundle: Mapping[str, object]) -> dict[str, object]:
    """The output that a cell shows of a widget: only the picture or the words where a program runs the notebook.

    nbconvert, papermill and nbclient end the kernel before anybody opens what they write, and a live widget without its
    kernel is blank there. They tell the kernel that nobody can type.
    """
    return {kind: content for kind, content in bundle.items() if kind != VIEW or _has_reader()}


def wake() -> str:
    """Return what a reader does to use the widget that the cell shows, where only its picture or its words are stored.

    A cell that makes or imports every name that it uses can be run alone.
    """
    return ALONE if stands_alone(_request().get("code", "")) else WAKE


def stands_alone(code: str) -> bool:
    """Return True where code makes or imports each name that it uses; False for no code, or what is not Python."""
    try:
        nodes = [*ast.walk(ast.parse(code))]
    except SyntaxError:
        return False
    known = {*dir(builtins)}
    used = set()
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.add(node.id)
        else:
            known |= _names_made(node)
    return bool(used) and used <= known


def _names_made(node: ast.AST) -> set[str]:
    """Return the names to which a node of a syntax tree gives a value."""
    match node:
        case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return {(alias.asname or alias.name).partition(".")[0] for alias in aliases}
    return set()


def _has_reader() -> bool:
    """Return whether a reader can type where this cell runs, as the request to run it says; where it does not, yes."""
    return _request().get("allow_stdin", True)


def _request() -> Mapping:
    """The request to run this cell; empty where no notebook runs."""
    return getattr(get_ipython(), "parent_header", {}).get("content", {})


def as_html(text: str) -> str:
    """Words as HTML; what stands between backquotes is code."""
    return re.sub("`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)


def script(name: str) -> str:
    """The JavaScript of a part: what all parts do when a notebook is saved and with keys, and its own."""
    return "".join((HERE / f"{part}.js").read_text(encoding="utf-8") for part in ("stored", "keys", name))
