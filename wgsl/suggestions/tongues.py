r"""Declarations, statements and values as other languages write them, each with what WGSL writes in its place.

A row is a pattern as those of `wgsl.suggestions.habits`, the kind of the suggestion, and the cure: a template of the
pattern's named groups that replaces its group `old`, or a function that returns such a text; None where there is none.
The caret stands at the group `at`, or at the place where the compiler stopped reading.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from wgsl.suggestions.context import Context, commas
from wgsl.suggestions.foreign_names import C_TYPES, FUNCTIONS, LARGEST_F32, PREFIXES, SCALARS, VALUES
from wgsl.types.signatures import SIGNATURES

Cure = str | Callable[[re.Match, Context], str | None] | None
NAME = r"[^\W\d]\w*"
PLACE = rf"{NAME}(?:\[[^\[\]]*\]|\.{NAME})*"  # a variable, or a part of one
TYPE = rf"(?P<type>\b(?:{'|'.join([*C_TYPES, 'void'])})\b)"
SCALAR = rf"(?P<type>\b(?:{'|'.join(SCALARS)})\b)"
QUALIFIER = r"""
static|inline|extern|pub|public|private|constexpr|final|readonly|export|const|constant|let|var|varying|volatile|
__constant__|__device__|__global__|__host__|__forceinline__|kernel|unsigned|__kernel
""".replace("\n", "")
SHARED = "__shared__|shared|groupshared|threadgroup|workgroup|__local"
OUTSIDE = r"^[\w,;=]*│ *"  # the line's begin, whatever is expected
CLOSED = r"[^()]*(?:\([^()]*\)[^()]*)*"  # a text whose parentheses have their partners


# --- Declarations outside of functions ----------------------------------------------------------------------------


def _is_outside(context: Context) -> bool:
    return context.depth(context.at) == 0


def with_types(value: str) -> str:
    """A value with WGSL's names of the types that it is made of."""
    return re.sub(rf"\b({'|'.join(C_TYPES)})\b(?= *\()", lambda call: C_TYPES[call[0]] or call[0], value)


def _constant(line: re.Match, context: Context) -> str | None:
    """A constant that is declared outside of every function."""
    value = with_types(line["value"].replace("▸", "").strip())
    if not _is_outside(context) or not value:
        return None
    groups = line.groupdict()
    type_name = C_TYPES.get(groups.get("type") or "", "")
    size = groups.get("size")
    if size is not None:
        numbers = commas(value.strip("{}[] "))
        return f"const {line['name']} = array<{type_name}, {size or len(numbers)}>({', '.join(numbers)});"
    is_plain = re.fullmatch(r"\d+u?" if type_name in ("i32", "u32") else r"\d*\.\d*f?|true|false|.*\(.*", value)
    if is_plain or not type_name:
        return f"const {line['name']} = {value};"
    return f"const {line['name']}: {type_name} = {value};"


def _macro(line: re.Match, context: Context) -> str | None:
    """A constant of the preprocessor."""
    return f"const {line['name']} = {line['value'].strip()};" if line["value"].strip() else None


def _shared(line: re.Match, context: Context) -> str | None:
    """An array in the memory of a workgroup."""
    type_name = C_TYPES[line["type"]]
    type_name = f"array<{type_name}, {line['size']}>" if line["size"] else type_name
    return f"var<workgroup> {line['name']}: {type_name};" if _is_outside(context) else None


def _array(line: re.Match, context: Context) -> str:
    """The type of an array, whose length stands behind that of its elements or beside it."""
    return f"array<{C_TYPES[line['type']]}, {line['size']}>"


def _declared_array(line: re.Match, context: Context) -> str:
    """A variable whose length stands behind its name."""
    return f"{line['begin']}{line['name']}: {_array(line, context)};"


def _function(line: re.Match, context: Context) -> str | None:
    """The first line of a function of C."""
    parameters = [re.fullmatch(rf"(?:const )?{TYPE} +(?P<name>{NAME})", text) for text in commas(line["parameters"])]
    if not all(parameters) and line["parameters"].strip() not in ("", "void"):
        return None
    written = ", ".join(f"{parameter['name']}: {C_TYPES[parameter['type']]}" for parameter in parameters if parameter)
    result = C_TYPES.get(line["type"])
    arrow = f" -> {result}" if result else ""
    return f"fn {line['name']}({written}){arrow} {{"


