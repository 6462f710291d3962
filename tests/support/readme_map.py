"""Mistakes in the map of lessons in the README."""

import re
from itertools import chain
from string import ascii_uppercase

HEADER = "| lesson | you will | kernels | exercise |"
BESIDE = "if you know CUDA"  # a page beside the lessons, without a number
GITHUB = "../../"  # where the pages about a project begin, as GitHub reads links


def links(markdown: str) -> list[str]:
    """The files that a page links to, without anchors; links to the web and to pages about the project are left out."""
    paths = re.findall(r"\]\(([^)#:]+)[)#]", markdown)
    return [path.rstrip("/") for path in paths if not path.startswith(GITHUB)]


def wrong(readme: str, files: set[str]) -> list[str]:
    """The mistakes in the map, where `files` are the paths of all files and folders of the project."""
    if HEADER not in readme:
        return [f"no table with the header {HEADER}"]
    rows = re.findall(r"^\| .*", readme.split(HEADER)[1].split("\n\n")[0], re.MULTILINE)
    names = [row.split("|")[1].strip(" [") for row in rows]
    lessons = [name for name in names if not name.startswith(BESIDE)]
    numbered = sum(name[:1].isdigit() for name in lessons)
    places = [f"{i:02}" for i in range(numbered)] + list(ascii_uppercase[: len(lessons) - numbered])  # the appendices
    on_map = {*chain.from_iterable(map(links, rows))}
    page = re.compile(r"notebooks/(\d\d|appendix|if_you)_[^/]+\.ipynb|kernels/(?!shared$)[^/]+")
    pages = {path for path in files if page.fullmatch(path)}
    return [
        *(
            f"{name}: lesson {at} belongs here"
            for at, name in zip(places, lessons, strict=True)
            if at != name.split()[0]
        ),
        *(f"{name}: neither a link nor 'to come'" for name in lessons if not (links(f"[{name}") or "to come" in name)),
        *(f"{path}: not on the map" for path in sorted(pages - on_map)),
        *(f"{path}: not in the project" for path in sorted({*links(readme)} - files)),
    ]
