"""Run notebooks from top to bottom and store them with their outputs: the same bytes every time.

    python tests/support/store.py [notebook ...]

Without a name it stores every notebook of notebooks/. A cell that fails, or writes to stderr, stores nothing.
A cell that nbval ignores keeps what it shows until its text is edited or its output cleared: a new time at every run
would be noise.
"""

import argparse
import hashlib
import os
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellControlSignal, DeadKernelError
from nbformat import NotebookNode

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # this file is a script, too

from support.default_folder import as_by_default
from support.notebook_gate import IGNORED, NOTEBOOKS, WIDGET_VIEW, Lesson, broken_rules, errors

CELL_TIMEOUT = 120  # seconds


class StoreError(RuntimeError):
    """A notebook that must not be stored, and why."""


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Run every cell in a fresh kernel that starts in `folder`; the outputs replace those in `notebook`."""
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    try:
        client.execute()
    except (CellControlSignal, DeadKernelError) as error:
        raise StoreError(str(error)) from None


def normalize(notebook: NotebookNode) -> None:
    """Take away what differs from run to run or from machine to machine, but says nothing to a reader."""
    language = notebook.metadata.language_info
    language.pop("version", None)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    notebook.metadata = nbformat.from_dict({"kernelspec": kernel, "language_info": language})
    notebook.nbformat_minor = 5  # the first format with cell ids
    for cell, name in zip(notebook.cells, ids(notebook), strict=True):
        cell.id = name
        cell.metadata = NotebookNode(tags=IGNORED) if cell.metadata.get("tags") == IGNORED else NotebookNode()
        for output in [*cell.get("outputs", [])]:
            if output.get("data", {}).pop(WIDGET_VIEW, None) and not output.data:
                cell.outputs.remove(output)
            for kind, content in output.get("data", {}).items():
                output.data[kind] = as_by_default(content) if isinstance(content, str) else content


def ids(notebook: NotebookNode) -> list[str]:
    """One id for each cell, from its text: a cell that moves keeps its id, and so do its neighbors."""
    sources = [cell.source for cell in notebook.cells]
    counts = [sources[: i + 1].count(source) for i, source in enumerate(sources)]
    texts = [f"{cell.cell_type} {count} {cell.source}" for cell, count in zip(notebook.cells, counts, strict=True)]
    return [hashlib.sha256(text.encode()).hexdigest()[:8] for text in texts]


def keep_ignored(notebook: NotebookNode, before: NotebookNode) -> None:
    """Give cells that nbval ignores their old outputs back; as ids come from texts, an edited cell has none."""
    old = {cell.node.get("id"): cell.outputs for cell in Lesson(Path(), before).code if cell.ignored}
    for cell in notebook.cells:
        if old.get(cell.id):
            cell.outputs = old[cell.id]
            results = (output for output in cell.outputs if output.output_type == "execute_result")
            for result in results:
                result.execution_count = cell.execution_count  # cells before it may be new


def store(path: Path) -> list[str]:
    """Run the notebook at `path`, write it back, and return which of the gate's rules it breaks.

    Raises
    ------
    StoreError
        A cell failed, hung or wrote to stderr; the file is as it was.
    """
    before = Lesson.read(path).notebook
    notebook = Lesson.read(path).notebook
    execute(notebook, path.parent)
    normalize(notebook)
    keep_ignored(notebook, before)
    failures = list(errors(Lesson(path, notebook)))
    if failures:
        raise StoreError("\n".join(failures))
    text = nbformat.writes(notebook).rstrip("\n") + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
    return broken_rules(Lesson.read(path))


def main() -> int:
    """Store the notebooks named on the command line; 1 if one could not be, or breaks a rule."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(NOTEBOOKS.glob("*.ipynb")))
    paths = parser.parse_args().notebooks
    failed = 0
    with tempfile.TemporaryDirectory() as my:
        os.environ["CONVGRAD_MY"] = my  # a reader who has written nothing: the map shows what one has
        for path in paths:
            try:
                broken = store(path.resolve())
                print("\n  ".join([f"{path}: stored", *broken]))
            except StoreError as error:
                broken = [error]
                print(f"{path}: not stored\n{error}", file=sys.stderr)
            failed |= bool(broken)
    return failed


if __name__ == "__main__":
    sys.exit(main())
