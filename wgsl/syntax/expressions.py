"""A text read from its begin to its end: its tokens one after another, and the expressions and types among them.

A method reads what its first line says in the notation of the specification's grammar, and leaves the token behind it
as the next one. All tokens are lists beside each other, and `i` is the number of the next one: a token is read in less
than a microsecond, where an object for each takes two.
"""

from __future__ import annotations

from wgsl.diagnostics import NotWgsl, Span
from wgsl.syntax import tree
from wgsl.syntax.attributes import unexpected
from wgsl.syntax.tokens import CLOSE, OPEN, OPERAND, PRECEDENCE, Word, number_fault, tokens
from wgsl.syntax.tree import Binary, Expression

MOST_UNKNOWN = 20  # words of WGSL read as names, before the rest of a text is left unread
UNARY = frozenset("-!~*&")
PHRASES = {CLOSE: ">"}  # what is expected, where it is not the sign itself


@tree.frozen
class Parentheses(tree.Node):
    """An expression in parentheses: what is around it begins and ends with them, the expression itself does not."""

    inner: Expression


def bare(expression):
    """An expression without the parentheses around it."""
    return expression.inner if isinstance(expression, Parentheses) else expression


class Expressions:
    """The tokens of a text, the words of WGSL that stand where a name belongs, and the expressions."""

    def __init__(self, code: str, unclosed: list[NotWgsl]) -> None:
        self.code = code
        self.kinds, self.texts, self.begins, self.ends = tokens(code)
        self.i = 0
        self.unclosed = unclosed  # the faults of comments that never end: one, or none
        self.unknown: list[NotWgsl] = []

    # --- Tokens -----------------------------------------------------------------------------------------------

    @property
    def place(self) -> Span:
        """The place of the next token."""
        return Span(self.begins[self.i], self.ends[self.i])

    @property
    def end(self) -> int:
        """The end of the last token that was read."""
        return self.ends[self.i - 1]

    @property
    def is_word(self) -> bool:
        """True where the next token has the form of a name."""
        return self.texts[self.i].isidentifier()

    def unexpected(self, what: str) -> NotWgsl:
        """The fault of the next token, where something else is expected."""
        if self.kinds[self.i] == "END" and self.unclosed:
            return self.unclosed[0]
        if self.kinds[self.i] == "--":
            self._split()
        return unexpected(PHRASES.get(what, what), self.place)

    def expect(self, sign: str, what: str = "") -> int:
        """Read this sign. Return where it begins."""
        i = self.i
        if self.kinds[i] != sign:
            raise self.unexpected(what or sign)
        self.i = i + 1
        return self.begins[i]

    def word(self) -> Word:
        """The next token, whatever it is, with its place."""
        i = self.i
        self.i = i + 1
        return Word(self.texts[i], self.begins[i], self.ends[i])

    def name(self) -> Word:
        """NAME"""
        if self.kinds[self.i] == "NAME":
            return self.word()
        if self.is_word:
            word = self.word()
            raise NotWgsl("keyword", word, name=word)
        raise self.unexpected("name")

    def used_name(self, what: str) -> Word:
        """NAME, or a keyword, which is read as a name, as the adapter's compiler does in most places."""
        if self.kinds[self.i] != "NAME":
            if not self.is_word:
                raise self.unexpected(what)
            word = Word(self.texts[self.i], *self.place)
            self.unknown.append(NotWgsl("unknown", word, name=word))
            if len(self.unknown) == MOST_UNKNOWN:
                raise self.unknown[0]
        return self.word()

    # --- Expressions ------------------------------------------------------------------------------------------

    def expression(self) -> Expression | Parentheses:
        """unary (operator unary)*"""
        first = self.unary()
        if not self._at_operator():
            return first
        operands = [first]
        waiting = []
        while self._at_operator():
            operator = self.kinds[self.i]
            while waiting and PRECEDENCE[waiting[-1]] >= PRECEDENCE[operator]:
                _join(operands, waiting.pop())
            waiting.append(operator)
            self.i += 1
            operands.append(self.unary())
        while waiting:
            _join(operands, waiting.pop())
        return operands[0]

    def _at_operator(self) -> bool:
        kind = self.kinds[self.i]
        return kind in PRECEDENCE or (kind == "--" and self._split())

    def _split(self) -> bool:
        """Cut the next token `--` in two, if an operand follows. Return whether it does."""
        i = self.i
        begin, end = self.place
        if not OPERAND.match(self.code, end):
            return False
        self.kinds[i : i + 1] = "-", "-"
        self.texts[i : i + 1] = "-", "-"
        self.begins[i : i + 1] = begin, begin + 1
        self.ends[i : i + 1] = begin + 1, end
        return True

    def unary(self) -> Expression | Parentheses:
        """(`-` | `!` | `~` | `*` | `&`)* operand"""
        begun = self.i
        while self.kinds[self.i] in UNARY or (self.kinds[self.i] == "--" and self._split()):
            self.i += 1
        signs = range(begun, self.i)
        operand = self.operand()
        for sign in reversed(signs):
            operand = tree.Unary(self.begins[sign], self.end, self.texts[sign], bare(operand))
        return operand

    def operand(self) -> Expression | Parentheses:
        """(name list? arguments? | NUMBER | `true` | `false` | `(` expression `)`) (`.` name | `[` expression `]`)*"""
        i = self.i
        kind = self.kinds[i]
        if kind == "NUMBER":
            operand = self._number()
        elif kind == "(":
            operand = self._parentheses()
        elif kind in ("true", "false"):
            self.i = i + 1
            operand = tree.Literal(self.begins[i], self.ends[i], kind)
        else:
            operand = self.type(self.used_name("expression"))
            if self.kinds[self.i] == "(":
                operand = self.call(operand)
        return self.parts(operand) if self.kinds[self.i] in (".", "[") else operand

    def _number(self) -> tree.Literal:
        i = self.i
        text = self.texts[i]
        self.i = i + 1
        if kind := number_fault(text):
            raise NotWgsl(kind, Word(text, self.begins[i], self.ends[i]), text=text)
        return tree.Literal(self.begins[i], self.ends[i], text)

    def _parentheses(self) -> Parentheses:
        begin = self.expect("(")
        inner = self.expression()
        self.expect(")")
        return Parentheses(begin, self.end, bare(inner))

    def parts(self, base: Expression | Parentheses) -> Expression | Parentheses:
        """(`.` name | `[` expression `]`)*, of what stands before it"""
        begin = base.at
        while True:
            kind = self.kinds[self.i]
            if kind == ".":
                self.i += 1
                name = self.name()
                base = tree.Member(begin, name.end, bare(base), name)
            elif kind == "[":
                self.i += 1
                index = bare(self.expression())
                self.expect("]")
                base = tree.Index(begin, self.end, bare(base), index)
            else:
                return base

    def call(self, callee: tree.Name) -> tree.Call:
        """`(` (expression (`,` expression)* `,`?)? `)`, behind the name of what is called"""
        self.expect("(")
        if self.kinds[self.i] == ")":
            self.i += 1
            arguments = ()
        else:
            arguments = self.listed(")")
        return tree.Call(callee.at, self.end, callee, arguments)

    def type(self, name: Word) -> tree.Name:
        """(`<` expression (`,` expression)* `,`? `>`)?, behind a name"""
        arguments = self.templates() if self.kinds[self.i] == OPEN else ()
        return tree.Name(name.at, self.end, name, arguments)

    def templates(self) -> tuple[Expression, ...]:
        """`<` expression (`,` expression)* `,`? `>`"""
        self.expect(OPEN)
        return self.listed(CLOSE)

    def listed(self, closed: str) -> tuple[Expression, ...]:
        """expression (`,` expression)* `,`?, and the bracket behind it"""
        parts = [bare(self.expression())]
        while self.kinds[self.i] == ",":
            self.i += 1
            if self.kinds[self.i] == closed:
                break
            parts.append(bare(self.expression()))
        self.expect(closed)
        return tuple(parts)


