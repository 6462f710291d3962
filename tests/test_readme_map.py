"""The map in the README is true: it names no file that is not there, and forgets no lesson, kernel or helper."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HEADER = ["lesson", "you will", "kernels", "helpers", "exercise"]
Row = dict[str, str]


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(readme: str) -> list[Row]:
    """The rows of the map, each cell under the name of its column."""
    lines = readme.split("\n")
    starts = [number for number, line in enumerate(lines) if cells(line) == HEADER]
    assert len(starts) == 1, f"the README must have one table with the header | {' | '.join(HEADER)} |"
    rows = []
    for line in lines[starts[0] + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(dict(zip(HEADER, cells(line), strict=True)))
    return rows


def named(row: Row) -> Iterator[str]:
    """What a row names, as paths from the root: links (not to the web), and `words` under kernels and helpers."""
    for column, cell in row.items():
        for path in re.findall(r"\]\(([^)#:]+)[)#]", cell):
            yield path.rstrip("/")
        for word in re.findall(r"(?<!\[)`([^`]+)`", cell):
            if column == "kernels":
                yield f"kernels/{word.rstrip('/')}"
            elif column == "helpers":
                yield f"helpers/{word.removesuffix('.py')}.py"


def wrong(readme: str, files: set[str]) -> list[str]:
    """What is wrong with the map, where `files` are all the paths that it may name."""
    rows = table(readme)
    on_map = {path for row in rows for path in named(row)}
    pages = {path for path in files if re.fullmatch(r"notebooks/[^/]+\.ipynb|kernels/[^/]+|helpers/\w+\.py", path)}
    missing = pages - on_map - {path.rpartition("/")[0] for path in on_map} - {"helpers/__init__.py"}
    empty = [row["lesson"] for row in rows if "notebooks/" not in row["lesson"] and "lesson to come" not in str(row)]
    return (
        [f"{path}: not on the map" for path in sorted(missing)]
        + [f"{path}: on the map, but not in the project" for path in sorted(on_map - files)]
        + [f"{lesson}: links no notebook and does not say 'lesson to come'" for lesson in empty]
    )


def test_the_map_is_true():
    folders = (ROOT / name for name in ("notebooks", "kernels", "helpers"))
    files = {path.relative_to(ROOT).as_posix() for folder in folders for path in folder.rglob("*")}
    assert wrong((ROOT / "README.md").read_text(encoding="utf-8"), files) == []


# --- The check above can fail ----------------------------------------------------------------------------

FILES = {"notebooks/02_a.ipynb", "kernels/sum", "kernels/sum/1_loop.wgsl", "helpers/gpu.py", "helpers/__init__.py"}
MAP = """\
# A title

| lesson | you will | kernels | helpers | exercise |
|---|---|---|---|---|
| [02 A](notebooks/02_a.ipynb) | add `x` up | `sum` | `gpu` | [do it](notebooks/02_a.ipynb#exercise) |
| 03 B, lesson to come | | [`sum/1_loop.wgsl`](kernels/sum/1_loop.wgsl) | [`gpu`](helpers/gpu.py) | |

| another | table |
"""


def test_a_true_map_is_accepted():
    assert wrong(MAP, FILES) == []


@pytest.mark.parametrize(
    ("old", "new", "extra", "told"),
    [
        ("[02 A](notebooks/02_a.ipynb)", "02 A", set(), ["02 A: links no notebook and does not say 'lesson to come'"]),
        ("", "", {"notebooks/04_c.ipynb"}, ["notebooks/04_c.ipynb: not on the map"]),
        ("", "", {"kernels/max", "kernels/max/1_a.wgsl"}, ["kernels/max: not on the map"]),
        ("", "", {"helpers/draw.py"}, ["helpers/draw.py: not on the map"]),
        ("`gpu` |", "`gpu`, `cpu` |", set(), ["helpers/cpu.py: on the map, but not in the project"]),
        ("1_loop.wgsl)", "2_tree.wgsl)", set(), ["kernels/sum/2_tree.wgsl: on the map, but not in the project"]),
        (", lesson to come", "", set(), ["03 B: links no notebook and does not say 'lesson to come'"]),
    ],
)
def test_a_false_map_is_seen(old, new, extra, told):
    assert wrong(MAP.replace(old, new), FILES | extra) == told


def test_a_missing_map_is_seen():
    with pytest.raises(AssertionError, match="must have one table"):
        wrong("# A title\n", FILES)
