"""The syntax tree from what the grammar finds: one method for each rule of wgsl.lark, called from the inside out."""

from __future__ import annotations

from collections.abc import Sequence

from lark import Token, Transformer

from helpers.wgsl.diagnostics import Refused, Span, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.syntax.tokens import PRECEDENCE, check_number
from helpers.wgsl.syntax.tree import Attribute, Binary

# --- The tree ---


class Builder(Transformer):
    """Makes the nodes of `tree`."""

    # --- Expressions ------------------------------------------------------------------------------------------

    def parentheses(self, found):
        opened, inner, closed = found
        return Parentheses(opened.at, closed.end, bare(inner))

    def number(self, found):
        token = found[0]
        check_number(token)
        return tree.Literal(token.at, token.end, str(token))

    def truth(self, found):
        return tree.Literal(found[0].at, found[0].end, str(found[0]))

    def name(self, found):
        name, templates = found if len(found) == 2 else (found[0], None)
        arguments, end = templates or ((), name.end)
        return tree.Name(name.at, end, name, arguments)

    def templates(self, found):
        return tuple(map(bare, found[1:-1])), found[-1].end

    def call(self, found):
        callee, arguments, closed = found
        return tree.Call(callee.at, closed.end, callee, arguments)

    def arguments(self, found):
        return tuple(bare(each) for each in found if each is not None)

    def index(self, found):
        base, index, closed = found
        return tree.Index(base.at, closed.end, bare(base), bare(index))

    def member_of(self, found):
        base, name = found
        return tree.Member(base.at, name.end, bare(base), name)

    def unary(self, found):
        operator, operand = found
        return tree.Unary(operator.at, operand.end, str(operator), bare(operand))

    def chain(self, found):
        return chained(found)

    # --- Statements -------------------------------------------------------------------------------------------

    def statements(self, found):
        return tuple(found)

    def block(self, found):
        _, opened, body, closed = found
        return tree.Block(opened.at, closed.end, body)

    def local(self, found):
        word, templates, name, kind, value = found
        return _declaration(word, name, kind, value, templates)

    def constant(self, found):
        return _declaration(*found)

    value = constant

    def assignment(self, found):
        target, operator, value = found
        return tree.Assignment(target.at, value.end, bare(target), str(operator), bare(value))

    def phony(self, found):
        begun, operator, value = found
        return tree.Assignment(begun.at, value.end, None, str(operator), bare(value))

    def increment(self, found):
        target, operator = found
        return tree.Increment(target.at, operator.end, bare(target), str(operator))

    def call_statement(self, found):
        return tree.CallStatement(found[0].at, found[0].end, found[0])

    def attributed_if(self, found):
        return found[1]

    def if_(self, found):
        word, condition, then, otherwise = found
        return tree.If(word.at, (otherwise or then).end, bare(condition), then, otherwise)

    def switch(self, found):
        _, word, selector, _, _, *clauses, closed = found
        return tree.Switch(word.at, closed.end, bare(selector), tuple(clauses))

    def clause(self, found):
        word, *selectors, body = found
        return tree.Case(word.at, body.end, tuple(selectors) or (None,), body)

    def selector(self, found):
        return None if isinstance(found[0], Token) else bare(found[0])

    def loop(self, found):
        _, word, _, opened, body, continuing, closed = found
        block = tree.Block(opened.at, closed.end, body)
        return tree.Loop(word.at, closed.end, block, *(continuing or (None, None)))

    def continuing(self, found):
        _, _, opened, *body, break_if, closed = found
        for each in body:
            if isinstance(each, tree.Break):
                raise unexpected("`if`", Span(each.end, each.end))
        return tree.Block(opened.at, closed.end, tuple(body)), break_if

    def break_if(self, found):
        return bare(found[0])

    def for_(self, found):
        _, word, first, condition, update, body = found
        return tree.For(word.at, body.end, first, condition, update, body)

    def first(self, found):
        return bare(found[0]) if found else None

    condition = update = first

    def while_(self, found):
        _, word, condition, body = found
        return tree.While(word.at, body.end, bare(condition), body)

    def return_(self, found):
        word, value = found
        return tree.Return(word.at, value.end if value else word.end, bare(value))

    def break_(self, found):
        return tree.Break(found[0].at, found[0].end)

    def continue_(self, found):
        return tree.Continue(found[0].at, found[0].end)

    def discard(self, found):
        raise Unsupported("`discard`, which belongs to fragment shaders", found[0].at)

    def const_assert(self, found):
        word, condition = found
        return tree.ConstAssert(word.at, condition.end, bare(condition))

    # --- The module -------------------------------------------------------------------------------------------

    def module(self, found):
        return tree.Module(tuple(each for each in found if each is not None))

    def global_(self, found):
        attributes, word, templates, name, kind, value = found
        return _declaration(word, name, kind, value, templates, attributes)

    def override(self, found):
        attributes, word, name, kind, value = found
        return _declaration(word, name, kind, value, None, attributes)

    def alias(self, found):
        word, name, kind = found
        return tree.Alias(word.at, kind.end, name, kind)

    def struct(self, found):
        word, name, *members, closed = found
        return tree.Struct(word.at, closed.end, name, tuple(members))

    def member(self, found):
        attributes, name, kind = found
        kept = check_attributes(attributes)
        return tree.Parameter(_begin(attributes, name), kind.end, name, kind, kept)

    def parameter(self, found):
        made = self.member(found)
        for each in made.attributes:
            if each.name in ("align", "size"):
                raise Refused(f"`@{each.name}` belongs to a member of a struct", each)
        return made

    def parameters(self, found):
        return tuple(each for each in found if each is not None)

    def result(self, found):
        check_attributes(found[0])
        return found[1]

    def function(self, found):
        attributes, word, name, parameters, result, body = found
        begun = _begin(attributes, word)
        kept = check_attributes(attributes)
        return tree.Function(begun, body.end, name, parameters, result, body, kept)

    def attributes(self, found):
        return tuple(found)

    traits = attributes

    def filters(self, found):
        """Filters of warnings have no effect."""

    def attribute(self, found):
        at, name, *arguments = found
        given = tuple(self.name([each]) if isinstance(each, Token) else bare(each) for each in arguments[1:-1])
        made = tree.Attribute(at.at, found[-1].end, name, given)
        check_count(made)
        return made

    def enable(self, found):
        check_extensions(found[1:])

    def requires(self, found):
        check_features(found[1:])

    def diagnostic(self, found):
        check_severity(found[2])


def _declaration(word, name, kind, value, templates=None, attributes=()):
    """A declaration; `word` is the keyword that begins it."""
    end = (value or kind).end if value or kind else name.end
    arguments = templates[0] if templates else ()
    kept = check_attributes(attributes)
    begun = _begin(attributes, word)
    return tree.Declaration(begun, end, str(word), name, kind, bare(value), arguments, kept)


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
