"""Verdicts as plain data, for another process: what JSON takes. Records travel, and no sentence does."""

import math
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from inspect import isclass
from itertools import chain

import numpy as np

from helpers.grading import change, comparison, drawing, race, read_sets, reasons, replies, verdict
from helpers.grading.verdict import Grades
from wgsl import facts, subgroup_facts
from wgsl.simulator.findings import Finding

Data = dict[str, object]


def _records() -> dict[str, type]:
    """Return the classes of all records by their names, each with its module."""
    modules = (change, reasons, comparison, replies, drawing, race, read_sets, verdict, facts, subgroup_facts)
    values = chain([Finding], *(vars(module).values() for module in modules))
    return {_name(kind): kind for kind in values if isclass(kind) and _is_record(kind)}


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_record(kind: type) -> bool:
    return is_dataclass(kind) or hasattr(kind, "_fields")


def _fields(kind: type) -> tuple[str, ...]:
    """Return the names of a record's fields."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else kind._fields


RECORDS = _records()


def as_data(grades: Grades) -> list[Data]:
    """Return verdicts as plain data."""
    return [plain(verdict) for verdict in grades]


def from_data(verdicts: Sequence[Data]) -> Grades:
    """Return the verdicts that `as_data` made plain."""
    return Grades(record(data) for data in verdicts)


def plain(value: object) -> object:
    """Return a record, or a value in it, as plain data."""
    if _is_record(type(value)):
        values = {name: plain(getattr(value, name)) for name in _fields(type(value))}
        return {"record": _name(type(value)), **values}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "type": str(value.dtype), "shape": value.shape}
    if isinstance(value, frozenset):
        return {"set": sorted(value)}
    if isinstance(value, tuple):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def record(data: object) -> object:
    """Return the record, or the value in it, that `plain` made plain."""
    match data:
        case {"record": str(name), **values}:
            return RECORDS[name](**{field: record(value) for field, value in values.items()})
        case {"array": values, "type": kind, "shape": shape}:
            return np.array(values, kind).reshape(shape)
        case {"set": members}:
            return frozenset(members)
        case list():
            return tuple([record(part) for part in data])
        case float() if math.isnan(data):
            return math.nan  # the one that equals itself in a tuple
    return data
