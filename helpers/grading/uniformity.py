"""Do all threads of a workgroup reach each barrier? A kernel's text, walked through with the names that differ.

A name differs if its value depends on a thread's ids, or if only some threads assign it. No run is sure to show a
barrier that some threads miss: most GPUs let it pass, others wait for ever.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import NamedTuple

from helpers.compile_errors.expressions import commas
from helpers.compile_errors.text import FUNCTION, PARAMETER, STRUCT, Text
from helpers.grading.statements import Statement, parsed
from helpers.wgsl import Kernel, closing

IDS = {"local_invocation_id", "local_invocation_index", "global_invocation_id"}
BARRIER = re.compile(r"\b(?:workgroupBarrier|storageBarrier)\s*\(")
LOOPS, LEAVING = ("for", "while", "loop"), ("return", "break", "continue")
DECLARES = re.compile(r"(?:let|var|const)\b\s*(?:<[^>]*>)?\s*(?P<name>\w+)[^=]*(?P<value>.*)", re.DOTALL)
ASSIGNS = re.compile(  # = or += and its kin, but no comparison
    r"(?P<place>.*?)(?:(?P<also>(?:<<|>>|[-+*/%&|^])=|\+\+|--)|(?<![=!<>])=(?!=))(?P<value>.*)", re.DOTALL
)
NAME = re.compile(r"(?<![\w.])[^\W\d]\w*(?:\.\w+)?")
SHARED = re.compile(r"\bvar\s*<\s*(?:workgroup|storage|uniform)\b[^>]*>\s*(\w+)")  # all threads see the same numbers
PRIVATE = re.compile(r"\bvar\s*<\s*private\s*>\s*(\w+)")


class Cause(NamedTuple):
    """What parts the threads: a word, as `if` or `return`, and its offset."""

    word: str
    at: int


@dataclass
class State:
    """At one place of a function: the names that differ, and where some threads have left it, by the word."""

    differ: set[str]
    left: dict[str, Cause] = field(default_factory=dict)
    result: bool = False  # whether the function's value differs

    def copy(self) -> "State":
        return State(set(self.differ), dict(self.left), self.result)

    def join(self, *others: "State") -> None:
        """Take over what is true of any of the others."""
        for other in others:
            self.differ |= other.differ
            self.left = other.left | self.left
            self.result |= other.result

    def gone(self, words: Sequence[str]) -> Cause | None:
        """Where some threads have left by one of these words, or None."""
        return next((self.left[word] for word in words if word in self.left), None)


def divergent_barrier(kernel: Kernel) -> tuple[int, str] | None:
    """The line of the first barrier that not all threads reach, and a sentence with cause and cure; or None.

    The kernel compiles.
    """
    walk = _Walk(Text(kernel.source))
    if not walk.found:
        return None
    at = min(walk.found)
    return walk.text.place(at)[0], walk.sentence(at, walk.found[at])


class _Walk:
    """Through all entry points; `found` holds the cause for the offset of each barrier that not all threads reach."""

    def __init__(self, text: Text) -> None:
        self.text, self.code, self.found = text, text.code, {}
        self.shared, self.private = (set(re.findall(names, self.code)) for names in (SHARED, PRIVATE))
        self.functions, differ = {}, {}
        for each in FUNCTION.finditer(self.code):
            parameters, span = [*PARAMETER.finditer(each["parameters"])], range(each.end(), text.closing(each.end()))
            self.functions[each["name"]] = (
                [p["name"] for p in parameters],
                parsed(self.code, span.start, span.stop),
                span,
            )
            differ[each["name"]] = {name for p in parameters for name in self._ids(p)}
        for name in text.entry_points:
            self._block(self.functions[name][1], State(differ[name]), None)

    def _ids(self, parameter: re.Match) -> list[str]:
        """The parameter, or the parts of its struct, that are a thread's ids, as the function writes them."""
        struct = next((each for each in STRUCT.finditer(self.code) if each["name"] == parameter["type"]), None)
        parts = PARAMETER.finditer(struct["fields"]) if struct else ()
        names = [f"{parameter['name']}.{part['name']}" for part in parts if part["builtin"] in IDS]
        return names + [parameter["name"]] * (parameter["builtin"] in IDS)

    def sentence(self, at: int, cause: Cause) -> str:
        """What is wrong with the barrier at an offset, and what to do."""
        line, where = self.text.place(at)[0], self.text.place(cause.at)[0]
        called = not any(at in span and cause.at in span for *_, span in self.functions.values())
        stands, cure = ("its function is called", "move the call") if called else ("it stands", "move it")
        start = f"not all threads reach the barrier in line {line}, because"
        if cause.word in ("if", "switch"):
            return f"{start} {stands} in the `{cause.word}` of line {where}: {cure} out"
        if cause.word in LOOPS:
            turns = "in which some threads take more turns than others"
            return f"{start} {stands} in the loop of line {where}, {turns}: {cure} out"
        cure = "keep all threads, and use the condition where you load or write"
        if cause.word == "continue" and cause.at > at:
            start = f"WGSL does not promise that all threads come back to the barrier in line {line}, because"
        return f"{start} some have left in line {where} (`{cause.word}`): {cure}"

    def _block(self, statements: Sequence[Statement], state: State, why: Cause | None) -> None:
        """Change the state as the statements do; `why` is what parts the threads around them."""
        declared, before = set(), set(state.differ)
        for each in statements:
            cause = why or state.gone(LEAVING[:2] if each.word == "continuing" else LEAVING)
            if each.word in LOOPS:
                self._loop(each, state, cause)
            elif each.word in ("if", "switch"):
                self._branches(each, state, cause)
            elif each.body is not None:
                self._block(each.body, state, cause)
            else:
                self._line(each.head, each.at, state, cause, declared)
        state.differ = (state.differ - declared) | (before & declared)

    def _branches(self, each: Statement, state: State, why: Cause | None) -> None:
        differs = self._differs(each.head, each.at, state, why)
        blocks = [each.body, each.other] if each.word == "if" else [case.body for case in each.body]
        ends = [state.copy() for _ in blocks]
        for block, end in zip(blocks, ends, strict=True):
            self._block(block, end, why or (Cause(each.word, each.at) if differs else None))
            if each.word == "switch":
                end.left.pop("break", None)
        state.differ = set()
        state.join(*ends)

    def _loop(self, each: Statement, state: State, why: Cause | None) -> None:
        """Walk through turns until another one adds nothing."""
        declared, before, left, known = set(), set(state.differ), dict(state.left), None
        parts = each.head[1:-1].split(";") if each.word == "for" else ["", each.head, ""]
        self._line(parts[0].strip(), each.at, state, why, declared)
        while known != (state.differ, state.left):
            known = set(state.differ), dict(state.left)
            cause = why or state.gone(LEAVING[:2])
            if self._differs(parts[1], each.at, state, cause):
                cause = cause or Cause(each.word, each.at)
            turn = state.copy()
            self._block(each.body, turn, cause)
            if skipped := turn.left.pop("continue", None):
                self._again(each.at, skipped)
            self._line(parts[2].strip(), each.at, turn, cause or turn.gone(LEAVING[:2]), set())
            state.join(turn)
        state.left = left | {word: state.left[word] for word in ("return",) if word in state.left}
        state.differ = (state.differ - declared) | (before & declared)

    def _again(self, start: int, skipped: Cause) -> None:
        """Note the barriers of a loop above a place where some threads skip the rest of the turn."""
        for barrier in BARRIER.finditer(self.code, start, skipped.at):
            self.found.setdefault(barrier.start(), skipped)

    def _line(self, line: str, at: int, state: State, why: Cause | None, declared: set[str]) -> None:
        """Change the state as a statement without a block does."""
        if leaves := re.match(rf"({'|'.join(LEAVING)})\b", line):
            word, differs = leaves[0], self._differs(line[leaves.end() :], at, state, why)
            state.result |= word == "return" and (differs or why is not None)
            if why or (word == "break" and differs):  # break if
                state.left.setdefault(word, Cause(word, at))
        elif declares := DECLARES.match(line):
            declared.add(declares["name"])
            self._set(declares["name"], self._differs(declares["value"], at, state, why), False, state)
        elif assigns := ASSIGNS.match(line):
            name = re.search(r"[^\W\d]\w*", assigns["place"])[0]
            differs = self._differs(assigns["value"], at, state, why) or why is not None
            partly = bool(assigns["also"]) or assigns["place"].strip() != name
            differs |= partly and any(self._differs(i, at, state, why) for i in re.findall(r"\[.*\]", assigns["place"]))
            self._set(name, differs and name not in self.shared, partly, state)
        else:
            self._differs(line, at, state, why)

    @staticmethod
    def _set(name: str, differs: bool, partly: bool, state: State) -> None:
        state.differ = state.differ | {name} if differs else state.differ - (set() if partly else {name})

    def _differs(self, expression: str, at: int, state: State, why: Cause | None) -> bool:
        """Whether the value of an expression differs; its calls and barriers are noted."""
        for barrier in BARRIER.finditer(expression) if why else ():
            self.found.setdefault(at + barrier.start(), why)
        written = re.sub(r"\s*\.\s*", ".", expression)
        named = {part for name in NAME.findall(written) for part in (name, name.partition(".")[0])}
        results = [
            self._call(
                called[1], commas(expression[called.end() : closing(expression, called.end() - 1)]), at, state, why
            )
            for called in re.finditer(r"\b(\w+)\s*\(", expression)
            if called[1] in self.functions
        ]
        return bool(named & state.differ) or any(results)

    def _call(self, name: str, given: Sequence[str], at: int, state: State, why: Cause | None) -> bool:
        """Walk through a function of the text with the given arguments; whether its value differs."""
        parameters, body, _ = self.functions[name]
        differ = [self._differs(each, at, state, None) for each in given]
        inside = State({p for p, d in zip_longest(parameters, differ) if d} | (state.differ & self.private))
        self._block(body, inside, why)
        pointed = {each[1:].strip() for each in given if each.startswith("&")} - self.shared
        changed = pointed if any(differ) or inside.result or why else set()
        state.differ = (state.differ - self.private) | (inside.differ & self.private) | changed
        return inside.result
