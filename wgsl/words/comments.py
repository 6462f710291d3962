"""The sentences about comments that allow or expect a kind of problem."""

from __future__ import annotations


def unused(kind: str, line: int) -> str:
    """Return which comment allows what is not there."""
    return f"line {line} has no problem of the kind `{kind}`: leave out this comment"


def unmet(kind: str, line: int) -> str:
    """Return which expectation is not met."""
    return f"a problem of the kind `{kind}` is expected in line {line}, and none is found there"


def unknown(kind: str) -> str:
    """Return which kind does not exist."""
    if not kind:
        return "a kind of problem is missing here, such as `not-portable`"
    return f"`{kind}` is no kind of problem or finding; what the commands print after a place is one"
