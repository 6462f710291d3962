"""The choice among drawn problems: those on which a text must be tried, as it may be wrong at the ends of sizes alone.

The `facts` of a problem are whole numbers by their names: its sizes, and what follows from them.
"""

from collections.abc import Callable, Mapping, Sequence
from math import prod

Sizes = Mapping[str, int | str]
Facts = Mapping[str, int]
LARGE = 2  # problems in which a fact is at its largest
IN_THE_LAST = "in the last workgroup"  # a fact: how many results its threads compute, 0 where it is full
SUMMED = "terms of a sum"  # a fact, where tiles divide it: how many numbers a result adds up
LARGEST, SMALLEST, ROW = 256, 64, 16  # threads of a workgroup, and in a row of one that is square
REMAINDERS: tuple[Callable[[int], bool], ...] = (  # each is there once, where any candidate has it
    lambda value: value > 1 and value % 2 == 1,
    lambda value: value % 2 == 0,
    lambda value: 1 < value < LARGEST and value % 2 == 1,  # fewer than a workgroup has threads
    lambda value: value > 0 and value % ROW == 0,
    lambda value: value > 1 and value % ROW == 1,
    lambda value: value > 0 and value % SMALLEST == 0,
    lambda value: value > 0 and value % LARGEST == 0,
)


def numbers_of_facts(sizes: Sizes) -> dict[str, int]:
    """Return the sizes that are numbers."""
    return {name: size for name, size in sizes.items() if isinstance(size, int)}


def chosen(candidates: Sequence[Sizes], facts: Sequence[Facts]) -> list[int]:
    """Return the places of the candidates that a text must be tried on, those with the least numbers first.

    Each fact is LARGE times as large as in any candidate. Each size is once the smallest, and so is what is IN_THE_LAST
    workgroup; each of their REMAINDERS, and of what is SUMMED, is there once, and so is each word among the sizes.
    """
    cheap_first = sorted(range(len(candidates)), key=lambda number: prod(numbers_of_facts(candidates[number]).values()))
    middle_first = cheap_first[len(candidates) // 3 :] + cheap_first[: len(candidates) // 3]  # the cheapest show little
    places = {}  # in the order in which they are added
    for name in facts[0]:
        largest_first = sorted(middle_first, key=lambda number: -facts[number][name])
        places |= dict.fromkeys(largest_first[:LARGE])
        if name in candidates[0] or name == IN_THE_LAST:
            places[min(middle_first, key=lambda number: facts[number][name])] = None
    for has in _wanted(candidates, facts):
        if not any(map(has, places)):
            places |= dict.fromkeys([number for number in middle_first if has(number)][:1])
    return [number for number in cheap_first if number in places]


def _wanted(candidates: Sequence[Sizes], facts: Sequence[Facts]) -> list[Callable[[int], bool]]:
    """Return what one of the chosen candidates has, each as a question about a place."""
    wanted = []
    for name in (*candidates[0], IN_THE_LAST, SUMMED):
        values = [{**fact, **sizes}.get(name, 0) for fact, sizes in zip(facts, candidates, strict=True)]
        if isinstance(values[0], str):
            for word in sorted({*values}):
                wanted.append(lambda number, values=values, word=word: values[number] == word)
        else:
            for remains in REMAINDERS:
                wanted.append(lambda number, values=values, remains=remains: remains(values[number]))
    return wanted
