"""The sentences on a kernel that was tried: what is wrong with its numbers, what is not safe, and what it does."""

from collections.abc import Sequence

from helpers.grading import comparison, reasons, replies
from helpers.grading.drawing import number
from helpers.grading.words.texts import quoted
from wgsl.words import findings

COUNTS = {  # those that a puzzle may limit
    "steps": "statements of the busiest thread",
    "multiplications": "multiplications",
    "integer": "operations on integers",
    "loads_storage": "loads",
    "loads_workgroup": "loads of workgroup memory",
    "exchanged": "loads of workgroup memory that another thread has filled",
    "sectors": "sectors of 32 bytes",
    "bank_conflicts": "bank conflicts, turns in which threads wait for a bank",
    "loads_at_once": "loads that go into a tile before their thread has read from one",
    "thread_loads": "loads of the busiest thread",
    "thread_elements": "elements of workgroup memory that the busiest thread loads",
    "inputs": "numbers of the inputs that the busiest thread loads",
    "busy_threads": "threads that work at once, on average",
    "results": "results of the busiest thread",
    "barriers": "barriers",
    "threads_at_a_word": "threads that store to one element of workgroup memory at once",
}
LUCK = "the numbers of this run are right only by luck"
ENDLESS = "your kernel was not run, as a loop may never end"
BEFORE = "what was in the output before, which is 0 only in a new buffer"
BEFORE_IN_SEVERAL = "what was in a buffer before, which is 0 only in a new buffer"
REPLACES = (
    "stores an element more than once, and the last number replaces the others: should they be added up before that, "
    "in a variable of your own?"
)
OWN_SUM = "add up in a variable of your own, such as `var sum = 0.0;`, and store it once, after the loops"
BOTH_SIDES = ", so that one comparison with the size finds both sides"
TURN = "its loop over the tiles makes a turn too many, which adds only zeros"


def diagnosis(reason: reasons.Diagnosis) -> str:
    """Return what the simulator found, with its line before it."""
    sentence = reason.finding.message if reason.with_advice else reason.finding.event
    if reason.padded and getattr(reason.finding.facts, "below_zero", False):
        sentence += BOTH_SIDES
    if reason.guard:
        sentence += f"; {quoted(reason.guard)} stops this thread only after the read: let it come first"
    return sentence if reason.line is None else f"{reason.finding.quoted}: {sentence}"


def on_a_drawn_problem(sizes: Sequence[tuple[str, int | str]]) -> str:
    """Return the beginning of a sentence on a drawn problem: its sizes; nothing where there are none."""
    if not sizes:
        return ""
    return f"on a drawn problem: {', '.join(f'{name} = {size}' for name, size in sizes)}; "


def endless_loop(reason: reasons.EndlessLoop) -> str:
    """Return which loop does not end."""
    if reason.others_run:
        return diagnosis(reason.diagnosis)
    where = f"in the test {reason.test}, " if reason.test else ""
    return f"{ENDLESS}: {where}{diagnosis(reason.diagnosis)}"


# --- Wrong numbers ------------------------------------------------------------------------------------------------


def wrong_numbers(reason: reasons.WrongNumbers) -> str:
    """Return which numbers are wrong, and what explains it, but for a slip, which is a paragraph of its own."""
    text = "; ".join(_wrong_and_whence(reason))
    if reason.diagnosis is None:
        return text
    cause = diagnosis(reason.diagnosis)
    return f"{cause}; {text}" if reason.diagnosis_first else f"{text}; also, {cause}"


def wrong_numbers_in_parts(reason: reasons.WrongNumbers) -> list[str]:
    """Return which numbers are wrong, and each thing that explains it."""
    parts = _wrong_and_whence(reason)
    if reason.diagnosis is not None:
        parts.append(diagnosis(reason.diagnosis))
    return parts


def _wrong_and_whence(reason: reasons.WrongNumbers) -> list[str]:
    """Return which numbers are wrong, and the pass or the line that they come from, where it is known."""
    text = mismatch(reason.mismatch, reason.by_reader)
    if reason.adapter:
        return [f"a simulated run is right, but on {reason.adapter} {text}"]
    parts = [text]
    if reason.blame is not None:
        parts.append(blame(reason.blame))
    if reason.replaced_in is not None:
        parts.append(f"{quoted(reason.replaced_in)} {REPLACES}")
    return parts


def unsafe_in_parts(reason: reasons.Unsafe) -> list[str]:
    """Return that the numbers are right by luck, where they are, and why."""
    why = unsafe(reasons.Unsafe(**{**vars(reason), "by_luck": False}))
    return [LUCK, why] if reason.by_luck else [why]


def mismatch(wrong: reasons.Mismatch, by_reader: bool) -> str:
    """Return how many numbers are wrong, where the first one is, and where it is drawn, both numbers there."""
    count = "the only number"
    if wrong.size > 1:
        count = f"{wrong.wrong:,} of {wrong.size:,} numbers"
    verb = "is wrong," if wrong.wrong == 1 else "are wrong, first"
    text = f"{count} {verb} {_place(wrong)}"
    return f"{text}: {_pair(*wrong.pair, by_reader)}" if wrong.pair else text


def _place(wrong: reasons.Mismatch) -> str:
    if not wrong.place:
        return f"in the column `{wrong.column}`"
    indices = [f"{axis} = {index}" for axis, index in wrong.place]
    if wrong.column:
        indices.append(wrong.column)
    return f"at {', '.join(indices)}"


def _pair(wrong: float | None, right: float, by_reader: bool) -> str:
    if wrong is None:
        return f"nothing was written, right is {number(right)}"
    whose = "yours is" if by_reader else "it returns"
    return f"{whose} {number(wrong)}, right is {number(right)}"


