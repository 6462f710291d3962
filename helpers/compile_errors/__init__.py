"""What a WGSL compiler says, in the words of someone who learns the language.

`text` reads what a source declares, `message` what the compiler wrote about it. `MEANINGS` and the table in `habits`
say what is wrong and what to write instead.
"""

import re
from collections.abc import Callable

from helpers.compile_errors import calls, names, types
from helpers.compile_errors.grammar import endless, grammar
from helpers.compile_errors.message import Complaint, Finding
from helpers.wgsl import Kernel

MEANINGS: tuple[tuple[str, Callable[[re.Match, Complaint], Finding | str | None]], ...] = (
    (r'expected variable access, found "(\w+)"', names.type_for_value),
    (r"^expected (?!function name|variable access)", grammar),
    (r"the operand of the `\*` operator", types.power),
    (r"no definition in scope for identifier: `(.+?)`", names.unknown),
    (r"invalid field accessor `(\w+)`", names.part),
    (r"invalid left-hand side|requires reference type", names.constant),
    (r"valid destination for a store", names.read_only),
    (r"Operation (\w+) can't work with .*?\(of type (.+?)\) and .*?\(of type (.+?)\)", types.of_operator),
    (r"Operation (?:LogicalNot|Negate)|Cannot apply the unary op", calls.unary),
    (r"Abstract types|to a concrete type", types.of_fraction),
    (r"cannot convert elements of `(.+?)` to `(.+?)`", types.of_assignment),
    (r"the type of `(\w+)` is expected to be `(.+?)`, but got `(.+?)`", types.of_declaration),
    (r"the concrete type `(\w+)` cannot represent the abstract value `(.+?)`", calls.negative),
    (r"Accessing with index", calls.index),
    (r"Invalid (?:sub-)?access", calls.flat),
    (r"`if` condition", calls.condition),
    (r"selection condition .*got (\w+)", calls.select),
    (r"accept values in `select`", calls.select),
    (r"(?:wrong|inconsistent) type passed as argument #(\d+) to `(\w+)`", calls.argument),
    (r"Argument (\d+) value .*match the type|Requires (\d+) arguments", calls.called),
    (r"`return` expression|Abstract types", calls.returned),
    (r"match the type stored", calls.stored),
    (r"Incompatible operands: (\w+)\((.+), .+\)", calls.incompatible),
    (r"FLOAT32_ATOMIC", calls.atomic),
    (r"Unable to find entry point", endless),
    (r"Bindings for|Error matching", calls.twice),
    (r"Entry point arguments", calls.builtin),
)
PLAIN = {  # what needs no look at the text, and what remains where no meaning is certain
    r"no definition in scope for identifier: (.*)": r"nothing is called \1 here",
    r"redefinition of (`\w+`).*": r"\1 is already declared in this block: choose another name, or assign with `=`",
    r"name (`\w+`) is a reserved keyword": r"\1 is a word of WGSL's own, and not a name",
    r".*consider declaring (`\w+`) .*": r"\1 never changes; declare it with `var` instead of `let`",
    r"invalid left-hand side of assignment": "what stands left of `=` cannot be assigned to",
    r"i\+\+ operation requires.*": "`++` and `--` change a `var` of type u32 or i32, and nothing else",
    r"The pointer .*": "this cannot be written to",
    r"Operation (\w+) can't work with.*": "this operator does not work with a value of this type",
    r"Cannot apply the unary op.*": "this sign does not work with a value of this type",
    r"Abstract types.*|.*to a concrete type.*": "the numbers in this expression are of types that do not go together",
    r"automatic conversions cannot convert elements of (`.+?`) to (`.+?`)": r"this is \1, and must be \2",
    r"the type of (`\w+`) is expected to be `(.+?)`, but got `(.+?)`": r"\1 is declared as \2, and its value is \3",
    r"the concrete type `(\w+)` cannot represent the abstract value `(.+?)`.*": r"\2 is no value of type \1",
    r"Accessing with index.*": "an index must be a whole number, u32 or i32",
    r"Accessing .*negative index.*": "an index is never negative; the first element is number 0",
    r"Accessing index .*": "this index is past the end of the array",
    r"Invalid sub-access.*": "an index or a part is asked of a single number; an array in a buffer takes one index",
    r".*`if` condition.*": "a condition must be true or false",
    r"Expected selection condition.*": "the last value of `select` is its condition, and must be true or false",
    r"type mismatch for reject and accept.*": "the first two values of `select` must be of one type",
    r"(?:wrong|inconsistent) type passed as argument #(\d+) to (`\w+`).*": r"value \1 of \2 is of a wrong type",
    r"Call to .*|Argument \d+ value.*": "this call does not fit the declaration of the function",
    r"The `return` expression.*": "the `return` does not fit the type that the function declares",
    r"The type of .* match the type stored .*": "the two sides differ in type; is an index like [i] missing?",
    r"Incompatible operands.*": "the two sides of an operator do not go together",
    r"wrong number of arguments: expected (\d+), found (\d+).*": r"this function takes \1 values, and \2 are given",
    r"too many arguments passed to (`\w+`).*": r"too many values are given to \1",
    r"expected function name, found \"(\w+)\"": r"`\1` is no function; an array's element is `\1[...]`",
    r"expected variable access, found \"(\w+)\"": r"`\1` is a type or a function, and no value",
    r"Constructor expects (\d+) components, found (\d+)": r"\1 values are needed here, and \2 are given",
    r"unused return value.*": "the value of this call is not used: store it, as in `let value = ...;`",
    r"(?:Division|Remainder) by zero": "a division by zero",
    r".*numeric literal.*: (`.+?`)": r"\1 is no number that WGSL can read",
    r"The `break`.*": "`break` stands outside of every loop",
    r"The `continue`.*": "`continue` stands outside of every loop",
    r"The `switch` is missing.*": "`switch` needs a `default` case",
    r"type `(\w+)` is not constructible": r"the value of `\1` is a whole array; is an index like [i] missing?",
    r"cannot cast a .*": "only a single number can be converted; is an index like [i] missing?",
    r"declaration of (`\w+`) is (?:recursive|cyclic)": r"\1 uses itself, which WGSL does not allow",
    r"(`vec[234]`) needs a template.*": r"\1 needs a letter for the type of its parts: u, i or f, as in `vec3u`",
    r"unknown builtin: (`\w+`)": r"WGSL has no builtin \1; the usual one is `global_invocation_id`",
    r"invalid address space for local variable.*": "workgroup memory is declared outside of every function",
    r"workgroup size is missing.*": "`@workgroup_size(...)` is missing beside `@compute`",
    r"Storage address space doesn't support write-only.*": "a buffer is `read` or `read_write`",
    r"Functions that are not entry points.*": "`@builtin` belongs to a kernel: is `@compute` missing above the `fn`?",
    r"Argument \d+ varying.*": "",
    r"variable (`@\w+\(\d+\)`) needs a '(\w+)' attribute": r"\1 needs a `@\2(...)` beside it",
    r"unknown access.*": "a buffer is `read` or `read_write`",
    r"Loading of.*": "a whole array is used as a value; is an index like [i] missing, or `&` in `arrayLength(&name)`?",
    r"atomic operation is done.*": "atomic functions change an `atomic<u32>` or `atomic<i32>`, and take it with `&`",
    r"Capability .*": "this needs what not every adapter can do",
    r"Invalid access.*": "a single number has no index and no parts",
    r"Error matching.*": "",
    r"Unable to find entry point ('\w+').*": r"no kernel is called \1; is `@compute` or its `fn` missing?",
    r"Entry point arguments.*": "each parameter of a kernel needs a `@builtin(...)` in front of it",
    r"local declaration cannot be called": "a variable is not a function; is an operator such as `*` missing here?",
    r"(`\w+`) needs a template argument.*": r"\1 needs a type behind it, as in `array<f32>`",
}
INTERNALS = re.compile(  # the compiler's own terms; a reason that has one of them is not shown
    r"naga|wgpu|Scalar|Vector|Some\(|\bNone\b|Handle|\[\d+\]|Abstract|Expression|concreti|::|see msg|Entry point|\{ "
)
UNCLEAR = "the compiler refuses this, and gives no reason in plain words"


