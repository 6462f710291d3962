"""What a WGSL compiler says, in the words of someone who learns the language.

`text` reads what a source declares, `message` what the compiler wrote about it. `MEANINGS` and the table in `habits`
say what is wrong and what to write instead; `PLAIN` has words for the rest.
"""

import re
from collections.abc import Callable

from helpers.compile_errors import calls, names, types
from helpers.compile_errors.grammar import endless, grammar
from helpers.compile_errors.message import Complaint, Finding
from helpers.wgsl import Kernel, WgslError

MEANINGS: tuple[tuple[str, Callable[[re.Match, Complaint], Finding | str | None]], ...] = (
    (r'expected variable access, found "(\w+)"', names.type_for_value),
    (r"^expected (?!function name|variable access)", grammar),
    (r"the operand of the `\*` operator", types.power),
    (r"const context|runtime-expression", names.known_too_late),
    (r"SUBGROUP|`subgroups` enable|identifier: `subgroup[A-Z]", calls.subgroup),
    (r"no definition in scope for identifier: `(.+?)`", names.unknown),
    (r"invalid field accessor|Built-in type for \w", names.builtin),
    (r"invalid field accessor `(\w+)`", names.part),
    (r"\bvec3u|Accessing with index|Incompatible|reference type|type passed|Abstract types", names.whole_vector),
    (r"invalid left-hand side|requires reference type", names.constant),
    (r"valid destination for a store", names.read_only),
    (r"^(?!expected)", names.whole_array),
    (r"Operation (\w+) can't work with .*?\(of type (.+?)\) and .*?\(of type (.+?)\)", types.of_operator),
    (r"Abstract types|to a concrete type", types.of_fraction),
    (r"cannot convert elements of `(.+?)` to `(.+?)`", types.of_assignment),
    (r"the type of `(\w+)` is expected to be `(.+?)`, but got `(.+?)`", types.of_declaration),
    (r"the concrete type `(\w+)` cannot represent the abstract value `(.+?)`", calls.out_of_range),
    (r"Accessing with index", calls.index),
    (r"Invalid (?:sub-)?access", calls.flat),
    (r"`if` condition", calls.condition),
    (r"selection condition .*got (\w+)", calls.select),
    (r"accept values in `select`", calls.select),
    (r"(?:wrong|inconsistent) type passed as argument #(\d+) to `(\w+)`", calls.argument),
    (r"Argument (\d+) value .*match the type", calls.called),
    (r"`return` expression|Abstract types", calls.returned),
    (r"match the type stored", calls.stored),
    (r"Incompatible operands: (\w+)\((.+), .+\)", calls.incompatible),
    (r"FLOAT32_ATOMIC", calls.atomic),
    (r"Not implemented as constant expression", calls.too_early),
    (r"Unable to find entry point", endless),
    (r"Unable to find entry point '(\w+)'", names.entry_point),
    (r"Bindings for|Error matching", calls.twice),
    (r"Entry point arguments", calls.builtin),
)
MISFIT = "the types of the values here do not go together"
PLAIN = {  # what needs no look at the text, and what remains where no meaning is certain
    r"redefinition of (`\w+`).*": r"\1 is already declared in this block: choose another name, or assign with `=`",
    r"name (`\w+`) is a reserved keyword": r"\1 is a word of WGSL's own, and not a name",
    r"The pointer .*": "this cannot be written to",
    r"(?:Cannot apply the unary op|Operation (?:Negate|LogicalNot) ).*": "`-` needs an f32 or i32, and `!` a condition",
    r"The `return` expression None .*": "this function does not return a value on every path: is a `return` missing?",
    r"Argument '(\w+)' at index .*": r"`\1` cannot be a parameter: a function can use every buffer by its own name",
    r"Abstract types.*|.*concrete type.*|Incompatible operands.*|The type of .* stored .*": MISFIT,
    r"(?:Operation|Expected selection|Call to|Argument|The `return`) .*|.*`if` condition.*|type mismatch .*": MISFIT,
    r"Type flags .* the required TypeFlags\(DATA \| SIZED\)": "an array needs a length here, as in `array<f32, 64>`",
    r"Accessing .*negative index.*": "an index is never negative; the first element is number 0",
    r"Accessing index .*": "this index is past the end of the array",
    r"Invalid (?:sub-)?access.*": "an index or a part is asked of a single number; a buffer's array takes one index",
    r"wrong number of arguments: expected (\d+), found (\d+).*": r"this function takes \1 values, and \2 are given",
    r"too many arguments passed to (`\w+`).*": r"too many values are given to \1",
    r"expected function name, found \"(\w+)\"": r"`\1` is no function; an array's element is `\1[...]`",
    r"expected variable access, found \"(\w+)\"": r"`\1` is a type or a function, and no value",
    r"unused return value.*": "the value of this call is not used: store it, as in `let value = ...;`",
    r"The `(break|continue)`.*": r"`\1` stands outside of every loop",
    r"declaration of (`\w+`) is (?:recursive|cyclic)": r"\1 uses itself, which WGSL does not allow",
    r"unknown builtin: (`\w+`)": r"WGSL has no builtin \1; the usual one is `global_invocation_id`",
    r"unknown access.*|Storage address space .*": "a buffer is `read` or `read_write`",
    r"invalid address space for local variable: `(\w+)`": r"a `var<\1>` is declared outside of every function",
    r"workgroup size is missing.*": "`@workgroup_size(...)` is missing beside `@compute`",
    r"Functions that are not entry points.*": "`@builtin` belongs to a kernel: is `@compute` missing above the `fn`?",
    r"variable (`@\w+\(\d+\)`) needs a '(\w+)' attribute": r"\1 needs a `@\2(...)` beside it",
    r"atomic operation is done.*": "atomic functions change an `atomic<u32>` or `atomic<i32>`, and take it with `&`",
    r"the (`\w+`) (?:enable )?extension is not .*": r"not every adapter has \1; numbers are `f32`, `u32` or `i32`",
    r"Using (`\w+`) values requires.*": r"not every adapter has \1; numbers are `f32`, `u32` or `i32`",
    r"Error matching.*": "",
    r"Unable to find entry point '(\w+)'.*": r"no kernel is called `\1`; is `@compute` or its `fn` missing?",
    r"local declaration cannot be called": "a variable is not a function; is an operator such as `*` missing here?",
    r"(`\w+`) needs a template.*": r"\1 needs a type behind it, as in `array<f32>` or `vec3<u32>`",
}
INTERNALS = re.compile(  # the compiler's own terms; a reason that has one of them is not shown
    r"naga|wgpu|Scalar|Vector|Some\(|\bNone\b|Handle|\[\d+\]|Abstract|Expression|concreti|::|see msg|Entry point|\{ |"
    r"Capabilit|TypeFlags"
)
WIDTH = 200  # letters of a line that are shown, or more where the caret is further right
UNCLEAR = "the compiler refuses this, and gives no reason in plain words"


