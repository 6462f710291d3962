"""Small texts with the verdict that is due, from `wgsl_verdicts.toml`."""

from pathlib import Path
from typing import NamedTuple

from helpers.data import tables

FILE = Path(__file__).with_suffix(".toml")
KINDS = ("right", "not portable", "does not compile")
PARTS = {"before": str, "module": str, "main": str}


class Text(NamedTuple):
    """A text on one rule, and the kind of problem that it has."""

    rule: str
    kind: str
    parts: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.parts}"


def texts() -> list[Text]:
    """Return all of them. Raises ValueError where a row is none."""
    file = tables.parse(FILE)
    found = []
    for rule in file["rule"]:
        tables.check(rule["name"], rule, {"name": str}, dict.fromkeys(KINDS, list))
        for kind in KINDS:
            found += [_text(file["head"], rule["name"], kind, row) for row in rule.get(kind, ())]
    return found


def _text(head: str, rule: str, kind: str, row: str | dict[str, str]) -> Text:
    parts = {"main": row} if isinstance(row, str) else row
    tables.check(rule, parts, {}, PARTS)
    main = f"@compute @workgroup_size(1) fn main() {{ {parts.get('main', '')} }}"
    lines = (parts.get("before", ""), head, parts.get("module", ""), main)
    return Text(rule, kind, " ".join(parts.values()), "\n".join(lines))
