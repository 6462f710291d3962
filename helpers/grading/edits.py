"""The small changes of a program: one value, operator or line in the place of another one."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from helpers.grading.leaves import family, key_of, leaves
from helpers.grading.sites import Site, changed
from wgsl.diagnostics import Span
from wgsl.types import program as ir
from wgsl.types.kinds import BOOL, F32, I32, U32

# Operators and comparisons that are easily taken for each other.
OPERATORS = {
    "+": ["-"],
    "-": ["+"],
    "*": ["+", "/"],
    "/": ["*", "%"],
    "%": ["*", "/"],
    "&": ["|"],
    "|": ["&"],
    "&&": ["||"],
    "||": ["&&"],
    "+=": ["=", "-="],
    "-=": ["=", "+="],
    "*=": ["/="],
    "/=": ["*=", "-="],
}
COMPARISONS = {
    "<": ["<=", ">", "!="],
    "<=": ["<", ">"],
    ">": [">=", "<", "!="],
    ">=": [">", "<"],
    "==": ["!="],
    "!=": ["=="],
}
# Less easily, but a text that is wrong may have them.
FURTHER = {"+": ["*"], "<<": [">>"], ">>": ["<<"], "<": [">="], "<=": [">="], ">": ["<="], ">=": ["<="]}
PARTS = "parts"  # of which more than one is left out
STRICT, EQUAL = ({"<", "<="}, {">", ">="}), "equal"  # they differ where both sides are equal
COMMUTE = ("+", "*", "&", "|", "==", "!=")
REPLACED, OPERATOR, COMPARISON, ASSIGNMENT = "replaced", "operator", "comparison", "assignment"
EXTRA, OFFSET, PARENTHESES, EXCHANGED, ARRAY = "extra", "offset", "parentheses", "exchanged", "array"
LINES, TOO_MANY, MOVED, VALUE, MISSING, MEMBERS = "lines", "too many", "moved", "value", "missing", "members"
JUMP = "jump"  # `break` in the place of `continue`, or the other way round


@dataclass(frozen=True, eq=False)
class Edit:
    """A change to some functions: parts by their ids, and what is in their places, of one kind.

    `site` is the first place; `noun` is what should be there instead, `others` are further places, `added` is the
    part that was not there, and `made` are the changes of which it consists, if there are several.
    """

    kind: str
    site: Site
    new: dict[int, object]
    above: frozenset[int]
    noun: str = ""
    others: tuple[Span, ...] = ()
    added: object = None
    made: tuple["Edit", ...] = ()

    @property
    def body(self) -> tuple[ir.Statement, ...]:
        """The body of the first place's function with the change."""
        return self.body_of(self.site.function)

    def body_of(self, function: ir.Function) -> tuple[ir.Statement, ...]:
        """Return the body of a function with the change."""
        return changed(function.body, self.new, self.above)


def at(site: Site, kind: str, new: object, noun: str = "", added: object = None) -> Edit:
    """Return the edit that has something else in the place of one part."""
    return Edit(kind, site, {id(site.part): new}, site.above, noun, added=added or new)


def both(one: Site, other: Site, kind: str, new: dict[int, object]) -> Edit:
    """Return an edit of two parts."""
    return Edit(kind, one, new, one.above | other.above, others=(other.part.place,))


def of_a_part(site: Site, program: ir.Program) -> Iterator[Edit]:
    """Yield the changes of one part of an expression, or of a statement's operator."""
    part = site.part
    match part:
        case ir.Binary() | ir.Logical():
            yield from _of_an_operator(site)
        case ir.Unary(operator="!"):
            yield at(site, EXTRA, part.operand)
        case ir.Builtin() | ir.Call():
            yield from (at(site, EXTRA, alone) for alone in part.arguments if alone.type == part.type)
            for i, (first, second) in enumerate(pairwise(part.arguments)):
                if first.type == second.type:
                    exchanged = (*part.arguments[:i], second, first, *part.arguments[i + 2 :])
                    yield at(site, EXCHANGED, replace(part, arguments=exchanged))
        case ir.Update():
            yield from _of_an_update(site)
        case ir.Store() if part.value.type in (F32, U32, I32):
            yield at(site, ASSIGNMENT, ir.Update(part.place, part.reference, "+", part.value))
    if key_of(part) and part.type in (F32, U32, I32):
        yield from _other_leaves(site, program)
    if isinstance(part, ir.Root) and part.variable.space in ("storage", "workgroup"):
        yield from _other_arrays(site, program)
    if getattr(part, "type", None) == U32 and isinstance(part, ir.Binary | ir.Load | ir.Named | ir.Pick):
        for operator in "+-":
            one = ir.Constant(U32, part.place, (1,))
            yield at(site, OFFSET, ir.Binary(U32, part.place, operator, part, one))


