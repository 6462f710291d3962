"""The sentences on an answer, on lines of Python, and on a fault that is found or planted."""

from helpers.grading import replies
from helpers.grading.words import python_lines
from helpers.grading.words.values import shown

ORDINALS = ("first", "second", "third", "fourth")

# --- Answers ------------------------------------------------------------------------------------------------------


def no_answer(_: replies.NoAnswer) -> str:
    """Return what to do where there is no answer yet."""
    return "click the cells, or write their names"


def reply(reason: replies.Reply) -> str:
    """Return the reply as it is stored."""
    return reason.text


def partly_right(reason: replies.PartlyRight) -> str:
    """Return which of several numbers are right, and the advice."""
    right = [ORDINALS[place] for place, is_right in enumerate(reason.right) if is_right]
    if len(right) == 1:
        return f"your {right[0]} number is right; {reason.advice}"
    return f"your {', '.join(right[:-1])} and {right[-1]} numbers are right; {reason.advice}"


def cells_off(reason: replies.CellsOff) -> str:
    """Return how many cells are wrong or missing."""
    parts = []
    if reason.too_many == 1:
        parts.append("marked 1 cell too many")
    if reason.too_many > 1:
        parts.append(f"marked {reason.too_many} cells too many")
    if reason.left_out:
        parts.append(f"left out {reason.left_out}")
    return f"you {' and '.join(parts)}; {reason.advice}"


def long_answer(reason: replies.LongAnswer) -> str:
    """Return how to write an answer that is too long."""
    return f"your answer has {reason.letters:,} characters; write it as in {reason.example!r}"


def unknown_cell(reason: replies.UnknownCell) -> str:
    """Return which cells there are."""
    rule = f"the cells are {reason.first} to {reason.last}; write them as in {reason.example!r}"
    return f"{reason.shown} names no cell; {rule}"


# --- Lines of Python ----------------------------------------------------------------------------------------------


def wrong_value(reason: replies.WrongValue) -> str:
    """Return a value that is wrong, and the right one."""
    pair = f"`{reason.answer}` is {shown(reason.value)}, right is {shown(reason.right)}"
    return f"{pair}{_where(reason)}{_count(reason)}"


def no_value(reason: replies.NoValue) -> str:
    """Return why a value cannot be computed."""
    return f"{python_lines.lines_refused(reason.error)}{_where(reason)}{_count(reason)}"


def _count(reason: replies.WrongValue | replies.NoValue) -> str:
    return f"; wrong in {reason.wrong} of {reason.size}" if reason.size > 1 else ""


def _where(reason: replies.WrongValue | replies.NoValue) -> str:
    """Return the values of the names; of truth values, those that are true."""
    if not reason.names:
        return ""
    if not all(isinstance(value, bool) for _, value in reason.names):
        return f", where {', '.join(f'{name} = {shown(value)}' for name, value in reason.names)}"
    true = [name for name, value in reason.names if value]
    if not true:
        return ", where nothing is True"
    *others, last = true
    if not others:
        return f", where {last} is True"
    return f", where {', '.join(others)} and {last} are True"


def of_the_exercise(reason: replies.OfTheExercise) -> str:
    """Return the exercise's own sentence."""
    return reason.text


# --- A fault to find ----------------------------------------------------------------------------------------------


def no_line_yet(_: replies.NoLineYet) -> str:
    """Return what to write first."""
    return "write the number of the wrong line in place of None"


def no_such_line(reason: replies.NoSuchLine) -> str:
    """Return which lines there are."""
    return f"there is no line {reason.shown}; the listing has lines {reason.first} to {reason.last}"


def fault_here(reason: replies.FaultHere) -> str:
    """Return what leads to the correction."""
    if reason.tried:
        return f"the fault is in line {reason.line}, but not corrected: {reason.cure}"
    return f"the fault is in line {reason.line}; now correct it: {reason.cure}"


def fault_elsewhere(reason: replies.FaultElsewhere) -> str:
    """Return what leads to the right line."""
    return f"the fault is not in line {reason.line}: {reason.question}"


def block_lost(reason: replies.BlockLost) -> str:
    """Return which block is lost."""
    does = "opens" if reason.opens else "closes"
    line = f"line {reason.line}, `{reason.code}`, which {does} a block"
    return f"your text replaces {line}, and yours does not"


