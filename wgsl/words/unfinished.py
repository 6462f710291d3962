"""The sentence of each suggestion for a text that breaks off: a habit from another language, or what is missing."""

from __future__ import annotations

from wgsl.words.errors import in_line
from wgsl.words.refusals import Sentence, phrase, write

# --- Habits -------------------------------------------------------------------------------------------------------


def untyped_parameter(name: str, is_kernel: bool) -> str:
    """A parameter without its type."""
    cure = f"`{name}: f32`, or another type"
    if is_kernel:
        cure = f"`@builtin(global_invocation_id) {name}: vec3u`, or another builtin"
    return f"every parameter has a type: write {cure}"


HABITS: dict[str, Sentence] = {
    "division": "`//` begins a comment, and so `{comment}` is not read; WGSL divides with one `/`",
    "division, or a comment": (
        "a `;` is missing before the comment; if `// {comment}` is meant as a division, WGSL's sign is one `/`"
    ),
    # Python
    "choice of Python": ("WGSL has no `x if c else y`: write `{cure}`, the value for false first"),
    "and": "WGSL writes `&&` for `and`",
    "or": "WGSL writes `||` for `or`",
    "not before a condition": "WGSL writes `!` for `not`, and the condition in parentheses: `!(...)`",
    "loop over a range": "WGSL has no `range`: write `{cure}`",
    "loop over values": "WGSL's loop counts, as in `for (var {name} = 0u; {name} < n; {name}++) {{`",
    "function outside": "a function begins with `fn`, outside of every other function",
    "function": "a function begins with `fn`",
    "length in a part": "the length of a buffer is written `arrayLength(&{name})`",
    "elif": "WGSL writes `else if` for `elif`",
    "colon before a block": "the block stands in `{{` and `}}`, without a `:`",
    # C and CUDA
    "choice of C": "WGSL has no `? :`: write `{cure}`, the value for false first",
    "choice of C, in pieces": "WGSL has no `c ? x : y`: write `select(y, x, c)`, the value for false first",
    "type before a parameter": "the name comes first, then its type: write `{cure}`",
    "declaration of C": "WGSL declares a variable with `var`, or `let` where it never changes: write `{cure}`",
    "unsigned": "WGSL's unsigned type is u32: `var {name}: u32 = ...`",
    "shared memory": "workgroup memory is declared outside of every function: `var<workgroup> name: array<f32, 64>;`",
    "function of C": "a function begins with `fn`, as in `fn name(x: f32) -> f32 {{`",
    "sign before the name": "write the sign behind the name, as a statement of its own: `{name}{sign}`",
    "count as a value": "`{name}{sign}` is a statement, not a value: write it in a line before or after this one",
    "conversion of C": "a conversion is written like a call: `f32(x)`, `u32(x)` or `i32(x)`",
    "=>": "`>=` is written with `=` last",
    "=<": "`<=` is written with `=` last",
    "declared for a change": "`{keyword}` only names something new; to assign to `{name}`, leave it out",
    "element in parentheses": "an element is written with brackets: `{name}[{index}]`",
    "two indices": "an array in a buffer is flat and takes one index: compute it, as in `[row * width + column]`",
    "= in a condition": "`=` assigns; two values are compared with `==`",
    "no braces": "the braces are required, also around one statement: `{{ ... }}`",
    "untyped id": "every parameter has a type: write `{cure}`",
    "untyped parameter": untyped_parameter,
    # Numbers and signs
    "suffix of a fraction": "the suffixes u and i belong to whole numbers: write `{cure}`, or leave it out",
    "barrier without parentheses": "a function is called with parentheses: write `{cure};`",
    "let without a value": (
        "`let` needs a value: `let {name} = ...;`; a variable that gets its value later is a `var` with a type"
    ),
}


def sign_of_assignment(name: str, sign: str, cure: str, **_: object) -> str:
    """An assignment that is written with another sign than `=`."""
    why = "`==` compares, and `=` stores a value" if sign == "==" else f"`{sign}` is no sign of WGSL"
    return f"{why}: write `{cure}`"


