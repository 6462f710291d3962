"""The package `wgsl` without English: each sentence is the key of what it says."""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from wgsl import words
from wgsl.words import errors, findings, names, refusals, suggestions, unfinished

MODULES = (errors, findings, names, refusals, suggestions, unfinished)


def key(record: object, *_: object, **__: object) -> str:
    """Return the kind of a record, or the name of its class."""
    return record if isinstance(record, str) else type(record).__name__


def sentence_makers() -> list[Callable]:
    """Return the functions of `wgsl.words` that make sentences, or pieces of one."""
    functions = []
    for module in MODULES:
        functions += [function for _, function in inspect.getmembers(module, inspect.isfunction)]
    return [function for function in functions if function.__module__.startswith(words.__name__)]


@contextmanager
def instead_of_sentences() -> Iterator[None]:
    """Let a key stand for each sentence, wherever in `wgsl` the function that makes it is known by a name."""
    replaced = dict.fromkeys(sentence_makers(), key)
    with ExitStack() as stack:
        for name, module in [*sys.modules.items()]:
            if name.partition(".")[0] == "wgsl":
                for known, value in [*vars(module).items()]:
                    if inspect.isfunction(value) and value in replaced:
                        stack.enter_context(patch.object(module, known, replaced[value]))
        yield