def all_tests_pass(_: replies.AllTestsPass) -> str:
    """Return that the kernel is right."""
    return "your kernel passes every test"


def compiler_stopped(reason: replies.CompilerStopped) -> str:
    """Return where to look in a text that compiled before the learner's lines were in it."""
    yours = "your lines" if reason.lines > 1 else "your line"
    if reason.in_them:
        return f"look at the place in {yours} that is shown below"
    if reason.elsewhere:
        return f"the compiler stopped at the place below; the cause is in {yours}"
    return f"the reason is below, and its cause is in {yours}"


def correction_endless(reason: replies.CorrectionEndless) -> str:
    """Return whose loop does not end."""
    if reason.in_them:
        return "your loop does not end; see below why"
    return f"with your text in line {reason.first}, a loop does not end; see below which one"


# --- A fault to plant ---------------------------------------------------------------------------------------------


def nothing_planted(_: replies.NothingPlanted) -> str:
    """Return what to write first."""
    return "write a piece of the kernel in place of None, and what replaces it"


def seen(in_a_run: replies.Seen) -> str:
    """Return how many numbers are wrong, or else what the simulator found."""
    if in_a_run.wrong:
        verb = "is" if in_a_run.wrong == 1 else "are"
        return f"{in_a_run.wrong:,} of {in_a_run.size:,} numbers {verb} wrong"
    return in_a_run.finding.message


def seen_by_test(reason: replies.SeenByTest) -> str:
    """Return what the lesson's test shows."""
    return f"{reason.test} shows it: {seen(reason.seen)}; {reason.asked}"


def seen_by_simulator_alone(reason: replies.SeenBySimulatorAlone) -> str:
    """Return what the simulator found."""
    return f"all its numbers are right, and only the simulator sees it: {reason.finding.message}"


def missed_by_test(reason: replies.MissedByTest) -> str:
    """Return what shows a fault that the lesson's test misses."""
    return f"{reason.test} misses it; with {reason.case}, {seen(reason.seen)}"


def no_fault_seen(reason: replies.NoFaultSeen) -> str:
    """Return that nothing was seen: the sizes are too small for some faults."""
    tried = f"your edit makes no number wrong in the {reason.cases} sizes that are tried, all of them small"
    return f"{tried}: what does it change, and would other sizes show it?"


def seen_by_count(reason: replies.SeenByCount) -> str:
    """Return how much larger the count is."""
    counts = f"{reason.yours:,} {reason.count} in place of {reason.ours:,}"
    return f"all numbers are right and no test of numbers shows it, but {reason.test} takes {counts}"


def not_costly(reason: replies.NotCostly) -> str:
    """Return the counts, and what leads to a larger one."""
    if reason.yours == reason.ours:
        counts = f"{reason.yours:,} {reason.count}, as before"
    else:
        counts = f"{reason.yours:,} {reason.count}, where it took {reason.ours:,}"
    return f"all numbers are right, and {reason.test} takes {counts}: {reason.asked}"


SENTENCES = {
    replies.NoAnswer: no_answer,
    replies.Reply: reply,
    replies.PartlyRight: partly_right,
    replies.CellsOff: cells_off,
    replies.LongAnswer: long_answer,
    replies.UnknownCell: unknown_cell,
    replies.WrongValue: wrong_value,
    replies.NoValue: no_value,
    replies.OfTheExercise: of_the_exercise,
    replies.NoLineYet: no_line_yet,
    replies.NoSuchLine: no_such_line,
    replies.FaultHere: fault_here,
    replies.FaultElsewhere: fault_elsewhere,
    replies.BlockLost: block_lost,
    replies.AllTestsPass: all_tests_pass,
    replies.CompilerStopped: compiler_stopped,
    replies.CorrectionEndless: correction_endless,
    replies.NothingPlanted: nothing_planted,
    replies.SeenByTest: seen_by_test,
    replies.SeenBySimulatorAlone: seen_by_simulator_alone,
    replies.MissedByTest: missed_by_test,
    replies.NoFaultSeen: no_fault_seen,
    replies.SeenByCount: seen_by_count,
    replies.NotCostly: not_costly,
}
