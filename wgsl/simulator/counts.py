"""Counts of a run: its arithmetic, its loads and stores, and what the loads and stores cost on a GPU.

Only what the text writes is counted, once for each invocation and each component of a vector: not the address that an
index stands for, and nothing that is known before the run, such as ``TILE * TILE``. A sum or difference takes one
product of floats with it as a multiply-add: ``a*b + c*d`` is one multiply-add and one other operation.

A GPU runs 32 neighboring invocations of a workgroup together, a warp (in WebGPU, a subgroup). Storage memory answers a
warp in sectors of 32 bytes: the fewer sectors one load or store touches, the better it is coalesced. Workgroup memory
lies in 32 banks of four bytes, each of which gives one word at a time; invocations that read the same word share it.
``n`` words of one bank take ``n`` turns, and a conflict is each turn beyond those that as many words take in the best
case.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wgsl.simulator.lanes import WARP, Lanes
from wgsl.types import program as ir
from wgsl.types.conversions import scalar_of
from wgsl.types.kinds import F16, F32, Type, components

SECTOR, BANKS = 8, 32  # words in a sector; banks
ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))
UNCOUNTED = ("select", "all", "any", "transpose2", "transpose3", "transpose4")  # they choose, and compute nothing
OF_OPERAND = ("dot", "modf", "frexp")  # counted once for each component of their operand
FLOATS = (F32, F16)
WIDEST = 2**32  # more than any word's number
MEANINGS = {
    "multiply_adds": "products of floats that a sum or difference takes with it, `fma`, and the terms of `dot`",
    "other_float": "other operators and functions of floats (comparisons, conversions and `select` do not count)",
    "integer": "operators and functions of integers (with the same exceptions)",
    "loads_storage": "loads from storage buffers; a vector is one load, and so is a whole array or struct",
    "loads_workgroup": "loads from workgroup memory",
    "stores_storage": "stores to storage buffers; an atomic function is a load and a store",
    "stores_workgroup": "stores to workgroup memory",
    "bytes_storage": "bytes loaded from and stored to storage buffers",
    "bytes_workgroup": "bytes loaded from and stored to workgroup memory",
    "sectors": "sectors of 32 bytes that the loads and stores of each warp touch in storage buffers",
    "bank_conflicts": "extra turns because a warp wants several words of one bank of workgroup memory",
    "barriers": "barriers that workgroups pass; `workgroupUniformLoad` has two",
    "active_share": "the share of threads that are active in the warps that run (1 without divergence)",
}
KEYS = tuple(MEANINGS)
SUBGROUP = "subgroup"  # which a run has only where its text has them
MEANINGS[SUBGROUP] = "functions of subgroups, such as `subgroupAdd`"
TEXTURES = ("loads_texture", "stores_texture")  # likewise
MEANINGS |= {key: f"{key.split('_')[0]} of texels" for key in TEXTURES}


@dataclass(frozen=True)
class Counts:
    """The counts of a run, in all and for each line of the text: `KEYS`, and, where there are any, all `MEANINGS`.

    `further` are counts of the run that are not shown: `multiplications` are all products of floats, also those that
    are part of a multiply-add.
    """

    total: dict[str, float]
    by_line: dict[int, dict[str, float]]
    further: dict[str, int] = field(default_factory=dict)


class Counter:
    """Counts while a program runs, by the offset in the text."""

    def __init__(self) -> None:
        self._counts: defaultdict[tuple[int, str], int] = defaultdict(int)
        self._fused: set[int] = set()  # the products (their ids) that are counted with their sum
        self._multiply_adds: dict[int, bool] = {}  # whether an operator (its id) is a sum with such a product
        self._multiplications = 0

    def add(self, at: int, key: str, number: int) -> None:
        """Count something at a place of the text."""
        self._counts[at, key] += number

    def step(self, at: int, lanes: Lanes) -> None:
        """Count a statement that these invocations run."""
        self._counts[at, "active"] += lanes.count
        self._counts[at, "warp threads"] += lanes.warp_threads

    def access(self, at: int, space: str, write: bool, index: np.ndarray, size: int, lanes: Lanes) -> None:
        """Count a load or store of `size` bytes; `index` are its words in a variable, a row for each number."""
        index = np.floor(index).astype(np.int64) if index.dtype.kind == "f" else index
        self.add(at, f"{'stores' if write else 'loads'}_{space}", lanes.count)
        self.add(at, f"bytes_{space}", size * lanes.count)
        if space == "storage":
            self.add(at, "sectors", sectors(index, lanes))
        else:
            self.add(at, "bank_conflicts", bank_conflicts(index, lanes))

    # --- Arithmetic ---------------------------------------------------------------------------------------------

    def operation(self, part: ir.Part, type: Type, lanes: Lanes, key: str = "", terms: int = 1) -> None:
        """Count one operation with a result of a type, for each component."""
        key = key or ("other_float" if scalar_of(type) in FLOATS else "integer")
        self.add(part.at, key, _components(type) * terms * lanes.count)

    def operator(
        self, part: ir.Binary | ir.Update, type: Type, operands: Sequence[ir.Expression], lanes: Lanes
    ) -> None:
        """Count an operator with a result of a type; a sum together with the first product of floats that it adds."""
        if part.operator == "*" and scalar_of(type) in FLOATS:
            self._multiplications += _components(type) * lanes.count
        if part.operator not in ARITHMETIC or id(part) in self._fused:
            return
        if id(part) not in self._multiply_adds:
            products = [id(x) for x in operands if _is_product(x)] if part.operator in ("+", "-") else []
            self._multiply_adds[id(part)] = bool(products)
            self._fused.update(products[:1])
        self.operation(part, type, lanes, "multiply_adds" if self._multiply_adds[id(part)] else "")

    def builtin(self, part: ir.Builtin, lanes: Lanes) -> None:
        """Count a built-in function."""
        if part.name in UNCOUNTED:
            return
        operand = part.arguments[0].type
        terms = int(part.name[-1]) if part.name.startswith("product") else 1
        fused = (part.name in ("fma", "dot") or terms > 1) and scalar_of(operand) in FLOATS
        type = operand if part.name in OF_OPERAND else part.type
        if fused:
            self._multiplications += _components(type) * terms * lanes.count
        self.operation(part, type, lanes, "multiply_adds" if fused else "", terms)

    # --- Results ------------------------------------------------------------------------------------------------

    def counts(self, line_of: Callable[[int], int]) -> Counts:
        """All counts, where `line_of` gives the line of an offset."""
        lines: defaultdict[int, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
        total: defaultdict[str, int] = defaultdict(int)
        for (at, key), number in self._counts.items():
            total[key] += number
            lines[line_of(at)][key] += number
        by_line = {line: _shown(lines[line]) for line in sorted(lines)}
        return Counts(_shown(total), by_line, {"multiplications": self._multiplications})


def _components(type: Type) -> int:
    """The numbers of a scalar, a vector or a matrix."""
    return components(type) or type.count * type.element.size


def _is_product(operand: ir.Expression) -> bool:
    """Return True for an operand that is a product of floats."""
    return isinstance(operand, ir.Binary) and operand.operator == "*" and scalar_of(operand.type) in FLOATS


def _shown(counts: dict[str, int]) -> dict[str, float]:
    share = counts["active"] / counts["warp threads"] if counts["warp threads"] else 1.0
    shown = {key: counts[key] for key in KEYS[:-1]}
    for key in (SUBGROUP, *TEXTURES):
        if counts[key]:
            shown[key] = counts[key]
    return shown | {"active_share": share}


def sectors(index: np.ndarray, lanes: Lanes) -> int:
    """Return the number of sectors that the warps touch, each warp's own ones added up."""
    if index.ndim == 1:  # the same words for all
        return len(np.unique(index // SECTOR)) * len(lanes.warp_numbers)
    warps, _ = _distinct(index // SECTOR, lanes)
    return len(warps)


def bank_conflicts(index: np.ndarray, lanes: Lanes) -> int:
    """Return the turns of all warps beyond those that as many words take in the best case (see the top of the file)."""
    if index.ndim == 1:
        return 0
    if first := _alike(index, lanes):  # 35 % of the time of a tiled product
        return bank_conflicts(index[:, : first.count], first) * lanes.dispatch.group_count
    warps, words = _distinct(index, lanes)
    least = int(warps[0])
    banks = ((warps - least) * BANKS + words % BANKS).astype(np.intp)
    per_bank = np.bincount(banks, minlength=(int(warps[-1]) - least + 1) * BANKS).reshape(-1, BANKS)
    return int((per_bank.max(axis=1) - -(-per_bank.sum(axis=1) // BANKS)).sum())


def _alike(index: np.ndarray, lanes: Lanes) -> Lanes | None:
    """Those of the first workgroup, where each workgroup has the same numbers."""
    first = lanes.first
    if first is None:
        return None
    rows = index.reshape(len(index), -1, first.count)
    return first if (rows == rows[:, :1]).all() else None


def _distinct(numbers: np.ndarray, lanes: Lanes) -> tuple[np.ndarray, np.ndarray]:
    """The distinct numbers of each warp, in rising order, and the number of the warp before each."""
    if lanes.whole and lanes.dispatch.threads % WARP == 0:  # sorted by warps, which takes half as long as all at once
        rows = np.moveaxis(numbers.reshape(len(numbers), -1, WARP), 0, 1).reshape(-1, len(numbers) * WARP)
        rows = np.sort(rows, axis=1)
        is_new = np.ones(rows.shape, bool)
        is_new[:, 1:] = rows[:, 1:] != rows[:, :-1]
        return np.nonzero(is_new)[0], rows[is_new]
    keys = (lanes.warps.astype(np.int64) * WIDEST + numbers).ravel()  # a browser's whole numbers have 32 bits
    keys.sort()
    return np.divmod(keys[np.concatenate([[True], keys[1:] != keys[:-1]])], WIDEST)
