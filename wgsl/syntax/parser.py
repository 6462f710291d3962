"""A text as a syntax tree.

A node is ``text[at:end]``. A statement ends before its semicolon. An expression in parentheses begins and ends inside
of them, and the expression around it includes them: in ``(a + b) * c``, the sum is ``a + b``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedToken

from wgsl.diagnostics import Limited, NotWgsl, Span, Unsupported
from wgsl.syntax.builder import Builder, unexpected
from wgsl.syntax.tokens import Tokens, Word, check_number, comments, marked, without_comments
from wgsl.syntax.tree import Module, Node, Statement, children

DEEPEST_BLOCK = 127  # the specification's limit
DEEPEST_EXPRESSION = 512  # what browsers take
DEEPEST = 200  # levels of the tree, which functions walk that call themselves
MOST_UNKNOWN = 20  # words of WGSL read as names, before the rest of a text is left unread
TYPE_FOLLOWS = ("COLON", "ARROW", "ASSIGN")


@cache
def _parser() -> Lark:
    """The parser; its tables, which take 0.25 s to make, are kept beside the byte code, where that can be written."""
    kept = f"{Path(__file__).parent}/__pycache__/wgsl.lark"
    try:
        kept.encode()
    except UnicodeEncodeError:  # a locale such as C does not read this path, and Lark hashes it as UTF-8
        kept = False
    return Lark.open(
        "wgsl.lark", __file__, parser="lalr", lexer=Tokens, start="module", transformer=Builder(), cache=kept
    )


def parse(source: str) -> Module:
    """The syntax tree of a text.

    Raises NotWgsl where it is not WGSL, and Unsupported where it is WGSL that the simulator does not run.
    """
    code = without_comments(source)
    passed = [*_foreign(source), *_check_blocks(code)]
    reading = _Reading(source)
    try:
        module = _parser().parse(marked(code), on_error=reading.recover)
    except UnexpectedToken as error:
        raise reading.refusal(error) from None
    for refused in (*reading.unclosed, *reading.unknown):
        raise refused
    passed += _check_depth(module)
    return replace(module, passed=(*module.passed, *passed)) if passed else module


parsed = lru_cache(maxsize=128)(parse)


class _Reading:
    """One text: the words of WGSL that stand where a name belongs, and where it breaks off."""

    def __init__(self, source: str) -> None:
        self.end = len(source)
        self.unclosed = unclosed(source)
        self.unknown: list[NotWgsl] = []

    def recover(self, error: UnexpectedToken) -> bool:
        """Read a keyword as a name, as the adapter's compiler does in most places, and continue."""
        token = error.token
        parser = error.interactive_parser
        accepted = parser.accepts()
        before = _last(parser)
        named = "NAME" in accepted and token.isidentifier()
        if not named or not ("STAR" in accepted or before in TYPE_FOLLOWS):
            return False
        self.unknown.append(NotWgsl("unknown", token, name=token))
        if len(self.unknown) == MOST_UNKNOWN:
            raise self.unknown[0]
        parser.feed_token(Word("NAME", str(token), token.at, end_pos=token.end))
        return True

    def refusal(self, error: UnexpectedToken) -> NotWgsl:
        """The error where the text breaks off."""
        token = error.token
        parser = error.interactive_parser
        accepted = parser.accepts()
        before = _last(parser)
        if token.type == "$END":
            if self.unclosed:
                return self.unclosed[0]
            token = Word("", "", self.end, end_pos=self.end)
        if before == "AT" and not token.isidentifier():
            return unexpected("name", token)
        elif before == "AT" and accepted != {"DIAGNOSTIC"}:
            return NotWgsl("attribute", token, name=token)
        elif "NAME" in accepted and before != "AT" and token.isidentifier():
            return NotWgsl("keyword", token, name=token)
        elif "FN" in accepted and token.type in ("ENABLE", "REQUIRES", "DIAGNOSTIC"):
            return NotWgsl("directive", token, name=token)
        elif token.type == "IF" and before == "BREAK":
            begun = parser.parser_state.value_stack[-1]
            return NotWgsl("break if", Span(begun.at, token.end))
        if before == "NUMBER":  # what is wrong with a number comes before what is wrong after it
            check_number(parser.parser_state.value_stack[-1])
        return unexpected(_expectation(accepted, parser.parser_state.value_stack), token)