def _of_an_operator(site: Site) -> Iterator[Edit]:
    """Yield other operators, one operand alone, the operands exchanged, and other parentheses."""
    part = site.part
    kind = COMPARISON if part.operator in COMPARISONS else OPERATOR
    for table in OPERATORS | COMPARISONS, FURTHER:
        for operator in table.get(part.operator, ()):
            if part.type != F32 or operator in "+-*/":
                equal = EQUAL if {part.operator, operator} in STRICT else ""
                yield at(site, kind, replace(part, operator=operator), equal)
    for operand, other in (part.left, part.right), (part.right, part.left):
        if operand.type == part.type:
            noun = PARTS if getattr(other, "operator", "") == part.operator else ""
            yield at(site, EXTRA, operand, noun)
    may_exchange = part.type != BOOL and not _compares_quotients(site)
    if may_exchange and part.operator not in COMMUTE and part.left.type == part.right.type:
        yield at(site, EXCHANGED, replace(part, left=part.right, right=part.left))
    if part.type != BOOL:
        yield from (at(site, PARENTHESES, other) for other in _regrouped(part))


def _compares_quotients(site: Site) -> bool:
    """Return True in a comparison with a division: two parts exchanged there hold by luck, and lead away from it."""
    around = [part for part in (*site.around, site.part) if isinstance(part, ir.Binary)]
    compared = next((part for part in around if part.operator in COMPARISONS), None)
    if compared is None:
        return False
    operands = (compared.left, compared.right, *around)
    return any(getattr(part, "operator", "") == "/" for part in operands)


def _regrouped(part: ir.Binary) -> Iterator[ir.Binary]:
    """Yield the same operands and operators, the other one of two operators first."""
    left, right = part.left, part.right
    if isinstance(left, ir.Binary) and left.type == part.type and left.right.type == part.right.type:
        yield replace(left, right=replace(part, left=left.right, right=right))
    if isinstance(right, ir.Binary) and right.type == part.type and left.type == right.left.type:
        yield replace(right, left=replace(part, left=left, right=right.left))


def _of_an_update(site: Site) -> Iterator[Edit]:
    """Yield `=` in the place of `+=`, and another operator before `=`."""
    part = site.part
    if site.around and part in getattr(site.around[-1], "continuing", ()):
        return  # the step of a loop
    yield at(site, ASSIGNMENT, ir.Store(part.place, part.reference, part.value))
    for operator in {"+": "-*", "-": "+", "*": "/+", "/": "*-"}.get(part.operator, ""):
        if part.value.type == part.reference.type:
            yield at(site, ASSIGNMENT, replace(part, operator=operator))


def _other_leaves(site: Site, program: ir.Program) -> Iterator[Edit]:
    """Yield other values in the place of a leaf, those of the same family first."""
    part = site.part
    own = family(part)
    others = leaves(part.place, part.type, site.visible, program)
    if site.around and isinstance(site.around[-1], ir.Element) and part.type == I32:  # `[0]` is one
        others |= leaves(part.place, U32, site.visible, program)
    others.pop(key_of(part), None)
    for leaf in sorted(others.values(), key=lambda leaf: family(leaf) != own):
        yield at(site, REPLACED, leaf, family(leaf))


def _other_arrays(site: Site, program: ir.Program) -> Iterator[Edit]:
    """Yield other arrays of the same type."""
    part = site.part
    for variable in (*program.bindings, *program.workgroup):
        same = variable.type == part.variable.type and variable.space == part.variable.space
        if same and variable is not part.variable and variable.access == part.variable.access:
            yield at(site, ARRAY, replace(part, variable=variable))


# --- Two places -----------------------------------------------------------------------------------------------------


def of_two_parts(places: list[Site]) -> Iterator[Edit]:
    """Yield the exchange of two leaves of one statement, and of the values of two declarations."""
    for one, other in combinations([site for site in places if key_of(site.part)], 2):
        same = one.statement is other.statement and one.part.type == other.part.type
        if _compares_quotients(one) and _compares_quotients(other):
            continue
        if same and key_of(one.part) != key_of(other.part):
            yield both(one, other, EXCHANGED, {id(one.part): other.part, id(other.part): one.part})
    for one, other in pairwise(site for site in places if isinstance(site.part, ir.Bind | ir.Declare)):
        values = one.part.value, other.part.value
        if None in values or values[0].type != values[1].type or one.around[-1:] != other.around[-1:]:
            continue
        new = {id(one.part): replace(one.part, value=values[1]), id(other.part): replace(other.part, value=values[0])}
        yield both(one, other, LINES, new)