def _attributes(line: re.Match, context: Context) -> str:
    """Attributes in double brackets, as WGSL had them once."""
    names = [re.sub(r"^stage\((\w+)\)$", r"\1", text) for text in commas(line["attributes"])]
    return " ".join(f"@{name}" for name in names if name != "block")


def _struct_ends(line: re.Match, context: Context) -> str | None:
    """The rest of a struct whose members end in semicolons, with commas."""
    end = context.code.find("}", context.at)
    inside = re.search(r"\bstruct\s+\w+\s*\{[^{}]*$", context.code[: context.at])
    return line["old"].replace("▸", "").replace(";", ",") if inside and end > 0 else None


def _member(line: re.Match, context: Context) -> str | None:
    """A member of a struct whose type stands first."""
    inside = re.search(r"\bstruct\s+\w+\s*\{[^{}]*$", context.code[: context.at])
    return f"{line['name']}: {C_TYPES[line['type']]}," if inside else None


# --- Functions ----------------------------------------------------------------------------------------------------


def _returned(line: re.Match, context: Context) -> str | None:
    """A value at the end of a function that returns one."""
    before = context.code[: context.at]
    promised = re.search(r"\bfn\b[^{}]*->[^{}]*\{(?:[^{}]|\{[^{}]*\})*$", before)
    begin = context.at - (line.string.index("▸") - line.start("old"))
    ends = context.code[begin:].lstrip()[len(line["old"].replace("▸", "").strip()) :].lstrip().startswith("}")
    value = line["old"].replace("▸", "").strip()
    return f"return {value};" if promised and ends and value else None


# --- Values -------------------------------------------------------------------------------------------------------


def translated(name: str, arguments: list[str]) -> str | None:
    """A call as WGSL writes it, by the name that another language has for it; None where WGSL has no such function."""
    wanted = FUNCTIONS.get(name, name if name in SIGNATURES else None)
    if wanted is None:
        return None
    if "{" not in wanted:
        return f"{wanted}({', '.join(arguments)})"
    try:
        return wanted.format(*map(_in_parentheses, arguments))
    except IndexError:
        return None


def _in_parentheses(text: str) -> str:
    """An operand, in parentheses unless it is one value."""
    return text if re.fullmatch(rf"{PLACE}|[\w.]+", text) else f"({text})"


def _without_prefix(line: re.Match, context: Context) -> str | None:
    """A function that another language keeps in a library."""
    return translated(line["name"], commas(line["arguments"]))


def _method(line: re.Match, context: Context) -> str | None:
    """A function that another language calls with a point."""
    more = [text for text in commas(line["arguments"]) if text]
    return translated(line["name"], [line["value"], *more])


def _list(line: re.Match, context: Context) -> str:
    """The values of an array in braces or brackets."""
    return f"array({line['values'].strip()})"


def _list_of_type(line: re.Match, context: Context) -> str:
    """The values of an array of C."""
    size = line["size"].strip() or len(commas(line["values"]))
    return f"array<{C_TYPES[line['type']]}, {size}>({line['values'].strip()})"


def _number(line: re.Match, context: Context) -> str | None:
    """A number as another language writes it."""
    text = line["old"].replace("_", "").replace("▸", "")
    if re.fullmatch(r"0[bB][01]+", text):
        return str(int(text, 2))
    if re.fullmatch(r"0[oO][0-7]+", text):
        return str(int(text, 8))
    match = re.fullmatch(r"(\d+|\d*\.\d+|\d+\.)(?:f?32|f64|[uUlLdDnF]+|[ui](?:8|16|32|64|size))?", text)
    if not match or re.search(r"\.\d*[ui]$", text):
        return None
    suffix = "u" if re.search(r"u", text, re.IGNORECASE) and "." not in text else ""
    return f"{match[1]}{suffix}"


def _assigned(line: re.Match, context: Context) -> str:
    """An assignment with another sign; of a name that is new, a declaration."""
    is_new = re.fullmatch(NAME, line["name"]) and not context.find(line["name"])
    return f"let {line['name']} =" if is_new and line["sign"] == ":=" else f"{line['name']} ="


