"""The words, numbers and signs of a text, as the grammar in wgsl.lark asks for them."""

import re
from collections.abc import Iterator

from lark import Token
from lark.lexer import Lexer

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

    def __init__(self, configuration) -> None:
        self.kinds = {each.pattern.value: each.name for each in configuration.terminals if each.pattern}

    def lex(self, text: str) -> Iterator[Token]:
        """Each token, with its place."""
        for found in TOKEN.finditer(text):
            kind, (begin, end) = found.lastgroup, found.span(found.lastgroup)
            written = text[begin:end]
            if kind == "NAME":
                kind = self.kinds.get(written) or ("RESERVED" if is_reserved(written) else "NAME")
            elif kind == "SIGN":
                kind = self.kinds.get(written, "UNKNOWN")
            yield Token(kind, written, begin, end_pos=end)


def is_reserved(word: str) -> bool:
    """Whether a word is none of WGSL's, and no name either."""
    return word in RESERVED or word.startswith("__")
