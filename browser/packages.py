"""The reader's Python: Pyodide, its packages, those from PyPI and our own, without what no lesson reads."""

import compileall
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from py_compile import PycInvalidationMode

from browser import paths
from browser.downloads import PYODIDE, python, sha256
from browser.files import check_present, pack, patched, write
from browser.jupyterlite import LITE
from browser.notebooks import lesson_texts

PURE = "anywidget", "comm", "ipywidgets", "jupyterlab_widgets", "psygnal", "typing_extensions"
PACKED = "pyodide.asm.js", "pyodide.asm.wasm"  # the files of Pyodide that are not compressed as they are
SCRIPT = "pyodide.js"  # with which Python's worker begins
OWN = "convgrad-1-py3-none-any.whl"
UNREAD = (  # tests, examples, fonts, other languages than Python, and OpenSSL
    r"/tests?/",
    "/sample_data/",
    "/fonts/(?:afm|pdfcorefonts)/",
    "/DejaVuSerif",
    r"/DejaVuSans\w*-\w+Oblique",
    "^jedi/third_party/django-stubs/",
    "^pygments/lexers/(?!_|python)",
    "^_ssl",
)
DUMMY = r"-3\.6\.999-"  # the version of a package of the kernel that PURE has as it is
ABOUT_OWN = {
    "METADATA": "Metadata-Version: 2.1\nName: convgrad\nVersion: 1\n",
    "RECORD": "",
    "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}


def pyodide(wheels: dict[str, Path]) -> dict:
    """Write Python, its packages and ours into the folder pyodide; a kernel's settings, which loads all at once."""
    core = python()
    more = dict([*kernel_wheels(wheels[LITE]), *pure_wheels(wheels)])
    check_present(UNREAD, names_in([*core.values(), *more.values()]))
    packages = {}
    for name, package in PYODIDE["packages"].items():
        made = lean(core.pop(package["file_name"]))
        packages[name] = package | written(package["file_name"], made)
    for name, content in {**more, OWN: own_wheel()}.items():
        made = lean(content, with_texts=name == OWN)
        packages.update([added(name, written(name, made))])
    lock = written("pyodide-lock.json", json.dumps({"info": PYODIDE["info"], "packages": packages}).encode())
    script = core.pop(SCRIPT)
    for name, content in core.items():
        write(f"pyodide/{name}", content)
    for name in PACKED:
        pack(paths.MADE / "pyodide" / name)
    begin = written(SCRIPT, script + b"\n" + worker(lock["file_name"]).encode())
    return {"pyodideUrl": f"./pyodide/{begin['file_name']}", "loadPyodideOptions": {"packages": sorted(packages)}}


def written(name: str, content: bytes) -> dict[str, str]:
    """Write a file whose name has the hash of its content, so that no browser takes an older one for it."""
    digest = sha256(content)
    if name.endswith(".whl"):
        project, version, tags = name.split("-", 2)
        hashed = f"{project}-{version}-0{digest[:12]}-{tags}"  # where the number of a build stands
    else:
        path = Path(name)
        hashed = f"{path.stem}-{digest[:12]}{path.suffix}"
    write(f"pyodide/{hashed}", content)
    return {"file_name": hashed, "sha256": digest}


def worker(lock: str) -> str:
    """Our part of Pyodide's script, which says how much of each file is here, and names the list of packages."""
    folder = paths.MADE / "pyodide"
    sizes = {name.removesuffix(".packed"): (folder / name).stat().st_size for name in fetched()}
    text = (paths.HERE / "worker.js").read_text(encoding="utf-8")
    return patched(patched(text, "SIZES = {}", f"SIZES = {json.dumps(sizes)}"), 'LIST = ""', f'LIST = "{lock}"')


def fetched() -> list[str]:
    """The files of Pyodide that a page fetches, compressed where they are so, too."""
    names = {path.name for path in (paths.MADE / "pyodide").iterdir()}
    return sorted(name for name in names if f"{name}.packed" not in names)


def names_in(contents: list[bytes]) -> Iterator[str]:
    """The names of the files in those that are packages."""
    for content in contents:
        if content[:2] == b"PK":
            with zipfile.ZipFile(BytesIO(content)) as files:
                yield from files.namelist()


def kernel_wheels(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The packages of Jupyter's kernel for Pyodide."""
    with zipfile.ZipFile(wheel) as files:
        check_present([DUMMY], files.namelist())
        for path in files.namelist():
            if "/static/pypi/" in path and path.endswith(".whl") and not re.search(DUMMY, path):
                yield Path(path).name, files.read(path)


def pure_wheels(wheels: dict[str, Path]) -> Iterator[tuple[str, bytes]]:
    """The packages from PyPI that run anywhere."""
    for name in PURE:
        yield wheels[name].name, wheels[name].read_bytes()


def own_wheel() -> bytes:
    """Our helpers, kernels and wgsl, and the stand-in for wgpu, as one package, the same bytes each time."""
    about = {f"convgrad-1.dist-info/{name}": text for name, text in ABOUT_OWN.items()}
    return zipped(own_files() | lesson_texts() | about)


def own_files() -> dict[str, bytes]:
    """Our files that the reader's Python needs, by their names in the package."""
    homes = {paths.ROOT / "tests" / "mutation_report.md": paths.ROOT}
    homes |= {paths.HERE / name: paths.HERE for name in ("convgrad_browser.py", "convgrad_start.py")}
    folders = [(paths.ROOT, "helpers"), (paths.ROOT, "wgsl"), (paths.ROOT, "kernels"), (paths.HERE, "wgpu")]
    for home, folder in folders:
        for path in (home / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                homes[path] = home
    return {path.relative_to(home).as_posix(): path.read_bytes() for path, home in sorted(homes.items())}


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Files as one package, the same bytes each time."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def lean(wheel: bytes, with_texts: bool = False) -> bytes:
    """A package without what no lesson reads, and with its byte code, which shortens its import.

    Only the same Python as Pyodide's makes it. It takes the place of the text, but for our own package, which is read.
    """
    unread = re.compile("|".join(UNREAD))
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(BytesIO(wheel)) as files:
            files.extractall(folder, [name for name in files.namelist() if not unread.search(name)])
        if sys.version_info[:2] == (3, 12):
            place = {"stripdir": folder, "prependdir": "/lib/python3.12/site-packages"}
            mode = PycInvalidationMode.UNCHECKED_HASH  # no time of a file: the same bytes each time
            compileall.compile_dir(folder, quiet=2, legacy=not with_texts, invalidation_mode=mode, **place)
        left = sorted(path for path in Path(folder).rglob("*") if path.is_file() and is_left(path))
        return zipped({path.relative_to(folder).as_posix(): path.read_bytes() for path in left})


def is_left(path: Path) -> bool:
    """Tell whether a file is left in: a text of Python is not where its byte code is beside it."""
    return path.suffix != ".py" or not path.with_suffix(".pyc").exists()


def added(file: str, place: dict[str, str]) -> tuple[str, dict]:
    """A package that Pyodide's list lacks, for that list."""
    name, version = file.split("-")[:2]
    fixed = {"install_dir": "site", "package_type": "package", "imports": [name], "depends": []}
    return name.replace("_", "-"), {"name": name, "version": version, **place, **fixed}
