"""A text as a syntax tree.

A node is ``text[at:end]``. A statement ends before its semicolon. An expression in parentheses begins and ends inside
of them, and the expression around it includes them: in ``(a + b) * c``, the sum is ``a + b``.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from lark import Lark, Token
from lark.exceptions import UnexpectedToken

from helpers.wgsl.diagnostics import Refused, Unsupported
from helpers.wgsl.syntax.builder import GLOBAL_ITEM, Builder, unexpected
from helpers.wgsl.syntax.tokens import BLOCK_COMMENT, COMMENT, Tokens, check_number, marked, without_comments
from helpers.wgsl.syntax.tree import Module, Node

# --- Parsing ---


DEEPEST_BLOCK = 127  # the specification's limit
DEEPEST = 200  # levels of the tree, which functions walk that call themselves
MOST_UNKNOWN = 20  # words of WGSL read as names, before a text is given up
TYPE_FOLLOWS = ("COLON", "ARROW", "ASSIGN")


@cache
def _parser() -> Lark:
    grammar = Path(__file__).with_name("wgsl.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer=Tokens, start="module", transformer=Builder())


def parse(source: str) -> Module:
    """The syntax tree of a text.

    Raises Refused where it is not WGSL, and Unsupported where it is WGSL that the simulator does not run.
    """
    code = without_comments(source)
    _check_blocks(code)
    reading = _Reading(source)
    try:
        module = _parser().parse(marked(code), on_error=reading.goes_on)
    except UnexpectedToken as error:
        raise reading.refusal(error) from None
    if (at := reading.end()) < len(source):
        raise Refused("this comment has no end: `*/` is missing", at, 2, "is never closed")
    if reading.unknown:
        raise reading.unknown[0]
    _check_depth(module)
    return module


class _Reading:
    """One text: the words of WGSL that stand where a name belongs, and where it breaks off."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.unknown: list[Refused] = []

    def goes_on(self, error: UnexpectedToken) -> bool:
        """Read a word of WGSL's own as a name, as the adapter's compiler does in most places, and go on."""
        token, parser = error.token, error.interactive_parser
        accepted, before = parser.accepts(), _last(parser)
        named = "NAME" in accepted and token.isidentifier()
        if not named or not ("STAR" in accepted or before in TYPE_FOLLOWS):
            return False
        reason = f"no definition in scope for identifier: `{token}`"
        self.unknown.append(Refused(reason, token.start_pos, len(token), "unknown identifier"))
        if len(self.unknown) == MOST_UNKNOWN:
            raise self.unknown[0]
        parser.feed_token(Token("NAME", str(token), token.start_pos, end_pos=token.end_pos))
        return True

    def refusal(self, error: UnexpectedToken) -> Refused:
        """The error where the text breaks off."""
        token, parser = error.token, error.interactive_parser
        accepted, before = parser.accepts(), _last(parser)
        at = self.end() if token.type == "$END" else token.start_pos
        if before == "NUMBER":  # what is wrong with a number comes before what is wrong behind it
            number = parser.parser_state.value_stack[-1]
            check_number(str(number), number.start_pos)
        if before == "AT":
            return _no_attribute(token, at, accepted)
        if "NAME" in accepted and token.isidentifier():
            return _no_name(token)
        if "FN" in accepted and token.type in ("ENABLE", "REQUIRES", "DIAGNOSTIC"):
            reason = "expected global declaration, but found a global directive"
            return Refused(reason, at, len(token), "written after first global declaration")
        if token.type == "IF" and before == "BREAK":
            begun = parser.parser_state.value_stack[-1].start_pos
            reason = "A break if is only allowed in a continuing block"
            return Refused(reason, begun, token.end_pos - begun, "not in a continuing block")
        return unexpected(expectation(accepted, parser.parser_state.value_stack), str(token), at)

    def end(self) -> int:
        """Where the text ends: at a comment that nothing closes, if there is one."""
        at = depth = begun = 0
        while found := (BLOCK_COMMENT if depth else COMMENT).search(self.source, at):
            begun = begun if depth else found.start()
            depth += {"/*": 1, "*/": -1}.get(found[0], 0)
            at = found.end()
        return begun if depth else len(self.source)


def _last(parser) -> str:
    """The kind of the last token, where the parser has not yet put it together with others."""
    last = parser.parser_state.value_stack[-1:]
    return last[0].type if last and isinstance(last[0], Token) else ""


