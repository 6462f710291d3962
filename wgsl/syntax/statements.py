"""The statements of a text; the notation is that of `expressions`."""

from __future__ import annotations

from wgsl.diagnostics import NotWgsl, Span
from wgsl.syntax import tree
from wgsl.syntax.attributes import check_rules
from wgsl.syntax.expressions import Expressions, Parentheses, bare
from wgsl.syntax.tokens import COMPOUND, OPEN
from wgsl.syntax.tree import Block, Expression, Statement

ENDS = ("}", "continuing")  # of the statements of a block


class Statements(Expressions):
    """The statements of a text, one after another."""

    def statements(self, ends: tuple[str, ...] = ENDS) -> tuple[Statement, ...]:
        """(statement | `;`)*, up to one of these tokens"""
        body = []
        while (kind := self.kinds[self.i]) not in ends:
            if kind == ";":
                self.i += 1
            else:
                body.append(self.statement())
        return tuple(body)

    def statement(self) -> Statement:
        """simple `;` | filters compound"""
        kind = self.kinds[self.i]
        if kind == "@" or kind in COMPOUNDS:
            self.filters()
            read = COMPOUNDS.get(self.kinds[self.i])
            if not read:
                raise self.unexpected("{")
            return read(self)
        read = SIMPLE.get(kind)
        statement = read(self) if read else self.update("statement")
        self.expect(";")
        return statement

    # --- Simple statements ------------------------------------------------------------------------------------

    def declaration(self) -> tree.Declaration:
        """`var` templates? name (`:` type)? (`=` expression)? | (`let` | `const`) name (`:` type)? `=` expression"""
        begin = self.begins[self.i]
        kind = self.texts[self.i]
        self.i += 1
        templates = self.templates() if kind == "var" and self.kinds[self.i] == OPEN else ()
        name = self.name()
        type = self.typed() if self.kinds[self.i] == ":" else None
        value = None
        if self.kinds[self.i] == "=":
            self.i += 1
            value = bare(self.expression())
        elif kind in ("let", "const"):
            raise self.unexpected("=")
        return tree.Declaration(begin, self.end, kind, templates, name, type, value)

    def typed(self) -> tree.Name:
        """`:` type"""
        self.expect(":")
        return self.type(self.used_name("name"))

    def const_assert(self) -> tree.ConstAssert:
        """`const_assert` expression"""
        begin = self.expect("const_assert")
        condition = bare(self.expression())
        return tree.ConstAssert(begin, self.end, condition)

    def update(self, what: str) -> tree.Assignment | tree.Increment | tree.CallStatement:
        """`_` `=` expression | target (`=` | `+=` | ...) expression | target (`++` | `--`) | call"""
        kind = self.kinds[self.i]
        begin = self.begins[self.i]
        target = None
        if kind == "_":
            self.i += 1
        elif kind in ("(", "*", "&") or self.is_word:
            target = self._target_or_call()
        else:
            raise self.unexpected(what)
        if isinstance(target, tree.Call):
            return tree.CallStatement(begin, self.end, target)
        operator = self.kinds[self.i]
        if operator in ("++", "--") and target:
            self.i += 1
            return tree.Increment(begin, self.end, bare(target), operator)
        if operator != "=" and not (operator in COMPOUND and target):
            raise self.unexpected("assignment" if target else "=")
        self.i += 1
        value = bare(self.expression())
        return tree.Assignment(begin, self.end, bare(target), operator, value)

    def _target_or_call(self) -> Expression | Parentheses:
        """(`*` | `&`)* (name | `(` target `)`) (`.` name | `[` expression `]`)* | call"""
        opened = []  # the signs before the name, in a list: there may be more of them than Python's stack is deep
        while self.kinds[self.i] in ("*", "&", "("):
            opened.append(self.i)
            self.i += 1
        name = self.used_name("variable")
        if not opened and self.kinds[self.i] in ("(", OPEN):
            return self.call(self.type(name))
        target = self.parts(tree.Name(name.at, name.end, name))
        for i in reversed(opened):
            if self.kinds[i] == "(":
                self.expect(")")
                target = self.parts(Parentheses(self.begins[i], self.end, bare(target)))
            else:
                target = tree.Unary(self.begins[i], self.end, self.texts[i], bare(target))
        return target

    def return_(self) -> tree.Return:
        """`return` expression?"""
        begin = self.expect("return")
        value = None if self.kinds[self.i] == ";" else bare(self.expression())
        return tree.Return(begin, self.end, value)

    def break_(self) -> tree.Break:
        """`break`"""
        begin = self.expect("break")
        if self.kinds[self.i] == "if":
            raise NotWgsl("break if", Span(begin, self.ends[self.i]))
        return tree.Break(begin, self.end)

    def continue_(self) -> tree.Continue:
        """`continue`"""
        begin = self.expect("continue")
        return tree.Continue(begin, self.end)

    def discard(self) -> tree.Discard:
        """`discard`"""
        begin = self.expect("discard")
        return tree.Discard(begin, self.end)

    # --- Statements with blocks -------------------------------------------------------------------------------

    def filters(self) -> None:
        """(`@` filter)*, which have no effect"""
        rules = []
        while self.kinds[self.i] == "@":
            self.i += 1
            if self.kinds[self.i] != "DIAGNOSTIC":
                raise self.unexpected("diagnostic" if self.is_word else "name")
            self.i += 1
            rules.append(self.filter())
        check_rules(rules, "@diagnostic")

    def filter(self) -> tuple[tree.Name, ...]:
        """`(` name `,` name (`.` name)? `,`? `)`"""
        self.expect("(")
        names = [self.name()]
        self.expect(",")
        names.append(self.name())
        if self.kinds[self.i] == ".":
            self.i += 1
            names.append(self.name())
        if self.kinds[self.i] == ",":
            self.i += 1
        self.expect(")")
        return tuple(tree.Name(name.at, name.end, name) for name in names)

    def block(self) -> Block:
        """filters `{` statement* `}`"""
        self.filters()
        begin = self.expect("{")
        body = self.statements()
        self.expect("}")
        return Block(begin, self.end, body)

    def if_(self) -> tree.If:
        """`if` expression block (`else` `if` expression block)* (`else` block)?"""
        branches = []
        otherwise = None
        while True:
            begin = self.expect("if")
            condition = bare(self.expression())
            branches.append((begin, condition, self.block()))
            if self.kinds[self.i] != "else":
                break
            self.i += 1
            if self.kinds[self.i] != "if":
                otherwise = self.block()
                break
        for begin, condition, then in reversed(branches):
            otherwise = tree.If(begin, self.end, condition, then, otherwise)
        return otherwise

    def switch(self) -> tree.Switch:
        """`switch` expression filters `{` clause* `}`"""
        begin = self.expect("switch")
        selector = bare(self.expression())
        self.filters()
        self.expect("{")
        cases = []
        while self.kinds[self.i] in ("case", "default"):
            cases.append(self._clause())
        self.expect("}", "case")
        return tree.Switch(begin, self.end, selector, tuple(cases))

    def _clause(self) -> tree.Case:
        """(`case` selector (`,` selector)* `,`? | `default`) `:`? block; a selector is an expression or `default`"""
        begin = self.begins[self.i]
        self.i += 1
        selectors = (None,) if self.kinds[self.i - 1] == "default" else self._selectors()
        if self.kinds[self.i] == ":":
            self.i += 1
        body = self.block()
        return tree.Case(begin, self.end, selectors, body)

    def _selectors(self) -> tuple[Expression | None, ...]:
        selectors = []
        while not selectors or self.kinds[self.i] not in (":", "{", "@"):
            if self.kinds[self.i] == "default":
                self.i += 1
                selectors.append(None)
            else:
                selectors.append(bare(self.expression()))
            if self.kinds[self.i] != ",":
                break
            self.i += 1
        return tuple(selectors)

    def loop(self) -> tree.Loop:
        """`loop` filters `{` statement* continuing? `}`"""
        begin = self.expect("loop")
        self.filters()
        opened = self.expect("{")
        body = self.statements()
        continuing = break_if = None
        if self.kinds[self.i] == "continuing":
            continuing, break_if = self._continuing()
        self.expect("}")
        return tree.Loop(begin, self.end, Block(opened, self.end, body), continuing, break_if)

    def _continuing(self) -> tuple[Block, Expression | None]:
        """`continuing` filters `{` statement* (`break` `if` expression `;`)? `}`"""
        self.expect("continuing")
        self.filters()
        begin = self.expect("{")
        body = self.statements(("}", "break"))
        break_if = None
        if self.kinds[self.i] == "break":
            self.i += 1
            self.expect("if")
            break_if = bare(self.expression())
            self.expect(";")
        self.expect("}")
        return Block(begin, self.end, body), break_if

    def for_(self) -> tree.For:
        """`for` `(` (declaration | update)? `;` expression? `;` update? `)` block"""
        begin = self.expect("for")
        self.expect("(")
        first = condition = update = None
        if self.kinds[self.i] in ("var", "let", "const"):
            first = self.declaration()
        elif self.kinds[self.i] != ";":
            first = self.update("begin of a loop")
        self.expect(";")
        if self.kinds[self.i] != ";":
            condition = bare(self.expression())
        self.expect(";")
        if self.kinds[self.i] != ")":
            update = self.update("step of a loop")
        self.expect(")")
        body = self.block()
        return tree.For(begin, self.end, first, condition, update, body)

    def while_(self) -> tree.While:
        """`while` expression block"""
        begin = self.expect("while")
        condition = bare(self.expression())
        body = self.block()
        return tree.While(begin, self.end, condition, body)


SIMPLE = {  # by the first word
    "var": Statements.declaration,
    "let": Statements.declaration,
    "const": Statements.declaration,
    "const_assert": Statements.const_assert,
    "return": Statements.return_,
    "break": Statements.break_,
    "continue": Statements.continue_,
    "discard": Statements.discard,
}
COMPOUNDS = {
    "{": Statements.block,
    "if": Statements.if_,
    "switch": Statements.switch,
    "loop": Statements.loop,
    "for": Statements.for_,
    "while": Statements.while_,
}
