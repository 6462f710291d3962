"""The problems of a text that count: those of the target that neither an option nor a comment takes away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from wgsl.command.comments import (
    ALLOW,
    EXPECT,
    UNKNOWN,
    UNMET,
    UNUSED,
    Found,
    Remark,
    check_kinds,
    is_known,
    matched,
    names_of,
    remarks,
    slug,
)
from wgsl.command.peers import PEERS, TAKEN
from wgsl.command.peers import kinds as peer_kinds
from wgsl.diagnostics import ALL, CHROME, NAGA, SPECIFICATION
from wgsl.problems import Problem
from wgsl.words import comments as words

TARGETS = {
    "spec": frozenset((SPECIFICATION,)),
    "chrome": frozenset((CHROME,)),
    "naga": frozenset((NAGA,)),
    "portable": ALL,
}
ERROR, NOTE = "error", "note"
UNCHECKED, UNPORTABLE = "not supported", "not portable"  # kinds of problems


@dataclass(frozen=True)
class Rules:
    """The options that decide what counts.

    `ignored` are kinds and rules; with `expect`, what comments expect is right; with `strict`, what was not checked
    counts, too. `also` are the compilers that were asked.
    """

    target: str = "portable"
    ignored: frozenset[str] = frozenset()
    expect: bool = False
    strict: bool = False
    also: frozenset[str] = frozenset()

    def counts(self, problem: Problem) -> bool:
        """Return True for a problem that is one for the target, or that is none of a compiler's."""
        refused = problem.refused_by
        return not refused or bool(refused & TARGETS[self.target])

    def level(self, problem: Problem) -> str:
        """Return "error" for what fails a build, "note" for what was not checked, or that a compiler takes."""
        return NOTE if problem.kind in (UNCHECKED, TAKEN) and not self.strict else ERROR


@dataclass(frozen=True)
class Verdict:
    """The problems of one text that are left, each with its level, and those that a comment allows."""

    name: str
    text: str
    problems: tuple[tuple[Problem, str], ...]
    allowed: tuple[Problem, ...] = field(default=())

    @property
    def errors(self) -> int:
        """The number of problems that fail a build."""
        return sum(level == ERROR for _, level in self.problems)


def verdict(name: str, text: str, found: Iterable[Problem], rules: Rules) -> Verdict:
    """Return what counts of the problems of a text."""
    about = remarks(text)
    found = [problem for problem in found if rules.counts(problem) or not rules.expect]
    is_whole = all(problem.kind in (UNPORTABLE, TAKEN) for problem in found)  # else a part was not looked at
    not_asked = peer_kinds(PEERS.keys() - rules.also) - peer_kinds(rules.also)

    def is_ours(remark: Remark) -> bool:
        if remark.kind in not_asked:
            return False
        return remark.kind in check_kinds() and (is_whole or remark.verb == EXPECT)

    left, allowed, complaints = weighed(found, about, rules.expect, is_ours)
    kept = [problem for problem in (*left, *complaints) if rules.counts(problem)]
    kept = [problem for problem in kept if rules.ignored.isdisjoint(names_of(problem))]
    problems = tuple((problem, rules.level(problem)) for problem in sorted(kept))
    return Verdict(name, text, problems, tuple(problem for problem in allowed if rules.counts(problem)))


def weighed(
    found: Iterable[Found], about: Iterable[Remark], expect: bool, is_ours: Callable[[Remark], bool]
) -> tuple[list, list, list[Problem]]:
    """Return what no comment names, what one allows, and the problems of the comments that are `is_ours`."""
    about = [remark for remark in about if expect or remark.verb == ALLOW]
    known = [remark for remark in about if is_known(remark)]
    complaints = [_problem(UNKNOWN, remark, words.unknown(remark.kind)) for remark in about if not is_known(remark)]
    left, allowed, unused = matched(found, [remark for remark in known if remark.verb == ALLOW])
    left, _, unmet = matched(left, [remark for remark in known if remark.verb == EXPECT])
    for kind, sentence, idle in (UNUSED, words.unused, unused), (UNMET, words.unmet, unmet):
        ours = filter(is_ours, idle)
        complaints += [_problem(kind, remark, sentence(remark.kind, remark.line)) for remark in ours]
    return left, allowed, complaints


def _problem(kind: str, remark: Remark, message: str) -> Problem:
    return Problem(*remark.place, kind, message, slug(kind), len("//"))
