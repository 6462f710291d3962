"""The sentences on the one change that makes a wrong text right: its place and a question, and never the cure."""

from helpers.data.words import in_words
from helpers.grading import change, edits, paired_edits, python_edits
from helpers.grading.change import THING, Change, Repair
from helpers.grading.leaves import INDEX
from helpers.grading.words.letters import cut

LONGEST = 60  # letters of a quote
RIGHT, PASS = "all numbers are right", "every test passes"
STATEMENT, TOO_LONG = "a statement is missing", "several parts are too many"  # kinds of changes
FACTS = {
    edits.REPLACED: "One word in {line} makes the difference: with {instead} in place of {text}",
    edits.ARRAY: "One word in {line} makes the difference: with another array in place of {text}",
    edits.OPERATOR: "One operator in {line} makes the difference: with another one in {text}",
    edits.COMPARISON: "The comparison in {line} makes the difference: with another one in place of {text}",
    edits.ASSIGNMENT: "The sign of the assignment in {line} makes the difference: with another one",
    edits.EXTRA: "In {line}, one part of {text} is too many: without it",
    TOO_LONG: "In {line}, several parts of {text} are too many: without them",
    edits.OFFSET: "In {line}, {text} is off by one: with 1 more or 1 less",
    edits.MISSING: "In {line}, a term or a factor is missing from {text}: with it",
    edits.PARENTHESES: "In {line}, with other parentheses in {text}",
    edits.EXCHANGED: "In {line}, with two parts exchanged",
    edits.VALUE: "In {line}, with another value in place of {text}",
    python_edits.SIGN: "In {line}, with another sign before {text}",
    python_edits.NEGATED: "In {line}, with the opposite of {text}",
    python_edits.CONDITION: "In {line}, a condition is missing from {text}: with it",
    python_edits.AROUND: "In {line}, a call of a function is missing around {text}: with it",
    edits.LINES: "With the values of {lines} exchanged",
    edits.TOO_MANY: "Without the statement in {line}",
    edits.JUMP: "With another statement in place of {text} in {line}",
    edits.MOVED: "With the statement in {line} in another place",
    edits.MEMBERS: "With the members of the struct in {line} in another order",
    paired_edits.EACH: "One word in {lines} makes the difference: with {instead} in place of each {text}",
    paired_edits.PAIRED: "With the same change in {lines}",
    paired_edits.SWAP: "With two names exchanged in {lines}",
    paired_edits.VALUES: "With other values in {lines}",
    change.SEVERAL: "In {line}, one change in {text} is enough: with it",
    change.LINE: "One change in {line} is enough: with it",
    STATEMENT: "One more statement is needed after {line}: with it",
}
WITHOUT_TEXT = {change.SEVERAL: change.LINE, edits.MISSING: STATEMENT}
QUESTIONS = {
    change.BOUND: "How far does {} run?",
    change.STEP: "By how much does {} grow each time?",
    change.ELEMENT: "Which element of {} is meant?",
    change.HOLDS: "When should this condition be true?",
    change.STORED: "What should be stored in {}?",
    change.ADDED: "What should be added to {}?",
    change.CALLED: "What should {} be?",
}
OF_A_LINE = "What should this line do?"
OF_KINDS = {
    edits.ASSIGNMENT: "What should this line do with the old value?",
    edits.PARENTHESES: "Which operation comes first?",
    edits.EXCHANGED: "Which of the two belongs where?",
    edits.LINES: "Which value belongs to which name?",
    edits.TOO_MANY: "What is it there for?",
    edits.JUMP: "Is the rest of the loop to be left out, or the rest of this turn alone?",
    edits.MOVED: "When should it run, and how often?",
    paired_edits.PAIRED: "What have these lines in common?",
    paired_edits.EACH: "What does this word stand for in each of these lines?",
    paired_edits.SWAP: "Which of the two belongs where?",
    paired_edits.VALUES: "What should each of these lines compute?",
    edits.MEMBERS: "In which order does the task list them?",
}
OF_PLACES = {  # of one line
    paired_edits.PAIRED: "What have these two places in common?",
    paired_edits.EACH: "What does this word stand for in each of these places?",
}


def sentences(repair: Repair) -> list[str]:
    """Return where one change makes all numbers right, and a question."""
    first, *others = repair.changes
    result = PASS if repair.all_tests else RIGHT
    if not others:
        return [_fact(first, result), _question(first)]
    lines = " or ".join(f"in {_lines(changed)}" for changed in repair.changes)
    return [f"One change is enough, {lines}: with it, {result}.", "What is each of these lines for?"]


def _fact(changed: Change, result: str) -> str:
    """Return the place of a change, and the result of it."""
    kind = changed.kind
    if not changed.text:
        kind = WITHOUT_TEXT.get(kind, kind)
    if kind == edits.EXTRA and changed.noun == edits.PARTS:
        kind = TOO_LONG
    lines = _lines(changed)
    if kind == paired_edits.PAIRED and not changed.others:
        lines = f"two places of line {changed.line}"
    text = f"`{cut(changed.text, LONGEST)}`"
    place = FACTS[kind].format(line=f"line {changed.line}", lines=lines, text=text, instead=_instead(changed))
    return f"{place}, {result}."


def _lines(changed: Change) -> str:
    return in_words("line", (changed.line, *changed.others))


def _instead(changed: Change) -> str:
    """Return what should be in the place of a word: another one of its kind, or one of another kind.

    A whole number that a function declares may hold a size, too.
    """
    if not changed.was:
        return ""
    if changed.noun == INDEX:
        return f"another {THING}"
    return f"another {changed.noun}" if changed.noun == changed.was else f"a {changed.noun}"


def _question(changed: Change) -> str:
    """Return the question that leads from the place to the cure."""
    if changed.kind == paired_edits.VALUES and not changed.others:
        return OF_A_LINE
    if changed.kind in OF_PLACES and not changed.others:
        return OF_PLACES[changed.kind]
    if changed.kind in OF_KINDS:
        return OF_KINDS[changed.kind]
    if changed.kind == edits.COMPARISON and changed.noun:
        return "What should happen where both sides are equal?"
    if changed.kind == edits.MISSING and not changed.text:
        return "What has to happen there?"
    if changed.kind == edits.REPLACED and changed.use == "bound":
        return QUESTIONS["bound"].format(f"`{changed.name}`")
    return QUESTIONS.get(changed.use, OF_A_LINE).format(f"`{cut(changed.name, LONGEST)}`")
