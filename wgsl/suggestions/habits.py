r"""Habits from Python, C and CUDA that WGSL's grammar refuses, and the suggestion for each.

Each row of `HABITS` is a pattern and the kind of a suggestion, or a function that makes one. The pattern is for what
the compiler expected, a ``│``, and the line, comments as blanks, with ``▸`` where the compiler stopped reading:
``;│  let x = a > b ▸? 1.0 : 2.0;``. The first row that matches is taken. The caret stands at ``▸``, or at the pattern's
group `at`. The named groups are the facts of the suggestion, and the brackets in all groups must be balanced; a
function returns None where it has no cure. A cure is here only where it is surely right.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from wgsl.facts import Suggestion
from wgsl.suggestions.context import TOKEN, Context, balanced, commas, signed
from wgsl.suggestions.foreign_names import C_TYPES
from wgsl.suggestions.tongues import Cure, with_types
from wgsl.syntax import tree
from wgsl.types.conversions import ABSTRACT
from wgsl.types.kinds import I32, Array, Scalar

Habit = str | Callable[[re.Match, Context], Suggestion | None]
TYPE = rf"(?P<at>\b(?:{'|'.join(C_TYPES)})\b)"
NAME = r"[^\W\d]\w*"
VALUE = r"(?:return|[^=!<>]=)(?!=) *"  # what precedes the value of a statement
SELECT = "select({no}, {yes}, {condition})"
INSIDE = {*"+-*/%()[].,<>{", "<=", ">=", "=="}  # signs in what follows a division


def _division(line: re.Match, context: Context) -> Suggestion | None:
    """A comment that is the rest of an expression."""
    comment = line["comment"].strip()
    if not _continues_expression(comment, context):
        return None
    if ";" in comment or not balanced(comment):
        return Suggestion("division", {"comment": comment})
    return Suggestion("division, or a comment", {"comment": comment})


def _continues_expression(comment: str, context: Context) -> bool:
    """Return True for a comment that begins like the rest of an expression, in names that the text declares."""
    known = {node.name for node in context.nodes if isinstance(node, tree.Declaration | tree.Parameter)}
    begun, _, more = comment.partition(";")
    ends = comment.endswith(";") and not more  # a remark in parentheses does not end so
    tokens = TOKEN.findall(begun.lstrip("( ") if ends else begun)
    values = [bool(re.match(r"\w", token)) for token in tokens]
    named = all(token in known for token in tokens if re.match(NAME, token))
    signs = all(value or token in INSIDE for value, token in zip(values, tokens, strict=True))
    return values[:1] == [True] and named and signs and (True, True) not in pairwise(values)


def _declaration(line: re.Match, context: Context) -> Suggestion:
    """A variable that is declared as in C."""
    keyword = "let" if line["const"] else "var"
    type_name = C_TYPES[line["at"]]
    size = line["size"]
    value = with_types(line["value"]) if line["value"] else None
    if size and value:
        values = commas(value.strip("{}[] "))
        return Suggestion(
            "declaration of C",
            {"cure": f"{keyword} {line['name']} = array<{type_name}, {size}>({', '.join(values)});"},
        )
    if type_name in ("i32", "u32") and value and not size:
        return Suggestion("declaration of C", {"cure": f"{keyword} {line['name']} = {_whole(line, context)};"})
    type = context.type_of(value) if value else None
    if isinstance(type, Scalar) and type not in ABSTRACT:
        type_name = ""  # the value says it
    if size:
        type_name = f"array<{type_name}, {size}>"
    cure = f"{keyword} {line['name']}"
    if type_name:
        cure = f"{cure}: {type_name}"
    if value:
        cure = f"{cure} = {value.strip()}"
    return Suggestion("declaration of C", {"cure": f"{cure};"})


def _whole(line: re.Match, context: Context) -> str:
    """The first value of a whole number as WGSL writes it: with a u, unless the number may be below 0."""
    value = line["value"].strip()
    rest = context.code[context.at :].partition(";")[2]
    limit = re.match(rf"\s*{line['name']}\s*[<>!]=?([^;]*);", rest)
    is_signed = C_TYPES[line["at"]] == "i32" and signed(line["name"], rest.partition("\n}")[0])
    is_signed = is_signed or (limit and context.type_of(limit[1]) == I32)
    return f"{value}u" if value.isdigit() and not is_signed else value


def _redeclaration(line: re.Match, context: Context) -> Suggestion | None:
    """A declaration where an assignment is meant."""
    if not context.find(line["name"]):
        return None
    return Suggestion("declared for a change", {"keyword": line["at"], "name": line["name"]})


def _element(line: re.Match, context: Context) -> Suggestion | None:
    """A store into an element whose index is in parentheses."""
    if not isinstance(context.type_named(line["at"]), Array):
        return None
    return Suggestion("element in parentheses", {"name": line["at"], "index": line["index"]})


def _parameter(line: re.Match, context: Context) -> Suggestion:
    """A parameter whose type comes first."""
    return Suggestion("type before a parameter", {"cure": f"{line['name']}: {C_TYPES[line['at']] or 'f32'}"})


def _untyped(line: re.Match, context: Context) -> Suggestion:
    """A parameter without its type; a kernel's needs a builtin, too."""
    kernel = re.search(rf"@compute\b[^{{}};]*\bfn\s+{line['function']}\b", context.code)
    return Suggestion("untyped parameter", {"name": line["name"], "is_kernel": kernel is not None})


def _braces(line: re.Match, context: Context) -> Suggestion | None:
    """A block without braces; not where a parenthesis too many ended the condition."""
    even = line["rest"].count("(") == line["rest"].count(")")
    return Suggestion("no braces") if even else None


