"""A learner's program beside the official one: which names mean the same, and where the two programs differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cached_property
from itertools import chain

from helpers.grading.leaves import key_of
from helpers.grading.sites import NODES, Site, Visible, declares, sites
from wgsl.diagnostics import Span
from wgsl.syntax.tree import children
from wgsl.types import program as ir

COMMUTE = "+*"
LOCAL = (ir.Bind, ir.Declare)


class Counterpart:
    """The names of an official program that a learner's has, too, and its values in the learner's names."""

    def __init__(self, official: ir.Program, program: ir.Program) -> None:
        self.official = sites(official.entry)
        self.values = {site.part.binding: site.part.value for site in self.official if isinstance(site.part, ir.Bind)}
        self.names: dict[ir.Meaning, ir.Meaning] = {}
        self._terms: dict[Visible, list[tuple[str, ir.Part, bool]]] = {}
        for theirs, yours in self._pairs(official, program):
            if theirs.type == yours.type or getattr(theirs, "space", "") == "uniform":
                self.names.setdefault(theirs, yours)
                self.names.setdefault(theirs.type, yours.type)

    def _pairs(self, official: ir.Program, program: ir.Program) -> Iterator[tuple[ir.Meaning, ir.Meaning]]:
        """Yield the names that mean the same: by the task, by the word, or as the next variable of a type."""
        yield from zip(official.bindings, program.bindings, strict=False)
        inputs = dict(zip(program.inputs, program.entry.parameters, strict=True))
        for names, parameter in zip(official.inputs, official.entry.parameters, strict=True):
            if names in inputs:
                yield parameter, inputs[names]
        theirs = [*official.workgroup, *_declared(self.official)]
        yours = [*program.workgroup, *_declared(sites(program.entry))]
        known = {str(name.name): name for name in reversed(yours)}
        for name in theirs:
            if str(name.name) in known:
                yield name, known[str(name.name)]
        for name in theirs:
            free = [other for other in yours if isinstance(other, ir.Variable) and other not in self.names.values()]
            same = [other for other in free if (other.type, other.space) == (name.type, getattr(name, "space", ""))]
            if name not in self.names and same:
                yield name, same[0]
        yield from self._of_the_same_value(program)

    def _of_the_same_value(self, program: ir.Program) -> Iterator[tuple[ir.Meaning, ir.Meaning]]:
        """Yield the names of the same value, whatever they are called."""
        places = sites(program.entry)
        back = {yours: theirs for theirs, yours in self.names.items()}
        known = {
            _written(value, self.values, {}): name for name, value in self.values.items() if name not in self.names
        }
        values = {site.part.binding: site.part.value for site in places if isinstance(site.part, ir.Bind)}
        for name, value in values.items():
            theirs = known.get(_written(value, values, back))
            if theirs is not None and name not in back:
                back[name] = theirs
                yield theirs, name

    def translated(self, part: object, place: Span, visible: Visible) -> object:
        """Return a part of the official program in the learner's names, at a place; None where one is missing there."""
        if isinstance(part, tuple):
            parts = tuple(self.translated(child, place, visible) for child in part)
            return None if None in parts else parts
        if not isinstance(part, NODES):
            return part
        if isinstance(part, ir.Named) or (key_of(part) and isinstance(getattr(part, "reference", None), ir.Root)):
            return self._name(part, place, visible)
        if isinstance(part, ir.Root):
            variable = self.names.get(part.variable)
            is_there = isinstance(variable, ir.Variable) and (variable.space != "function" or variable in visible)
            return ir.Root(variable.type, place, variable) if is_there else None
        fields = {"place": place}
        for name in part.__slots__:
            field = getattr(part, name)
            fields[name] = self.translated(field, place, visible)
            if fields[name] is None and field is not None:
                return None
        return replace(part, **fields)

    @cached_property
    def terms(self) -> list[tuple[ir.Binary, ir.Part, bool]]:
        """The terms and factors of the official program, each with its whole; True where it must be the first one."""
        terms = []
        for site in self.official:
            part = site.part
            if isinstance(part, ir.Binary):
                if _is_term(part.right, part):
                    terms.append((part, part.right, False))
                if _is_term(part.left, part):
                    terms.append((part, part.left, part.operator not in COMMUTE))
        return terms

    def terms_in(self, visible: Visible, place: Span) -> list[tuple[str, ir.Part, bool]]:
        """Return the operators and terms of `terms` in the learner's names, each once."""
        if visible not in self._terms:
            made = {}
            for whole, operand, first in self.terms:
                term = self.translated(operand, place, visible)
                if term is not None:
                    made.setdefault((whole.operator, written(term), first), (whole.operator, term, first))
            self._terms[visible] = list(made.values())
        return self._terms[visible]

    def _name(self, part: ir.Named | ir.Load, place: Span, visible: Visible) -> ir.Part | None:
        """Return the value of a name, which one text may declare with `let` and the other one with `var`."""
        theirs = part.binding if isinstance(part, ir.Named) else part.reference.variable
        yours = self._here(self.names.get(theirs), visible)
        if isinstance(yours, ir.Binding) and yours in visible:
            return ir.Named(yours.type, place, yours)
        is_there = isinstance(yours, ir.Variable) and (yours.space != "function" or yours in visible)
        if is_there:
            return ir.Load(part.type, place, ir.Root(yours.type, place, yours))
        return self.translated(self.values.get(theirs), place, visible)

    @staticmethod
    def _here(name: ir.Meaning | None, visible: Visible) -> ir.Meaning | None:
        """Return a name, or the parameter that has its word in another function."""
        if name is None or name in visible or getattr(name, "space", "function") != "function":
            return name
        alike = (other for other in visible if str(other.name) == str(name.name) and other.type == name.type)
        return next(alike, name)


