"""Files of the site: written, compressed, and compared with what is expected of them."""

import gzip
import json
import re
from collections.abc import Iterable
from pathlib import Path

from browser import paths


def write(name: str, content: bytes | str | dict | list) -> None:
    """Write one file of the site; a dict or list as JSON."""
    path = paths.MADE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, dict | list):
        content = json.dumps(content, indent=1)
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content)


def pack(path: Path) -> None:
    """Put a compressed file beside a file: not every server compresses what it sends, and a browser can open it."""
    path.with_name(f"{path.name}.packed").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def check_present(patterns: Iterable[str], names: Iterable[str]) -> None:
    """Raise ValueError where no name has what one of the patterns finds: the downloaded files have changed."""
    text = "\n".join(names)
    absent = [pattern for pattern in patterns if not re.search(pattern, text, re.MULTILINE)]
    if absent:
        raise ValueError(f"site.py leaves out, or sets, what is not there any longer: {', '.join(absent)}")


def patched(text: str, old: str, new: str) -> str:
    """A text with another part. Raises ValueError where the old part is not there once: JupyterLite has changed."""
    if text.count(old) != 1:
        raise ValueError(f"JupyterLite is another one than 0.6.4: {old!r} is {text.count(old)} times in a page")
    return text.replace(old, new)
