"""Verdicts as plain data, for another process: what JSON takes."""

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.grading.race import Access, Race
from helpers.grading.read_sets import ReadSet, ReadSets
from helpers.grading.verdict import Grades, Verdict

Data = Mapping[str, object]


def as_data(grades: Grades) -> list[Data]:
    """Return verdicts as plain data."""
    return [{**vars(verdict), "evidence": _evidence_as_data(verdict.evidence)} for verdict in grades]


def from_data(verdicts: Sequence[Data]) -> Grades:
    """Return the verdicts that `as_data` made plain."""
    return Grades(Verdict(**{**data, "evidence": _evidence(data["evidence"])}) for data in verdicts)


def _evidence_as_data(evidence: object) -> Data | None:
    if isinstance(evidence, Race):
        return {"race": evidence}  # a tuple of tuples, numbers and text
    if isinstance(evidence, ReadSets):
        inputs = [{**_fields(read), "array": _array_as_data(read.array)} for read in evidence.inputs]
        output = _array_as_data(evidence.output)
        return {"read sets": {**vars(evidence), "output": output, "inputs": inputs}}
    return None


def _fields(read: ReadSet) -> Data:
    """Return what a read set was made of; elements that were read, in order."""
    return {"name": read.name, "yours": sorted(read.yours), "right": sorted(read.right), "padding": read.padding}


def _array_as_data(array: np.ndarray) -> Data:
    return {"type": str(array.dtype), "values": array.tolist(), "shape": array.shape}


def _evidence(data: Data | None) -> object:
    if data is None:
        return None
    if "race" in data:
        *fields, earlier, later = data["race"]
        return Race(*fields, _access(earlier), _access(later))
    sets = data["read sets"]
    inputs = tuple(_read_set(read) for read in sets["inputs"])
    return ReadSets(**{**sets, "output": _array(sets["output"]), "at": tuple(sets["at"]), "inputs": inputs})


def _access(fields: Sequence[object]) -> Access:
    access = Access(*fields)
    return access._replace(workgroup=tuple(access.workgroup) if access.workgroup else None)


def _read_set(read: Data) -> ReadSet:
    words = {name: frozenset(read[name]) for name in ("yours", "right")}
    return ReadSet(read["name"], _array(read["array"]), **words, padding=tuple(read["padding"]))


def _array(data: Data) -> np.ndarray:
    return np.array(data["values"], data["type"]).reshape(data["shape"])
