"""Verdicts as a text for people, as JSON, and as the lines that GitHub's runner reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from wgsl.command.sarif import sarif
from wgsl.command.verdicts import ERROR, Verdict
from wgsl.output import visible
from wgsl.problems import Problem

ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY_ESCAPES = {**ESCAPES, ":": "%3A", ",": "%2C"}


def text(verdicts: Sequence[Verdict]) -> str:
    """Return each problem with its line of the text, and how many there are."""
    parts = []
    for verdict in verdicts:
        lines = verdict.text.split("\n")
        for problem, _ in verdict.problems:
            parts.append(_with_line(verdict.name, problem, lines[problem.line - 1].rstrip("\r")))
    return visible("\n".join([*parts, *_summary(verdicts)]), keep="\n\t")


def _with_line(name: str, problem: Problem, line: str) -> str:
    before = line[: problem.column - 1]
    caret = re.sub(r"[^\t]", " ", visible(before, keep="\t")) + "^" * _length(problem, line)
    place = f"{name}:{problem.line}:{problem.column}"
    return f"{place}: {problem.kind}: {problem.message} [{problem.rule}]\n  {line}\n  {caret}"


def _length(problem: Problem, line: str) -> int:
    return max(1, min(problem.length, len(line) - problem.column + 1))


def _summary(verdicts: Sequence[Verdict]) -> list[str]:
    """Return a line with the numbers; none where no text could be read."""
    if not verdicts:
        return []
    errors = sum(verdict.errors for verdict in verdicts)
    notes = sum(len(verdict.problems) for verdict in verdicts) - errors
    parts = [f"{_counted(len(verdicts), 'text')}: {_counted(errors, 'problem')}"]
    if notes:
        parts.append(f"{_counted(notes, 'place')} not checked")
    if allowed := sum(len(verdict.allowed) for verdict in verdicts):
        parts.append(f"{allowed} allowed")
    return [", ".join(parts)]


def _counted(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number or 'no'} {noun}s"


def as_json(verdicts: Sequence[Verdict]) -> str:
    """Return a list with an object for each problem."""
    return json.dumps([*_objects(verdicts)], indent=2, ensure_ascii=False)


def _objects(verdicts: Sequence[Verdict]) -> Iterator[Mapping[str, object]]:
    for verdict in verdicts:
        for problem, level in verdict.problems:
            yield {
                "file": verdict.name,
                "line": problem.line,
                "column": problem.column,
                "length": problem.length,
                "level": level,
                "kind": problem.kind,
                "rule": problem.rule,
                "message": problem.message,
                "refused_by": sorted(problem.refused_by),
            }


def github(verdicts: Sequence[Verdict]) -> str:
    """Return a command of GitHub's runner for each problem, which it shows beside the line."""
    rows = []
    for verdict in verdicts:
        for problem, level in verdict.problems:
            where = {"file": verdict.name, "line": problem.line, "col": problem.column, "title": problem.kind}
            properties = ",".join(f"{key}={_escaped(str(value), PROPERTY_ESCAPES)}" for key, value in where.items())
            command = "error" if level == ERROR else "notice"
            rows.append(f"::{command} {properties}::{_escaped(problem.message, ESCAPES)}")
    return "\n".join([*rows, *_summary(verdicts)])


def _escaped(value: str, escapes: Mapping[str, str]) -> str:
    return value.translate(str.maketrans(dict(escapes)))


FORMATS: Mapping[str, Callable[[Sequence[Verdict]], str]] = {
    "text": text,
    "json": as_json,
    "sarif": sarif,
    "github": github,
}
