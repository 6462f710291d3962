"""The amount of Python: its tokens, without comments, docstrings and layout, which may be as long as they help.

    python tests/support/tokens.py [FOLDER]

prints the tree by folder, each with what is in it and below it. A room of `helpers`, `wgsl`, `browser` and `tests` have
a ceiling in pyproject.toml, 5 % above what they had when it was set; it is looked at before a release.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOKEN = re.compile(  # a comment, or a string, a number, a name or a sign
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[bfru]{0,2}("{3}(?:\\.|[^\\])*?"{3}|'{3}(?:\\.|[^\\])*?'{3}|"(?:\\.|[^\\"])*"|'(?:\\.|[^\\'])*'))
    |\.?\d(?:(?<=[eE])[-+]|[\w.])*|\w+|\.{3}|->|(?:\*\*|//|>>|<<|[-+*/%&|^@=<>!:])=|\*\*|//|>>|<<|[^\s\\]""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def tokens(text: str) -> int:
    """The tokens of a text that count: a docstring is the string that begins it, or a line below a colon."""
    count, before = 0, ":"
    for token in TOKEN.finditer(text):
        begins = not text[text.rfind("\n", 0, token.start()) + 1 : token.start()].strip()
        if not token["comment"] and not (token["string"] and before == ":" and begins):
            count, before = count + 1, token[0]
    return count


def by_folder(root: Path) -> dict[str, int]:
    """The tokens in each folder with Python in it, and below it; "." is the whole."""
    counts: dict[str, int] = {}
    for path in sorted([*root.glob("*.py"), *root.glob("[!.]*/**/*.py")]):
        inside = path.relative_to(root)
        if not any(part.startswith(".") or part == "site" for part in inside.parts):
            count = tokens(path.read_text(encoding="utf-8"))
            for folder in inside.parents:
                counts[folder.as_posix()] = counts.get(folder.as_posix(), 0) + count
    return counts


def rooms(counts: dict[str, int]) -> set[str]:
    """The folders of `helpers` with Python in them."""
    return {name.split("/")[1] for name in counts if name.startswith("helpers/")}


def ceilings(text: str) -> dict[str, int]:
    """The most tokens of each room, by its path, as a pyproject.toml has them."""
    return tomllib.loads(text)["tool"]["convgrad"]["ceilings"]


def above(counts: dict[str, int], most: dict[str, int]) -> list[str]:
    """The rooms that have more tokens than their ceiling, and those without one."""
    high = [
        f"{room} has {counts.get(room, 0):,} tokens: at most {most[room]:,}"
        for room in most
        if counts.get(room, 0) > most[room]
    ]
    every = [f"helpers/{room}" for room in sorted(rooms(counts))]
    return high + [f"{room} has no ceiling" for room in every if room not in most]


if __name__ == "__main__":
    for name, count in sorted(by_folder(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items()):
        print(f"{count:9,} {name}")
