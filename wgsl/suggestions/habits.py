r"""Habits from Python, C and CUDA that WGSL's grammar refuses, and the cure of each.

Each row of `HABITS` is a pattern and a cure. The pattern is for what the compiler expected, a ``│``, and the line,
comments as blanks, with ``▸`` where the compiler stopped reading: ``;│  let x = a > b ▸? 1.0 : 2.0;``. The first row
that matches is taken. The caret stands at ``▸``, or at the pattern's group `at`. A cure may use the other groups,
whose brackets must be balanced; a function returns None where it has no cure. A cure is here only where it is
surely right.
"""

import re
from collections.abc import Callable
from itertools import pairwise

from wgsl.suggestions.context import TOKEN, Context, balanced, commas, signed
from wgsl.syntax import tree
from wgsl.types.conversions import ABSTRACT
from wgsl.types.kinds import I32, Array, Scalar

Cure = str | Callable[[re.Match, Context], str | None]
C_TYPES = {
    **dict.fromkeys(["int", "short", "long", "char", "i32"], "i32"),
    **dict.fromkeys(["uint", "size_t", "uint32_t", "u32", "unsigned"], "u32"),
    **dict.fromkeys(["float", "double", "half", "f32"], "f32"),
    "bool": "bool",
    "auto": "",
}
TYPE = rf"(?P<at>\b(?:{'|'.join(C_TYPES)})\b)"
NAME = r"[^\W\d]\w*"
VALUE = r"(?:return|[^=!<>]=)(?!=) *"  # what precedes the value of a statement
INSIDE = {*"+-*/%()[].,<>{", "<=", ">=", "=="}  # signs in what follows a division


def _division(line: re.Match, context: Context) -> str | None:
    """A comment that is the rest of an expression."""
    comment = line["comment"].strip()
    if not _continues_expression(comment, context):
        return None
    if ";" in comment or not balanced(comment):
        return f"`//` begins a comment, and so `{comment}` is not read; WGSL divides with one `/`"
    return f"a `;` is missing before the comment; if `// {comment}` is meant as a division, WGSL's sign is one `/`"


def _continues_expression(comment: str, context: Context) -> bool:
    """Whether a comment begins like the rest of an expression, in names that the text declares."""
    known = {node.name for node in context.nodes if isinstance(node, tree.Declaration | tree.Parameter)}
    begun, _, more = comment.partition(";")
    ends = comment.endswith(";") and not more  # a remark in parentheses does not end so
    tokens = TOKEN.findall(begun.lstrip("( ") if ends else begun)
    values = [bool(re.match(r"\w", token)) for token in tokens]
    named = all(token in known for token in tokens if re.match(NAME, token))
    signs = all(value or token in INSIDE for value, token in zip(values, tokens, strict=True))
    return values[:1] == [True] and named and signs and (True, True) not in pairwise(values)


def _declaration(line: re.Match, context: Context) -> str:
    """A variable that is declared as in C."""
    given, size = C_TYPES[line["at"]], line["size"]
    if given in ("i32", "u32") and line["value"] and not size:
        return f"{DECLARED}: write `{'let' if line['const'] else 'var'} {line['name']} = {_whole(line, context)};`"
    type = context.type_of(line["value"]) if line["value"] else None
    if isinstance(type, Scalar) and type not in ABSTRACT:
        given = ""  # the value says it
    given = f"array<{given}, {size}>" if size else given
    written = ("let" if line["const"] else "var") + f" {line['name']}"
    written += (f": {given}" if given else "") + (f" = {line['value'].strip()}" if line["value"] else "")
    return f"{DECLARED}: write `{written};`"


def _whole(line: re.Match, context: Context) -> str:
    """The first value of a whole number as WGSL writes it: with a u, unless the number may be below 0."""
    value, rest = line["value"].strip(), context.code[context.at :].partition(";")[2]
    limit = re.match(rf"\s*{line['name']}\s*[<>!]=?([^;]*);", rest)
    is_signed = C_TYPES[line["at"]] == "i32" and signed(line["name"], rest.partition("\n}")[0])
    is_signed = is_signed or (limit and context.type_of(limit[1]) == I32)
    return f"{value}u" if value.isdigit() and not is_signed else value


