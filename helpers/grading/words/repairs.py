"""The sentences on the one change that makes a wrong kernel right: its place and a question, and never the cure."""

from helpers.data.words import in_words
from helpers.grading import change, edits
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
    text = f"`{cut(changed.text, LONGEST)}`"
    match changed.kind:
        case edits.REPLACED:
            return f"One word in {line} makes the difference: with {_instead(changed)} in place of {text}, {RIGHT}."
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
            return f"With other parentheses in {text} in {line}, {RIGHT}."
        case edits.EXCHANGED:
            return f"With two parts of {line} exchanged, {RIGHT}."
        case edits.LINES:
            return f"With the values of {in_words('line', [changed.line, changed.other_line])} exchanged, {RIGHT}."
        case edits.TOO_MANY:
            return f"Without the statement in {line}, {RIGHT}."
        case edits.MOVED:
            return f"The statement in {line} stands in the wrong place: in another one, {RIGHT}."
        case edits.VALUE:
            return f"With another value in place of {text} in {line}, {RIGHT}."
        case change.SEVERAL if changed.text:
            return f"In {line}, one change in {text} is enough: with it, {RIGHT}."
        case change.SEVERAL:
            return f"One change in {line} is enough: with it, {RIGHT}."
        case edits.MEMBERS:
            return f"With the members of the struct in {line} in another order, {RIGHT}."
    return f"One statement is missing after {line}: with it, {RIGHT}."


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
