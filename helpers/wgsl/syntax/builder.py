"""The syntax tree from what the grammar finds: one method for each rule of wgsl.lark, called from the inside out."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token, Transformer, v_args

from helpers.wgsl.diagnostics import Refused, Span, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.syntax.tokens import PRECEDENCE, check_number
from helpers.wgsl.syntax.tree import Attribute, Binary


@v_args(inline=True)
class Builder(Transformer):
    """Makes the nodes of `tree`."""

    # --- Expressions ------------------------------------------------------------------------------------------

    def parentheses(self, opened, inner, closed):
        return Parentheses(opened.at, closed.end, bare(inner))

    def number(self, token):
        check_number(token)
        return tree.Literal(token.at, token.end, str(token))

    def truth(self, token):
        return tree.Literal(token.at, token.end, str(token))

    def name(self, name, templates=None):
        arguments, end = templates or ((), name.end)
        return tree.Name(name.at, end, name, arguments)

    def templates(self, opened, *arguments):
        return tuple(map(bare, arguments[:-1])), arguments[-1].end

    def call(self, callee, arguments, closed):
        return tree.Call(callee.at, closed.end, callee, arguments)

    def arguments(self, *found):
        return tuple(bare(each) for each in found if each is not None)

    def index(self, base, index, closed):
        return tree.Index(base.at, closed.end, bare(base), bare(index))

    def member_of(self, base, name):
        return tree.Member(base.at, name.end, bare(base), name)

    def unary(self, operator, operand):
        return tree.Unary(operator.at, operand.end, str(operator), bare(operand))

    def chain(self, *found):
        return chained(found)

    # --- Statements -------------------------------------------------------------------------------------------

    def statements(self, *found):
        return found

    attributes = traits = statements

    def block(self, _, opened, body, closed):
        return tree.Block(opened.at, closed.end, body)

    def local(self, word, templates, name, kind, value):
        return _declaration((), word, templates, name, kind, value)

    def constant(self, word, name, kind, value):
        return _declaration((), word, None, name, kind, value)

    value = constant

    def assignment(self, target, operator, value):
        return tree.Assignment(target.at, value.end, bare(target), str(operator), bare(value))

    def phony(self, begun, operator, value):
        return tree.Assignment(begun.at, value.end, None, str(operator), bare(value))

    def increment(self, target, operator):
        return tree.Increment(target.at, operator.end, bare(target), str(operator))

    def call_statement(self, call):
        return tree.CallStatement(call.at, call.end, call)

    def attributed_if(self, _, found):
        return found

    def if_(self, word, condition, then, otherwise):
        return tree.If(word.at, (otherwise or then).end, bare(condition), then, otherwise)

    def switch(self, _, word, selector, __, ___, *clauses):
        return tree.Switch(word.at, clauses[-1].end, bare(selector), clauses[:-1])

    def clause(self, word, *selectors):
        return tree.Case(word.at, selectors[-1].end, selectors[:-1] or (None,), selectors[-1])

    def selector(self, found):
        return None if isinstance(found, Token) else bare(found)

    def loop(self, _, word, __, opened, body, continuing, closed):
        block = tree.Block(opened.at, closed.end, body)
        return tree.Loop(word.at, closed.end, block, *(continuing or (None, None)))

    def continuing(self, _, __, opened, *found):
        *body, break_if, closed = found
        for each in body:
            if isinstance(each, tree.Break):
                raise unexpected("`if`", Span(each.end, each.end))
        return tree.Block(opened.at, closed.end, tuple(body)), break_if

    def break_if(self, condition):
        return bare(condition)

    def for_(self, _, word, first, condition, update, body):
        return tree.For(word.at, body.end, first, condition, update, body)

    def first(self, found=None):
        return bare(found)

    condition = update = first

    def while_(self, _, word, condition, body):
        return tree.While(word.at, body.end, bare(condition), body)

    def return_(self, word, value):
        return tree.Return(word.at, (value or word).end, bare(value))

    def break_(self, word):
        return tree.Break(word.at, word.end)

    def continue_(self, word):
        return tree.Continue(word.at, word.end)

    def discard(self, word):
        raise Unsupported("`discard`, which belongs to fragment shaders", word.at)

    def const_assert(self, word, condition):
        return tree.ConstAssert(word.at, condition.end, bare(condition))

    # --- The module -------------------------------------------------------------------------------------------

    def module(self, *found):
        return tree.Module(tuple(each for each in found if each is not None))

    def global_(self, attributes, word, templates, name, kind, value):
        return _declaration(attributes, word, templates, name, kind, value)

    def override(self, attributes, word, name, kind, value):
        return _declaration(attributes, word, None, name, kind, value)

    def alias(self, word, name, kind):
        return tree.Alias(word.at, kind.end, name, kind)

    def struct(self, word, name, *members):
        return tree.Struct(word.at, members[-1].end, name, members[:-1])

    def member(self, attributes, name, kind):
        return tree.Parameter(_begin(attributes, name), kind.end, name, kind, check_attributes(attributes))

    def parameter(self, attributes, name, kind):
        for each in attributes:
            if each.name in ("align", "size"):
                raise Refused(f"`@{each.name}` belongs to a member of a struct", each)
        return self.member(attributes, name, kind)

    def parameters(self, *found):
        return tuple(each for each in found if each is not None)

    def result(self, attributes, kind):
        check_attributes(attributes)
        return kind

    def function(self, attributes, word, name, parameters, result, body):
        begun, kept = _begin(attributes, word), check_attributes(attributes)
        return tree.Function(begun, body.end, name, parameters, result, body, kept)

    def filters(self, *found):
        """Filters of warnings have no effect."""

    def attribute(self, at, name, *arguments):
        given = tuple(self.name(each) if isinstance(each, Token) else bare(each) for each in arguments[1:-1])
        made = tree.Attribute(at.at, (arguments or [name])[-1].end, name, given)
        check_count(made)
        return made

    def enable(self, _, *names):
        check_extensions(names)

    def requires(self, _, *names):
        check_features(names)

    def diagnostic(self, _, __, severity, *rule):
        check_severity(severity)


def _declaration(attributes, word, templates, name, kind, value):
    """A declaration; `word` is the keyword that begins it."""
    begun, kept, arguments = _begin(attributes, word), check_attributes(attributes), templates[0] if templates else ()
    return tree.Declaration(begun, (value or kind or name).end, str(word), name, kind, bare(value), arguments, kept)


def _begin(attributes, word):
    return attributes[0].at if attributes else word.at


# --- Operators ---


SUMS = {"+", "-", "*", "/", "%"}
SHIFTED = SUMS | {"<<", ">>"}
COMPARED = SHIFTED | {"==", "!=", "<", "<=", ">", ">="}
BESIDE = {  # what the left operand of an operator may be without parentheses, and what the right one may be
    **dict.fromkeys(SUMS, (SUMS, SUMS)),
    **dict.fromkeys(["<<", ">>"], ((), ())),
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], (SHIFTED, SHIFTED)),
    **{bits: ({bits}, ()) for bits in "&|^"},
    **{both: (COMPARED | {both}, COMPARED) for both in ("&&", "||")},
}


class Parentheses:
    """An expression in parentheses: what is around it begins and ends with them, the expression itself does not."""

    __slots__ = ("at", "end", "inner")

    def __init__(self, at: int, end: int, inner) -> None:
        self.at, self.end, self.inner = at, end, inner


def bare(found):
    """An expression without the parentheses around it."""
    return found.inner if isinstance(found, Parentheses) else found


def chained(found: list):
    """The tree of ``operand operator operand operator ...``.

    Raises Refused where two operators need parentheses between them.
    """
    operands, waiting = [found[0]], []
    for operator, operand in zip(found[1::2], found[2::2], strict=True):
        while waiting and PRECEDENCE[waiting[-1]] >= PRECEDENCE[operator]:
            _join(operands, waiting.pop())
        waiting.append(operator)
        operands.append(operand)
    while waiting:
        _join(operands, waiting.pop())
    return operands[0]


def _join(operands: list, operator: str) -> None:
    """Put the last two operands together."""
    right, left = operands.pop(), operands.pop()
    for side, beside in zip((left, right), BESIDE[operator], strict=True):
        if isinstance(side, Binary) and side.operator not in beside:
            place = Span(left.at, right.end)
            raise Refused(_clash(side.operator, operator), place, "clash", operator, left, right)
    operands.append(Binary(left.at, right.end, str(operator), bare(left), bare(right)))


def _clash(inner: str, outer: str) -> str:
    if PRECEDENCE[inner] == PRECEDENCE[outer] and inner in COMPARED - SHIFTED:
        return f"comparisons form no chain: write `a {inner} b && b {outer} c`"
    if "^" in (inner, outer):
        return f"`{inner}` and `{outer}` need parentheses, and `^` is for the bits of whole numbers, not for a power"
    return f"`{inner}` and `{outer}` stand side by side: put what belongs together in parentheses"


# --- Attributes and directives ---


MOST = {"workgroup_size": 3, "interpolate": 2, "diagnostic": 3}  # arguments, where it is not 1
EXTENSIONS = ("f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index")
FEATURES = (
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "unrestricted_pointer_parameters",
    "pointer_composite_access",
)
SEVERITIES = ("error", "warning", "info", "off")


def check_count(attribute: Attribute) -> None:
    """Refuse an attribute with too many arguments."""
    most = MOST.get(attribute.name, 1)
    if len(attribute.arguments) > most:
        raise unexpected("`)`", attribute.arguments[most])


def check_attributes(attributes: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """The attributes that have an effect. Raises Refused for one that stands here twice."""
    _check_filters([each for each in attributes if each.name == "diagnostic"])
    kept = tuple(each for each in attributes if each.name != "diagnostic")  # a filter of warnings changes nothing
    names = [each.name for each in kept]
    for i, each in enumerate(kept):
        if each.name in names[:i]:
            raise Refused(f"`@{each.name}` stands here twice", each.name)
    return kept


def _check_filters(filters: Sequence[Attribute]) -> None:
    """Refuse two severities for one rule of a ``@diagnostic``."""
    known: dict[str, str] = {}
    for each in filters:
        severity, rule = (getattr(part, "name", "") for part in each.arguments[:2])
        if known.setdefault(rule, severity) != severity:
            reason = f"`@diagnostic` says two things of `{rule}`: it is `{known[rule]}` already"
            raise Refused(reason, each)


def check_extensions(names: Sequence[Token]) -> None:
    """``enable``: all that it can add are types and functions that the simulator does not have."""
    for name in names:
        if name not in EXTENSIONS:
            raise Refused(f"`enable` knows no `{name}`", name)
        raise Unsupported(f"`enable {name}`", name.at)


def check_features(names: Sequence[Token]) -> None:
    """``requires`` changes nothing: it names what a text uses."""
    for name in names:
        if name not in FEATURES:
            raise Refused(f"`requires` knows no `{name}`", name)


def check_severity(name: Token) -> None:
    """``diagnostic`` changes nothing: it filters warnings."""
    if name not in SEVERITIES:
        raise Refused(f"a diagnostic is one of {', '.join(SEVERITIES)}, and not `{name}`", name)


def unexpected(what: str, place: Span) -> Refused:
    """Something stands where something else belongs."""
    return Refused(f"{what} is expected here", place, "expected", what)
