"""What is wrong with a text that breaks off, in the words of the adapter's compiler (naga), so that both are explained
alike."""

from lark import Token

from helpers.simulator.grammar.errors import Refused

DECLARED = "(`struct`, `const`, `var`, `alias`, `fn`, `diagnostic`, `enable`, `requires`, `;`)"
GLOBAL_ITEM = f"global item {DECLARED} or the end of the file"
SWITCH_ITEM = "a closing curly bracket to signify the end of the switch statement (`}`)"
FIRST = "(`var`/`let`/`const` declaration, assignment, `i++`/`i--` statement, function call)"
PHRASES = (  # the first whose terminals are all accepted where the text breaks off
    ("FN", GLOBAL_ITEM),
    ("LET RETURN", "statement"),
    ("LET", f"for loop initializer statement {FIRST}"),
    ("CASE", f"switch item (`case` or `default`) or {SWITCH_ITEM}"),
    ("NUMBER", "expression"),
    ("UNDERSCORE", "for loop update statement (assignment, `i++`/`i--` statement, function call)"),
    ("STAR NAME", "LHS expression (identifier component_or_swizzle_specifier?, ...)"),
    ("COMPOUND", "assignment or increment/decrement"),
    ("NAME", "identifier"),
    ("MARK", "identifier"),
    ("DIAGNOSTIC", "the `diagnostic` attribute identifier"),
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
    ("IF", "if"),
    ("COMMA", "`,`"),
)


def expectation(accepted: set[str], stack: list) -> str:
    """What the compiler expects where it accepts these terminals, behind what the stack holds."""
    what = next(phrase for terminals, phrase in PHRASES if accepted.issuperset(terminals.split()))
    if what == "`)`" and "COMMA" in accepted:
        before = [str(each) for each in _before_bracket(stack)]
        if "fn" in before:
            return "`,`"
        if before[-1:] == ["workgroup_size"]:
            return "workgroup size separator (`,`) or a closing parenthesis"
    return what


def _before_bracket(stack: list) -> list[Token]:
    """The two tokens before the last ``(`` that is open."""
    last = max(i for i, each in enumerate(stack) if isinstance(each, Token) and each.type == "OPEN")
    return [each for each in stack[max(last - 2, 0) : last] if isinstance(each, Token)]


def unexpected(what: str, found: str, at: int) -> Refused:
    """The error where something else stands than what belongs there."""
    return Refused(f'expected {what}, found "{found}"', at, len(found), f"expected {what}")


def unknown_attribute(name: str, at: int) -> Refused:
    """The error of an attribute that there is not, or not here."""
    return Refused(f"unknown attribute: `{name}`", at, len(name), "unknown attribute")
