"""The lessons in the site: notebooks with their pictures, pages of text, and the lists that JupyterLite reads."""

import html
import json
import re
from pathlib import Path
from zlib import crc32

import nbformat

from browser import paths
from browser.files import write
from browser.jupyterlite import FOLDERS
from helpers.lessons.shared.course import LESSONS

HAND_IN = nbformat.read(paths.HERE / "hand_in.ipynb", 4)  # the cells below each lesson, and the kernel
KINDS = {".ipynb", ".png", ".svg", ".webp"}  # of the files that a lesson is made of
PRIVATE = {"my", "attempts", ".ipynb_checkpoints"}  # folders of a learner's own files, and of copies that Jupyter keeps
MADE_AT = "2026-01-01T00:00:00Z"  # for JupyterLite, all files have this time
LINK = re.compile(r"\]\(\.\./([^)#]+)")  # from a lesson to a file of the project
TEXT = """<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>
<link rel="icon" href="{up}notebooks/favicon.ico">
<style>:root {{ color-scheme: light dark }} pre {{ white-space: pre-wrap; max-width: 120ch }}</style>
<pre>{text}</pre>"""


def lessons() -> None:
    """Write the notebooks and their pictures, and the lists of files that JupyterLite reads."""
    for path in sorted((paths.ROOT / "notebooks").rglob("*")):
        if path.suffix in KINDS and not PRIVATE & {*path.parts}:
            write(f"files/{path.relative_to(paths.ROOT).as_posix()}", lesson(path))
    for directory in map(Path, FOLDERS):
        write(f"api/contents/{(directory / 'all.json').as_posix()}", listing(directory))


def lesson(path: Path) -> bytes:
    """A file for the reader; a notebook ends with a download."""
    if path.suffix != ".ipynb":
        return path.read_bytes()
    notebook = nbformat.read(path, 4)  # its texts in one piece: there is no server that joins the lines
    if any(cell["cell_type"] == "code" for cell in notebook["cells"]):
        notebook["cells"] += HAND_IN["cells"]
    notebook["metadata"] |= HAND_IN["metadata"]
    return stamped(notebook)


def stamped(notebook: dict) -> bytes:
    """A notebook that says what it was when it was served, for `copies.js`."""
    sums = {cell["id"]: crc32(cell["source"].encode()) for cell in notebook["cells"]}
    notebook["metadata"]["convgrad"] = {"cells": sums, "version": crc32(json.dumps(notebook["cells"]).encode())}
    return json.dumps(notebook, indent=1, ensure_ascii=False).encode()


def lesson_texts() -> dict[str, str]:
    """The texts of the lessons for the map, by the names of files: cells without outputs, and the teachers' pages."""
    texts = {}
    for pattern in LESSONS:
        for path in sorted((paths.ROOT / "notebooks").glob(pattern)):
            cells = json.loads(path.read_bytes())["cells"]
            kept = [{"cell_type": cell["cell_type"], "source": cell["source"]} for cell in cells]
            texts[f"notebooks/{path.name}"] = json.dumps({"cells": kept})
            page = path.parent / "teaching" / f"{path.stem}.md"
            texts[page.relative_to(paths.ROOT).as_posix()] = page.read_text(encoding="utf-8")
    return texts


def texts() -> None:
    """Write the files that lessons link to, and the teachers' pages, as pages that a browser shows."""
    folder = paths.ROOT / "notebooks"
    cells = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*.ipynb"))
    linked = {paths.ROOT / "README.md", *(paths.ROOT / name for name in LINK.findall(cells))}
    for path in sorted({*linked, *(folder / "teaching").glob("*.md")}):
        name = path.relative_to(paths.ROOT).as_posix()
        up = "../" * len(Path("text", name).parent.parts)  # from the page to the site's own folder
        text = html.escape(path.read_text(encoding="utf-8"))
        write(f"text/{name}.html", TEXT.format(name=name, text=text, up=up))


def listing(directory: Path) -> dict:
    """A folder as JupyterLite lists it."""
    files = paths.MADE / "files"
    inside = sorted((files / directory).iterdir())
    return {**entry(directory), "content": [entry(path.relative_to(files)) for path in inside]}


def entry(path: Path) -> dict:
    """A file or folder as JupyterLite lists it."""
    kind = kind_of(path)
    at_the_top = path == Path()
    return {
        "name": "" if at_the_top else path.name,
        "path": "" if at_the_top else path.as_posix(),
        "type": kind,
        "size": None,
        "mimetype": None,
        "created": MADE_AT,
        "last_modified": MADE_AT,
        "writable": True,
        "content": None,
        "format": None if kind == "file" else "json",
    }


def kind_of(path: Path) -> str:
    """JupyterLite's word for what stands at a place among the files of the site."""
    if (paths.MADE / "files" / path).is_dir():
        return "directory"
    return "notebook" if path.suffix == ".ipynb" else "file"
