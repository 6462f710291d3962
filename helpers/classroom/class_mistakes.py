"""What a class got wrong: named mistakes and wrong answers, counted, with the question that unlocks each."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from helpers.classroom.class_table import Row, short
from helpers.grading.mistakes import Mistake
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG, Grades, Verdict

Known = Collection[Mistake] | Mapping[object, str]  # the mistakes of a puzzle, or likely wrong answers and what is said
Said = tuple[str, str]  # what was wrong, and the question that leads on, if any
NOTHING, NOBODY = "Whatever was tried is right.", "Nobody has tried it yet."
INDENT = " " * 4


def counted(rows: Iterable[Row], known: Mapping[str, Known]) -> str:
    """Of how many files that tried an exercise how many have a mistake; the most frequent first.

    `known` has the exercises that count, in their order.
    """
    tried, seen = Counter(), Counter()
    for row in rows:
        for name, (given, verdict) in row.verdicts.items():
            verdicts = verdict if isinstance(verdict, Grades) else [verdict]
            if name in known and verdicts[0].outcome != NOT_ATTEMPTED:
                tried[name] += 1
                if failed := [each for each in verdicts if each.outcome != RIGHT]:
                    seen[name, *_said(known[name], given, failed)] += 1
    places = {name: place for place, name in enumerate(known)}
    order = sorted(seen.items(), key=lambda item: (-item[1], places[item[0][0]]))
    lines = [
        f"{count} of {tried[name]}, {name}: {what}{question and f'{chr(10)}{INDENT}{question}'}"
        for (name, what, question), count in order
    ]
    return "\n".join(lines) or (NOTHING if tried else NOBODY)


def _said(known: Known, given: object, failed: Sequence[Verdict]) -> Said:
    """What was wrong with one text or answer, of which these verdicts are not right."""
    outcome, text = failed[0].outcome, "\n".join(verdict.detail for verdict in failed)
    if isinstance(known, Mapping):
        likely = next((answer for answer, words in known.items() if words == text), None)
        shown = given if isinstance(likely, frozenset) else likely  # cells are as they were written
        named = [] if likely is None else [(f"the answer {short(_written(shown))}", text)]
    else:
        named = [(it.name, it.question) for it in known if f"when {it.name}: {it.question}" in text]
    return named[0] if named else (f"{outcome}, but in no known way" if outcome == WRONG else outcome, "")


def _written(answer: object) -> str:
    """An answer as it is typed; "..." stands for any word."""
    parts = answer if isinstance(answer, tuple) else [answer]
    return ", ".join(f"{part:g}" if isinstance(part, float) else "..." if part is None else str(part) for part in parts)