# --- Operators ----------------------------------------------------------------------------------------------------

SUMS = {"+", "-", "*", "/", "%"}
SHIFTED = SUMS | {"<<", ">>"}
COMPARISONS = {"==", "!=", "<", "<=", ">", ">="}
COMPARED = SHIFTED | COMPARISONS
BARE_OPERANDS = {  # what the left operand of an operator may be without parentheses, and what the right one may be
    **dict.fromkeys(SUMS, (SUMS, SUMS)),
    **dict.fromkeys(["<<", ">>"], ((), ())),
    **dict.fromkeys(COMPARISONS, (SHIFTED, SHIFTED)),
    **{bits: ({bits}, ()) for bits in "&|^"},
    **{both: (COMPARED | {both}, COMPARED) for both in ("&&", "||")},
}


def _join(operands: list, operator: str) -> None:
    """Put the last two operands together. Raises NotWgsl where an operator in one of them needs parentheses."""
    right = operands.pop()
    left = operands.pop()
    for side, allowed in zip((left, right), BARE_OPERANDS[operator], strict=True):
        if isinstance(side, Binary) and side.operator not in allowed:
            place = Span(left.at, right.end)
            inner = side.operator
            chain = PRECEDENCE[inner] == PRECEDENCE[operator] and inner in COMPARISONS
            raise NotWgsl("clash", place, sign=operator, left=left, right=right, inner=inner, chain=chain)
    operands.append(Binary(left.at, right.end, operator, bare(left), bare(right)))