def explain_compile_error(kernel: Kernel, message: str) -> str:
    """A compiler's message as one line with place, cause and cure, and the lines that it is about with a caret.

    Lines and columns are those of the whole source, or of its lines `kernel.pasted` where the learner wrote only those.
    """
    complaint = Complaint(kernel.source, message)
    finding = explained(complaint)
    lines = kernel.pasted or range(1, len(complaint.text.lines) + 1)
    if kernel.pasted:
        finding = within(complaint, finding, lines)
    if finding.at is None:
        return f"{kernel.name} does not compile: {finding.reason}"
    line, column = complaint.text.place(finding.at)
    head = f"{kernel.name} does not compile, line {line - lines.start + 1}, column {column}: {finding.reason}"
    return "\n".join([head, *excerpt(complaint, finding, lines)])


def within(complaint: Complaint, finding: Finding, lines: range) -> Finding:
    """The same finding for someone who sees only these lines of the text, as lines 1, 2, ..."""

    def seen(found: re.Match) -> str:
        number = int(found[1])
        return f"in line {number - lines.start + 1}" if number in lines else "outside of your text"

    at = finding.at
    if at is not None:
        last = complaint.text.offset(lines.stop - 1, len(complaint.text.lines[lines.stop - 2]) + 1)
        at = min(max(at, complaint.text.offset(lines.start, 1)), last)
    return finding._replace(reason=re.sub(r"\bin line (\d+)", seen, finding.reason), at=at)


def explained(complaint: Complaint) -> Finding:
    """The first meaning that is certain, or the compiler's own reason in plain words."""
    for says, meaning in MEANINGS:
        found = re.search(says, complaint.says)
        finding = meaning(found, complaint) if found else None
        if finding:
            width = complaint.spans[0].length if complaint.spans else 1
            return Finding(finding, complaint.at, width) if isinstance(finding, str) else finding
    reasons = [plain(reason) for reason in complaint.reasons]
    main = complaint.span(r"redefinition|unknown|expected|cannot assign|invalid") or next(iter(complaint.spans), None)
    at = complaint.text.offset(main.line, main.column) if main else complaint.at
    return Finding("; ".join(dict.fromkeys(filter(None, reasons))) or UNCLEAR, at, main.length if main else 1)


def plain(reason: str) -> str:
    """A compiler's reason without its own terms; nothing where only they would remain."""
    for pattern, words in PLAIN.items():
        if found := re.fullmatch(pattern, reason, re.DOTALL):
            return found.expand(words)
    return "" if INTERNALS.search(reason) else reason


def excerpt(complaint: Complaint, finding: Finding, lines: range) -> list[str]:
    """The line with its caret below, and before or behind it another line that it is about."""
    line, column = complaint.text.place(finding.at)
    shown = sorted({line, finding.other or line} & set(lines))
    width = len(str(shown[-1] - lines.start + 1))
    rows = []
    for number in shown:
        text = complaint.text.lines[number - 1].rstrip("\r")
        rows.append(f"{number - lines.start + 1:>{width}} │ {text}")
        if number == line:
            blank = re.sub(r"[^\t]", " ", text[: column - 1])
            length = max(1, min(finding.length, len(text) - column + 1))
            rows.append(f"{'':>{width}} │ {blank}{'^' * length}")
    return rows
