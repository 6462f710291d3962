"""The larger changes of a program: a line too many or in the wrong place, or a piece of ours in the place of one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from helpers.grading.counterpart import Counterpart
from helpers.grading.edits import JUMP, LINES, MEMBERS, MISSING, MOVED, TOO_MANY, VALUE, Edit, at
from helpers.grading.sites import Site, changed, declares, is_scoped
from wgsl.types import program as ir
from wgsl.types.kinds import F32, I32, U32, Scalar

LIKELY = "likely"
SIMPLE = ir.Store | ir.Update | ir.Evaluate | ir.Barrier
JUMPS = ir.Return | ir.Continue | ir.Break
AROUND = ir.Loop | ir.If | ir.Block
Statements = tuple[ir.Statement, ...]


def of_lines(places: Sequence[Site]) -> Iterator[Edit]:
    """Yield a program without a statement, with one out of its braces or in the next ones, or with two exchanged."""
    by_statement = {id(site.part): site for site in places if isinstance(site.part, ir.Statement)}
    for site in by_statement.values():
        guards = isinstance(site.part, ir.If) and not site.part.otherwise
        if isinstance(site.part, SIMPLE | JUMPS) or guards:
            yield at(site, TOO_MANY, ())
        if isinstance(site.part, ir.Break | ir.Continue):
            other = ir.Continue if isinstance(site.part, ir.Break) else ir.Break
            yield at(site, JUMP, other(site.part.place))
    edits = [*_moved(by_statement)]
    yield from (edit for edit in edits if is_scoped(edit.site.function, edit.body))


def _moved(by_statement: dict[int, Site]) -> Iterator[Edit]:
    """Yield the statements that stand elsewhere; some of them would be out of the sight of what they use."""
    for site in by_statement.values():
        if not isinstance(site.part, SIMPLE | ir.Declare | ir.Bind | ir.If):
            continue
        outer = _braces(site, by_statement)
        if outer is not None:
            inside = changed(outer.part, {id(site.part): ()}, site.above)
            for order in ((site.part, inside), (inside, site.part)):
                yield replace(at(outer, MOVED, order), site=site, above=outer.above)
    for body in _bodies(by_statement):
        for one, other in pairwise(body):
            here = by_statement.get(id(one)), by_statement.get(id(other))
            if None in here:
                continue
            above = here[0].above
            if isinstance(one, SIMPLE | ir.Declare):
                yield Edit(MOVED, here[0], {id(one): other, id(other): one}, above)
                for inside in _with_first(other, one):
                    yield Edit(MOVED, here[0], {id(one): (), id(other): inside}, above)
            if isinstance(other, SIMPLE):
                for inside in _with_last(one, other):
                    yield Edit(MOVED, here[1], {id(one): inside, id(other): ()}, above)


def _braces(site: Site, by_statement: dict[int, Site]) -> Site | None:
    """Return the statement whose braces are around another one; of `for`, all of it."""
    around = [part for part in site.around if isinstance(part, AROUND)]
    if not around:
        return None
    if len(around) > 1 and isinstance(around[-1], ir.Loop) and isinstance(around[-2], ir.Block):
        return by_statement.get(id(around[-2]))
    return by_statement.get(id(around[-1]))


def _bodies(by_statement: dict[int, Site]) -> list[Statements]:
    """Return the lists of statements of a function."""
    functions = {id(site.function): site.function for site in by_statement.values()}
    bodies = [function.body for function in functions.values()]
    for site in by_statement.values():
        fields = (getattr(site.part, name, ()) for name in ("body", "then", "otherwise"))
        bodies += [field for field in fields if field]
    return bodies


def _with_first(statement: ir.Statement, first: ir.Statement) -> Iterator[ir.Statement]:
    """Yield a loop or an `if` with one more statement, the first in its braces."""
    match statement:
        case ir.Loop():
            yield replace(statement, body=(first, *statement.body))
        case ir.If():
            yield replace(statement, then=(first, *statement.then))
        case ir.Block(body=(*declared, ir.Loop() as loop)):
            yield replace(statement, body=(*declared, replace(loop, body=(first, *loop.body))))


def _with_last(statement: ir.Statement, last: ir.Statement) -> Iterator[ir.Statement]:
    """Yield a loop or an `if` with one more statement, the last in its braces."""
    match statement:
        case ir.Loop():
            yield replace(statement, body=(*statement.body, last))
        case ir.If():
            yield replace(statement, then=(*statement.then, last))
        case ir.Block(body=(*declared, ir.Loop() as loop)):
            yield replace(statement, body=(*declared, replace(loop, body=(*loop.body, last))))


# --- With parts of the official program -----------------------------------------------------------------------------


def of_terms(site: Site, counterpart: Counterpart) -> Iterator[Edit]:
    """Yield a value with one more term or factor: one that some value of the official program has."""
    part = site.part
    if getattr(part, "type", None) not in (U32, I32, F32) or isinstance(part, ir.Reference):
        return
    for operator, operand, first in counterpart.terms_in(site.visible, part.place):
        term = _of_type(part.type, operand)
        if term is not None:
            sides = (term, part) if first else (part, term)
            yield at(site, MISSING, ir.Binary(part.type, part.place, operator, *sides), added=_leaf_of(term))


def _of_type(wanted: Scalar, term: ir.Part) -> ir.Part | None:
    """Return a term of a type: of a u32 its i32."""
    if term.type == wanted:
        return term
    return ir.Convert(I32, term.place, term) if (wanted, term.type) == (I32, U32) else None


def _leaf_of(term: ir.Part) -> ir.Part:
    """Return the first leaf of a term."""
    while isinstance(term, ir.Binary | ir.Convert):
        term = term.left if isinstance(term, ir.Binary) else term.operand
    return term


def of_values(site: Site, counterpart: Counterpart) -> Iterator[Edit]:
    """Yield a value of the official program in the place of one that has a purpose of its own.

    It is `LIKELY` where it is for the same name.
    """
    for name, value, about in purposes(site.part):
        for other in counterpart.official:
            for purpose, wanted, ours in purposes(other.part):
                if purpose != name or wanted.type != value.type:
                    continue
                theirs = counterpart.translated(wanted, value.place, site.visible)
                if theirs is not None:
                    likely = LIKELY if counterpart.names.get(ours, ours) is about else ""
                    new = replace(site.part, **{name: theirs})
                    yield Edit(VALUE, site, {id(site.part): new}, site.above, likely, (value.place,))


def purposes(part: object) -> list[tuple[str, ir.Part, object]]:
    """Return the values of a statement or an element by the names of their fields, each with what it is for."""
    match part:
        case ir.Bind() | ir.Declare() | ir.Store() | ir.Update() | ir.If() | ir.Loop() | ir.Element():
            fields = ((name, getattr(part, name, None)) for name in ("value", "condition", "index"))
            return [(name, value, _about(part)) for name, value in fields if value is not None]
    return []


def _about(part: object) -> object:
    """Return the name that a value is for: what is declared, stored or indexed, or what a loop counts."""
    match part:
        case ir.Bind() | ir.Declare():
            return declares(part)
        case ir.Store() | ir.Update():
            return _about(part.reference)
        case ir.Element():
            return _about(part.base)
        case ir.Root():
            return part.variable
        case ir.Loop(condition=ir.Binary(left=ir.Load(reference=ir.Root(variable=variable)))):
            return variable
    return type(part)


def of_missing_lines(places: Sequence[Site], counterpart: Counterpart) -> Iterator[Edit]:
    """Yield a program with one more statement, one that the official program has."""
    wanted = [site.part for site in counterpart.official if _may_be_missing(site.part)]
    for site in places:
        if not isinstance(site.part, ir.Statement):
            continue
        visible = site.visible | ({declares(site.part)} - {None})
        for statement in wanted:
            theirs = counterpart.translated(statement, site.part.place, visible)
            if theirs is not None:
                yield at(site, MISSING, (site.part, theirs), LINES)


def _may_be_missing(part: object) -> bool:
    """Return whether a statement is one that a program may lack, and still compile."""
    if isinstance(part, ir.If):
        return not part.otherwise and len(part.then) == 1 and isinstance(part.then[0], SIMPLE | JUMPS)
    return isinstance(part, SIMPLE)


def of_members(places: Sequence[Site], counterpart: Counterpart) -> Iterator[Edit]:
    """Yield two members of the uniform exchanged, and one of them in another place, all behind it moved by one.

    It is `LIKELY` where the members then stand as those of the same names in the official program.
    """
    members, theirs = _members(places), _members(counterpart.official)
    if not members or not theirs:
        return
    fields = members[0].part.base.variable.type.fields
    wanted = {field.name: field.offset for field in theirs[0].part.base.variable.type.fields}
    named = [wanted.get(field.name, -1) for field in fields]
    offsets = [field.offset for field in fields]
    for order in _orders(offsets):
        where = dict(zip(offsets, order, strict=True))
        new = {id(site.part): replace(site.part, offset=where[site.part.offset]) for site in members}
        above = frozenset().union(*(site.above for site in members))
        yield Edit(MEMBERS, members[0], new, above, LIKELY if order == named else "")


def _members(places: Sequence[Site]) -> list[Site]:
    """Return the places where a member of the uniform is read."""
    members = [site for site in places if isinstance(site.part, ir.Member) and isinstance(site.part.base, ir.Root)]
    return [site for site in members if site.part.base.variable.space == "uniform"]


def _orders(offsets: list[int]) -> Iterator[list[int]]:
    for one, other in combinations(range(len(offsets)), 2):
        order = [*offsets]
        order[one], order[other] = order[other], order[one]
        yield order
    for one in range(len(offsets)):
        rest = offsets[:one] + offsets[one + 1 :]
        for place in range(len(offsets)):
            if abs(place - one) > 1:
                yield [*rest[:place], offsets[one], *rest[place:]]
