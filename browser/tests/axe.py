"""axe-core, which looks for what keeps people out of a page; npm has it."""

import shutil
import subprocess
from pathlib import Path

from browser import paths

VERSION = "4.14.1"
FOLDER = paths.CACHE / "axe"
FILE = FOLDER / "node_modules" / "axe-core" / "axe.min.js"
FINDINGS = (
    """async () => (await axe.run()).violations.map(({id, help, nodes}) => [id, help, nodes.map(node => node.html)])"""
)


def axe() -> Path:
    """Return the script, which is fetched once. Raises FileNotFoundError where there is no npm."""
    if not FILE.is_file():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("the test of accessibility needs npm: install Node")
        command = [npm, "install", "--prefix", str(FOLDER), "--no-save", f"axe-core@{VERSION}"]
        subprocess.run(command, check=True, capture_output=True)
    return FILE