def unclosed(source: str) -> list[NotWgsl]:
    """The faults of the comments of a text that never end: one, or none."""
    begun = (Span(begin, begin + 2) for begin, end in comments(source) if end is None)
    return [NotWgsl("comment", comment) for comment in begun]


def check_comments(source: str) -> None:
    """Refuse a comment that never ends."""
    for refused in unclosed(source):
        raise refused


def _last(parser) -> str:
    """The kind of the last token, where the parser has not yet put it together with others."""
    last = parser.parser_state.value_stack[-1:]
    return last[0].type if last and isinstance(last[0], Token) else ""


def _foreign(source: str) -> list[Limited]:
    """The note about a letter that browsers take nowhere, not even in a comment."""
    at = source.find("\0")
    return [] if at < 0 else [Limited("NUL", Span(at, at + 1))]


def _check_blocks(code: str) -> list[Limited]:
    """Refuse more blocks in each other than the specification allows, and note more brackets than browsers take."""
    blocks = depth = 0
    passed: list[Limited] = []
    for bracket in re.finditer(r"[][(){}]", code):
        opens = bracket[0] in "([{"
        depth += 1 if opens else -1
        if bracket[0] in "{}":
            blocks += 1 if opens else -1
        if blocks > DEEPEST_BLOCK:
            raise NotWgsl("blocks", Span(*bracket.span()), most=DEEPEST_BLOCK)
        if depth > DEEPEST_BLOCK and not passed:
            passed = [Limited("brackets", Span(*bracket.span()), most=DEEPEST_BLOCK)]
    return passed


def _check_depth(module: Module) -> list[Limited]:
    """Refuse to walk a tree that is too deep; note a statement that is deeper than browsers take."""
    waiting = [(declaration, 1, 0) for declaration in module.declarations]
    deepest: Node | None = None
    passed: list[Limited] = []
    most = DEEPEST
    while waiting:
        node, depth, outer = waiting.pop()
        inner = outer + isinstance(node, Statement)
        if inner == DEEPEST_BLOCK + 1 > outer and not passed:
            passed = [Limited("statements", node, most=DEEPEST_BLOCK)]
        if depth > most:
            deepest, most = deepest or node, depth
        waiting += [(child, depth + 1, inner) for child in children(node)]
    if deepest is None:
        return passed
    if passed or most > DEEPEST_EXPRESSION:
        raise next(iter(passed), Limited("expression", deepest, most=DEEPEST_EXPRESSION))
    raise Unsupported("nesting", deepest.at, most=DEEPEST)


# --- What is expected ---------------------------------------------------------------------------------------------

EXPECTED = (  # the first whose terminals are all accepted where the text breaks off
    ("FN", "declaration"),
    ("LET RETURN", "statement"),
    ("LET", "begin of a loop"),
    ("CASE", "case"),
    ("NUMBER", "expression"),
    ("UNDERSCORE", "step of a loop"),
    ("STAR NAME", "variable"),
    ("COMPOUND", "assignment"),
    ("NAME", "name"),
    ("DIAGNOSTIC", "diagnostic"),
    ("SEMICOLON IF", "if"),
    ("SEMICOLON", ";"),
    ("COMMA CLOSE_BLOCK", ","),
    ("CLOSE", ")"),
    ("CLOSE_INDEX", "]"),
    ("CLOSE_TEMPLATE", ">"),
    ("OPEN_BLOCK", "{"),
    ("ASSIGN", "="),
    ("COLON", ":"),
    ("OPEN", "("),
    ("CLOSE_BLOCK", "}"),
    ("COMMA", ","),
)


def _expectation(accepted: set[str], stack: list) -> str:
    """Return what is expected where these terminals are accepted and the stack holds the text before."""
    what = next(phrase for terminals, phrase in EXPECTED if accepted.issuperset(terminals.split()))
    tokens = " ".join(value.type for value in stack if isinstance(value, Token))
    parameters = re.search(r"\bFN NAME OPEN\b(?!.*\b(?:OPEN|CLOSE)\b)", tokens)
    return "," if what == ")" and parameters else what
