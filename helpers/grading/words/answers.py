"""The sentences on an answer, on lines of Python, and on a fault that is found or planted."""

from helpers.grading import reasons
from helpers.grading.python_lines import shown
from helpers.grading.words.texts import not_compiled

ASKED_FOR = {  # what to do where there is no answer yet
    "number": "write your number in place of None",
    "word": "write your answer, in quotes, in place of None",
    "cells": "click the cells, or write their names",
    "cards": "lay a word on each card",
}


# --- Answers ------------------------------------------------------------------------------------------------------


def no_answer(reason: reasons.NoAnswer) -> str:
    """Return what to do where there is no answer yet."""
    if reason.kind == "numbers":
        return f"write your {reason.count} numbers, in parentheses, in place of None"
    return ASKED_FOR[reason.kind]


def reply(reason: reasons.Reply) -> str:
    """Return the reply as it is stored."""
    return reason.text


def cells_off(reason: reasons.CellsOff) -> str:
    """Return how many cells are wrong or missing."""
    parts = []
    if reason.too_many == 1:
        parts.append("marked 1 cell too many")
    if reason.too_many > 1:
        parts.append(f"marked {reason.too_many} cells too many")
    if reason.left_out:
        parts.append(f"left out {reason.left_out}")
    return f"you {' and '.join(parts)}; {reason.advice}"


def long_answer(reason: reasons.LongAnswer) -> str:
    """Return how to write an answer that is too long."""
    return f"your answer has {reason.letters:,} characters; write it as in {reason.example!r}"


def unknown_cell(reason: reasons.UnknownCell) -> str:
    """Return which cells there are."""
    rule = f"the cells are {reason.first} to {reason.last}; write them as in {reason.example!r}"
    return f"{reason.shown} names no cell; {rule}"


# --- Lines of Python ----------------------------------------------------------------------------------------------


def wrong_value(reason: reasons.WrongValue) -> str:
    """Return a value that is wrong, and the right one."""
    pair = f"`{reason.answer}` is {shown(reason.value)}, right is {shown(reason.right)}"
    return f"{pair}{_where(reason)}{_count(reason)}"


def no_value(reason: reasons.NoValue) -> str:
    """Return why a value cannot be computed."""
    return f"{not_compiled(reason.error)}{_where(reason)}{_count(reason)}"


def _count(reason: reasons.WrongValue | reasons.NoValue) -> str:
    return f"; wrong in {reason.wrong} of {reason.size}" if reason.size > 1 else ""


def _where(reason: reasons.WrongValue | reasons.NoValue) -> str:
    """Return the values that are given; of truth values, those that are true."""
    if not reason.given:
        return ""
    if not all(isinstance(value, bool) for _, value in reason.given):
        return f", where {', '.join(f'{name} = {shown(value)}' for name, value in reason.given)}"
    true = [name for name, value in reason.given if value]
    if not true:
        return ", where nothing is True"
    *others, last = true
    if not others:
        return f", where {last} is True"
    return f", where {', '.join(others)} and {last} are True"


def of_the_exercise(reason: reasons.OfTheExercise) -> str:
    """Return the exercise's own sentence."""
    return reason.text


# --- A fault to find ----------------------------------------------------------------------------------------------


def no_line_yet(_: reasons.NoLineYet) -> str:
    """Return what to write first."""
    return "write the number of the wrong line in place of None"


def no_such_line(reason: reasons.NoSuchLine) -> str:
    """Return which lines there are."""
    return f"there is no line {reason.shown}; the listing has lines {reason.first} to {reason.last}"


def fault_here(reason: reasons.FaultHere) -> str:
    """Return what leads to the correction."""
    if reason.tried:
        return f"the fault is in line {reason.line}, but not corrected: {reason.cure}"
    return f"the fault is in line {reason.line}; now correct it: {reason.cure}"


def fault_elsewhere(reason: reasons.FaultElsewhere) -> str:
    """Return what leads to the right line."""
    return f"the fault is not in line {reason.line}: {reason.question}"


def block_lost(reason: reasons.BlockLost) -> str:
    """Return which block is lost."""
    does = "opens" if reason.opens else "closes"
    line = f"line {reason.line}, `{reason.code}`, which {does} a block"
    return f"your text replaces {line}, and yours does not"


def all_tests_pass(_: reasons.AllTestsPass) -> str:
    """Return that the kernel is right."""
    return "your kernel passes every test"


def compiler_stopped(reason: reasons.CompilerStopped) -> str:
    """Return where to look in a text that compiled before the learner's lines were in it."""
    yours = "your lines" if reason.lines > 1 else "your line"
    if reason.in_them:
        return f"look at the place in {yours} that is shown below"
    if reason.elsewhere:
        return f"the compiler stopped at the place below; the cause is in {yours}"
    return f"the reason is below, and its cause is in {yours}"


def correction_endless(reason: reasons.CorrectionEndless) -> str:
    """Return whose loop does not end."""
    if reason.in_them:
        return "your loop does not end; see below why"
    return f"with your text in line {reason.first}, a loop does not end; see below which one"


# --- A fault to plant ---------------------------------------------------------------------------------------------


def nothing_planted(_: reasons.NothingPlanted) -> str:
    """Return what to write first."""
    return "write a piece of the kernel in place of None, and what replaces it"


def seen(in_a_run: reasons.Seen) -> str:
    """Return how many numbers are wrong, or else what the simulator found."""
    if in_a_run.wrong:
        return f"{in_a_run.wrong:,} of {in_a_run.size:,} numbers are wrong"
    return in_a_run.finding.message


def seen_by_test(reason: reasons.SeenByTest) -> str:
    """Return what the lesson's test shows."""
    return f"{reason.test} shows it: {seen(reason.seen)}; {reason.asked}"


def seen_by_simulator_alone(reason: reasons.SeenBySimulatorAlone) -> str:
    """Return what the simulator found."""
    return f"all its numbers are right, and only the simulator sees it: {reason.finding.message}"


def missed_by_test(reason: reasons.MissedByTest) -> str:
    """Return what shows a fault that the lesson's test misses."""
    return f"{reason.test} misses it; with {reason.case}, {seen(reason.seen)}"


def no_fault_seen(reason: reasons.NoFaultSeen) -> str:
    """Return that nothing has changed."""
    return f"the kernel is as right as before, in {reason.cases} cases; what does your edit change?"


SENTENCES = {
    reasons.NoAnswer: no_answer,
    reasons.Reply: reply,
    reasons.CellsOff: cells_off,
    reasons.LongAnswer: long_answer,
    reasons.UnknownCell: unknown_cell,
    reasons.WrongValue: wrong_value,
    reasons.NoValue: no_value,
    reasons.OfTheExercise: of_the_exercise,
    reasons.NoLineYet: no_line_yet,
    reasons.NoSuchLine: no_such_line,
    reasons.FaultHere: fault_here,
    reasons.FaultElsewhere: fault_elsewhere,
    reasons.BlockLost: block_lost,
    reasons.AllTestsPass: all_tests_pass,
    reasons.CompilerStopped: compiler_stopped,
    reasons.CorrectionEndless: correction_endless,
    reasons.NothingPlanted: nothing_planted,
    reasons.SeenByTest: seen_by_test,
    reasons.SeenBySimulatorAlone: seen_by_simulator_alone,
    reasons.MissedByTest: missed_by_test,
    reasons.NoFaultSeen: no_fault_seen,
}