def _range(line: re.Match, context: Context) -> Suggestion:
    """A loop over Python's range."""
    name = line["name"]
    numbers = [f"{number}u" if number.isdigit() else number for number in commas(line["range"])]
    if len(numbers) == 1:
        numbers = ["0u", *numbers]
    first, last = numbers[:2]
    step = numbers[2] if len(numbers) > 2 else "1u"
    grow = f"{name}++" if step == "1u" else f"{name} += {step}"
    return Suggestion("loop over a range", {"cure": f"for (var {name} = {first}; {name} < {last}; {grow}) {{"})


HABITS: tuple[tuple[str, Habit] | tuple[str, str, Cure], ...] = (
    (r"▸ *(?P<at>//)(?P<comment>.*?)(?://.*)?$", _division),
    # Python
    (
        rf"{VALUE}(?P<old>(?P<yes>\w[^;=]*?) *▸if\b *(?P<condition>[^;]+?) *\belse\b *(?P<no>[^;]+?)) *;",
        "choice of Python",
        SELECT,
    ),
    (r"(?P<old>▸and)\b", "and", "&&"),
    (r"(?P<old>▸or)\b", "or", "||"),
    (r"(?P<at>\bnot\b) *▸", "not before a condition"),
    (rf"\b(?P<old>for ▸(?P<name>{NAME}) +in +range *\((?P<range>.+)\) *[:{{]?)", _range),
    (rf"\bfor ▸(?P<name>{NAME}) +in\b", "loop over values"),
    (r"(?P<at>\b(?:def|function|func)\b) *▸\w", "function outside"),
    (r"▸(?:def|function|func)\b", "function"),
    (rf"(?P<at>\b(?P<name>{NAME})\.(?:length|len|size))▸\( *\)", "length in a part"),
    (r"(?P<old>(?P<at>\belif\b)).*▸", "elif", "else if"),
    (
        r"│ *(?:\} *)?else *▸:|\b(?:if|while|for)\b[^;{]*[\w)\]] *▸: *(?:$|[\w{])",
        "colon before a block",
    ),
    # C and CUDA
    (
        rf"{VALUE}(?P<old>(?P<condition>[^?]+?) *▸\? *(?P<yes>[^?:;]+?) *: *(?P<no>[^?:;]+?)) *;",
        "choice of C",
        SELECT,
    ),
    (r"[\w)\]] *▸\?.*:", "choice of C, in pieces"),
    (rf"^:│.*(?P<old>{TYPE} +▸(?P<name>{NAME}))", _parameter),
    (
        rf"(?:[│;{{}}(]) *(?P<old>(?P<const>(?:const|let|var) +)?{TYPE} +▸(?P<name>{NAME}) *"
        r"(?:\[ *(?P<size>\w+) *\])? *"
        rf"(?:= *(?P<value>[^;]*))?;)",
        _declaration,
    ),
    (rf"(?P<at>\bunsigned) +▸(?:int|long|char|short) +(?P<name>{NAME})", "unsigned"),
    (
        r"(?P<at>\b(?:__shared__|shared)) +▸",
        "shared memory",
    ),
    (
        r"^declaration│.*▸(?:void|int|float|uint|u32|f32|i32|__\w+__|kernel|static|inline|extern)\b",
        "function of C",
    ),
    (rf"▸(?P<sign>\+\+|--) *(?P<name>{NAME})", "sign before the name"),
    (rf"(?P<name>{NAME}) *▸(?P<sign>\+\+|--)", "count as a value"),
    (
        r"(?P<at>\((?:int|float|f32|i32|u32|uint|double|unsigned)\)) *▸",
        "conversion of C",
    ),
    (r"▸[^;{}]*?(?P<old>(?P<at>=>))", "=>", ">="),
    (r"▸[^;{}]*?(?P<old>(?P<at>=<))", "=<", "<="),
    (rf"(?P<at>\b(?:let|var|const)\b) +(?P<name>{NAME}) *▸(?:\[|[-+*/]=)", _redeclaration),
    (rf"[│;{{}}] *(?P<at>{NAME}) *\((?P<index>[^;{{}}=]*)\) *▸(?:[-+*/]?=)(?!=)", _element),
    (r"^\]│.*▸,", "two indices"),
    (r"\b(?:if|while)\b[^;{]*[^=!<>](?P<old>▸=)(?!=)", "= in a condition", "=="),
    (
        r"^\{│.*\b(?:if|while|for|else|case|default)\b[^{}]*▸(?P<rest>$|\w.*)",
        _braces,
    ),
    (rf"^:│.*@builtin *\( *\w+_index *\) *(?P<old>(?P<name>{NAME})) *▸(?:[,)]|$)", "untyped id", "{name}: u32"),
    (rf"^:│.*@builtin *\( *\w+ *\) *(?P<old>(?P<name>{NAME})) *▸(?:[,)]|$)", "untyped id", "{name}: vec3u"),
    (rf"^:│.*\bfn +(?P<function>{NAME}).*\b(?P<name>{NAME}) *▸[,)]", _untyped),
    # Numbers and signs
    (r"(?P<old>(?P<at>\b(?P<number>\d+)\.\d*)▸[uUi])\b", "suffix of a fraction", "{number}u"),
    (
        r"(?P<old>(?P<at>(?P<name>\b(?:workgroupBarrier|storageBarrier)))) *▸(?:;|$)",
        "barrier without parentheses",
        "{name}()",
    ),
    (
        rf"^=│.*\b(?:let|const) +(?P<name>{NAME}) *▸(?:;|$)",
        "let without a value",
    ),
)
