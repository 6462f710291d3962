"""How much Python there is: its tokens, without comments, docstrings and layout, which may be as long as they help.

    python tests/support/tokens.py [FOLDER]

prints the tree by folder, each with what is in it and below it, beside what `budget.txt` allows.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUDGET = Path(__file__).with_name("budget.txt")
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


def budget(text: str) -> dict[str, int]:
    """The most tokens that each folder may have: a line has its name, the number and, behind it, what a rise bought."""
    rows = (line.split(maxsplit=2) for line in text.splitlines() if line and line[0] != "#")
    return {name: int(number.replace(",", "")) for name, number, *_ in rows}


# A subject's folders count once.
SUBJECTS = {"threads", "summation", "convolution", "gemm", "network", "gradient_checks", "speed", "data_parallel"}


def rooms(counts: dict[str, int]) -> set[str]:
    """The folders of `helpers` with Python in them."""
    parts = (name.split("/")[1:] for name in counts if name.startswith("helpers/"))
    return {part[0] if part[0] in SUBJECTS else "/".join(part) for part in parts}


def over(counts: dict[str, int], allowed: dict[str, int]) -> list[str]:
    """The folders that have more than they may, and those that have no line in the budget, or are gone."""
    said = [
        f"{name}: {counts.get(name, 0):,} of {most:,}" for name, most in allowed.items() if counts.get(name, 0) > most
    ]
    said += [f"{name} is gone: take its line out of budget.txt" for name in allowed if name not in counts]
    rooms = {name for name in counts if name.count("/") < 1 + name.startswith("helpers/") and name != "."}
    return said + [f"{name} has no line in budget.txt" for name in sorted(rooms - {*allowed})]


if __name__ == "__main__":
    allowed = budget(BUDGET.read_text(encoding="utf-8"))
    for name, count in sorted(by_folder(Path(sys.argv[1]) if sys.argv[1:] else ROOT).items()):
        print(f"{count:9,} {f'of {allowed[name]:,}' if name in allowed else '':12} {name}")
