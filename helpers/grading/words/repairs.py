"""The sentences on the one change that makes a wrong kernel right: its place and a question, and never the cure."""

from helpers.data.words import in_words
from helpers.grading import change, edits, twin_edits
from helpers.grading.change import Change, Repair
from helpers.grading.words.letters import cut

LONGEST = 60  # letters of a quote
RIGHT = "all numbers are right"
QUESTIONS = {
    change.BOUND: "How far does {} run?",
    change.STEP: "By how much does {} grow each time?",
    change.ELEMENT: "Which element of {} is meant?",
    change.HOLDS: "When should this condition be true?",
    change.STORED: "What should be stored in {}?",
    change.ADDED: "What should be added to {}?",
    change.CALLED: "What should {} be?",
}
OF_KINDS = {
    edits.ASSIGNMENT: "Should this line replace the old value, or add to it?",
    edits.PARENTHESES: "Which operation comes first?",
    edits.EXCHANGED: "Which of the two belongs where?",
    edits.LINES: "Which value belongs to which name?",
    edits.TOO_MANY: "What is it there for?",
    edits.MOVED: "When should it run, and how often?",
    twin_edits.TWINS: "What have these lines in common?",
    twin_edits.EACH: "What does this word stand for in each of these lines?",
    twin_edits.SWAP: "Which of the two belongs where?",
    twin_edits.VALUES: "What should each of these lines compute?",
    edits.MEMBERS: "In which order does the task list them?",
}


def sentences(repair: Repair) -> list[str]:
    """Return where one change makes all numbers right, and a question."""
    first, *others = repair.changes
    if not others:
        return [_fact(first), _question(first)]
    lines = " or ".join(f"in line {change.line}" for change in repair.changes)
    return [f"One change is enough, {lines}: with it, {RIGHT}.", "What does each of these lines compute?"]


def _fact(changed: Change) -> str:
    """Return the place of a change, and that all numbers are right with it."""
    line = f"line {changed.line}"
    lines = in_words("line", (changed.line, *changed.others))
    text = f"`{cut(changed.text, LONGEST)}`"
    match changed.kind:
        case edits.REPLACED | twin_edits.EACH:
            return f"One word in {lines} makes the difference: with {_instead(changed)} in place of {text}, {RIGHT}."
        case edits.ARRAY:
            return f"One word in {line} makes the difference: with another array in place of {text}, {RIGHT}."
        case edits.OPERATOR:
            return f"One operator in {line} makes the difference: with another one in {text}, {RIGHT}."
        case edits.COMPARISON:
            return f"The comparison in {line} makes the difference: with another one in place of {text}, {RIGHT}."
        case edits.ASSIGNMENT:
            return f"The sign of the assignment in {line} makes the difference: with another one, {RIGHT}."
        case edits.EXTRA:
            return f"In {line}, {text} has one part too many: without it, {RIGHT}."
        case edits.OFFSET:
            return f"In {line}, {text} is off by one: corrected by 1, {RIGHT}."
        case edits.MISSING if changed.text:
            return f"In {line}, a term or a factor is missing from {text}: with it, {RIGHT}."
        case edits.PARENTHESES:
            return f"In {line}, with other parentheses in {text}, {RIGHT}."
        case edits.EXCHANGED:
            return f"In {line}, with two parts exchanged, {RIGHT}."
        case edits.VALUE:
            return f"In {line}, with another value in place of {text}, {RIGHT}."
        case change.SEVERAL if changed.text:
            return f"In {line}, one change in {text} is enough: with it, {RIGHT}."
    return f"{_of_a_line(changed.kind, line, lines)}, {RIGHT}."


def _of_a_line(kind: str, line: str, lines: str) -> str:
    """Return what is to be done with a line, or with several."""
    match kind:
        case edits.LINES:
            return f"With the values of {lines} exchanged"
        case edits.TOO_MANY:
            return f"Without the statement in {line}"
        case edits.MOVED:
            return f"With the statement in {line} in another place"
        case edits.MEMBERS:
            return f"With the members of the struct in {line} in another order"
        case twin_edits.TWINS:
            return f"With the same change in {lines if ' and ' in lines else f'two places of {line}'}"
        case twin_edits.SWAP:
            return f"With two names exchanged in {lines}"
        case twin_edits.VALUES:
            return f"With other values in {lines}"
        case edits.MISSING:
            return f"With one more statement after {line}"
    return f"With one change in {line}"


def _instead(changed: Change) -> str:
    """Return what should be in the place of a word: another one of its kind, or one of another kind."""
    if changed.noun == changed.was:
        return f"another {changed.noun}"
    return f"an {changed.noun}" if changed.noun[0] in "aeiou" else f"a {changed.noun}"


def _question(changed: Change) -> str:
    """Return the question that leads from the place to the cure."""
    if changed.kind in OF_KINDS:
        return OF_KINDS[changed.kind]
    if changed.kind == edits.COMPARISON and changed.noun:
        return "What should happen where both sides are equal?"
    if changed.kind == edits.MISSING and not changed.text:
        return "What has to happen there?"
    if changed.kind == edits.REPLACED and changed.use == "bound":
        return QUESTIONS["bound"].format(f"`{changed.name}`")
    return QUESTIONS.get(changed.use, "What should this line do?").format(f"`{cut(changed.name, LONGEST)}`")
