"""Verdicts in the Static Analysis Results Interchange Format, SARIF 2.1.0, which code hosts and editors read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from wgsl.command.verdicts import ERROR, Verdict
from wgsl.problems import Problem
from wgsl.version import VERSION

Object = Mapping[str, object]
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(verdicts: Sequence[Verdict]) -> str:
    """Return one run of the tool; what a comment allows is there, too, as a suppressed result."""
    rules = _rules(verdicts)
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    driver = {"name": "wgsl", "version": VERSION, "rules": rules}
    results = [*chain.from_iterable(_results(verdict, numbers) for verdict in verdicts)]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, ensure_ascii=False)


def _rules(verdicts: Sequence[Verdict]) -> list[Object]:
    kinds: dict[str, str] = {}
    for verdict in verdicts:
        for problem in (*(problem for problem, _ in verdict.problems), *verdict.allowed):
            kinds[problem.rule] = problem.kind
    return [{"id": rule, "shortDescription": {"text": f"{kind}: {rule}"}} for rule, kind in sorted(kinds.items())]


def _results(verdict: Verdict, numbers: Mapping[object, int]) -> Iterator[Object]:
    lines = verdict.text.split("\n")
    for problem, level in verdict.problems:
        yield _result(verdict.name, problem, level, lines, numbers)
    for problem in verdict.allowed:
        yield {**_result(verdict.name, problem, ERROR, lines, numbers), "suppressions": [{"kind": "inSource"}]}


def _result(
    name: str, problem: Problem, level: str, lines: Sequence[str], numbers: Mapping[object, int]
) -> dict[str, object]:
    last = len(lines[problem.line - 1].rstrip("\r")) + 1
    end = max(problem.column, min(problem.column + problem.length, last))
    region = {"startLine": problem.line, "startColumn": problem.column, "endLine": problem.line, "endColumn": end}
    place = {"artifactLocation": {"uri": address(name)}, "region": region}
    return {
        "ruleId": problem.rule,
        "ruleIndex": numbers[problem.rule],
        "level": level,
        "message": {"text": problem.message},
        "locations": [{"physicalLocation": place}],
    }


def address(name: str) -> str:
    """Return the address of a file: relative as its name is, or whole."""
    path = Path(name)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())
