"""Read a file of tables in TOML: each has a name or is one of a list, and has the keys of its kind of table."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

Kinds = Mapping[str, type | tuple[type, ...]]  # of each key, the kinds of Python's that its value may have


def names(path: Path) -> tuple[str, ...]:
    """Return the names of the tables in a file, in their order; none where there is no file.

    Raises ValueError where the file is not TOML.
    """
    return tuple(parse(path)) if path.exists() else ()


def read(path: Path, needed: Kinds, optional: Kinds) -> dict[str, dict[str, object]]:
    """Return the tables of a file by their names, in their order.

    Parameters
    ----------
    path : Path
        A file in TOML.
    needed, optional : mapping of str to type
        The keys that each table must have and may have, each with the kinds of its value.

    Raises
    ------
    ValueError
        The file is not TOML, or a table lacks a key, has an unknown one, or a value of another kind. The message names
        the file, the table, the key and the rule.
    """
    tables = parse(path)
    for name, table in tables.items():
        check(f"{path.name}, [{name}]", table, needed, optional)
    return tables


def read_list(path: Path, key: str) -> list[dict[str, object]]:
    """Return the tables of a file that has nothing but a list of them, each below its heading ``[[key]]``.

    Raises ValueError where the file is not TOML, or has anything else. What is in the tables is not looked at.
    """
    content = parse(path)
    for name in content:
        if name != key:
            raise ValueError(f"{path.name}: {name} is unknown: the file has tables below headings [[{key}]]")
    rows = content.get(key, [])
    if not isinstance(rows, list):
        raise ValueError(f"{path.name}: {key} is not a list: each of its tables has a heading [[{key}]]")
    for row in rows:
        if not isinstance(row, dict):
            raise ValueError(f"{path.name}: {key} has {row!r:.60}: it must have tables, each below [[{key}]]")
    return rows


def parse(path: Path) -> dict[str, object]:
    """Return all that a file says, whatever it is; ValueError where it is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path.name}: {error}") from None


def check(place: str, table: object, needed: Kinds, optional: Kinds) -> None:
    """Raise ValueError where a table does not have the keys of its kind; the message begins with its place."""
    known = {**needed, **optional}
    rules = []
    if needed:
        rules.append(f"has {', '.join(needed)}")
    if optional:
        rules.append(f"may have {', '.join(optional)}")
    rule = f"a table {', and '.join(rules)}"
    if not isinstance(table, dict):
        raise ValueError(f"{place} is not a table: {rule}")
    for key in needed:
        if key not in table:
            raise ValueError(f"{place}: {key} is missing: {rule}")
    for key, value in table.items():
        if key not in known:
            raise ValueError(f"{place}: {key} is unknown: {rule}")
        if not isinstance(value, known[key]):
            raise ValueError(f"{place}: {key} = {value!r:.60}: it must be {_kind(known[key])}")


def _kind(kinds: type | tuple[type, ...]) -> str:
    """Name the kinds of a value, as TOML calls them."""
    words = {
        str: "text",
        int: "a whole number",
        float: "a number",
        list: "a list",
        dict: "a table",
        bool: "true or false",
    }
    alternatives = kinds if isinstance(kinds, tuple) else (kinds,)
    return " or ".join(words[kind] for kind in alternatives)
