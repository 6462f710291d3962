"""A text as a syntax tree.

A node is ``text[at:end]``. A statement ends before its semicolon. An expression in parentheses begins and ends inside
of them, and the expression around it includes them: in ``(a + b) * c``, the sum is ``a + b``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from wgsl.diagnostics import Limited, NotWgsl, Span, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.attributes import check_attributes, check_count, check_enabled, check_required, check_rules
from wgsl.syntax.statements import Statements
from wgsl.syntax.tokens import CLOSE, OPEN, Word, comments, marked, without_comments
from wgsl.syntax.tree import Attribute, Module, Node, Statement, children

DEEPEST_BLOCK = 127  # the specification's limit
DEEPEST_EXPRESSION = 512  # what browsers take
DEEPEST = 200  # levels of the tree, which functions walk that call themselves


def parse(source: str) -> Module:
    """The syntax tree of a text.

    Raises NotWgsl where it is not WGSL, and Unsupported where it is WGSL that the simulator does not run.
    """
    code = marked(without_comments(source))
    _check_brackets(code)
    faults = unclosed(source)
    reading = _Text(code, faults)
    module = reading.module()
    for refused in (*faults, *reading.unknown):
        raise refused
    passed = (*module.passed, *_foreign(source), *_check_depth(module))
    return replace(module, passed=passed) if passed else module


parsed = lru_cache(maxsize=128)(parse)


def unclosed(source: str) -> list[NotWgsl]:
    """The faults of the comments of a text that never end: one, or none."""
    begun = (Span(begin, begin + 2) for begin, end in comments(source) if end is None)
    return [NotWgsl("comment", comment) for comment in begun]


def check_comments(source: str) -> None:
    """Refuse a comment that never ends."""
    for refused in unclosed(source):
        raise refused


def _foreign(source: str) -> list[Limited]:
    """The note about a letter that browsers take nowhere, not even in a comment."""
    at = source.find("\0")
    return [] if at < 0 else [Limited("NUL", Span(at, at + 1))]


def _check_brackets(code: str) -> None:
    """Refuse more blocks in each other than the specification allows, and more brackets than browsers take."""
    blocks = depth = 0
    for bracket in re.finditer(rf"[][(){{}}{OPEN}{CLOSE}]", code):
        sign = bracket[0]
        step = 1 if sign in ("(", "[", "{", OPEN) else -1
        depth += step
        if sign in "{}":
            blocks += step
        if blocks > DEEPEST_BLOCK:
            raise NotWgsl("blocks", Span(*bracket.span()), most=DEEPEST_BLOCK)
        if depth > DEEPEST_BLOCK:
            raise Limited("brackets", Span(*bracket.span()), most=DEEPEST_BLOCK)


def _check_depth(module: Module) -> list[Limited]:
    """Refuse to walk a tree that is too deep; note a statement that is deeper than browsers take.

    A node has fewer levels below it than letters, so that few nodes are looked at.
    """
    waiting = [(declaration, 1, 0) for declaration in module.declarations]
    deepest: Node | None = None
    passed: list[Limited] = []
    most = DEEPEST
    while waiting:
        node, depth, outer = waiting.pop()
        inner = outer + isinstance(node, Statement)
        if inner == DEEPEST_BLOCK + 1 > outer and not passed:
            passed = [Limited("statements", node, most=DEEPEST_BLOCK)]
        if depth > most:
            deepest, most = deepest or node, depth
        if node.end - node.at + depth >= DEEPEST_BLOCK:
            waiting += [(child, depth + 1, inner) for child in children(node)]
    if deepest is None:
        return passed
    if passed or most > DEEPEST_EXPRESSION:
        raise next(iter(passed), Limited("expression", deepest, most=DEEPEST_EXPRESSION))
    raise Unsupported("nesting", deepest.at, most=DEEPEST)


class _Text(Statements):
    """A whole text, declaration after declaration; the notation is that of `expressions`."""

    def module(self) -> Module:
        """((enable | requires | diagnostic) `;`)* (declaration | `;`)*"""
        enabled: list[Word] = []
        passed: list[Limited] = []
        rules = []
        while (kind := self.kinds[self.i]) in DIRECTIVES:
            self.i += 1
            names = self.filter() if kind == "diagnostic" else self._listed_names()
            self.expect(";")
            if kind == "diagnostic":
                rules.append(names)
            elif kind == "requires":
                passed += check_required(names)
            else:
                check_enabled(names)
                enabled += names
        declarations = self._declarations()
        check_rules(rules, "diagnostic")
        return Module(declarations, tuple(enabled), tuple(passed))

    def _declarations(self) -> tuple[tree.Node, ...]:
        declarations = []
        while (kind := self.kinds[self.i]) != "END":
            if kind == ";":
                self.i += 1
            else:
                declarations.append(self._declaration())
        return tuple(declarations)

    def _listed_names(self) -> list[Word]:
        """name (`,` name)* `,`?, before a semicolon"""
        names = [self.name()]
        while self.kinds[self.i] == ",":
            self.i += 1
            if self.kinds[self.i] == ";":
                break
            names.append(self.name())
        return names

    def _declaration(self) -> tree.Declaration | tree.Function | tree.Struct | tree.Alias | tree.ConstAssert:
        """attributes (variable `;` | function) | (constant | alias | const_assert) `;` | struct"""
        attributes = self._attributes()
        kind = self.kinds[self.i]
        if kind == "fn":
            return self._function(attributes)
        if kind == "struct" and not attributes:
            return self._struct()
        if kind in ("var", "override"):
            declared = self.declaration()
        elif kind in ALONE and not attributes:
            declared = ALONE[kind](self)
        elif kind in DIRECTIVES:
            word = self.word()
            raise NotWgsl("directive", word, name=word)
        else:
            raise self.unexpected("declaration")
        self.expect(";")
        if not attributes:
            return declared
        kept = check_attributes(attributes, kind)
        return replace(declared, at=attributes[0].at, attributes=kept)

    def _alias(self) -> tree.Alias:
        """`alias` name `=` type"""
        begin = self.expect("alias")
        name = self.name()
        self.expect("=")
        type = self.type(self.used_name("name"))
        return tree.Alias(begin, self.end, name, type)

    def _struct(self) -> tree.Struct:
        """`struct` name `{` member (`,` member)* `,`? `}`"""
        begin = self.expect("struct")
        name = self.name()
        self.expect("{")
        members = [self._member()]
        while self.kinds[self.i] == ",":
            self.i += 1
            if self.kinds[self.i] == "}":
                break
            members.append(self._member())
        self.expect("}", ",")
        return tree.Struct(begin, self.end, name, tuple(members))

    def _member(self) -> tree.Parameter:
        """traits name `:` type"""
        begin = self.begins[self.i]
        traits = self._traits()
        name = self.name()
        type = self.typed()
        return tree.Parameter(begin, self.end, name, type, check_attributes(traits, name))

    def _function(self, attributes: list[Attribute]) -> tree.Function:
        """attributes `fn` name `(` (parameter (`,` parameter)* `,`?)? `)` (`->` result)? block"""
        begin = attributes[0].at if attributes else self.begins[self.i]
        self.expect("fn")
        name = self.name()
        self.expect("(")
        parameters = []
        while self.kinds[self.i] != ")":
            parameters.append(self._parameter())
            if self.kinds[self.i] not in (",", ")"):
                raise self.unexpected(",")
            if self.kinds[self.i] == ",":
                self.i += 1
        self.expect(")")
        result = self._result() if self.kinds[self.i] == "->" else None
        body = self.block()
        return tree.Function(begin, self.end, name, tuple(parameters), result, body, check_attributes(attributes, "fn"))

    def _parameter(self) -> tree.Parameter:
        """traits name `:` type"""
        parameter = self._member()
        for attribute in parameter.attributes:
            if attribute.name in ("align", "size"):
                raise NotWgsl("attribute of a member", attribute, name=attribute.name)
        return parameter

    def _result(self) -> tree.Result:
        """`->` traits type"""
        self.expect("->")
        begin = self.begins[self.i]
        traits = self._traits()
        name = self.name() if traits else self.used_name("name")
        type = self.type(name)
        return tree.Result(begin, self.end, type, check_attributes(traits, name))

    # --- Attributes -------------------------------------------------------------------------------------------

    def _attributes(self) -> list[Attribute]:
        """(`@` STAGE | `@` PLACE `(` expression (`,` expression)* `,`? `)` | `@` filter)*"""
        attributes = []
        while self.kinds[self.i] == "@":
            begin = self.expect("@")
            kind = self.kinds[self.i]
            name = self._attribute_name(("STAGE", "PLACE", "DIAGNOSTIC"))
            arguments = ()
            if kind == "PLACE":
                self.expect("(")
                arguments = self.listed(")")
            elif kind == "DIAGNOSTIC":
                arguments = self.filter()
            attributes.append(Attribute(begin, self.end, name, arguments))
        for attribute in attributes:
            check_count(attribute)
        return attributes

    def _traits(self) -> list[Attribute]:
        """(`@` BARE | `@` LAYOUT `(` expression (`,` expression)* `,`? `)` | `@` NAMED names)*"""
        traits = []
        while self.kinds[self.i] == "@":
            begin = self.expect("@")
            kind = self.kinds[self.i]
            name = self._attribute_name(("BARE", "LAYOUT", "NAMED"))
            arguments = ()
            if kind == "LAYOUT":
                self.expect("(")
                arguments = self.listed(")")
            elif kind == "NAMED":
                arguments = self._names()
            traits.append(Attribute(begin, self.end, name, arguments))
            check_count(traits[-1])
        return traits

    def _attribute_name(self, kinds: tuple[str, ...]) -> Word:
        if self.kinds[self.i] not in kinds:
            if not self.is_word:
                raise self.unexpected("name")
            word = self.word()
            raise NotWgsl("attribute", word, name=word)
        return self.word()

    def _names(self) -> tuple[tree.Name, ...]:
        """`(` name (`,` name)* `,`? `)`"""
        self.expect("(")
        names = [self.name()]
        while self.kinds[self.i] == ",":
            self.i += 1
            if self.kinds[self.i] == ")":
                break
            names.append(self.name())
        self.expect(")")
        return tuple(tree.Name(name.at, name.end, name) for name in names)


DIRECTIVES = ("enable", "requires", "diagnostic")
ALONE = {  # declarations without attributes that end with a semicolon, by the first word
    "const": _Text.declaration,
    "alias": _Text._alias,
    "const_assert": _Text.const_assert,
}