def _no_attribute(token: Token, at: int, accepted: set[str]) -> Refused:
    """What follows @ and is no attribute, or none that may be there."""
    if not token.isidentifier():
        return unexpected("identifier", str(token), at)
    if accepted == {"DIAGNOSTIC"}:
        return unexpected("the `diagnostic` attribute identifier", str(token), at)
    return Refused(f"unknown attribute: `{token}`", at, len(token), "unknown attribute")


def _no_name(word: Token) -> Refused:
    """A word of WGSL's own where a name is declared."""
    reason, label = f"name `{word}` is a reserved keyword", f"definition of `{word}`"
    if word.startswith("_"):
        prefix = f"Identifier starts with a reserved prefix: `{word}`"
        reason, label = prefix if len(word) > 1 else "Identifier can't be `_`", "invalid identifier"
    return Refused(reason, word.start_pos, len(word), label)


def _check_blocks(code: str) -> None:
    """Refuse more blocks in each other than the specification allows."""
    depth = 0
    for brace in re.finditer(r"[{}]", code):
        depth += 1 if brace[0] == "{" else -1
        if depth > DEEPEST_BLOCK:
            raise Refused("brace nesting limit reached", brace.start(), 1, f"limit is {DEEPEST_BLOCK}")


def _check_depth(module: Module) -> None:
    """Refuse to walk a tree that is too deep."""
    waiting = [(each, 1) for each in module.declarations]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise Unsupported(f"nesting deeper than {DEEPEST} levels", node.at)
        for name in node.__slots__:
            part = getattr(node, name)
            parts = part if isinstance(part, tuple) else (part,)
            waiting += [(each, depth + 1) for each in parts if isinstance(each, Node)]


# --- What is expected ---


SWITCH_ITEM = "a closing curly bracket to signify the end of the switch statement (`}`)"
FIRST = "(`var`/`let`/`const` declaration, assignment, `i++`/`i--` statement, function call)"
TARGET = (
    "identifier component_or_swizzle_specifier?, (`lhs_expression`) component_or_swizzle_specifier?, "
    "&`lhs_expression`, *`lhs_expression`"
)
PHRASES = (  # the first whose terminals are all accepted where the text breaks off
    ("FN", GLOBAL_ITEM),
    ("LET RETURN", "statement"),
    ("LET", f"for loop initializer statement {FIRST}"),
    ("CASE", f"switch item (`case` or `default`) or {SWITCH_ITEM}"),
    ("NUMBER", "expression"),
    ("UNDERSCORE", "for loop update statement (assignment, `i++`/`i--` statement, function call)"),
    ("STAR NAME", f"LHS expression ({TARGET})"),
    ("COMPOUND", "assignment or increment/decrement"),
    ("NAME", "identifier"),
    ("SEMICOLON IF", "if"),
    ("SEMICOLON", "`;`"),
    ("COMMA CLOSE_BLOCK", "`,`"),
    ("CLOSE", "`)`"),
    ("CLOSE_INDEX", "`]`"),
    ("CLOSE_TEMPLATE", "template args end"),
    ("OPEN_BLOCK", "`{`"),
    ("ASSIGN", "operation (`=`)"),
    ("COLON", "`:`"),
    ("OPEN", "`(`"),
    ("CLOSE_BLOCK", "`}`"),
    ("COMMA", "`,`"),
)


def expectation(accepted: set[str], stack: list) -> str:
    """What the compiler expects where it accepts these terminals, behind what the stack holds."""
    what = next(phrase for terminals, phrase in PHRASES if accepted.issuperset(terminals.split()))
    if what == "`)`" and "COMMA" in accepted:
        before = _before_bracket(stack)
        if "fn" in before:
            return "`,`"
        if "workgroup_size" in before:
            return "workgroup size separator (`,`) or a closing parenthesis"
    return what


def _before_bracket(stack: list) -> list[Token]:
    """The two tokens before the last ``(`` that is open."""
    tokens = [each if isinstance(each, Token) else Token("", "") for each in stack]
    closed = 0
    for i in reversed(range(len(tokens))):
        closed += {"CLOSE": 1, "OPEN": -1}.get(tokens[i].type, 0)
        if closed < 0:
            return tokens[max(i - 2, 0) : i]
    return []