def _range(line: re.Match, context: Context) -> str:
    """A loop over the range of Rust."""
    name, first, last = line["name"], line["first"], line["last"].strip()
    first = f"{first}u" if first.isdigit() else first
    last = f"{last}u" if last.isdigit() else last
    sign = "<=" if line["inclusive"] else "<"
    return f"for (var {name} = {first}; {name} {sign} {last}; {name}++) {{"


TONGUES: tuple[tuple[str, str, Cure], ...] = (
    # Lines that are no WGSL
    (r"│ *▸# *define +(?P<name>\w+)\(", "macro", None),
    (rf"│ *(?P<old>▸# *define +(?P<name>{NAME}) +(?P<value>.*))$", "constant of C", _macro),
    (
        r"│ *(?P<old>▸# *(?P<word>include|version|pragma|if|ifdef|ifndef|else|elif|endif|undef|extension|import)\b.*)$",
        "line of the preprocessor",
        "",
    ),
    (
        r"^declaration│ *(?P<old>▸(?:from \w+(?:\.\w+)* +)?"
        r"(?P<word>import|use|using|package|require|precision|module)\b.*)$",
        "line to leave out",
        "",
    ),
    (
        r"│ *(?P<old>▸(?:'''|\"\"\")(?P<comment>.*?)(?:'''|\"\"\")? *)$",
        "comment",
        "//{comment}",
    ),
    (r"│ *(?P<old>(?P<at>▸--) +(?P<comment>[^;=]*?) *)$", "comment", "// {comment}"),
    (r"[;}}] *(?P<old>(?P<at>▸--|--(?= ?▸?)) *▸?(?P<comment>[\w ▸]*?) *)$", "comment", "// {comment}"),
    (r"[;}{│] *(?P<old>(?:▸%+|▸;+) *(?P<comment>[^;=(]*?) *)$", "comment", "// {comment}"),
    (r"[;}{│] *(?P<old>▸<!-- *(?P<comment>.*?) *-->) *$", "comment", "// {comment}"),
    (r"[;}{│] *(?P<old>(?P<at>\()\* *(?P<comment>[^*]*?) *▸?\*▸?\)) *$", "comment", "// {comment}"),
    (r"(?P<old>▸#+ *(?P<comment>.*?))$", "comment", "// {comment}"),
    # Attributes and buffers
    (r"(?P<old>▸\[\[(?P<attributes>[^\[\]]*)\]\])", "attributes in brackets", _attributes),
    (
        r"│ *(?P<old>▸\[ *(?:numthreads) *\((?P<sizes>[^()]*)\) *\])",
        "attribute of another language",
        "@compute @workgroup_size({sizes})",
    ),
    (
        r"^declaration│ *(?P<old>▸layout *\( *local_size_x *= *(?P<x>\w+) *\) *in *;)",
        "workgroup of GLSL",
        None,
    ),
    (
        r"^declaration│ *▸(?P<word>layout|(?:RW)?StructuredBuffer|(?:RW)?Buffer|buffer|ByteAddressBuffer)\b",
        "buffer of another language",
        None,
    ),
    (r"^declaration│ *▸(?P<word>uniform|cbuffer|ConstantBuffer)\b", "uniform of another language", None),
    # Declarations
    (
        rf"^declaration│ *(?P<old>▸(?:static +)?(?:{SHARED}) +{TYPE} +(?P<name>{NAME})"
        rf" *(?:\[ *(?P<size>\w+) *\])? *;)",
        "shared memory, here",
        _shared,
    ),
    (
        rf"^[^│]*│ *(?P<old>var *< *workgroup *> *▸?{TYPE} *▸?(?P<name>{NAME}) *(?:\[ *(?P<size>\w+) *\])? *;)",
        "shared memory, here",
        _shared,
    ),
    (r"^declaration│ *(?P<old>▸(?P<space>workgroup|private))(?= +\w+ *:)", "space without var", "var<{space}>"),
    (
        rf"{OUTSIDE}(?P<old>▸?(?:(?:{QUALIFIER}) +)*▸?(?:(?:{QUALIFIER}) +)*▸?{TYPE} +▸?(?P<name>{NAME})"
        rf" *▸?(?:\[ *(?P<size>\w*) *▸?\])? *= *(?P<value>[^;=][^;]*);)",
        "constant of C",
        _constant,
    ),
    (
        rf"{OUTSIDE}(?P<old>▸(?:(?:{QUALIFIER}) +)*(?P<name>{NAME}) *(?:: *{TYPE} *)?= *(?P<value>[^;=][^;]*);)",
        "constant outside",
        _constant,
    ),
    (
        rf"^declaration│ *(?P<old>▸(?:(?:{QUALIFIER}) +)*{TYPE} +(?P<name>{NAME}) *\((?P<parameters>[^()]*)\) *\{{)",
        "first line of a function",
        _function,
    ),
    (
        rf"^declaration│ *(?P<old>▸{SCALAR} +(?P<name>{NAME}) *\[ *(?P<size>\w+) *\] *;)",
        "array outside",
        lambda line, context: f"var<workgroup> {line['name']}: {_array(line, context)};",
    ),
    (
        rf"^declaration│ *(?P<old>▸typedef +{TYPE} +(?P<name>{NAME}) *;)",
        "alias",
        lambda line, _: f"alias {line['name']} = {C_TYPES[line['type']]};",
    ),
    (r"^declaration│ *(?P<old>▸(?P<word>type|using))\b(?= +\w+ *=)", "word of WGSL", "alias"),
    (r"^declaration│ *(?P<old>▸(?P<word>class|interface|record))\b(?= +\w+ *\{)", "word of WGSL", "struct"),
    (r"^declaration│ *▸(?P<word>enum|template|trait|impl|namespace|typedef|class|interface)\b", "no such word", None),
    (rf"(?P<old>{SCALAR} *▸\[ *(?P<size>\w+) *\])(?= *[;=,)])", "array type", _array),
    (rf"(?P<old>array *< *{SCALAR} *> *▸\[ *(?P<size>\w+) *\])", "array type", _array),
    (rf"(?<=:)(?P<blank> *)(?P<old>▸\[ *{SCALAR} *; *(?P<size>\w+) *\])", "array type", _array),
    (
        rf"(?P<old>(?P<begin>\bvar *(?:< *\w+ *>)? *)(?P<name>{NAME}) *▸\[ *(?P<size>\w+) *\] *: *{SCALAR} *;)",
        "array declaration",
        _declared_array,
    ),
    (rf"^[:,]│.*?(?P<old>(?P<at>{TYPE}) +▸(?P<name>{NAME}) *;)", "member", _member),
    (r"^,│.*\w *(?P<old>▸;.*)$", "members", _struct_ends),
    # Functions
    (r"\bfn\b.*\) *(?P<old>▸=>) *\w", "arrow", "->"),
    (r"\bfn\b.*\) *(?P<old>▸:) *\w", "arrow", " ->"),
    (rf"^\{{│.*\bfn\b.*\) *(?P<old>▸{TYPE})(?= *\{{)", "arrow", lambda line, _: f"-> {C_TYPES[line['type']]}"),
    (r"^[,)]│.*\bfn\b.*\w+ *: *\w+ *(?P<old>▸= *(?P<value>[^,)]+?))(?= *[,)])", "default value", ""),
    (
        rf"\bfn\b.*?(?P<at>\b(?:inout|out)\b) +▸(?P<name>{NAME}) *: *{SCALAR}",
        "changed parameter",
        None,
    ),
    (rf"\bfn\b.*?(?P<name>{NAME}) *: *▸&(?:mut +)?{SCALAR}", "changed parameter", None),
    (r"\{ *(?P<old>[^{};]*▸[^{};]*?)(?= *\})", "value at the end", _returned),
    (r"│ *(?P<old>[^{};=]*▸[^{};=]*?) *$", "value at the end", _returned),
    # Statements
    (
        r"^\{│.*\b(?:if|while)\b.*[^ ](?P<old> *▸(?P<word>then|do)\b)(?= *(?:\{|$))",
        "word to leave out",
        "",
    ),
    (r"^\{│.*\b(?:if|while)\b.*▸(?P<word>then|do)\b", "word for a brace", None),
    (r"[│;{}] *(?P<at>do) *▸\{", "do", None),
    (
        r"[│;{}] *(?P<at>(?P<word>try|throw|goto|yield|del|match|with|begin|end|pass)\b) *▸",
        "no such word",
        None,
    ),
    (r"[│;{}] *(?P<at>(?P<word>unless|until|foreach|repeat))\b.*▸", "no such word", None),
    (
        rf"(?P<old>\bfor *\(? *▸?(?P<name>{NAME}) +in +(?P<first>\w+)\.\.(?P<inclusive>=?)(?P<last>[^{{;]+?)▸* *\{{)",
        "loop of Rust",
        _range,
    ),
    (
        rf"(?P<old>(?P<at>(?P<name>{PLACE}) *)▸(?P<sign>:=|<-|==)(?!=))",
        "sign of an assignment",
        _assigned,
    ),
    (r"[│;{}] *(?P<old>(?P<word>set|call|my) +)▸\w+.*=", "word to leave out", ""),
    # Values
    (r"(?P<old>▸===|=▸==|==▸=)", "equal", "=="),
    (r"(?P<old>!==▸|!=▸=|▸!==)", "unequal", "!="),
    (r"(?P<old><▸>)", "unequal", "!="),
    (r"(?P<old>>>▸>)", "shift", ">>"),
    (r"(?P<old>▸AND\b)", "and", "&&"),
    (r"(?P<old>▸OR\b)", "or", "||"),
    (r"[\w)\]] +(?P<old>▸(?P<word>mod))\b", "sign of WGSL", "%"),
    (r"[\w)\]] +(?P<old>▸(?P<word>div))\b", "sign of WGSL", "/"),
    (
        rf"(?P<old>(?P<value>{PLACE}|[\w.]+) +▸as +{SCALAR})",
        "conversion of Rust",
        lambda line, _: f"{C_TYPES[line['type']]}({line['value']})",
    ),
    (
        rf"(?P<old>(?P<at>\({SCALAR}\)) *▸(?P<value>{PLACE}|[\w.]+))(?!\()",
        "conversion of C",
        lambda line, _: f"{C_TYPES[line['type']]}({line['value']})",
    ),
    (
        rf"(?P<old>(?P<at>\b(?:{PREFIXES})\b *(?:\.|▸?:: *)(?P<name>\w+))▸?\((?P<arguments>{CLOSED})\))",
        "function with a prefix",
        _without_prefix,
    ),
    (rf"(?P<at>\b(?P<prefix>{PREFIXES})\b *(?:\.|▸?:: *)(?P<name>\w+)) *▸?\(", "no function with a prefix", None),
    (r"(?P<at>\b(?:console\.\w+|std::cout|cout|printf|println|print|echo)\b).*▸|std▸::cout", "print", None),
    (rf"(?P<old>(?P<at>(?P<value>{PLACE})\.(?P<name>{NAME}))▸\((?P<arguments>{CLOSED})\))", "method", _method),
    (rf"(?P<at>(?P<value>{PLACE})\.(?!length\b|len\b|size\b)(?P<name>{NAME})) *▸\(", "no method", None),
    (
        r"(?P<old>(?P<at>\b(?:f32|Math|math|np|float|std)(?:▸?::|\.)(?P<name>MAX|PI|pi|inf|INFINITY|MIN|consts::PI)))▸?",
        "value of another language",
        lambda line, _: VALUES.get(line["name"].rpartition(":")[2], LARGEST_F32),
    ),
    (rf"(?P<old>(?P<value>{PLACE})▸(?:->|::)(?P<name>{NAME}))", "part with a point", "{value}.{name}"),
    (
        rf"(?P<old>{SCALAR} *▸?\[(?P<size>[^\[\]]*?)▸?\] *▸?\((?P<values>{CLOSED})\))",
        "list of values",
        _list_of_type,
    ),
    (r"= *(?P<old>▸[{\[](?P<values>[^{}\[\];]+)[}\]])", "list of values", _list),
    (
        r"= *(?P<old>(?P<at>▸?if) +▸?(?P<condition>[^{};]+?) *\{ *(?P<yes>[^{};]+?) *\}"
        r" *else *\{ *(?P<no>[^{};]+?) *\})",
        "choice of Rust",
        "select({no}, {yes}, {condition})",
    ),
    (r"[=(,] *▸[\"'\x60]", "text", None),
    (r"(?<![\w.])(?P<old>(?P<at>\d[\w.]*▸\w+))", "number of another language", _number),
    (r"▸(?:\?\?|\?\.)", "no such sign", None),
    (rf"│ *(?:let|var|const) +\w+ *(?:=[^;]*)?▸, *{NAME} *[=,;:]", "two declarations", None),
)