def explain_compile_error(kernel: Kernel, message: str) -> str:
    """A compiler's message as one line with place, cause and cure, and the lines that it is about with a caret.

    Lines and columns are those of the whole source, or of its lines `kernel.pasted` where the learner wrote only those.
    """
    return str(compile_error(kernel, message))


def compile_error(kernel: Kernel, message: str) -> WgslError:
    """The error with the text of `explain_compile_error`, and with its line and column."""
    complaint = Complaint(kernel.source, message)
    return error_at(kernel, complaint, explained(complaint))


def error_at(
    kernel: Kernel, complaint: Complaint, finding: Finding, kind: type[WgslError] = WgslError, says="does not compile"
) -> WgslError:
    """What a kernel's error says, where, why, and the lines that it is about."""
    lines = kernel.pasted or range(1, len(complaint.text.lines) + 1)
    if kernel.pasted:
        finding = within(complaint, finding, lines)
    if finding.at is None:
        return kind(f"{kernel.name} {says}: {finding.reason}")
    line, column = complaint.text.place(finding.at)
    line -= lines.start - 1
    head = f"{kernel.name} {says}, line {line}, column {column}: {finding.reason}"
    error = kind("\n".join([head, *excerpt(complaint, finding, lines)]))
    error.line, error.column = line, column
    return error


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
    at = complaint.at_of(main) if main else complaint.at
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
        text = complaint.text.lines[number - 1].rstrip("\r")[: max(WIDTH, column + finding.length)]
        rows.append(f"{number - lines.start + 1:>{width}} │ {text}")
        if number == line:
            blank = re.sub(r"[^\t]", " ", text[: column - 1])
            length = max(1, min(finding.length, len(text) - column + 1))
            rows.append(f"{'':>{width}} │ {blank}{'^' * length}")
    return rows