def attributes(cure: str, **_: object) -> str:
    """Attributes as WGSL had them once."""
    return f"attributes begin with `@`{write(cure)}" if cure else "WGSL has no such attribute: leave it out"


def array_outside(cure: str, **_: object) -> str:
    """An array that is declared as in C, outside of every function."""
    why = "outside of every function, an array lies in a kind of memory"
    return f"{why}: write `{cure}`, or `var<private>` where each thread has its own"


def comment(cure: str, **_: object) -> str:
    """A comment as another language begins it."""
    return f"a comment begins with `//`: write `{cure}`"


TONGUES: dict[str, Sentence] = {
    # Lines that are no WGSL
    "fences": "leave out the lines with {fence}: they are not WGSL",
    "macro": "WGSL has no `#define`: declare a function with `fn`",
    "line of the preprocessor": "WGSL has no `#{word}`: leave this line out",
    "line to leave out": "WGSL has no `{word}`: leave this line out",
    "comment": comment,
    # Attributes and buffers
    "attributes in brackets": attributes,
    "attribute of another language": "WGSL writes `{cure}` before `fn`",
    "workgroup of GLSL": "leave this line out, and write `@compute @workgroup_size({x})` before `fn`",
    "buffer of another language": (
        "WGSL declares a buffer as in `@group(0) @binding(0) var<storage, read_write> output: array<f32>;`"
    ),
    "uniform of another language": "WGSL declares a uniform as in `@group(0) @binding(2) var<uniform> sizes: Sizes;`",
    # Declarations
    "shared memory, here": "WGSL declares the memory of a workgroup with `var<workgroup>`: write `{cure}`",
    "space without var": "a variable outside of every function begins with `var`: write `{cure}`",
    "constant of C": "WGSL declares a constant with `const`: write `{cure}`",
    "constant outside": "outside of every function, a constant is declared with `const`: write `{cure}`",
    "first line of a function": "a function begins with `fn`: write `{cure}`",
    "array outside": array_outside,
    "alias": "WGSL gives a type another name with `alias`: write `{cure}`",
    "word of WGSL": "WGSL writes `{cure}` for `{word}`",
    "loop of Rust": "WGSL's loop counts: write `{cure}`",
    "no such word": "WGSL has no `{word}`",
    "array type": "the type of an array is written with its length inside: write `{cure}`",
    "array declaration": "the length of an array belongs to its type: write `{cure}`",
    "member": "the name comes first, then its type: write `{cure}`",
    "members": "the members of a struct are separated by `,` and not by `;`",
    # Functions
    "arrow": "WGSL writes `->` before the type that a function returns",
    "default value": "a parameter has no default value in WGSL: leave out `{old}`",
    "changed parameter": "a function changes a variable of its caller by a pointer: `{name}: ptr<function, {type}>`",
    "value at the end": "a function returns a value with `return`: write `{cure}`",
    # Statements
    "word to leave out": "WGSL has no `{word}`: leave it out",
    "word for a brace": "WGSL has no `{word}`: the block stands in `{{` and `}}`",
    "do": "WGSL has no `do`: write `loop {{ ... }}`, with `if (condition) {{ break; }}` at its end",
    "sign of an assignment": sign_of_assignment,
    # Values
    "equal": "two values are compared with `==`",
    "unequal": "WGSL writes `!=` for two values that differ",
    "shift": "WGSL writes `>>`, for a u32 and an i32",
    "sign of WGSL": "WGSL writes `{cure}` for `{word}`",
    "value of another language": "WGSL has no such constant: write `{cure}`",
    "conversion of Rust": "a conversion is written like a call: write `{cure}`",
    "conversion of C": "a conversion is written like a call: write `{cure}`",
    "function with a prefix": "WGSL's functions have no prefix: write `{cure}`",
    "no function with a prefix": "WGSL has no libraries, and no function `{name}` of this one",
    "method": "WGSL's functions take all values in parentheses: write `{cure}`",
    "no method": "WGSL has no functions that are called with a point, such as `.{name}(...)`",
    "part with a point": "a part is written with a point: write `{cure}`",
    "list of values": "an array of values is written `{cure}`",
    "choice of Rust": "an `if` has no value in WGSL: write `{cure}`, the value for false first",
    "text": "WGSL has no strings: a value is a number, `true` or `false`",
    "number of another language": "WGSL writes this number `{cure}`",
    "no such sign": "WGSL has no such sign",
    "two declarations": "one `let`, `var` or `const` declares one name: write a line for each",
}


