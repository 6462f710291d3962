"""A text that is refused, as far as it can be read: its tokens, its tree, and the names and types where it breaks."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cached_property
from itertools import chain

from wgsl.diagnostics import Lines, NotWgsl, Span, Unsupported
from wgsl.facts import Edit
from wgsl.syntax import tree
from wgsl.syntax.parser import parse, parsed
from wgsl.syntax.tokens import Word, without_comments
from wgsl.types.declarations import Declarations
from wgsl.types.expressions import type_of, view
from wgsl.types.kinds import Type
from wgsl.types.names import Known, Meaning, Scope
from wgsl.types.program import Variable

TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*(?:(?<=[eE])[+-]\d+\w*)?|\.\d\w*|&&|\|\||\+\+|--|->|<<|>>|[-+*/%&|^<>=!]=|\S")
NOTHING = Word("")  # where no token is
PROBE = "_ = known_here;"  # a statement that is refused wherever it stands, which shows the names that are known there


class Context(Lines):
    """A text, and what its refusal is about; its reader sees all lines of it, or only those in `seen`."""

    def __init__(self, source: str, refused: NotWgsl, seen: range | None = None) -> None:
        super().__init__(source)
        self._seen = seen
        self.code = without_comments(source)
        self.refused = refused
        self.at = refused.at
        self.expected = ""  # what belongs at a place where something else stands
        self.trials: dict[tuple[Edit, ...], bool] = {}  # edits that were tried, with what came out

    # --- Tokens -----------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> list[Word]:
        """All tokens, without comments."""
        return [Word(match[0], match.start(), match.end()) for match in TOKEN.finditer(self.code)]

    def before(self, at: int) -> Word:
        """The last token that begins before an offset."""
        return next((token for token in reversed(self.tokens) if token.at < at), NOTHING)

    @cached_property
    def token(self) -> Word:
        """The token where the text is refused."""
        return next((token for token in self.tokens if token.end > self.at), NOTHING)

    def text(self, part: Span) -> str:
        """A piece of the text without comments and needless blanks."""
        return " ".join(self.code[part.at : part.end].split())

    def line(self, part: Span) -> int:
        """The line in which a piece of the text begins."""
        return self.place(part.at)[0]

    def reader_line(self, number: int) -> int | None:
        """The number of a line as its reader counts them; None where the reader does not see the line."""
        if self._seen is None:
            return number
        if number in self._seen:
            return number - self._seen.start + 1
        return None

    def depth(self, at: int) -> int:
        """The number of blocks that are open at an offset."""
        return self.code.count("{", 0, at) - self.code.count("}", 0, at)

    # --- Tree and names ---------------------------------------------------------------------------------------

    @cached_property
    def module(self) -> tree.Module:
        """The tree of the text; where it breaks off, that of what precedes the broken statement, its blocks closed."""
        try:
            return parsed(self.source)
        except (NotWgsl, Unsupported):
            ends = [match.end() for match in re.finditer(r"[;{}]", self.code[: self.at])]
        for end in ends[:-4:-1]:
            with suppress(NotWgsl, Unsupported):
                return parse(self._closed(end))
        return tree.Module(())

    def _closed(self, end: int) -> str:
        """The text up to an offset; where blocks are open there, with the probe and their ends."""
        opened = self.depth(end)
        if opened <= 0:
            return self.code[:end]
        braces = "}" * opened
        return f"{self.code[:end]} {PROBE}{braces}"

    @cached_property
    def scope(self) -> Scope:
        """The names that are known where the text is refused."""
        if self.refused.scope:
            return self.refused.scope
        try:
            declarations = Declarations(self.module, {})
            for node in self.module.declarations:  # a broken text ends with the function that has the probe
                if isinstance(node, tree.Function) and (node.end > self.at or node is self.module.declarations[-1]):
                    declarations.find(node.name)
        except Unsupported:
            pass
        except NotWgsl as refused:
            if refused.scope:
                return refused.scope
            declarations = Declarations(tree.Module(()), {})
        return declarations.scope

    @cached_property
    def nodes(self) -> list[tree.Node]:
        """Everything in the tree, in the order of the text."""
        walks = map(tree.walk, self.module.declarations)
        return [*chain.from_iterable(walks)]

    def find(self, name: str) -> Meaning | None:
        """The meaning of a name where the text is refused."""
        try:
            return self.scope.find(name)
        except (NotWgsl, Unsupported):
            return None

    @cached_property
    def _named(self) -> dict[int, tree.Node]:
        """The nodes that have a name, by its offset."""
        return {node.name.at: node for node in self.nodes if hasattr(node, "name")}

    @cached_property
    def variables(self) -> list[Variable]:
        """The variables that are known where the text is refused."""
        return [meaning for meaning in map(self.find, self.scope.names()) if isinstance(meaning, Variable)]

    @property
    def outputs(self) -> list[Variable]:
        """The buffers that can be written to."""
        return [buffer for buffer in self.variables if (buffer.space, buffer.access) == ("storage", "read_write")]

    def node(self, meaning: Meaning | None) -> tree.Node | None:
        """The node that declares what a name stands for."""
        name = getattr(getattr(meaning, "function", meaning), "name", None)
        return self._named.get(getattr(name, "at", None))

    def declared(self, name: str) -> tree.Node | None:
        """The node that declares what a name stands for."""
        return self.node(self.find(name))

    def written(self, node: tree.Node) -> str:
        """A declaration as it is written, without its attributes."""
        begin = max([node.at, *(attribute.end for attribute in getattr(node, "attributes", ()))])
        return self.text(Span(begin, node.body.at if isinstance(node, tree.Function) else node.end))

    def block(self, node: tree.Node) -> str:
        """The text from the end of a declaration to the end of the block around it."""
        ends = (outer.end for outer in self.ancestors(node) if isinstance(outer, tree.Block | tree.For))
        return self.code[node.end : next(ends, None)]

    def ancestors(self, node: tree.Node) -> list[tree.Node]:
        """The nodes that contain a node, the innermost first."""
        ancestors = [outer for outer in self.nodes if outer.at <= node.at and node.end <= outer.end and outer != node]
        return ancestors[::-1]

    def loop(self, first: tree.Node) -> tree.For | None:
        """The loop that a statement begins."""
        return next((node for node in self.nodes if isinstance(node, tree.For) and node.first == first), None)

    def base(self, node: tree.Node) -> str:
        """The variable or value that is indexed, or that a part is taken of: `a` for ``a[i].b``."""
        while isinstance(node, tree.Index | tree.Member):
            node = node.base
        return self.text(node)

    # --- Types ------------------------------------------------------------------------------------------------

    def type_of(self, node: tree.Expression | str) -> Type | None:
        """The type of an expression where the text is refused; None where it has none."""
        try:
            node = parse(f"const x = ({node});").declarations[0].value if isinstance(node, str) else node
            return view(node, self.scope).type
        except (NotWgsl, Unsupported):
            return None

    def named_type(self, node: tree.Expression) -> Type | None:
        """The type that a declaration writes; None where there is none of this name."""
        try:
            return type_of(node, self.scope)
        except (NotWgsl, Unsupported):
            return None

    def type_named(self, name: str) -> Type | None:
        """The type of a variable, a parameter or a constant; None for other names."""
        meaning = self.find(name)
        return meaning.value.type if isinstance(meaning, Known) else getattr(meaning, "type", None)


def balanced(text: str) -> bool:
    """Return True where each bracket in a text has its partner."""
    opened = ""
    for bracket in re.findall(r"[()\[\]{}]", text):
        if bracket in "([{":
            opened += bracket
        elif opened[-1:] + bracket in ("()", "[]", "{}"):
            opened = opened[:-1]
        else:
            return False
    return not opened


def commas(text: str) -> list[str]:
    """The parts of a list between its commas."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def signed(name: str, uses: str) -> bool:
    """Return True where a variable may be below 0: it is counted down, compared with 0, or negated."""
    name = re.escape(name)
    below_zero = rf"\b{name}\s*(?:--|-=|(?:>=|<)\s*0\b|[<>=!]=?\s*-|=(?!=)[^;]*(?:-|i32))|[=(,*/%+<>]\s*-\s*\b{name}\b"
    return bool(re.search(below_zero, uses))
