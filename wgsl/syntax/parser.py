"""A text as a syntax tree.

A node is ``text[at:end]``. A statement ends before its semicolon. An expression in parentheses begins and ends inside
of them, and the expression around it includes them: in ``(a + b) * c``, the sum is ``a + b``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from wgsl.diagnostics import NotWgsl, Span, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.attributes import check_attributes, check_count, check_enabled, check_required, check_severity
from wgsl.syntax.statements import Statements
from wgsl.syntax.tokens import CLOSE, OPEN, Word, comments, marked, without_comments
from wgsl.syntax.tree import Attribute, Module, children

DEEPEST_BLOCK = 127  # the specification's limit
DEEPEST = 200  # levels of the tree, which functions walk that call themselves


@lru_cache(maxsize=128)  # what is wrong with a text is explained from its tree
def _tree(source: str) -> Module:
    code = marked(without_comments(source))
    _check_brackets(code)
    faults = unclosed(source)
    reading = _Text(code, faults)
    module = reading.module()
    for refused in (*faults, *reading.unknown):
        raise refused
    _check_depth(module)
    return module


def parse(source: str) -> Module:
    """The syntax tree of a text.

    Raises NotWgsl where it is not WGSL, and Unsupported where it is WGSL that the simulator does not run.
    """
    return _tree(source)


def unclosed(source: str) -> list[NotWgsl]:
    """The faults of the comments of a text that never end: one, or none."""
    begun = (Span(begin, begin + 2) for begin, end in comments(source) if end is None)
    return [NotWgsl("comment", comment) for comment in begun]


def check_comments(source: str) -> None:
    """Refuse a comment that never ends."""
    for refused in unclosed(source):
        raise refused


def _check_brackets(code: str) -> None:
    """Refuse more blocks in each other than the specification allows, and more brackets than a function may read."""
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
            raise Unsupported("nesting", bracket.start(), most=DEEPEST_BLOCK)


def _check_depth(module: Module) -> None:
    """Refuse to walk a tree that is too deep. A node has fewer levels below it than letters."""
    waiting = [(declaration, 1) for declaration in module.declarations]
    while waiting:
        node, depth = waiting.pop()
        if depth > DEEPEST:
            raise Unsupported("nesting", node.at, most=DEEPEST)
        if node.end - node.at + depth > DEEPEST:
            waiting += [(child, depth + 1) for child in children(node)]


class _Text(Statements):
    """A whole text, declaration after declaration; the notation is that of `expressions`."""

    def module(self) -> Module:
        """((enable | requires | diagnostic) `;`)* (declaration | `;`)*"""
        enabled = []
        declarations = []
        while self.kinds[self.i] in DIRECTIVES:
            enabled += self._directive()
        while (kind := self.kinds[self.i]) != "END":
            if kind == ";":
                self.i += 1
            else:
                declarations.append(self._declaration())
        return Module(tuple(declarations), tuple(enabled))

    def _directive(self) -> list[Word]:
        """(`enable` | `requires`) name (`,` name)* `,`? `;` | `diagnostic` filter `;`

        Return the extensions that it enables.
        """
        kind = self.kinds[self.i]
        self.i += 1
        if kind == "diagnostic":
            rule = self.filter()
            self.expect(";")
            check_severity(rule)
            return []
        names = [self.name()]
        while self.kinds[self.i] == ",":
            self.i += 1
            if self.kinds[self.i] == ";":
                break
            names.append(self.name())
        self.expect(";")
        if kind == "requires":
            check_required(names)
            return []
        check_enabled(names)
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
        """(`@` LAYOUT `(` expression (`,` expression)* `,`? `)` | `@` NAMED `(` name (`,` name)* `,`? `)`)*"""
        traits = []
        while self.kinds[self.i] == "@":
            begin = self.expect("@")
            kind = self.kinds[self.i]
            name = self._attribute_name(("LAYOUT", "NAMED"))
            self.expect("(")
            arguments = self.listed(")") if kind == "LAYOUT" else self._names()
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
        """name (`,` name)* `,`? `)`"""
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
