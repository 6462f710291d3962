"""The sentences on lines of Python that are refused, or that cannot be computed, by the kind of the refusal.

A sentence is a template of the facts, or a function of them.
"""

from collections.abc import Callable, Iterable, Sequence

from helpers.grading import replies
from wgsl.words import errors

Sentence = str | Callable[..., str]


def lines_refused(reason: replies.LinesRefused) -> str:
    """Return the place in the lines, and why they are refused there."""
    why = refusal(reason.refusal)
    if reason.line is None:
        return why
    return f"{errors.place(reason.line, reason.column)}: {why}"


def refusal(reason: replies.Refusal) -> str:
    """Return why lines are refused, without the place."""
    sentence = REASONS[reason.kind]
    facts = dict(reason.facts)
    return sentence.format(**facts) if isinstance(sentence, str) else sentence(**facts)


# --- Where another sign is meant ------------------------------------------------------------------------------------

HABITS = {  # what Python has for what another language has
    "and": "write `and`",
    "or": "write `or`",
    "not": "write `not`",
    "conditional": "write `a if condition else b`",
    "declaration": "write `name = value`",
    "letter of a type": "numbers have no letter behind them",
    "product without a sign": "a product needs its `*`",
}
CURES = {  # what is meant here by what Python has, too, by the name of its node in Python's tree
    "BitXor": "powers are written `**`",
    "BitAnd": "write `and`",
    "BitOr": "write `or`",
    "Invert": "write `not`",
    "Is": "write `==`",
    "IsNot": "write `!=`",
    "AugAssign": "write `name = value`",
    "AnnAssign": "write `name = value`",
    "Slice": "an element is `tuple[number]`",
    "NamedExpr": "give the name its value in a line of its own",
}


def other_language(word: str, habit: str) -> str:
    """Return what Python has in the place of a word of another language."""
    return f"`{word}` is not Python: {HABITS[habit]}"


def allowed(functions: Sequence[str]) -> str:
    """Return what can be written."""
    return (
        "you can write `name = value`, `if`, `for` and `while`, with numbers, names, arithmetic, comparisons, `and`, "
        f"`or`, `not`, tuples, lists, `[... for ... in ...]`, `list.append(value)`, and calls of {_listed(functions)}"
    )


def may_write(functions: Iterable[str]) -> str:
    """Return what can be written, as a sentence of its own."""
    sentence = allowed(tuple(functions))
    return f"{sentence[0].upper()}{sentence[1:]}."


def not_a_part(word: str, node: str, functions: Sequence[str]) -> str:
    """Return what to write in the place of what Python has, and these lines have not."""
    cure = CURES.get(node)
    if cure is None:
        cure = allowed(functions)
    return f"`{word}` is not part of what you can write here: {cure}"


# --- Names and functions --------------------------------------------------------------------------------------------


def unknown_name(name: str, known: Sequence[str]) -> str:
    """Return which names there are."""
    return f"`{name}` has no value here: you have {_listed(known)}"


def unknown_function(name: str, functions: Sequence[str]) -> str:
    """Return which functions there are."""
    return f"`{name}` is not a function that you have here: you have {_listed(functions)}"


def not_called(name: str, parameters: Sequence[str]) -> str:
    """Return the call of a function."""
    return f"`{name}` is a function: call it, as in `{_call(name, parameters)}`"


def other_arguments(name: str, parameters: Sequence[str]) -> str:
    """Return the call of a function with the arguments that it takes."""
    return f"`{name}` takes other arguments: write `{_call(name, parameters)}`"


def other_types(values: Sequence[str]) -> str:
    """Return the values with which something cannot be done."""
    return f"this cannot be done with {', '.join(values)}"


def no_such_element(last: int, number: str) -> str:
    """Return which elements there are."""
    if last < 0:
        return f"this tuple has no elements, and this is number {number}"
    if last == 0:
        return f"the only element is number 0, and this is number {number}"
    return f"the elements are numbered from 0 to {last}, and this is number {number}"


def other_number_of_names(names: int, values: int) -> str:
    """Return how many names and values there are."""
    who = "1 name is" if names == 1 else f"{names} names are"
    what = "1 value" if values == 1 else f"{values} values"
    return f"{who} to get {what}: give each name one"


def _call(name: str, parameters: Sequence[str]) -> str:
    return f"{name}({', '.join(parameters)})"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


# --- All kinds ------------------------------------------------------------------------------------------------------

REASONS: dict[str, Sentence] = {
    # the text
    "long text": "it has more than {most:,} characters: a few lines will do",
    "many words": "it goes on after {most} names, numbers and signs: a few lines will do",
    "long word": "a name or a number has at most {most} letters or digits here",
    "other sign": "`{sign}` is no letter, digit or sign that you can write here",
    "deep nesting": "it is nested too deeply: give its parts names of their own",
    "other language": other_language,
    "not Python": "this is not Python: {says}",
    # a line
    "no answer": "no line gives `{answer}` a value: write `{answer} = ...`",
    "name of the task": "`{name}` is given, and keeps its value: choose another name",
    "several names": "a line gives one name a value: write `name = value`",
    "comparison alone": "`==` compares, and gives no name a value: write `{name} = ...`",
    "result without a name": "what `{name}` returns needs a name: write `name = {name}(...)`",
    "value without a name": "this line gives no name a value: write `{answer} = ...`",
    "not a part": not_a_part,
    # a value
    "unknown name": unknown_name,
    "unknown function": unknown_function,
    "not a function": "only a function can be called: a product needs its `*`",
    "not called": not_called,
    "other arguments": other_arguments,
    # what is computed
    "not a number": "this must be a number, and not {value}",
    "tuple in a tuple": "a tuple holds numbers here, and tuples of numbers, but no deeper ones",
    "not a tuple": "only a tuple has elements, and this is {value}",
    "no tuple": "only a tuple or a list can be added here, and this is {value}: with one element, a tuple is "
    "`({value},)`, and a list `[{value}]`",
    "list and tuple": "a list and a tuple cannot be added: write both in `[ ]`, or both in `( )`",
    "no list": "only a list can be changed, and this is {value}: a list is written in brackets, as in `[1, 2]` or `[]`",
    "shared list": "`{name}` and `{other}` share this list, and a list that changes has one name here: make another "
    "one with `list(...)`",
    "long tuple": "a tuple or a list has at most {most:,} elements here",
    "no such element": no_such_element,
    "large exponent": "an exponent is at most {most} here, and this one is {exponent}",
    "division by 0": "this divides by 0",
    "too large": "this is too large",
    "large whole number": "whole numbers are at most 2**64 here, and this is larger",
    "not a real number": "this is no real number",
    "other types": other_types,
    "no value yet": "`{name}` has no value: the line that gives it one was not reached",
    "other number of names": other_number_of_names,
    "loop over a number": "`for` goes through a tuple, and this is {value}: write `range({value})`",
    "many steps": "this is still not done after {most:,} steps: does each loop end?",
    "many calls": "this calls functions more than {most} times",
    "a function's own": "{says}",
}
SENTENCES = {replies.LinesRefused: lines_refused}
