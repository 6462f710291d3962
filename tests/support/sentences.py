"""Code that reads a sentence: finished English is for a reader, and code decides by facts."""

import ast
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

SENTENCES = {"message", "detail", "reason", "sentence", "explanation", "excerpt", "event", "feature", "advice", "why"}
ERRORS = {"error", "refused", "refusal", "finding", "verdict", "problem"}  # whose `str` is a sentence
CUTS = {
    *("partition", "rpartition", "split", "rsplit", "splitlines", "replace", "removeprefix", "removesuffix"),
    *("startswith", "endswith", "count", "find", "rfind", "index", "rindex", "strip", "lstrip", "rstrip", "translate"),
}
TABLES = ("dict", "Mapping")  # an argument that is one, is no sentence, whatever its name is
PATTERNS = {"search", "match", "fullmatch", "findall", "finditer", "sub", "subn", "split"}


def readings(root: Path, roots: Iterable[str], besides: Iterable[str] = ()) -> list[str]:
    """Return where code below some folders or files reads a sentence, each as ``path:line: what it does``.

    A sentence is an attribute or a variable of a name in `SENTENCES`, ``str(error)`` and ``f"{error}"`` of what is
    caught or called as in `ERRORS`, and whatever is made of one in the same function. To read it is to match, cut,
    search, measure or walk it, or to compare it with a text. `besides` are paths below which nothing is looked at.
    """
    all_readings = []
    for path in sorted(chain.from_iterable(_modules(root / name) for name in roots)):
        name = path.relative_to(root).as_posix()
        if any(name == other or name.startswith(f"{other}/") for other in besides):
            continue
        lines = _Reader(ast.parse(path.read_text(encoding="utf-8"))).readings()
        all_readings += [f"{name}:{line}: {what}" for line, what in lines]
    return all_readings


def _modules(path: Path) -> Iterable[Path]:
    return path.rglob("*.py") if path.is_dir() else [path]


