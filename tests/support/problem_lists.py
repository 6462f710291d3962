"""The problems that tests step through, from `problems.toml`.

A table of that file has lists of problems by their names, or `rows`: tables whose keys are in `ROWS`.
"""

from functools import cache
from pathlib import Path

from helpers.data import tables
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape

FILE = Path(__file__).with_name("problems.toml")
KINDS = ConvShape, GemmShape, SumShape, PoolShape, ElementShape, LossShape, UpdateShape, StartShape
NAMES = {kind.__name__: kind for kind in KINDS}
ROWS = {
    "rows of workgroups": {"version": str, "problem": dict, "widest": int, "rows": int},
    "fully connected layers": {"problem": dict, "gemm_bias_act": dict, "gemm_bias_act_backward": dict},
    "choices": {"operation": str, "problem": dict, "adapter": str, "version": str},
    "simulated": {"name": str, "problem": dict, "constants": dict},
    "simulated, any layer": {"name": str, "problem": dict},
}


@cache
def parsed(file: Path = FILE) -> dict[str, dict[str, list]]:
    """Return the tables of a file with lists of problems."""
    return tables.parse(file)


def problem(table: object, place: str) -> Shape:
    """Return the problem of a table such as ``{ ConvShape = [1, 4, 3, 3, 6, 2, 2], groups = 2 }``.

    Raises ValueError, which names the place, where it is none.
    """
    rule = f"a problem begins with its kind and a list, and its kind is one of {', '.join(NAMES)}"
    if not isinstance(table, dict) or not table:
        raise ValueError(f"{place} = {table!r:.60}: {rule}")
    (kind, values), *named = table.items()
    if kind not in NAMES or not isinstance(values, list):
        raise ValueError(f"{place}: {kind} = {values!r:.60}: {rule}")
    try:
        return NAMES[kind](*map(as_tuple, values), **{name: as_tuple(value) for name, value in named})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{place}: {kind} = {values!r:.60}: {error}") from None


def as_tuple(value: object) -> object:
    """Return a value of a problem: what is a list in TOML is a tuple."""
    return tuple(value) if isinstance(value, list) else value


def listed(heading: str, file: Path = FILE) -> list[tuple]:
    """Return the rows of a table, each with its values in the order of `ROWS`."""
    columns = ROWS[heading]
    rows = []
    for number, row in enumerate(parsed(file)[heading]["rows"], 1):
        place = f"{file.name}, [{heading}], row {number}"
        tables.check(place, row, columns, {})
        values = row | {"problem": problem(row["problem"], f"{place}: problem")}
        rows.append(tuple(values[column] for column in columns))
    return rows


def by_name(heading: str, file: Path = FILE) -> dict[str, list[Shape]]:
    """Return the lists of problems of a table by their names."""
    lists = {}
    for name, problems in parsed(file)[heading].items():
        place = f"{file.name}, [{heading}]: {name}"
        if not isinstance(problems, list):
            raise ValueError(f"{place} = {problems!r:.60}: it must be a list of problems")
        lists[name] = [problem(table, f"{place}, number {number}") for number, table in enumerate(problems, 1)]
    return lists


def problems(heading: str) -> list[Shape]:
    """Return the problems of a table that has one list."""
    return by_name(heading)["problems"]
