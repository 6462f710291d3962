"""`wgsl check`: the problems of texts, without a run."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Mapping, Sequence

from wgsl.command.comments import check_kinds, run_kinds, slug
from wgsl.command.files import Source, Unreadable, paths_of, read
from wgsl.command.formats import FORMATS
from wgsl.command.options import add_constants
from wgsl.command.peers import PEERS, Answers, answers, difference
from wgsl.command.verdicts import TARGETS, Rules, Verdict, verdict
from wgsl.kernel import Kernel
from wgsl.problems import check
from wgsl.syntax.tokens import without_comments
from wgsl.words import peers as words

EPILOG = """\
targets:
  spec      what the specification of WGSL does not allow
  chrome    what Chrome refuses; naga: what naga (Firefox, wgpu) refuses
  portable  what any of them refuses

comments in a text:
  // wgsl: allow KIND -- a reason    KIND is all right in this line, or in the next one if the comment stands alone
  // expect: KIND                    with --expect, KIND must be found there
KIND is a kind that is printed before a message, or a rule that is printed after it in brackets.

The exit status is 0 without a problem, 1 with one, and 2 where a file cannot be read or the arguments do not fit. What
was not checked ("not supported") is printed, and does not count."""


def main(arguments: Sequence[str]) -> int:
    """Check the texts; returns the exit status."""
    line = parser()
    options = line.parse_args(arguments)
    also = [*dict.fromkeys(options.also)]
    for option in also:
        if PEERS[option].target not in TARGETS[options.target]:
            line.error(words.not_counted(option, options.target, PEERS[option].target))
    rules = Rules(options.target, frozenset(options.ignore), options.expect, options.strict, frozenset(also))
    sources, refused = _sources(options.files, options.exclude)
    constants = dict(options.constants)
    refused += [_unknown(name, value) for name, value in constants.items() if not _is_declared(name, sources)]
    said = {option: answers(option, sources) for option in also if sources}
    refused += [answer.problem for answer in said.values() if answer.problem]
    verdicts = []
    for source in sources:
        try:
            verdicts.append(_verdict(source, constants, rules, said))
        except ValueError as error:  # a value that an override cannot have
            refused.append(f"{source.name}: {error}")
    if written := FORMATS[options.format](verdicts):
        print(written)
    for message in refused:
        print(f"wgsl check: {message}", file=sys.stderr)
    return 2 if refused else int(any(one.errors for one in verdicts))


def _sources(names: Sequence[str], excluded: Sequence[str]) -> tuple[list[Source], list[str]]:
    """Return the texts that can be read, and why the other ones cannot."""
    sources = []
    refused = []
    for path in paths_of(names, excluded):
        try:
            if isinstance(path, Unreadable):
                raise path
            sources.append(read(path))
        except Unreadable as error:
            refused.append(str(error))
    return sources, refused


def _verdict(source: Source, constants: dict[str, float], rules: Rules, said: Mapping[str, Answers]) -> Verdict:
    here = tuple(sorted((name, value) for name, value in constants.items() if _is_declared(name, [source])))
    found = check(Kernel(source.text, source.name, here))
    differences = []
    if said:
        alone = check(source.text) if here else found  # a compiler of modules knows no values of overrides
        for option, answer in said.items():
            differences += difference(option, source, answer, alone)
    return verdict(source.name, source.text, (*found, *differences), rules)


def _is_declared(name: str, sources: Sequence[Source]) -> bool:
    return any(re.search(rf"\boverride\s+{re.escape(name)}\b", without_comments(source.text)) for source in sources)


def _unknown(name: str, value: float) -> str:
    return f"-D {name}={value}: none of the texts has an `override {name}`"


def parser() -> ArgumentParser:
    """The command line."""
    line = ArgumentParser(
        prog="wgsl check",
        usage="wgsl check FILE ... (--help explains more)",
        description="Say what is wrong with WGSL texts, without a run.",
        epilog=EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
    )
    add = line.add_argument
    add("files", metavar="FILE", nargs="+", help="a text, a folder (all of its *.wgsl), or - for the standard input")
    add("--format", choices=FORMATS, default="text", help="text, json, sarif (2.1.0) or github; text by default")
    add("--target", choices=TARGETS, default="portable", help="whose refusal counts; portable by default")
    also = "a compiler to ask, too, where it is installed: tint (node's package webgpu) or naga (the package wgpu)"
    add("--also", choices=PEERS, action="append", default=[], help=also)
    add("--ignore", metavar="KIND", type=_kind, action="append", default=[], help="what never counts")
    excluded = "files of folders to leave out, as in shared/*.wgsl"
    add("--exclude", metavar="GLOB", action="append", default=[], help=excluded)
    add(
        "--expect", action="store_true", help="read // expect: comments: what they name must be found, and nothing else"
    )
    add("--strict", action="store_true", help="let what was not checked count, too")
    add_constants(line)
    return line


def _kind(name: str) -> str:
    kind = slug(name)
    if kind in check_kinds():
        return kind
    if kind in run_kinds():
        raise ArgumentTypeError(f"{name!r} is a kind that only `wgsl run` finds")
    raise ArgumentTypeError(f"{name!r} is no kind of problem, such as not-portable, and no rule")
