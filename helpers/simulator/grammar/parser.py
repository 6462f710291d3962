"""A text as a syntax tree."""

from functools import cache
from pathlib import Path

from lark import Lark
from lark.exceptions import UnexpectedToken

from helpers.simulator.grammar.builder import Builder
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.grammar.templates import marked
from helpers.simulator.grammar.tokens import Tokens
from helpers.simulator.grammar.tree import Module
from helpers.wgsl import without_comments


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("wgsl.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=Tokens, start="module", transformer=Builder())


def parse(source: str) -> Module:
    """The syntax tree of a text.

    Raises Refused where it is not WGSL, and Unsupported where the simulator does not run it.
    """
    try:
        return _parser().parse(marked(without_comments(source)))
    except UnexpectedToken as error:
        raise Refused(f"unexpected {error.token}", error.token.start_pos or 0, len(error.token)) from None
