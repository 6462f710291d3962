"""The words, numbers and signs of a text."""

from __future__ import annotations

import re
import struct
import sys
from collections.abc import Iterator
from functools import lru_cache

OPEN, CLOSE = "\uf8fe", "\uf8ff"  # private letters, one for one, so that every offset stays
NUMBER = (  # with what is malformed; check_number says what is not
    r"0[xX](?:[\da-fA-F]*\.[\da-fA-F]*(?:[pP][-+]?\d*[fh]?)?|[\da-fA-F]*(?:[pP][-+]?\d*[fh]?|[iu])?)"
    r"|(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d*)?[fh]?|\d+(?:[eE][-+]?\d*[fh]?|[iufh])?"
)
TOKEN = re.compile(
    r"[ \t-\r\x85\u200e\u200f\u2028\u2029]*+"
    rf"(?:(?P<NAME>[^\W\d](?:\w|[^\0-\x7f{OPEN}{CLOSE}])*+)|(?P<NUMBER>{NUMBER})"
    r"|(?P<SIGN><<=|>>=|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||->|\+\+|--|.))",
    re.DOTALL,
)
OPERAND = re.compile(r"\s*[\w.(!~&*-]")  # how one begins
COMPOUND = frozenset(["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="])
WORDS = frozenset(
    """
    _ alias break case const const_assert continue continuing default diagnostic discard else enable false fn for if let
    loop override requires return struct switch true var while
    """.split()  # noqa: SIM905 (the rule's list has one name a line)
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
PRECEDENCE = {  # of operators; the higher it is, the more tightly one binds
    "||": 0,
    "&&": 1,
    "|": 2,
    "^": 3,
    "&": 4,
    **dict.fromkeys(("==", "!="), 5),
    **dict.fromkeys(("<", "<=", ">", ">="), 6),
    **dict.fromkeys(("<<", ">>"), 7),
    **dict.fromkeys(("+", "-"), 8),
    **dict.fromkeys(("*", "/", "%"), 9),
}
SIGNS = frozenset([*PRECEDENCE, *COMPOUND, *"@()[]{}=!~,.;:", "++", "--", "->", OPEN, CLOSE])
KINDS = {  # the token that a word is after @
    **dict.fromkeys(["compute", "fragment", "must_use", "vertex"], "STAGE"),
    **dict.fromkeys(["binding", "group", "id", "workgroup_size"], "PLACE"),
    **dict.fromkeys(["align", "blend_src", "location", "size"], "LAYOUT"),
    "builtin": "NAMED",
    "interpolate": "NAMED",
    "invariant": "BARE",
    "diagnostic": "DIAGNOSTIC",
}


class Word(str):
    """A piece of a text, ``text[at:end]``."""

    __slots__ = "at", "end"

    def __new__(cls, text: str, at: int = 0, end: int = 0) -> Word:
        word = str.__new__(cls, text)
        word.at = at
        word.end = end
        return word


def tokens(code: str) -> tuple[list[str], list[str], list[int], list[int]]:
    """Return the kinds, the texts, the begins and the ends of all tokens, each the longest that fits.

    The kind of a sign or a word of WGSL is its text. A letter that begins no token is a token by itself, and the last
    token, END, is empty.
    """
    kinds: list[str] = []
    texts: list[str] = []
    ends: list[int] = []
    at = 0
    while match := TOKEN.match(code, at):  # not finditer: that begins again at each of many blanks at the end
        at = match.end()
        kind = match.lastgroup
        text = match[kind]
        if kind == "SIGN":
            kind = text if text in SIGNS else "UNKNOWN"
        elif kind == "NAME":
            if not text.isidentifier():  # it has more letters than names have
                at -= len(text)
                text = _name_in(text)
                at += len(text)
            kind = KINDS.get(text, "RESERVED") if kinds and kinds[-1] == "@" else _kind(text)
        kinds.append(kind)
        texts.append(text)
        ends.append(at)
    begins = [end - len(text) for end, text in zip(ends, texts, strict=True)]
    return [*kinds, "END"], [*texts, ""], [*begins, len(code)], [*ends, len(code)]


def _name_in(text: str) -> str:
    """Return the letters of a text that make a name, or its first letter, which makes none."""
    length = next(i for i in range(len(text)) if not text[: i + 1].isidentifier())
    return text[: max(length, 1)]


@lru_cache(maxsize=1024)
def _kind(text: str) -> str:
    """Return the kind of a token of letters."""
    if text in WORDS:
        return text
    if not text.isidentifier():
        return "UNKNOWN"
    reserved = text in RESERVED or text.startswith("__")
    return "RESERVED" if reserved else "NAME"


# --- Template lists -----------------------------------------------------------------------------------------------

FOREIGN = str.maketrans({OPEN: "\0", CLOSE: "\0"})
PART = re.compile(  # all else stands between the matches
    r"(?<!\w)[^\W\d]\w*+\s*+(?P<opens><)(?![<=])"  # a name, and the < after it
    r"|(?<!\w)\d[\w.]*+"  # a number's suffix is not a name
    r"|(?P<sign><<=?|<=|[=!]=|&&|\|\||>=?|[()\[\];{:=])"
)


def marked(code: str) -> str:
    """A text without comments, with OPEN and CLOSE for the < and > of its template lists."""
    letters = list(code.translate(FOREIGN))
    pending = []  # each < that may open a list, and the brackets around it
    depth = 0
    at = 0
    while part := PART.search(code, at):
        at = part.end()
        sign = part["sign"]
        if part["opens"]:
            pending.append((part.start("opens"), depth))
        elif sign in (">", ">=") and pending and pending[-1][1] == depth:
            letters[pending.pop()[0]] = OPEN
            letters[part.start("sign")] = CLOSE
            at = part.start("sign") + 1  # what follows a closing > is read again: it may be another one
        elif sign in ("(", "["):
            depth += 1
        elif sign in (")", "]", "&&", "||"):
            while pending and pending[-1][1] >= depth:
                pending.pop()
            depth = max(0, depth - (sign in ")]"))
        elif sign in ("=", ";", "{", ":"):
            pending = []
            depth = 0
    return "".join(letters)


# --- Numbers ------------------------------------------------------------------------------------------------------

WHOLE_NUMBER = re.compile(r"(0[xX][\da-fA-F]+|0|[1-9]\d*)([iu]?)")
FRACTION_NUMBER = re.compile(
    r"((?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+|(?:0|[1-9]\d*)(?=[fh])"
    r"|0[xX](?:[\da-fA-F]+\.?[\da-fA-F]*|\.[\da-fA-F]+)[pP][-+]?\d+|0[xX](?:[\da-fA-F]+\.[\da-fA-F]*|\.[\da-fA-F]+))"
    r"([fh]?)"
)
LARGEST = {"": 2**63 - 1, "i": 2**31 - 1, "u": 2**32 - 1}
LARGEST_HALF = 65504
PACKED = {"f": "<f", "h": "<e", "": "<d"}  # the formats of floats


@lru_cache(maxsize=1024)  # a text has few numbers, many times each
def number_fault(text: str) -> str:
    """Return the kind of the refusal of what is not a number, or of what its type cannot hold; "" for a number."""
    whole = WHOLE_NUMBER.fullmatch(text)
    fraction = FRACTION_NUMBER.fullmatch(text)
    if whole:
        fits = len(whole[1].lstrip("0xX")) < 20 and int(whole[1], 0) <= LARGEST[whole[2]]
    elif fraction:
        fits = _fits(fraction[1], fraction[2])
    else:
        return "malformed number"
    return "" if fits else "number out of range"


def _fits(digits: str, suffix: str) -> bool:
    """Return True for a fraction that is in range and, if it is hexadecimal, exact."""
    hexadecimal = digits[:2] in ("0x", "0X")
    try:
        value = float.fromhex(digits) if hexadecimal else float(digits)
        (nearest,) = struct.unpack(PACKED[suffix], struct.pack(PACKED[suffix], value))
    except OverflowError:
        return False
    largest = LARGEST_HALF if suffix == "h" else sys.float_info.max
    return abs(value) <= largest and (nearest == value or not hexadecimal)


# --- Comments and brackets ----------------------------------------------------------------------------------------

COMMENT, BLOCK_COMMENT = re.compile(r"//[^\n\v\f\r\x85\u2028\u2029]*|/\*"), re.compile(r"/\*|\*/")


def comments(source: str) -> Iterator[tuple[int, int | None]]:
    """Yield the begin and the end of each comment of a text; None as the end of one that is not closed."""
    at = depth = begin = 0  # block comments nest
    while match := (BLOCK_COMMENT if depth else COMMENT).search(source, at):
        if depth == 0:
            begin = match.start()
        depth += {"/*": 1, "*/": -1}.get(match[0], 0)
        at = match.end()
        if depth == 0:
            yield begin, at
    if depth > 0:
        yield begin, None


@lru_cache(maxsize=256)  # a text that is specialized for a layer has up to 100 KB
def without_comments(source: str) -> str:
    """The text with blanks in place of its comments, so that all else keeps its place."""
    kept = ""
    at = 0
    for begin, end in comments(source):
        kept += source[at:begin] + re.sub(r"[^\n]", " ", source[begin:end])
        at = end or len(source)
    return kept + source[at:]


@lru_cache(maxsize=256)
def without_bodies(code: str) -> str:
    """A text without comments, with blanks in place of what stands between the braces of its functions."""
    kept: list[str] = []
    at = depth = 0
    in_function = False
    for match in re.finditer(r"\bfn\b|[{}]", code):
        if match[0] == "fn":
            in_function = in_function or depth == 0
            continue
        opens = match[0] == "{"
        depth += 1 if opens else -1
        if not in_function or depth != int(opens):  # elsewhere, or inside of the body
            continue
        between = code[at : match.start()]
        kept.append(between if opens else " " * len(between))
        kept.append(match[0])
        at = match.end()
        in_function = opens
    return "".join(kept) + code[at:]