class _Reader:
    """One module: which names are sentences in each of its functions, and what is done to them."""

    def __init__(self, module: ast.Module) -> None:
        self._module = module
        self._errors: set[str] = set(ERRORS)
        self._made: set[str] = set()
        self._tables: set[str] = set()

    def readings(self) -> list[tuple[int, str]]:
        """Return the lines that read a sentence, each once, with what they do."""
        scopes = [node for node in ast.iter_child_nodes(self._module) if not isinstance(node, ast.ClassDef)]
        for node in ast.walk(self._module):
            if isinstance(node, ast.ClassDef):
                scopes += ast.iter_child_nodes(node)
        return sorted({*chain.from_iterable(map(self._in_scope, scopes))})

    def _in_scope(self, scope: ast.AST) -> list[tuple[int, str]]:
        nodes = [*ast.walk(scope)]
        caught = {node.name for node in nodes if isinstance(node, ast.ExceptHandler) and node.name}
        arguments = (node for node in nodes if isinstance(node, ast.arg) and node.annotation)
        self._tables = {node.arg for node in arguments if ast.unparse(node.annotation).startswith(TABLES)}
        self._errors, self._made = ERRORS | caught, set()
        while self._grow(nodes):
            pass
        done = [(_line(node), self._reads(node)) for node in nodes]
        return [(line, what) for line, what in done if what]

    # --- What a sentence is -----------------------------------------------------------------------------------

    def _grow(self, nodes: list[ast.AST]) -> bool:
        """Add the names that are given a sentence, or a piece of one; True where there are new ones."""
        before = len(self._made)
        for target, value in _assignments(nodes):
            if self._is_sentence(value):
                self._made |= {*_names(target)} - self._tables
        return len(self._made) > before

    def _is_sentence(self, node: ast.AST | None) -> bool:
        match node:
            case ast.Name(id=name):
                return name in (SENTENCES | self._made) - self._tables
            case ast.Attribute(attr=name):
                return name in SENTENCES
            case ast.Call(func=ast.Name(id="str" | "repr"), args=[argument]):
                return self._is_error(argument) or self._is_sentence(argument)
            case ast.Call(func=ast.Attribute(value=ast.Name(id="re")), args=arguments):
                return any(map(self._is_sentence, arguments))
            case ast.Call(func=ast.Attribute(value=value)) | ast.Subscript(value=value):
                return self._is_sentence(value)
            case ast.JoinedStr(values=values):
                return any(self._is_error(part) or self._is_sentence(part) for part in map(_formatted, values))
            case ast.BinOp(left=left, right=right):
                return self._is_sentence(left) or self._is_sentence(right)
            case ast.BoolOp(values=values):
                return any(map(self._is_sentence, values))
            case ast.IfExp(body=body, orelse=other):
                return self._is_sentence(body) or self._is_sentence(other)
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._is_sentence(value)
        return False

    def _is_error(self, node: ast.AST | None) -> bool:
        return isinstance(node, ast.Name) and node.id in self._errors

    # --- What reads it ----------------------------------------------------------------------------------------

    def _reads(self, node: ast.AST) -> str:
        """Return what a node does to a sentence; nothing where it does nothing, or only shows it."""
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=value)) if method in CUTS and self._is_sentence(value):
                return f".{method}() of a sentence"
            case ast.Call(func=ast.Attribute(attr=method), args=arguments) if method in PATTERNS:
                return "a pattern on a sentence" if any(map(self._is_sentence, arguments)) else ""
            case ast.Call(func=ast.Name(id="len" | "sorted" | "set" | "list"), args=[argument]):
                return "the length or the letters of a sentence" if self._is_sentence(argument) else ""
            case ast.Subscript(value=value, ctx=ast.Load()) if self._is_sentence(value):
                return "a piece of a sentence"
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._compares([left, *others], operators)
            case ast.Match(subject=value):
                return "a match of a sentence" if self._is_sentence(value) else ""
            case ast.For(iter=value) | ast.comprehension(iter=value):
                return "a walk through a sentence" if self._is_sentence(value) else ""
        return ""

    def _compares(self, sides: list[ast.expr], operators: list[ast.cmpop]) -> str:
        for i, operator in enumerate(operators):
            left, right = sides[i], sides[i + 1]
            if isinstance(operator, ast.In | ast.NotIn) and self._is_sentence(right):
                return "`in` a sentence"
            if isinstance(operator, ast.Eq | ast.NotEq) and self._with_a_text(left, right):
                return "a sentence compared with a text"
        return ""

    def _with_a_text(self, *sides: ast.expr) -> bool:
        """Return True for a sentence beside a text that is not empty."""
        constants = [side.value for side in sides if isinstance(side, ast.Constant)]
        has_text = any(isinstance(value, str) and value for value in constants)
        return has_text and any(map(self._is_sentence, sides))


def _assignments(nodes: list[ast.AST]) -> Iterator[tuple[ast.AST, ast.AST | None]]:
    for node in nodes:
        if isinstance(node, ast.Assign):
            yield from _pairs(node)
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            yield node.target, node.value


def _names(target: ast.AST) -> Iterator[str]:
    """Return the names that a target binds; an attribute of a name binds none."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _names(part)
    elif isinstance(target, ast.Starred):
        yield from _names(target.value)


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Return the targets of an assignment, each with its value; of a tuple, one by one."""
    for target in node.targets:
        both = target, node.value
        if all(isinstance(side, ast.Tuple) for side in both) and len(target.elts) == len(node.value.elts):
            yield from zip(target.elts, node.value.elts, strict=True)
        else:
            yield both


def _line(node: ast.AST) -> int:
    place = node.iter if isinstance(node, ast.comprehension) else node
    return getattr(place, "lineno", 0)


def _formatted(part: ast.expr) -> ast.expr:
    """Return what stands in the braces of a formatted text."""
    return part.value if isinstance(part, ast.FormattedValue) else part
