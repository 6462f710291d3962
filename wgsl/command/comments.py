"""Comments of a text that the commands read: what a line is allowed, and what is expected of it.

    // wgsl: allow KIND, KIND -- a reason     in the line itself, or alone in the line above it
    // expect: KIND, KIND                     the same, read with --expect

A kind is one of a problem or a finding ("not portable"), or a rule ("pointer-parameter"), with blanks or hyphens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple, Protocol, TypeVar

from wgsl.command import peers
from wgsl.diagnostics import Lines
from wgsl.simulator.findings import KINDS as RUN_KINDS
from wgsl.syntax.tokens import comments, without_comments
from wgsl.types.uniformity import KINDS as UNPORTABLE
from wgsl.words.refusals import FEATURES, REASONS

ALLOW, EXPECT = "allow", "expect"
UNUSED, UNMET, UNKNOWN = "unused allow", "unmet expectation", "unknown kind"  # kinds of problems of comments
SUBGROUP_SIZE = "subgroup size"  # the kind of what only runs with several sizes show
PROBLEM_KINDS = ("does not compile", "not portable", "not supported")
REMARK = re.compile(r"//\s*(?:wgsl:\s*(allow)\b|(expect):)(.*?)(?=--|//|\*/|$)", re.MULTILINE)


def slug(kind: str) -> str:
    """Return a kind as it is written in a comment: "not-portable"."""
    return re.sub(r"[\s_]+", "-", kind.strip().lower())


@cache
def check_kinds() -> frozenset[str]:
    """Return the kinds and rules of what is found without a run."""
    rules = (*REASONS, *FEATURES, *UNPORTABLE.values())
    return frozenset(map(slug, (*PROBLEM_KINDS, UNUSED, UNMET, UNKNOWN, *rules, *peers.kinds(peers.PEERS))))


@cache
def run_kinds() -> frozenset[str]:
    """Return the kinds of what a run finds."""
    return frozenset(map(slug, (*RUN_KINDS, SUBGROUP_SIZE)))


@dataclass(frozen=True)
class Remark:
    """A kind that a comment names: whether it allows or expects it, and in which line.

    `place` is the line and column of the comment itself.
    """

    verb: str
    kind: str
    line: int
    place: tuple[int, int]


def remarks(source: str) -> list[Remark]:
    """Return what the comments of a text allow and expect, in its order."""
    lines = Lines(source)
    code = Lines(without_comments(source)).lines
    found = []
    for begin, end in comments(source):
        for match in REMARK.finditer(source, begin, len(source) if end is None else end):
            place = lines.place(match.start())
            line = place[0] if code[place[0] - 1].strip() else _next_line(code, place[0])
            kinds = [slug(kind) for kind in match[3].split(",")]
            found += [Remark(match[1] or match[2], kind, line, place) for kind in kinds]
    return found


def _next_line(code: Sequence[str], number: int) -> int:
    """Return the line after this one that has code; this one where none has."""
    following = (other for other in range(number + 1, len(code) + 1) if code[other - 1].strip())
    return next(following, number)


def is_known(remark: Remark) -> bool:
    """Return True for a kind that problems or findings have."""
    return remark.kind in check_kinds() or remark.kind in run_kinds()


# --- Put beside what was found ------------------------------------------------------------------------------------


class Found(Protocol):
    """A problem or a finding."""

    line: int
    kind: str


Item = TypeVar("Item", bound=Found)


class Matched(NamedTuple):
    """The items that no remark names, those that one names, and the remarks about nothing."""

    left: list
    named: list
    idle: list[Remark]


def names_of(item: Found) -> set[str]:
    """Return the names of what was found: its kind, and its rule if it has one."""
    return {slug(item.kind), getattr(item, "rule", "")} - {""}


def matched(items: Iterable[Item], about: Iterable[Remark]) -> Matched:
    """Put items and remarks together that have a line and a kind in common."""
    idle = dict.fromkeys(about)
    waiting = [*idle]
    left = []
    named = []
    for item in items:
        matching = [remark for remark in waiting if remark.line == item.line and remark.kind in names_of(item)]
        (named if matching else left).append(item)
        for remark in matching:
            idle.pop(remark, None)
    return Matched(left, named, [*idle])