# --- What is missing ----------------------------------------------------------------------------------------------


def foreign_sign(letter: str, name: str, code: int, sign: str | None) -> str:
    """A letter that WGSL does not have, and the sign that it looks like."""
    return f"`{letter}` ({name}, U+{code:04X}) is no sign of WGSL{write(sign)}"


def ends_in_block(line: int | None) -> str:
    """A text that ends inside of a block."""
    block = f"perhaps that of the block that begins {in_line(line)}"
    return f"the text ends inside of a block: a `}}` is missing, {block}"


def open_block(line: int | None) -> str:
    """A function inside of a function, where a block above it is never closed."""
    return f"this stands inside of a function: a `}}` is missing above; look at the block that begins {in_line(line)}"


def open_bracket(opening: str, closing: str, column: int) -> str:
    """A parenthesis or bracket that is never closed, in the same line."""
    return f"the `{opening}` in column {column} is never closed: a `{closing}` is missing"


def open_bracket_above(opening: str, closing: str, column: int, line: int | None) -> str:
    """A parenthesis or bracket of another line that is never closed."""
    return f"the `{opening}` {in_line(line)}, column {column} is never closed: a `{closing}` is missing"


def expected(what: str, token: str) -> str:
    """Something belongs at a place where a token stands, or the end of the text."""
    instead = f", not `{token}`" if token else ""
    return f"{phrase(what)} is expected here{instead}"


def expected_after(what: str, before: str) -> str:
    """Something belongs behind a token."""
    return f"{phrase(what)} is expected after `{before}`"


MISSING: dict[str, Sentence] = {
    "invisible letter": "an invisible letter ({name}, U+{code:04X}) stands here: delete it, or write a blank",
    "foreign sign": foreign_sign,
    "missing at the end": "a `{sign}` is missing at the end of this line",
    "missing after": "a `{sign}` is missing after `{word}`",
    "missing before": "a `{sign}` is missing before `{token}`",
    "end in a statement": "the text ends here, in the middle of a statement",
    "end in a block": ends_in_block,
    "function in a function": "a function cannot stand inside of another one: move `{name}` above `{outer}`",
    "open block": open_block,
    "brace without a partner": "this `}}` has no partner: there is one too many, here or above",
    "no declaration": (
        "`{token}` cannot stand outside of a function; only fn, var, const, override, struct and attributes with @ can"
    ),
    "outside of every function": (
        "`{token}` stands outside of every function: a `}}` above is one too many, or comes too early"
    ),
    "open bracket": open_bracket,
    "open bracket above": open_bracket_above,
    "bracket without a partner": "this `{token}` has no opening partner in this statement",
    "no number": "`{token}` is no number that WGSL can read, and no name",
    "statement in a statement": (
        "`{word}` begins a statement, and the one before it is not finished: it ends in `{last}`"
    ),
    "no operator": "between `{before}` and `{token}` an operator, such as `*`, or a sign like `;` is missing",
    "no value after": "a value is missing after `{before}`",
    "no value before": "a value is missing on the left of `*`",
    "token for a value": "after `{before}` a value must come, and `{token}` is none",
    "no statement": "no statement begins with `{token}`",
    "unfinished statement": "this statement is not finished: after `{start}` comes `=`, `+=`, `++` or `(`",
    "token in a statement": (
        "a statement that begins with `{start}` goes on with `=`, `+=`, `++` or `(`, and not with `{token}`"
    ),
    "expected": expected,
    "expected after": expected_after,
}

SENTENCES: dict[str, Sentence] = {**HABITS, **TONGUES, **MISSING}
