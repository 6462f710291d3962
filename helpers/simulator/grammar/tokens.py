"""The words, numbers and signs of a text, as the grammar in wgsl.lark asks for them."""

import re
from collections.abc import Iterator

from lark import Token
from lark.lexer import Lexer, LexerState

from helpers.simulator.grammar.attributes import KINDS
from helpers.simulator.grammar.operators import PRECEDENCE
from helpers.simulator.grammar.templates import CLOSE, OPEN

NUMBER = (  # with what is malformed; numbers.py says what is not
    r"0[xX](?:[\da-fA-F]*\.[\da-fA-F]*(?:[pP][-+]?\d*[fh]?)?|[\da-fA-F]*(?:[pP][-+]?\d*[fh]?|[iu])?)"
    r"|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d*)?[fh]?|\d+(?:[eE][-+]?\d*[fh]?|[iufh])?"
)
TOKEN = re.compile(
    r"[ \t-\r\x85\u200e\u200f\u2028\u2029]*+"
    rf"(?:(?P<NAME>[^\W\d]\w*)|(?P<NUMBER>{NUMBER})"
    rf"|(?P<OPEN_TEMPLATE>{OPEN})|(?P<CLOSE_TEMPLATE>{CLOSE})"
    r"|(?P<SIGN><<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||->|\+\+|--|.))",
    re.DOTALL,
)
COMPOUND = ("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=")
RESERVED = frozenset(
    """
    NULL Self abstract active alignas alignof as asm asm_fragment async attribute auto await become cast catch class
    co_await co_return co_yield coherent column_major common compile compile_fragment concept const_cast consteval
    constexpr constinit crate debugger decltype delete demote demote_to_helper do dynamic_cast enum explicit export
    extends extern external fallthrough filter final finally friend from fxgroup get goto groupshared highp impl
    implements import inline instanceof interface layout lowp macro macro_rules match mediump meta mod module move mut
    mutable namespace new nil noexcept noinline nointerpolation non_coherent noncoherent noperspective null nullptr of
    operator package packoffset partition pass patch pixelfragment precise precision premerge priv protected pub public
    readonly ref regardless register reinterpret_cast require resource restrict self set shared sizeof smooth snorm
    static static_assert static_cast std subroutine super target template this thread_local throw trait try type
    typedef typeid typename typeof union unless unorm unsafe unsized use using varying virtual volatile wgsl where with
    writeonly yield
    """.split()  # noqa: SIM905 (the rule's list has one name a line)
)


class Tokens(Lexer):
    """Cuts a text into tokens, each the longest that fits; a letter that begins none is a token of its own."""

    __future_interface__ = 2  # of lark's: `lex` takes the state, and so can go on behind a token that was refused

    def __init__(self, configuration) -> None:
        fixed = {each.pattern.value: each.name for each in configuration.terminals if each.pattern}
        self.kinds = dict.fromkeys(PRECEDENCE, "OPERATOR") | dict.fromkeys(COMPOUND, "COMPOUND") | fixed

    def lex(self, state: LexerState, parser_state) -> Iterator[Token]:
        """Each token, with its place."""
        text, attribute = state.text.text, False
        for found in TOKEN.finditer(text, state.line_ctr.char_pos):
            begin, end = found.span(found.lastgroup)
            written, kind = text[begin:end], found.lastgroup
            if kind == "NAME" and not written.isidentifier():  # \w has more letters than names have
                end = begin + next(i for i in range(len(written)) if not written[: i + 1].isidentifier())
                yield Token("UNKNOWN", text[end], end, end_pos=end + 1)
            kind = self._kind(kind, written, attribute)
            attribute = kind == "AT"
            state.line_ctr.char_pos = end
            yield Token(kind, written, begin, end_pos=end)

    def _kind(self, kind: str, written: str, attribute: bool) -> str:
        if kind == "SIGN":
            return self.kinds.get(written, "UNKNOWN")
        if kind != "NAME":
            return kind
        known = (KINDS if attribute else self.kinds).get(written)
        return known or ("RESERVED" if attribute or is_reserved(written) else kind)


def is_reserved(word: str) -> bool:
    """Whether a word may not be a name, although it means nothing in WGSL."""
    return word in RESERVED or word.startswith("__")
