"""The map in the README is true: a row for each lesson, with every lesson and kernel, and no link to a missing file."""

import re
from pathlib import Path
from string import ascii_uppercase

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADER = "| lesson | you will | kernels | exercise |"
GITHUB = "../../"  # where the pages about a project begin, as GitHub reads links


def links(markdown: str) -> list[str]:
    """The files that a page links to, without anchors; links to the web and to pages about the project are left out."""
    paths = re.findall(r"\]\(([^)#:]+)[)#]", markdown)
    return [path.rstrip("/") for path in paths if not path.startswith(GITHUB)]


def wrong(readme: str, files: set[str]) -> list[str]:
    """What is wrong with the map, where `files` are the paths of all files and folders of the project."""
    if HEADER not in readme:
        return [f"no table with the header {HEADER}"]
    rows = re.findall(r"^\| .*", readme.split(HEADER)[1].split("\n\n")[0], re.MULTILINE)
    lessons = [row.split("|")[1].strip(" [") for row in rows]
    numbered = sum(name[:1].isdigit() for name in lessons)
    places = [f"{i:02}" for i in range(numbered)] + list(ascii_uppercase[: len(lessons) - numbered])  # the appendices
    on_map = {path for row in rows for path in links(row)}
    page = re.compile(r"notebooks/(\d\d|appendix)_[^/]+\.ipynb|kernels/(?!shared$)[^/]+")
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


def test_the_map_is_true():
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if ".venv" not in path.parts}
    assert wrong((ROOT / "README.md").read_text(encoding="utf-8"), files) == []


# --- The check above can fail ----------------------------------------------------------------------------

FILES = {"notebooks/00_a.ipynb", "notebooks/glossary.ipynb", "kernels/sum", "kernels/sum/1_loop.wgsl"}
MAP = f"""\
A [word](notebooks/glossary.ipynb)

{HEADER}
|---|---|---|---|
| [00 A](notebooks/00_a.ipynb) | add numbers | | [do it](notebooks/00_a.ipynb#exercise) |
| 01 B *(to come)* | | [sum](kernels/sum) | |

[The web](https://example.org)
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("", "", []),
        ("[sum](kernels/sum)", "", ["kernels/sum: not on the map"]),
        ("01 B", "B B", ["B B *(to come)*: lesson A belongs here"]),
        ("(kernels/sum)", "(kernels/max), [sum](kernels/sum)", ["kernels/max: not in the project"]),
        ("glossary", "words", ["notebooks/words.ipynb: not in the project"]),
        (" *(to come)*", "", ["01 B: neither a link nor 'to come'"]),
        ("01 B", "02 B", ["02 B *(to come)*: lesson 01 belongs here"]),
        ("kernels |", "files |", [f"no table with the header {HEADER}"]),
    ],
)
def test_a_false_map_is_seen(old, new, said):
    assert wrong(MAP.replace(old, new), FILES) == said
