"""The front page of the site: a picture, a question and an exercise that answer without Python."""

import html
import json
import os
import re
import subprocess
import sys
from string import Template

from browser import paths
from browser.files import write
from helpers.widgets import HERE as WIDGETS

HERE = paths.HERE / "front"
SHARED = "stored", "keys"  # parts of each widget's script; the page has them once
SHARED_NAMES = "storeWhatStays, keepKeys, asksToSave, saveNotebook"
VIEWS = "touch", "question", "editor"
ADDRESS = "CONVGRAD_SITE"  # the environment's name for where the site is to be, which a link preview needs
LESSONS_FOLDER = "/drive/notebooks/my"  # where the lessons of the site keep what is typed
CONFIG = re.compile(r'<script id="jupyter-config-data".*?</script>', re.DOTALL)
COMMENT = re.compile(r"(^|\s\s)//\s.*$", re.MULTILINE)


def front_page(jupyterlites: str) -> None:
    """Write the page, its scripts and styles, and the recordings; JupyterLite reads its settings in its own page."""
    record()
    shared = "\n".join(view(name) for name in SHARED)
    write("front/keys.js", f"{lean(shared)}\nexport {{ {SHARED_NAMES} }};")
    for name in VIEWS:
        write(f"front/{name}.js", f'import {{ {SHARED_NAMES} }} from "./keys.js";\n{lean(view(name))}')
    for path in HERE.glob("*.js"):
        write(f"front/{path.name}", lean(path.read_text(encoding="utf-8")))
    write("lesson_pictures.js", lean((paths.HERE / "lesson_pictures.js").read_text(encoding="utf-8")))
    in_lessons = [WIDGETS / "touch.css", paths.HERE / "lesson_pictures.css"]
    write("lesson_pictures.css", "\n".join(path.read_text(encoding="utf-8") for path in in_lessons))
    styles = [*(WIDGETS / f"{name}.css" for name in VIEWS), HERE / "front.css"]
    write("front/front.css", "\n".join(path.read_text(encoding="utf-8") for path in styles))
    write("front/preview.png", (paths.ROOT / "notebooks" / "pictures" / "explorer.png").read_bytes())
    write("index.html", page(CONFIG.search(jupyterlites)[0]))


def record() -> None:
    """Record what the page answers, on the simulator: the machine that makes the site may have no GPU."""
    (paths.MADE / "front").mkdir(exist_ok=True)
    path = os.pathsep.join([str(paths.HERE), str(paths.ROOT)])
    settings = os.environ | {"PYTHONPATH": path, "CONVGRAD_MY": LESSONS_FOLDER}
    for module, name in {"front_answers": "front", "lesson_pictures": "recorded"}.items():
        command = [sys.executable, "-m", f"browser.{module}", str(paths.MADE / name)]
        subprocess.run(command, env=settings, check=True, cwd=paths.ROOT)


def view(name: str) -> str:
    """The script of a widget."""
    return (WIDGETS / f"{name}.js").read_text(encoding="utf-8")


def lean(script: str) -> str:
    """A script without its comments and indents."""
    lines = (line.strip() for line in COMMENT.sub("", script).split("\n"))
    return "\n".join(line for line in lines if line)


def page(config: str) -> str:
    """The page, with the first state of its picture in it, for a wide screen and for a phone."""
    pictures = [json.loads((paths.MADE / "front" / f"{name}.json").read_bytes()) for name in ("picture", "phone")]
    sentence = pictures[0]["states"][pictures[0]["start"]]["sentence"]
    first = "".join(map(first_state, pictures)) + f'<p class="convgrad-sentence">{html.escape(sentence)}</p>'
    names = {"address": os.environ.get(ADDRESS, "").rstrip("/") or ".", "alt": html.escape(sentence), "year": 2026}
    template = Template((HERE / "index.html").read_text(encoding="utf-8"))
    return template.substitute(names, config=config, first=first)


def first_state(picture: dict) -> str:
    """The images of a picture's first state."""
    state = picture["states"][picture["start"]]
    layers = [picture["layouts"][state["layout"]]["still"], state["moving"]]
    images = "".join(f'<div class="convgrad-layer">{image(picture, places)}</div>' for places in layers)
    return f'<div class="convgrad-picture">{images}</div>'


def image(picture: dict, places: list[int]) -> str:
    """An image of a recording."""
    elements = "".join(picture["pieces"][place] for place in places)
    return f"{picture['head']}{elements}</svg>"