def _redeclaration(line: re.Match, context: Context) -> str | None:
    """A declaration where an assignment is meant."""
    if not context.find(line["name"]):
        return None
    return f"`{line['at']}` only names something new; to assign to `{line['name']}`, leave it out"


def _element(line: re.Match, context: Context) -> str | None:
    """A store into an element whose index is in parentheses."""
    if not isinstance(context.type_named(line["at"]), Array):
        return None
    return f"an element is written with brackets: `{line['at']}[{line['index']}]`"


def _parameter(line: re.Match, context: Context) -> str:
    return f"the name comes first, then its type: write `{line['name']}: {C_TYPES[line['at']] or 'f32'}`"


def _untyped(line: re.Match, context: Context) -> str:
    """A parameter without its type; a kernel's needs a builtin, too."""
    kernel, name = re.search(rf"@compute\b[^{{}};]*\bfn\s+{line['function']}\b", context.code), line["name"]
    cure = f"`@builtin(global_invocation_id) {name}: vec3u`, or another builtin"
    return f"every parameter has a type: write {cure if kernel else f'`{name}: f32`, or another type'}"


def _braces(line: re.Match, context: Context) -> str | None:
    """A block without braces; not where a parenthesis too many ended the condition."""
    even = line["rest"].count("(") == line["rest"].count(")")
    return "the braces are required, also around one statement: `{ ... }`" if even else None


def _range(line: re.Match, context: Context) -> str:
    """A loop over Python's range."""
    name, numbers = line["name"], commas(line["range"])
    numbers = [f"{number}u" if number.isdigit() else number for number in numbers]
    first, last, step = (["0u", *numbers, "1u"] if len(numbers) == 1 else [*numbers, "1u"])[:3]
    grow = f"{name}++" if step == "1u" else f"{name} += {step}"
    return f"WGSL has no `range`: write `for (var {name} = {first}; {name} < {last}; {grow}) {{`"


