"""The two directions of a program: rows and columns are computed alike, so that each can be compared with the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, pairwise, permutations

from helpers.grading.counterpart import written
from helpers.grading.edits import VALUE, Edit
from helpers.grading.sites import NODES, Site, Visible, declares
from wgsl.types import program as ir
from wgsl.types.kinds import Struct

LIKELY = "likely"
WORDS = [("row", "column"), ("row", "col"), ("top", "left"), ("bottom", "right"), ("height", "width")]
LETTERS = str.maketrans("hwHWyxYX", "whWHxyXY")


class Mirror:
    """The names of a program that mean the same in the other direction, and its values with these names exchanged."""

    def __init__(self, places: Sequence[Site], program: ir.Program) -> None:
        self.places = places
        self.site_of = {id(site.part): site for site in places}
        self.names: dict[ir.Meaning, ir.Meaning] = {}
        self.offsets: dict[int, int] = {}
        for variable in program.bindings:
            if variable.space == "uniform" and isinstance(variable.type, Struct):
                fields = {str(field.name): field.offset for field in variable.type.fields}
                self.offsets |= {fields[one]: fields[other] for one, other in _paired_names(fields)}
        self.statements = [site.part for site in places if isinstance(site.part, ir.Statement)]
        self._pair_names()

    def _pair_names(self) -> None:
        """Pair names by their letters; then declarations side by side, and the counters of a loop in a loop."""
        functions = {id(site.function): site.function for site in self.places}
        for function in functions.values():
            places = [site for site in self.places if site.function is function]
            declared = [*function.parameters]
            declared += [declares(site.part) for site in places if isinstance(site.part, ir.Bind | ir.Declare)]
            by_word = {str(name.name): name for name in declared}
            for one, other in _paired_names(by_word):
                self.names[by_word[one]] = by_word[other]
        lines = [statement for statement in self.statements if isinstance(statement, ir.Bind | ir.Declare)]
        for one, other in pairwise(lines):
            self._pair(declares(one), declares(other))
        counters = [counter for counter in map(_counter, self.statements) if counter]
        for one, other in pairwise(counters):
            self._pair(one, other)

    def _pair(self, one: ir.Meaning, other: ir.Meaning) -> None:
        if one.type == other.type and one not in self.names and other not in self.names:
            self.names |= {one: other, other: one}

    # --- Lines for rows, and those for columns ------------------------------------------------------------------------

    def pairs(self) -> Iterator[tuple[ir.Part, ir.Part]]:
        """Yield the values that are computed alike, each with the other."""
        for one, other in permutations(self.statements, 2):
            if _name(one) is not None and self.names.get(_name(one)) is _name(other) and type(one) is type(other):
                yield from zip(_values(one), _values(other), strict=False)
        conditions = [statement.condition for statement in self.statements if isinstance(statement, ir.If)]
        for one, other in pairwise(conditions):
            yield from ((one, other), (other, one))
        for site in self.places:
            parts = _alike(site.part)
            yield from permutations(parts, 2)

    def lines(self) -> list[tuple[ir.Statement, ir.Statement]]:
        """Return the statements that are computed alike, in pairs."""
        pairs = combinations(self.statements, 2)
        return [
            pair for pair in pairs if _name(pair[0]) is not None and self.names.get(_name(pair[0])) is _name(pair[1])
        ]

    def edits(self) -> Iterator[Edit]:
        """Yield each value as the one for the other direction is computed, where that is another one."""
        seen = set()
        for one, other in self.pairs():
            site = self.site_of.get(id(one))
            if site is None or one.type != other.type:
                continue
            new = self.mirrored(other, site.visible)
            if new is None:
                continue
            key = id(one), written(new)
            if key[1] != written(one) and key not in seen:
                seen.add(key)
                yield Edit(VALUE, site, {id(one): new}, site.above, LIKELY, (one.place,), new)

    def mirrored(self, part: object, visible: Visible) -> object:
        """Return a part with its names exchanged; None where a name is not known at the place."""
        if isinstance(part, tuple):
            parts = tuple(self.mirrored(child, visible) for child in part)
            return None if None in parts else parts
        if not isinstance(part, NODES):
            return part
        if isinstance(part, ir.Named | ir.Root):
            return self._name(part, visible)
        if isinstance(part, ir.Member) and isinstance(part.base, ir.Root) and part.base.variable.space == "uniform":
            return replace(part, offset=self.offsets.get(part.offset, part.offset))
        fields = {}
        for name in part.__slots__:
            field = getattr(part, name)
            is_part = isinstance(field, tuple | ir.Part) and name != "place"
            fields[name] = self.mirrored(field, visible) if is_part else field
            if fields[name] is None and field is not None:
                return None
        return replace(part, **fields)

    def _name(self, part: ir.Named | ir.Root, visible: Visible) -> ir.Part | None:
        """Return the name for the other direction, or the name itself; None where it is not known at the place."""
        if isinstance(part, ir.Named):
            binding = self.names.get(part.binding, part.binding)
            is_there = isinstance(binding, ir.Binding) and binding in visible
            return replace(part, binding=binding) if is_there else None
        variable = self.names.get(part.variable, part.variable)
        is_there = isinstance(variable, ir.Variable) and (variable.space != "function" or variable in visible)
        return replace(part, variable=variable) if is_there else None


def _paired_names(names: object) -> Iterator[tuple[str, str]]:
    """Yield each name with the one for the other direction, where there is one."""
    for name in names:
        for other in _exchanged(name):
            if other != name and other in names:
                yield name, other
                break


def _exchanged(name: str) -> Iterator[str]:
    """Yield the words that a name may have in the other direction."""
    for one, other in WORDS:
        if one in name:
            yield name.replace(one, other)
        if other in name:
            yield name.replace(other, one)
    yield name.translate(LETTERS)


def _counter(statement: ir.Statement) -> ir.Variable | None:
    """Return the variable that a loop counts."""
    match statement:
        case ir.Loop(condition=ir.Binary(left=ir.Load(reference=ir.Root(variable=variable)))):
            return variable
    return None


def _name(statement: ir.Statement) -> ir.Meaning | None:
    """Return the name that a statement gives a value, or counts."""
    match statement:
        case ir.Bind() | ir.Declare():
            return declares(statement)
        case ir.Store(reference=ir.Root(variable=variable)) | ir.Update(reference=ir.Root(variable=variable)):
            return variable
    return _counter(statement)


def _values(statement: ir.Statement) -> list[ir.Part]:
    fields = (getattr(statement, name, None) for name in ("value", "condition"))
    return [field for field in fields if field is not None]


def _alike(part: object) -> list[ir.Part]:
    """Return the parts of an expression that stand side by side: operands of `&&` or `||`, and arguments."""
    match part:
        case ir.Logical():
            return [*chain.from_iterable(_operands(side, part.operator) for side in (part.left, part.right))]
        case ir.Construct(parts=parts):
            return [*parts]
        case ir.Call(arguments=arguments):
            return [*arguments]
    return []


def _operands(part: ir.Part, operator: str) -> list[ir.Part]:
    if isinstance(part, ir.Logical) and part.operator == operator:
        return [*_operands(part.left, operator), *_operands(part.right, operator)]
    return [part]