def blame(reason: reasons.Blame) -> str:
    """Return from which of several passes the wrong numbers come."""
    if not reason.passes:
        return "each of your passes is right among ours: where do two of them disagree on what a place holds?"
    names = " and from ".join(f"`{name}`" for name in reason.passes)
    others = "the other pass" if reason.others == 1 else "all other passes"
    each_time = "each time " if len(reason.passes) > 1 else ""
    return f"they come from {names}: {each_time}with ours as {others}, they are wrong, too"


def second_declaration(reason: reasons.SecondDeclaration) -> str:
    """Return which variable is declared again."""
    block = "the loop" if reason.in_loop else "its braces"
    second = f"this is a second `{reason.name}`, which ends with {block}"
    return f"{quoted(reason.place)}: {second}: which of the two is in line {reason.read_in}?"


# --- Right numbers ------------------------------------------------------------------------------------------------


def unsafe(reason: reasons.Unsafe) -> str:
    """Return why right numbers are not safe."""
    text = diagnosis(reason.diagnosis)
    if reason.as_in:
        text = f"as in {reason.as_in}, {text}"
    return f"{text}; {LUCK}" if reason.by_luck else text


def uses_before(reason: reasons.UsesBefore) -> str:
    """Return which line makes the result of what is in a new buffer, and what to write instead."""
    before = BEFORE_IN_SEVERAL if reason.several_buffers else BEFORE
    if not reason.adds:
        return f"{quoted(reason.place)}: it uses {before}; compute the result from the inputs alone"
    cure = OWN_SUM if reason.stored_again else "write `=`, not `+=`"
    return f"{quoted(reason.place)}: it adds to {before}; {cure}"


def without_skill(reason: reasons.WithoutSkill | replies.TooManyCalls) -> str:
    """Return what right numbers lack, with the counts that show it."""
    right, rest = without_skill_in_parts(reason)
    return f"{right}, but {rest}"


def without_skill_in_parts(reason: reasons.WithoutSkill | replies.TooManyCalls) -> tuple[str, str]:
    """Return what is right, and what is asked for, with the counts."""
    asked = f"the exercise asks for {reason.asked}"
    if isinstance(reason, replies.TooManyCalls):
        return "its values are right", f"{asked}; calls of {reason.names}: {reason.calls} (ours: {reason.ours})"
    counts = ", ".join(f"{COUNTS[key]}: {count:,} (ours: {ours:,})" for key, count, ours in reason.counts)
    rest = f"{asked}; in {reason.test}, {counts}"
    if reason.stopped is not None:
        rest += f"; in {reason.stopped_in}, it is stopped: {reason.stopped.finding.stopped}"
    return "its numbers are right", rest


def not_run(reason: reasons.NotRun) -> str:
    """Return why this machine cannot run a kernel."""
    return f"it compiles, but it cannot be run: {reason.why}"


# --- The work of a right kernel -----------------------------------------------------------------------------------


def compared(reason: comparison.Compared) -> str:
    """Return what a kernel does, what the official one does otherwise, and the remarks."""
    counts = zip(reason.accesses.kinds, reason.ours.kinds, _in_words(reason.ours), strict=True)
    others = [words for count, ours, words in counts if words and count != ours]
    text = ", ".join(filter(None, _in_words(reason.accesses)))
    if others:
        text += f"; ours: {', '.join(others)}"
    return "; ".join([text, *map(remark, reason.remarks)])


def _in_words(accesses: comparison.Accesses) -> tuple[str, str, str, str]:
    """Return each kind of count in words: "" for workgroup memory where there is none."""
    workgroup = ""
    if accesses.workgroup is not None:
        loads, stores = accesses.workgroup
        workgroup = f"{counted(loads, 'load')} and {counted(stores, 'store')} of workgroup memory"
    barriers = counted(accesses.barriers, "barrier")
    if accesses.in_each_workgroup:
        barriers += " in each workgroup"
    return counted(accesses.loads, "load"), counted(accesses.stores, "store"), workgroup, barriers


def counted(count: float, noun: str) -> str:
    """Return a count with its noun."""
    if count == 0:
        return f"no {noun}s"
    if count == 1:
        return f"1 {noun}"
    return f"{count:,.0f} {noun}s" if float(count).is_integer() else f"{count:,.1f} {noun}s"


def remark(about: comparison.Remark) -> str:
    """Return what a kernel does for nothing, or what was not tried."""
    if isinstance(about, comparison.TurnTooMany):
        return TURN
    if isinstance(about, comparison.NotTried):
        return not_tried(about)
    if isinstance(about, comparison.OnlySimulated):
        return f"it was run in the simulator alone, as {about.adapter} has no subgroups"
    return findings.settled_comparisons(about)


def not_tried(about: comparison.NotTried) -> str:
    """Return why the larger drawn problems were not tried: little work may be slow where one thread does most of it."""
    why = "as a thread of your kernel makes too many turns of its loops there"
    if about.times > 1:
        why = f"as your kernel does {about.times:,} times the work of ours"
    return f"it is right in all tests; the larger drawn problems were not tried, {why}"


SENTENCES = {
    reasons.EndlessLoop: endless_loop,
    reasons.WrongNumbers: wrong_numbers,
    reasons.SecondDeclaration: second_declaration,
    reasons.Unsafe: unsafe,
    reasons.UsesBefore: uses_before,
    reasons.WithoutSkill: without_skill,
    replies.TooManyCalls: without_skill,
    reasons.NotRun: not_run,
    comparison.Compared: compared,
}