def _is_term(part: ir.Part, whole: ir.Binary) -> bool:
    """Return whether a part is a leaf, or in a sum a product of two."""
    if key_of(part) is not None:
        return True
    is_product = isinstance(part, ir.Binary) and part.operator == "*" and whole.operator in "+-"
    return is_product and key_of(part.left) is not None and key_of(part.right) is not None


def _declared(places: Sequence[Site]) -> list[ir.Meaning]:
    """Return the names that a function declares, in their order."""
    return [declares(site.part) for site in places if isinstance(site.part, LOCAL)]


# --- Where they differ --------------------------------------------------------------------------------------------

MOST_TOKENS = 2_000
Token = tuple


class Differences:
    """The parts of a program that differ from the official one, and what that one has there."""

    def __init__(self, places: Sequence[Site], counterpart: Counterpart) -> None:
        self._back = {yours: theirs for theirs, yours in counterpart.names.items()}
        self._back |= _by_word(places, self._back)
        self._statements: set[int] = set()
        self._ranks: dict[int, int] = {}
        self._official: dict[int, set[Token]] = {}
        if not places:
            return
        yours = [*_stream(places[0].function.body, _alone(places, self._back), self._back)]
        theirs = [*_stream(counterpart.official[0].function.body, _alone(counterpart.official, counterpart.names), {})]
        tokens = [token for token, _ in yours], [token for token, _ in theirs]
        for tag, begin, end, from_, to in SequenceMatcher(None, *tokens, autojunk=False).get_opcodes():
            if tag != "equal":
                here = range(begin, end) if end > begin else range(begin - 1, begin + 1)
                for part in chain.from_iterable(yours[i][1] for i in here if 0 <= i < len(yours)):
                    self._ranks[id(part)] = 0
                    self._official.setdefault(id(part), set()).update(tokens[1][from_:to])
        self._statements = {id(site.statement) for site in places if id(site.part) in self._ranks}
        for site in places:
            self._ranks.setdefault(id(site.part), 1 if id(site.statement) in self._statements else 2)

    def rank(self, part: object, new: object = None) -> int:
        """Return how likely a part is the wrong one, 0 to 2: it differs, is near one that does, or neither.

        It is -1 where the official program has `new` in its place.
        """
        likely = new is not None and _token(new, self._back) in self._official.get(id(part), ())
        return -1 if likely else self._ranks.get(id(part), 1)

    def are_in(self, statement: ir.Statement) -> bool:
        """Return whether a statement is not, word for word, as the official program has it."""
        return id(statement) in self._statements

    def knows(self, name: ir.Meaning) -> bool:
        """Return whether the official program has a name, too."""
        return name in self._back


