"""The mistakes of a class: named mistakes and wrong answers, counted, with the question that unlocks each."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from helpers.classroom.class_table import Row, short
from helpers.grading.mistakes import Mistake
from helpers.grading.replies import Reply
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict

Known = Collection[Mistake] | Mapping[object, str]  # the mistakes of a puzzle, or likely wrong answers with the replies
NOTHING, NOBODY = "Whatever was tried is right.", "Nobody has tried it yet."
INDENT = " " * 4


def counted(rows: Iterable[Row], known: Mapping[str, Known]) -> str:
    """Return of how many files that tried an exercise how many have a mistake; the most frequent first.

    `known` has the exercises that count, in their order.
    """
    tried, seen = Counter(), Counter()
    for row in rows:
        for name, (answer, verdict) in row.verdicts.items():
            verdicts = verdict if isinstance(verdict, Grades) else [verdict]
            if name in known and verdicts[0].outcome != NOT_ATTEMPTED:
                tried[name] += 1
                failed = [verdict for verdict in verdicts if verdict.outcome != RIGHT]
                if failed:
                    seen[name, *_mistake(answer, failed)] += 1
    places = {name: place for place, name in enumerate(known)}
    order = sorted(seen.items(), key=lambda item: (-item[1], places[item[0][0]]))
    lines = [_line(count, tried[name], name, mistake, question) for (name, mistake, question), count in order]
    return "\n".join(lines) or (NOTHING if tried else NOBODY)


def _line(count: int, tried: int, name: str, mistake: str, question: str) -> str:
    """Return the line of a mistake, with the question that leads on below it, if there is any."""
    line = f"{count} of {tried}, {name}: {mistake}"
    return f"{line}\n{INDENT}{question}" if question else line


def _mistake(answer: object, failed: Sequence[Verdict]) -> tuple[str, str]:
    """Return what was wrong with one text or answer, of which these verdicts are not right, and the question."""
    outcome, reason = failed[0].outcome, failed[0].reason
    for verdict in failed:
        if verdict.mistake is not None:
            return verdict.mistake.name, verdict.mistake.question
    if isinstance(reason, Reply) and reason.mistake is not None:
        shown = answer if isinstance(reason.mistake, frozenset) else reason.mistake  # cells are as they were written
        return f"the answer {short(_written(shown))}", reason.text
    return f"{outcome}, but in no known way" if outcome == WRONG else outcome, ""


def _written(answer: object) -> str:
    """Return an answer as it is typed; "..." stands for any word."""
    parts = answer if isinstance(answer, tuple) else [answer]
    return ", ".join(map(_part, parts))


def _part(part: object) -> str:
    if isinstance(part, float):
        return f"{part:g}"
    return "..." if part is None else str(part)
