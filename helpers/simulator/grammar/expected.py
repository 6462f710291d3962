"""What is wrong with a text that breaks off, in the words of the adapter's compiler (naga), so that both are explained
alike."""

from lark import Token

from helpers.simulator.grammar.errors import Refused

DECLARED = "(`struct`, `const`, `var`, `alias`, `fn`, `diagnostic`, `enable`, `requires`, `;`)"
GLOBAL_ITEM = f"global item {DECLARED} or the end of the file"
SWITCH_ITEM = "a closing curly bracket to signify the end of the switch statement (`}`)"
FIRST = "(`var`/`let`/`const` declaration, assignment, `i++`/`i--` statement, function call)"
TARGET = (
    "identifier component_or_swizzle_specifier?, (`lhs_expression`) component_or_swizzle_specifier?, "
    "&`lhs_expression`, *`lhs_expression`"
)
PHRASES = (  # the first whose terminals are all accepted where the text breaks off
    ("FN", GLOBAL_ITEM),
    ("LET RETURN", "statement"),
    ("LET", f"for loop initializer statement {FIRST}"),
    ("CASE", f"switch item (`case` or `default`) or {SWITCH_ITEM}"),
    ("NUMBER", "expression"),
    ("UNDERSCORE", "for loop update statement (assignment, `i++`/`i--` statement, function call)"),
    ("STAR NAME", f"LHS expression ({TARGET})"),
    ("COMPOUND", "assignment or increment/decrement"),
    ("NAME", "identifier"),
    ("SEMICOLON IF", "if"),
    ("SEMICOLON", "`;`"),
    ("COMMA CLOSE_BLOCK", "`,`"),
    ("CLOSE", "`)`"),
    ("CLOSE_INDEX", "`]`"),
    ("CLOSE_TEMPLATE", "template args end"),
    ("OPEN_BLOCK", "`{`"),
    ("ASSIGN", "operation (`=`)"),
    ("COLON", "`:`"),
    ("OPEN", "`(`"),
    ("CLOSE_BLOCK", "`}`"),
    ("COMMA", "`,`"),
)


def expectation(accepted: set[str], stack: list) -> str:
    """What the compiler expects where it accepts these terminals, behind what the stack holds."""
    what = next(phrase for terminals, phrase in PHRASES if accepted.issuperset(terminals.split()))
    if what == "`)`" and "COMMA" in accepted:
        before = _before_bracket(stack)
        if "fn" in before:
            return "`,`"
        if "workgroup_size" in before:
            return "workgroup size separator (`,`) or a closing parenthesis"
    return what


def _before_bracket(stack: list) -> list[Token]:
    """The two tokens before the last ``(`` that is open."""
    tokens = [each if isinstance(each, Token) else Token("", "") for each in stack]
    closed = 0
    for i in reversed(range(len(tokens))):
        closed += {"CLOSE": 1, "OPEN": -1}.get(tokens[i].type, 0)
        if closed < 0:
            return tokens[max(i - 2, 0) : i]
    return []


def unexpected(what: str, found: str, at: int) -> Refused:
    """The error where something else stands than what belongs there."""
    return Refused(f'expected {what}, found "{found}"', at, len(found), f"expected {what}")
