"""Compilers that are asked beside `wgsl`, where they are installed: Tint (Chrome) and naga (Firefox, wgpu).

Each is asked in a process of its own, once for all texts, by a program beside this file. It compiles modules and makes
no pipeline: limits of adapters are not compared, nor are values of overrides.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from wgsl.command.files import Source
from wgsl.diagnostics import CHROME, NAGA
from wgsl.problems import Problem
from wgsl.words import peers as words

REFUSED, TAKEN = "not portable", "not confirmed"  # kinds of problems
LIMITS = frozenset((CHROME, NAGA))  # who refuse what passes a limit of WebGPU, and only when a pipeline is made
START_SECONDS, TEXT_SECONDS = 60, 1


class Peer(NamedTuple):
    """A compiler: its name, the target that it speaks for, and the program that asks it, with what runs that."""

    name: str
    target: str
    title: str
    program: str
    runner: tuple[str, ...]


PEERS = {
    "tint": Peer("Tint", CHROME, "Chrome", "ask_tint.mjs", ("node",)),
    "naga": Peer("naga", NAGA, "naga", "ask_naga.py", (sys.executable, "-P")),
}


class Refusal(NamedTuple):
    """The first error of a compiler."""

    line: int
    column: int
    message: str


@dataclass(frozen=True)
class Answers:
    """The answers of a compiler, by the names of the texts: a refusal, or None where it takes the text.

    `asked` is its package and version; `problem` is why it could not be asked about all of them.
    """

    asked: str = ""
    problem: str = ""
    by_name: dict[str, Refusal | None] = field(default_factory=dict)


def kinds(options: Collection[str]) -> set[str]:
    """Return the kinds and rules that only these compilers bring, as a comment names them."""
    rules = {f"{verb}-by-{option}" for option in options for verb in ("refused", "taken")}
    return rules | {TAKEN.replace(" ", "-")} if rules else set()


def answers(option: str, sources: Sequence[Source]) -> Answers:
    """Ask a compiler about texts."""
    peer = PEERS[option]
    runner = shutil.which(peer.runner[0])
    if not runner:
        return Answers(problem=words.missing(option, peer.runner[0]))
    command = [runner, *peer.runner[1:], str(Path(__file__).with_name(peer.program))]
    output, log, ending = _run(command, [source.text for source in sources])
    lines = [json.loads(line) for line in output.split("\n")[:-1]]
    first = lines[0] if lines else {"asked": ""}
    if "missing" in first:
        return Answers(problem=words.missing(option, first["missing"]))
    said = [line and Refusal(*line) for line in lines[1:]]
    problem = ""
    if len(said) < len(sources):
        problem = words.stopped(option, sources[len(said)].name, len(sources) - len(said) - 1, ending, log)
    by_name = {source.name: answer for source, answer in zip(sources, said, strict=False)}
    return Answers(first["asked"], problem, by_name)


def _run(command: Sequence[str], texts: Sequence[str]) -> tuple[str, str, str]:
    """Return what a program answers about texts, what else it prints, and how it ended."""
    seconds = START_SECONDS + TEXT_SECONDS * len(texts)
    with TemporaryDirectory() as folder:
        path = Path(folder, "answers")
        path.touch()
        whole = [*command, str(path)]
        try:
            done = subprocess.run(whole, input=json.dumps(texts).encode(), capture_output=True, timeout=seconds)
            ending = f"exit status {done.returncode}"
        except subprocess.TimeoutExpired as error:
            done = error
            ending = f"{seconds} s are over"
        return path.read_text(encoding="utf-8"), (done.stderr or b"").decode(errors="replace").strip(), ending


def difference(option: str, source: Source, said: Answers, found: Sequence[Problem]) -> list[Problem]:
    """Return where a compiler and what was `found` differ about a text: at most one problem."""
    if source.name not in said.by_name:
        return []
    peer = PEERS[option]
    refusal = said.by_name[source.name]
    if refusal and not any(peer.target in problem.refused_by for problem in found):
        return [_refused(option, source.text, said.asked, refusal)]
    ours = _in_module(peer.target, found)
    if ours and not refusal:
        return [_taken(option, said.asked, ours[0])]
    return []


def _in_module(target: str, found: Sequence[Problem]) -> list[Problem]:
    """Return the problems for which a module is refused, and not only a pipeline."""
    return [problem for problem in found if target in problem.refused_by and problem.refused_by != LIMITS]


def _refused(option: str, text: str, asked: str, refusal: Refusal) -> Problem:
    peer = PEERS[option]
    lines = text.split("\n")
    line = min(max(1, refusal.line), len(lines))
    column = min(max(1, refusal.column), len(lines[line - 1]) + 1)
    message = words.refused(peer.name, asked, refusal.message, peer.title)
    return Problem(line, column, REFUSED, message, f"refused-by-{option}", refused_by=frozenset((peer.target,)))


def _taken(option: str, asked: str, ours: Problem) -> Problem:
    peer = PEERS[option]
    message = words.taken(peer.name, asked, ours.rule, peer.title)
    rule = f"taken-by-{option}"
    return Problem(ours.line, ours.column, TAKEN, message, rule, ours.length, frozenset((peer.target,)))
