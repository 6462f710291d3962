"""The syntax tree from the matches of the grammar: one method for each rule of wgsl.lark, from the inside out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from lark import Token, Transformer, v_args

from wgsl.diagnostics import Limited, NotWgsl, Span
from wgsl.syntax import tree
from wgsl.syntax.tokens import PRECEDENCE, check_number
from wgsl.syntax.tree import Attribute, Binary

MARKS = """
ALIAS BREAK CASE CONST_ASSERT CONTINUE DEFAULT DISCARD FILTERS FN FOR IF RETURN STRUCT SWITCH UNDERSCORE WHILE
OPEN CLOSE CLOSE_INDEX OPEN_BLOCK CLOSE_BLOCK OPEN_TEMPLATE CLOSE_TEMPLATE
""".split()  # noqa: SIM905 (the rule's list has one name a line)


@tree.frozen
class Parentheses(tree.Node):
    """An expression in parentheses: what is around it begins and ends with them, the expression itself does not."""

    inner: tree.Expression


def bare(expression):
    """An expression without the parentheses around it."""
    return expression.inner if isinstance(expression, Parentheses) else expression


def node(kind: type) -> Callable:
    """A method that makes a node: its fields are what a rule finds, without MARKS, and the attributes come last."""

    def made(self, *children):
        places = [child for child in children if child]
        begun = places[0][0] if isinstance(places[0], tuple) else places[0]
        first, *rest = children
        fields = (*rest, check_attributes(first, str(rest[0]))) if isinstance(first, tuple) else children
        return kind(begun.at, places[-1].end, *_parts(fields))

    return made


def _parts(children: Sequence) -> Iterator:
    """Yield the parts that a rule matches, without the words and signs that only mark where it begins and ends."""
    for child in children:
        if not isinstance(child, Token) or child.type == "NAME":
            yield bare(child)
        elif child.type not in MARKS:
            yield str(child)


@v_args(inline=True)
class Builder(Transformer):
    """Makes the nodes of `tree`."""

    alias, function, struct, member = map(node, (tree.Alias, tree.Function, tree.Struct, tree.Parameter))
    result = node(tree.Result)
    declaration, const_assert, assignment = map(node, (tree.Declaration, tree.ConstAssert, tree.Assignment))
    increment, call_statement, block = map(node, (tree.Increment, tree.CallStatement, tree.Block))
    if_, switch, clause, for_, while_ = map(node, (tree.If, tree.Switch, tree.Case, tree.For, tree.While))
    return_, break_, continue_, discard = map(node, (tree.Return, tree.Break, tree.Continue, tree.Discard))
    parentheses, truth, call = map(node, (Parentheses, tree.Literal, tree.Call))
    index, member_of, unary = map(node, (tree.Index, tree.Member, tree.Unary))

    def several(self, *children):
        return tuple(_parts(children))

    # --- The module -------------------------------------------------------------------------------------------

    def module(self, *children):
        """The directives are notes and filters, and no nodes, but for the names that `enable` has."""
        made = [child for child in children if child]
        check_rules([child.arguments for child in made if isinstance(child, Attribute)], "diagnostic")
        enabled = chain.from_iterable(child.names for child in made if isinstance(child, tree.Enable))
        passed = tuple(child for child in made if isinstance(child, Limited))
        declarations = tuple(child for child in made if not isinstance(child, Attribute | Limited | tree.Enable))
        return tree.Module(declarations, tuple(enabled), passed)

    def parameter(self, attributes, *children):
        for attribute in attributes:
            if attribute.name in ("align", "size"):
                raise NotWgsl("attribute of a member", attribute, name=attribute.name)
        return self.member(attributes, *children)

    def attribute(self, at, name, _=None, arguments=(), closed=None):
        most = MOST.get(name, 1)
        if len(arguments) > most:
            raise unexpected(")", arguments[most])
        return Attribute(at.at, (closed or name).end, name, arguments)

    def filters(self, *children):
        """Filters of warnings have no effect."""
        check_rules([child for child in children if isinstance(child, tuple)], "@diagnostic")
        return Token("FILTERS", "")

    def enable(self, word, *names):
        """It adds types and functions."""
        for name in names:
            if name not in EXTENSIONS:
                raise NotWgsl("extension", name, name=name)
        return tree.Enable(word.at, names[-1].end, names)

    def requires(self, _, *names):
        """It changes nothing: it names what a text uses."""
        for name in names:
            if name not in FEATURES and name not in FEATURES_OF_BROWSERS:
                raise NotWgsl("language feature", name, name=name)
        rare = next((name for name in names if name in FEATURES_OF_BROWSERS), None)
        return rare and Limited("language feature of browsers", rare, name=rare)

    def diagnostic(self, word, __, rule, closed):
        """It changes nothing: it filters warnings."""
        return Attribute(word.at, closed.end, word, rule)

    # --- Statements -------------------------------------------------------------------------------------------

    def no_target(self):
        """``_ = value``."""

    def selector(self, child):
        return None if isinstance(child, Token) else bare(child)

    def no_selector(self):
        return (None,)

    def loop(self, _, word, __, opened, body, continuing, closed):
        block = tree.Block(opened.at, closed.end, body)
        return tree.Loop(word.at, closed.end, block, *(continuing or (None, None)))

    def continuing(self, _, __, opened, *children):
        *body, break_if, closed = children
        for statement in body:
            if isinstance(statement, tree.Break):
                raise unexpected("if", Span(statement.end, statement.end))
        return tree.Block(opened.at, closed.end, tuple(body)), bare(break_if)

    # --- Expressions ------------------------------------------------------------------------------------------

    def number(self, token):
        check_number(token)
        return self.truth(token)

    def name(self, name, _=None, arguments=None, closed=None):
        return tree.Name(name.at, (closed or name).end, name, arguments or ())

    def chain(self, *children):
        """The tree of ``operand operator operand operator ...``.

        Raises NotWgsl where two operators need parentheses between them.
        """
        operands = [children[0]]
        waiting = []
        for operator, operand in zip(children[1::2], children[2::2], strict=True):
            while waiting and PRECEDENCE[waiting[-1]] >= PRECEDENCE[operator]:
                _join(operands, waiting.pop())
            waiting.append(operator)
            operands.append(operand)
        while waiting:
            _join(operands, waiting.pop())
        return operands[0]


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
    """Put the last two operands together."""
    right = operands.pop()
    left = operands.pop()
    for side, allowed in zip((left, right), BARE_OPERANDS[operator], strict=True):
        if isinstance(side, Binary) and side.operator not in allowed:
            place = Span(left.at, right.end)
            inner = side.operator
            chain = PRECEDENCE[inner] == PRECEDENCE[operator] and inner in COMPARISONS
            raise NotWgsl("clash", place, sign=operator, left=left, right=right, inner=inner, chain=chain)
    operands.append(Binary(left.at, right.end, str(operator), bare(left), bare(right)))


# --- Attributes and directives ------------------------------------------------------------------------------------

MOST = {"workgroup_size": 3, "interpolate": 2, "diagnostic": 3}  # arguments, where it is not 1
EXTENSIONS = ("f16", "clip_distances", "dual_source_blending", "subgroups", "primitive_index")
FEATURES = (
    "readonly_and_readwrite_storage_textures",
    "packed_4x8_integer_dot_product",
    "pointer_composite_access",
)
FEATURES_OF_BROWSERS = (  # which naga does not have
    "buffer_view",
    "fragment_depth",
    "immediate_address_space",
    "linear_indexing",
    "subgroup_id",
    "subgroup_uniformity",
    "swizzle_assignment",
    "texture_and_sampler_let",
    "texture_formats_tier1",
    "uniform_buffer_standard_layout",
    "unrestricted_pointer_parameters",
)
SEVERITIES = ("error", "warning", "info", "off")


BELONGS = {  # what may stand before a declaration that begins so
    "var": ("group", "binding"),
    "override": ("id",),
    "fn": ("compute", "vertex", "fragment", "workgroup_size", "must_use", "diagnostic"),
}


def check_rules(rules: Iterable[tuple[tree.Name, ...]], of: str) -> None:
    """Refuse a severity that there is none of, and two filters of one warning; a directive may repeat itself."""
    known: dict[tuple[str, ...], str] = {}
    for severity, *rule in rules:
        if severity.name not in SEVERITIES:
            raise NotWgsl("severity", severity, severity=severity.name, severities=", ".join(SEVERITIES))
        warning = ".".join(part.name for part in rule)
        repeated = of != "@diagnostic" and known.get(warning) == severity.name
        if warning in known and not repeated:
            raise NotWgsl("two severities", severity, of=of, warning=warning, severity=known[warning])
        known[warning] = severity.name


def check_attributes(attributes: Sequence[Attribute], word: str) -> tuple[Attribute, ...]:
    """The attributes that have an effect. Raises NotWgsl for one that stands here twice, or before such a word."""
    kept: dict[str, Attribute] = {}
    check_rules([attribute.arguments for attribute in attributes if attribute.name == "diagnostic"], "@diagnostic")
    for attribute in attributes:
        if attribute.name not in BELONGS.get(word, (attribute.name,)):
            raise NotWgsl("attribute out of place", attribute, name=attribute.name, word=word)
        if attribute.name == "diagnostic":  # a filter of warnings changes nothing
            continue
        if attribute != kept.setdefault(attribute.name, attribute):
            raise NotWgsl("attribute twice", attribute.name, name=attribute.name)
    return tuple(kept.values())


def unexpected(what: str, place: Span) -> NotWgsl:
    """Something stands where something else belongs."""
    return NotWgsl("expected", place, what=what)