DECLARED = "WGSL declares a variable with `var`, or `let` where it never changes"
HABITS: tuple[tuple[str, Cure], ...] = (
    (r"▸ *(?P<at>//)(?P<comment>.*?)(?://.*)?$", _division),
    # Python
    (
        rf"{VALUE}(\w[^;=]*?) *▸if\b *([^;]+?) *\belse\b *([^;]+?) *;",
        r"WGSL has no `x if c else y`: write `select(\3, \1, \2)`, the value for false first",
    ),
    (r"▸and\b", "WGSL writes `&&` for `and`"),
    (r"▸or\b", "WGSL writes `||` for `or`"),
    (r"(?P<at>\bnot\b) *▸", "WGSL writes `!` for `not`, and the condition in parentheses: `!(...)`"),
    (rf"\bfor ▸(?P<name>{NAME}) +in +range *\((?P<range>.+)\) *[:{{]?", _range),
    (rf"\bfor ▸({NAME}) +in\b", r"WGSL's loop counts, as in `for (var \1 = 0u; \1 < n; \1++) {`"),
    (r"(?P<at>\b(?:def|function|func)\b) *▸\w", "a function begins with `fn`, outside of every other function"),
    (r"▸(?:def|function|func)\b", "a function begins with `fn`"),
    (rf"(?P<at>\b({NAME})\.(?:length|len|size))▸\( *\)", r"the length of a buffer is written `arrayLength(&\2)`"),
    (r"(?P<at>\belif\b).*▸", "WGSL writes `else if` for `elif`"),
    (
        r"│ *(?:\} *)?else *▸:|\b(?:if|while|for)\b[^;{]*[\w)\]] *▸: *(?:$|[\w{])",
        "the block stands in `{` and `}`, without a `:`",
    ),
    (r"▸#", "a comment begins with `//`; `#` means nothing in WGSL"),
    (r"(?P<at>\b(?:np|numpy|math|torch)\.(\w+))▸\(", r"WGSL's functions have no prefix: write `\2(...)`, if it exists"),
    # C and CUDA
    (
        rf"{VALUE}([^?]+?) *▸\? *([^?:;]+?) *: *([^?:;]+?) *;",
        r"WGSL has no `? :`: write `select(\3, \2, \1)`, the value for false first",
    ),
    (r"[\w)\]] *▸\?.*:", "WGSL has no `c ? x : y`: write `select(y, x, c)`, the value for false first"),
    (rf"^:│.*{TYPE} +▸(?P<name>{NAME})", _parameter),
    (
        rf"(?:[│;{{}}(]) *(?P<const>(?:const|let|var) +)?{TYPE} +▸(?P<name>{NAME}) *(?:\[ *(?P<size>\w+) *\])? *"
        rf"(?:= *(?P<value>[^;]*))?;",
        _declaration,
    ),
    (rf"(?P<at>\bunsigned) +▸(?:int|long|char|short) +({NAME})", r"WGSL's unsigned type is u32: `var \2: u32 = ...`"),
    (
        r"(?P<at>\b(?:__shared__|shared)) +▸",
        "workgroup memory is declared outside of every function: `var<workgroup> name: array<f32, 64>;`",
    ),
    (
        r"^declaration│.*▸(?:void|int|float|uint|u32|f32|i32|__\w+__|kernel|static|inline|extern)\b",
        "a function begins with `fn`, as in `fn name(x: f32) -> f32 {`",
    ),
    (rf"▸(\+\+|--) *({NAME})", r"write the sign behind the name, as a statement of its own: `\2\1`"),
    (rf"({NAME}) *▸(\+\+|--)", r"`\1\2` is a statement, not a value: write it in a line before or after this one"),
    (
        r"(?P<at>\((?:int|float|f32|i32|u32|uint|double|unsigned)\)) *▸",
        "a conversion is written like a call: `f32(x)`, `u32(x)` or `i32(x)`",
    ),
    (r"▸[^;{}]*?(?P<at>=>)", "`>=` is written with `=` last"),
    (r"▸[^;{}]*?(?P<at>=<)", "`<=` is written with `=` last"),
    (rf"(?P<at>\b(?:let|var|const)\b) +(?P<name>{NAME}) *▸(?:\[|[-+*/]=)", _redeclaration),
    (rf"[│;{{}}] *(?P<at>{NAME}) *\((?P<index>[^;{{}}=]*)\) *▸(?:[-+*/]?=)(?!=)", _element),
    (r"^\]│.*▸,", "an array in a buffer is flat and takes one index: compute it, as in `[row * width + column]`"),
    (r"\b(?:if|while)\b[^;{]*[^=!<>]▸=(?!=)", "`=` assigns; two values are compared with `==`"),
    (r"^\{│.*\bfn\b.*\) *▸:", "WGSL writes `->` before the type that a function returns"),
    (
        r"^\{│.*\b(?:if|while|for|else|case|default)\b[^{}]*▸(?P<rest>$|\w.*)",
        _braces,
    ),
    (rf"^:│.*@builtin *\( *\w+_index *\) *({NAME}) *▸(?:[,)]|$)", r"every parameter has a type: write `\1: u32`"),
    (rf"^:│.*@builtin *\( *\w+ *\) *({NAME}) *▸(?:[,)]|$)", r"every parameter has a type: write `\1: vec3u`"),
    (rf"^:│.*\bfn +(?P<function>{NAME}).*\b(?P<name>{NAME}) *▸[,)]", _untyped),
    # Numbers and signs
    (r"(?P<at>\b(\d+)\.\d*)▸[uUi]\b", r"the suffixes u and i belong to whole numbers: write `\2u`, or leave it out"),
    (r"(?P<at>\b(?:workgroupBarrier|storageBarrier)) *▸(?:;|$)", "a function is called with parentheses: `name();`"),
    (
        rf"^=│.*\b(?:let|const) +({NAME}) *▸(?:;|$)",
        r"`let` needs a value: `let \1 = ...;`; a variable that gets its value later is a `var` with a type",
    ),
)
