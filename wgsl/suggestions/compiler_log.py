"""The log of an adapter's compiler, which has the last word where our own reading of a text finds nothing wrong."""

import re

from wgsl.diagnostics import Lines
from wgsl.facts import Mark, Suggestion

INTERNALS = re.compile(  # a compiler's own terms; a reason that has one of them is not shown
    r"naga|wgpu|Scalar|Vector|Some\(|\bNone\b|Handle|\[\d+\]|Abstract|Expression|concreti|::|see msg|Entry point|\{ |"
    r"Capabilit|TypeFlags"
)
EXTENSION = re.compile(r"`(\w+)` extension is not|extension '(\w+)' is not")  # naga's words, and Tint's


def explain_log(source: str, log: str) -> Suggestion:
    """Return what a compiler says, where it says so in plain words, and the first place that it gives: ``wgsl:3:14``.

    Its log is all that is known of what it found.
    """
    place = re.search(r"┌─ .*:(\d+):(\d+)", log)
    at = Lines(source).offset(*map(int, place.groups())) if place else None
    if "Not implemented as constant expression" in log and place:
        word = re.match(r"\w+", source[at:])
        name = word[0] if word else None
        return Suggestion("known too early", {"name": name}, Mark(at, len(name) if name else 1))
    if extension := EXTENSION.search(log):
        name = extension[1] or extension[2]
        return Suggestion("extension of a device", {"name": name}, Mark(at, len(name)))
    if pointer := re.search(r"Argument '(\w+)' at index", log):
        return Suggestion("pointer as a parameter", {"name": pointer[1]}, Mark(at))
    lines = re.findall(r"parsing error: (.*)|^ +=+ (?:note: )?(.*)", log, re.MULTILINE)
    plain = [line for line in map("".join, lines) if line and not INTERNALS.search(line)]
    return Suggestion("compiler", {"lines": tuple(dict.fromkeys(plain))}, Mark(at))
