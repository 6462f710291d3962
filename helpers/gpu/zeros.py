"""The zeros with which WGSL begins each `var`, written into a text for an adapter.

A `var` without a value begins with 0 in each iteration of a loop. naga 29, the compiler of wgpu 0.32, sets it to 0 only
once (wgpu's issue 9489). With a value, it is set each time.
"""

import re
from collections.abc import Iterator

from wgsl.diagnostics import Refused, Unsupported
from wgsl.kernel import parsed
from wgsl.syntax import tree
from wgsl.syntax.tokens import without_comments

WITHOUT_VALUE = re.compile(r"\bvar(?!\s*<)[^=;]*;|\bvar\s*<\s*function\b")  # is the text worth reading?


def with_zeros(source: str) -> str:
    """The same text, in the same lines, where each `var` in a loop has a value.

    A text that we cannot read stays as it is: the adapter says what is wrong with it.
    """
    if not WITHOUT_VALUE.search(without_comments(source)):
        return source
    try:
        types = _types_without_value(source)
    except (Refused, Unsupported, ValueError):
        return source
    for end in sorted(types, reverse=True):  # from the last one on: the places before it stay
        name = " ".join(without_comments(source[types[end].at : end]).split())
        source = f"{source[:end]} = {name}(){source[end:]}"
    return source


def _types_without_value(source: str) -> dict[int, tree.Node]:
    """The type of each `var` in a loop that has no value, by the place where the type ends."""
    types = {}
    for declaration in _declarations_in_loops(source):
        if declaration.kind == "var" and not declaration.value:
            types[declaration.type.end] = declaration.type
    return types


def _declarations_in_loops(source: str) -> Iterator[tree.Declaration]:
    """The declarations in the loops of all functions; one in a loop of a loop comes twice."""
    for function in parsed(source).declarations:
        if not isinstance(function, tree.Function):
            continue
        for loop in tree.walk(function.body):
            if not isinstance(loop, tree.For | tree.While | tree.Loop):
                continue
            for node in tree.walk(loop):
                if isinstance(node, tree.Declaration):
                    yield node
