"""Options that both commands have, and how their values are read."""

from __future__ import annotations

import re
from argparse import ArgumentParser, ArgumentTypeError


def pair(text: str) -> tuple[str, str]:
    """Return name and value of ``NAME=VALUE``."""
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        raise ArgumentTypeError(f"{text!r} is not of the form NAME=...")
    return name, value


def constant(text: str) -> tuple[str, float]:
    """Return name and value of an override."""
    name, value = pair(text)
    number = {"true": "1", "false": "0"}.get(value, value)
    try:
        return name, int(number) if re.fullmatch(r"-?\d+", number) else float(number)
    except ValueError:
        raise ArgumentTypeError(f"{text!r}: the value of an override is a number, true or false") from None


def add_constants(line: ArgumentParser) -> None:
    """Add the values of overrides to a command line."""
    line.add_argument(
        "-D", dest="constants", metavar="NAME=VALUE", type=constant, action="append", default=[], help="an override"
    )