def _by_word(places: Sequence[Site], back: Mapping[ir.Meaning, ir.Meaning]) -> dict[ir.Meaning, ir.Meaning]:
    """Return what the parameters of further functions stand for: what a name of the same word and type does."""
    words = {(str(name.name), name.type): theirs for name, theirs in back.items() if isinstance(name, ir.Binding)}
    functions = {id(site.function): site.function for site in places}
    parameters = chain.from_iterable(function.parameters for function in functions.values())
    known = ((name, words.get((str(name.name), name.type))) for name in parameters if name not in back)
    return {name: theirs for name, theirs in known if theirs is not None}


def _alone(places: Sequence[Site], kept: Mapping[ir.Meaning, ir.Meaning]) -> dict[ir.Meaning, ir.Part]:
    """Return the value of each `let` that only one program has."""
    lets = [site.part for site in places if isinstance(site.part, ir.Bind)]
    return {let.binding: let.value for let in lets if let.binding not in kept}


def _stream(
    parts: Sequence[object], values: Mapping[ir.Meaning, ir.Part], back: Mapping[ir.Meaning, ir.Meaning]
) -> Iterator[tuple[Token, tuple[object, ...]]]:
    """Yield the tokens of a program in their order, each with its part; a name in `values` stands for its value.

    With a part of such a value is the name, too. A function's lines come after its first call.
    """
    waiting: list[tuple[object, tuple[object, ...]]] = [(part, ()) for part in reversed(parts)]
    called: set[ir.Function] = set()
    for _ in range(MOST_TOKENS):
        if not waiting:
            return
        part, names = waiting.pop()
        if isinstance(part, ir.Bind) and part.binding in values:
            if isinstance(part.value, ir.Call) and part.value.function not in called:
                called.add(part.value.function)
                waiting += [(child, ()) for child in reversed(part.value.function.body)]
            continue
        if isinstance(part, ir.Named) and part.binding in values:
            waiting.append((values[part.binding], (*names, part)))
            continue
        yield _token(part, back), (part, *names)
        if isinstance(part, ir.Call) and part.function not in called:
            called.add(part.function)
            waiting += [(child, ()) for child in reversed(part.function.body)]
        if key_of(part) is None:
            waiting += [(child, names) for child in reversed(children(part, NODES))]


def _written(value: ir.Part, values: Mapping[ir.Meaning, ir.Part], back: Mapping[ir.Meaning, ir.Meaning]) -> tuple:
    """Return the tokens of a value."""
    others = {name: other for name, other in values.items() if name not in back}
    return tuple(token for token, _ in _stream([value], others, back))


def written(value: ir.Part) -> tuple:
    """Return the tokens of a value, by which two are compared."""
    return _written(value, {}, {})


def _token(part: object, back: Mapping[ir.Meaning, ir.Meaning]) -> Token:
    """Return what a part is, the same in both programs."""
    key = key_of(part)
    if key is None:
        name = getattr(part, "variable", None) or getattr(part, "binding", None)
        return type(part).__name__, getattr(part, "operator", ""), back.get(name, name)
    kind, about, place = key
    return kind, back.get(about, about), place


def whole(places: Sequence[Site]) -> list[Site]:
    """Return the sites that are no parts of a leaf."""
    return [site for site in places if not any(key_of(part) for part in site.around)]
