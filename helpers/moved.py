"""Lessons that have another name than they once had: where a link or an open tab still has the old one, JupyterLab
shows a page that leads to the new one. A file of that name, such as a reader's own copy, is opened as it is.
"""

from pathlib import PurePosixPath

from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat import v4

MOVED = {  # the old name: the new one
    "07_the_speed_ladder.ipynb": "08_the_speed_ladder.ipynb",
    "08_train_lenet.ipynb": "07_train_lenet.ipynb",
}


class Contents(AsyncLargeFileManager):
    """The files that JupyterLab shows."""

    async def get(self, path: str, content: bool = True, **options: object) -> dict:
        """A file as usual, or the page that leads to it."""
        old = PurePosixPath(path)
        new = old.with_name(MOVED[old.name]) if old.name in MOVED else None
        if not new or await self.file_exists(path) or not await self.file_exists(str(new)):
            return await super().get(path, content, **options)
        model = await super().get(str(new), content=False, **options)
        page = v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
        page.cells.append(v4.new_markdown_cell(f"# This lesson has a new name\n\n[Open {new.name}]({new.name})"))
        shown = {"content": page, "format": "json"} if content else {}
        return {**model, "name": old.name, "path": path, "writable": False, **shown}
