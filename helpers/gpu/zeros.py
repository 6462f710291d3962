"""The zeros with which WGSL begins each `var`, written into a text for an adapter.

A `var` without a value begins with 0 in each iteration of a loop. naga 29, the compiler of wgpu 0.32, sets it to 0 only
once (wgpu's issue 9489). With a value, it is set each time.
"""

import re
from contextlib import suppress

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
    with suppress(Refused, Unsupported, ValueError):
        types = {node.type.end: node.type for node in _in_loops(source) if node.kind == "var" and not node.value}
        for end, type in sorted(types.items(), reverse=True):
            written = " ".join(without_comments(source[type.at : end]).split())
            source = f"{source[:end]} = {written}(){source[end:]}"
    return source


def _in_loops(source: str) -> list[tree.Declaration]:
    """The declarations in the loops of all functions; one in a loop of a loop comes twice."""
    functions = (node for node in parsed(source).declarations if isinstance(node, tree.Function))
    nodes = (node for function in functions for node in tree.walk(function.body))
    loops = (node for node in nodes if isinstance(node, tree.For | tree.While | tree.Loop))
    return [node for loop in loops for node in tree.walk(loop) if isinstance(node, tree.Declaration)]
