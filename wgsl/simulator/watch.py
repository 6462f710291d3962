"""The watch over a run: every access is counted, logged, and checked against the earlier ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

import numpy as np

from wgsl.diagnostics import Lines
from wgsl.facts import (
    READS,
    WRITES,
    IndexOverflow,
    Line,
    LostUpdate,
    MemoryWord,
    MissedBarrier,
    OutOfRange,
    Overlap,
    Race,
    Thread,
    Uninitialized,
    Unwritten,
    Waiting,
)
from wgsl.simulator.alike import AlikeShadow
from wgsl.simulator.counts import Counter
from wgsl.simulator.findings import LOOP, Collector
from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.memory import Conflicts, Shadow, Words, numbers
from wgsl.simulator.trace import Log
from wgsl.simulator.unwatched import Held
from wgsl.simulator.updates import Lost, Updates, updating_stores
from wgsl.simulator.values import Births, Fault, Place
from wgsl.simulator.waiting import Waits
from wgsl.simulator.watched import Named
from wgsl.syntax.tokens import without_comments
from wgsl.texture_facts import Texel
from wgsl.types.kinds import Size, Vector, alignment, leaves, steps_to, words
from wgsl.types.program import AtomicCall, Element, Member, Part, Program, Variable
from wgsl.types.references import name_of
from wgsl.types.uniformity import NotPortable


@cache
def _steps(vector: Vector) -> tuple[Size, Size, tuple[Size, ...]]:
    """The alignment and the size of a vector, and how far its other components are from its first one, in words."""
    _, *steps = (offset for offset, _ in leaves(vector))
    return alignment(vector), words(vector), tuple(steps)


ORDERED = {"storageBarrier": "storage", "textureBarrier": "handle"}  # the memory that a barrier orders


class Watch:
    """Counts, log and findings of a run; of the `watched` variables all values, too.

    Only variables that the program stores to can race.
    """

    sees = True

    def __init__(
        self, source: str, dispatch: Dispatch, words: Words, program: Program, finite_inputs: bool,
        watched: Mapping[Named, str], zero_initialized: bool,
    ) -> None:  # fmt: skip
        text = Lines(source)
        self._text = text
        self._dispatch = dispatch
        self._words = words
        self._written = program.written
        self.waits = Waits(program, dispatch)
        self._zero_initialized = zero_initialized
        self._updating = updating_stores(program.entry)
        self._updates: dict[Variable, Updates] = {}
        self.watched = watched
        self.kept_by: Callable[[int], str] = lambda lane: ""  # what keeps an invocation from the statement that is run
        self.held: Held | None = None  # in a value that may be discarded
        self.counter = Counter()
        self.log = Log(text, dispatch, watched)
        self.collector = Collector(text, dispatch)
        self.births = Births(finite_inputs)
        self._shadows: dict[Variable, Shadow | AlikeShadow] = {}
        self._stored: dict[Variable, np.ndarray] = {}  # which words have been written; an input's are not needed
        self._epochs = {space: np.zeros(dispatch.group_count, np.int32) for space in ("workgroup", "storage", "handle")}

    def line(self, at: int) -> int:
        """The line of an offset."""
        return self._text.place(at)[0]

    def other_line(self, at: int, here: int) -> Line | None:
        """The line of an offset; None where it is that of the other offset."""
        number = self.line(at)
        return None if number == self.line(here) else Line(number, self._text.lines[number - 1])

    def source(self, part: Part) -> str:
        """The text of a part of the program, in one line."""
        return self._text.quoted(part)

    def who(self, lane: int, beside: int | None = None) -> Thread:
        """An invocation; without its workgroup beside another one of the same workgroup."""
        groups = self._dispatch.groups
        known = self._dispatch.group_count == 1 or (beside is not None and groups[lane] == groups[beside])
        workgroup, index = self._dispatch.named(lane)
        return Thread(index, None if known else workgroup)

    # --- Indices ----------------------------------------------------------------------------------------------

    def faults(self, faults: tuple[Fault, ...], lanes: Lanes, write: bool) -> None:
        """Report what the indices of an access did wrong; of a read that is held, later or never."""
        if self.held is not None and not write:
            self.held.append((partial(self._faults_of, faults, lanes), lanes))
            return
        for fault in faults:
            mask = lanes.expanded(fault.lanes)
            if not mask.any():
                continue
            lane = lanes.index[mask][0]
            index = int(lanes.expanded(fault.index)[mask][0])
            if fault.kind == "index overflow":
                kind = fault.kind
                below_zero = bool(lanes.expanded(fault.exact)[mask][0] < 0)
                facts = partial(self._index_overflow, fault, lane, index, below_zero)
            else:
                kind = f"{fault.kind} {'write' if write else 'read'}"
                facts = partial(self._out_of_range, fault, lane, index, write)
            self.collector.add(kind, fault.at, lanes.index[mask], facts)

    def release(self, held: Held, discarded: np.ndarray, lanes: Lanes) -> None:
        """Report what reads did wrong that were held, but in those of these invocations that discard their value."""
        discarded = lanes.spread(discarded)
        for report, readers in held:
            report(~readers.take(discarded))

    def _faults_of(self, faults: tuple[Fault, ...], lanes: Lanes, kept: np.ndarray) -> None:
        self.faults(tuple(fault._replace(lanes=fault.lanes & kept) for fault in faults), lanes, write=False)

    def _index_overflow(self, fault: Fault, lane: int, index: int, below_zero: bool) -> IndexOverflow:
        return IndexOverflow(self.who(lane), self.source(fault.part), name_of(fault.array), index, below_zero)

    def _out_of_range(self, fault: Fault, lane: int, index: int, write: bool) -> OutOfRange:
        return OutOfRange(
            thread=self.who(lane),
            access=WRITES if write else READS,
            source=self.source(fault.part),
            variable=name_of(fault.array),
            index=index,
            array=self.source(fault.array),
            size=fault.count,
            dropped=fault.dropped,
            in_loop=bool(LOOP.search(without_comments(self._text.source))),
        )

    # --- Accesses ---------------------------------------------------------------------------------------------

    def access(
        self, place: Place, offsets: list[int], bits: list[np.ndarray], lanes: Lanes, part: Part, write: bool,
        atomic: bool = False,
    ) -> None:  # fmt: skip
        """Count, log and check one access of each invocation to the words at these offsets from a place, if inside."""
        variable = place.variable
        place, bits, lanes = place.inside(bits, lanes)
        if not lanes.count:
            return
        indices = [np.asarray(place.offset + offset) for offset in offsets]
        size = sum(word.itemsize for word in bits)
        self.counter.access(part.at, variable.space, write, np.stack(indices), size, lanes)
        for index, word in zip(indices, bits, strict=True):
            self.log.access(part.at, lanes, variable, self._words.index(variable, index), write, word)
            if write or variable.space == "workgroup" or variable in self._written:
                where = lanes.expanded(self._words.places(variable, index, lanes))
                self._note_stored(variable, where, lanes, part, write)
                if not atomic and variable in self._written:
                    self._check(variable, where, lanes, part, write, word)
        if isinstance(part, Member | Element) and isinstance(part.base.type, Vector) and variable in self._written:
            self._check_beside(place, part, lanes, write)

    def texel(self, place: Place, word: np.ndarray, whole: np.ndarray | None, lanes: Lanes, part: Part) -> None:
        """Count, log and check one access of each invocation to a texel.

        `word` has its first 32 bits, and `whole` of a store a number that stands for all of them.
        """
        write = whole is not None
        variable = place.variable
        place, (word,), lanes = place.inside([word], lanes)
        if not lanes.count:
            return
        self.counter.add(part.at, "stores_texture" if write else "loads_texture", lanes.count)
        where = lanes.expanded(np.asarray(place.offset))
        self.log.access(part.at, lanes, variable, where, write, word)
        if write or variable in self._written:
            self._note_stored(variable, where, lanes, part, write)
            self._check(variable, where, lanes, part, write, whole)

    def _note_stored(self, variable: Variable, where: np.ndarray, lanes: Lanes, part: Part, write: bool) -> None:
        """Note the words that are written; report a read of workgroup memory that nobody has written.

        WGSL promises 0 there. Drivers do not keep it: what an earlier kernel left may be there.
        """
        stored = self._stored_words(variable)
        if write:
            stored[where] = True
        elif variable.space == "workgroup" and not self._zero_initialized and not (known := stored[where]).all():
            self._unknown(variable, where, lanes, part, ~known)

    def _unknown(self, variable: Variable, where: np.ndarray, lanes: Lanes, part: Part, unknown: np.ndarray) -> None:
        """Report reads of words that nobody has written; of a read that is held, later or never."""
        if self.held is not None:
            self.held.append((lambda kept: self._unknown(variable, where, lanes, part, unknown & kept), lanes))
        elif unknown.any():
            first = int(np.argmax(unknown))
            facts = partial(Uninitialized, self.who(lanes.index[first]), self._element(variable, int(where[first])))
            self.collector.add("uninitialized read", part.at, lanes.index[unknown], facts)

    def _stored_words(self, variable: Variable) -> np.ndarray:
        if variable not in self._stored:
            self._stored[variable] = np.zeros(self._words.arrays[variable].size, bool)
        return self._stored[variable]

    def _check_beside(self, place: Place, part: Member | Element, lanes: Lanes, write: bool) -> None:
        """Report the races of one component with the others of its vector.

        WGSL lets an access to a component be an access to the whole vector (Memory Model, "Memory Operation").
        """
        vector = part.base.type
        index = np.asarray(place.offset)
        align, size, steps = _steps(vector)
        component = index % align
        for step in steps:
            beside = index - component + (component + step) % size
            where = lanes.expanded(self._words.places(place.variable, beside, lanes))
            self._check(place.variable, where, lanes, part, write, None, of_vector=True)

    def _check(
        self,
        variable: Variable,
        where: np.ndarray,
        lanes: Lanes,
        part: Part,
        write: bool,
        bits: np.ndarray | None,
        of_vector: bool = False,
    ) -> None:
        """Report the races of an access; a write without bits leaves the words as they are."""
        if variable not in self._shadows:
            self._shadows[variable] = self._shadow(variable)
        shadow = self._shadows[variable]
        access = (where, lanes, self._epochs[variable.space][lanes.groups], part.at)
        written = None if bits is None else lanes.expanded(bits)
        for conflicts in shadow.write(*access, written) if write else shadow.read(*access):
            self._race(variable, conflicts, part, write, of_vector)

    def _shadow(self, variable: Variable) -> Shadow | AlikeShadow:
        size = self._words.arrays[variable].size
        if variable.space == "workgroup" and self._dispatch.group_count > 1:
            return AlikeShadow(size, self._dispatch)
        return Shadow(size, self._dispatch.groups)

    def _race(self, variable: Variable, conflicts: Conflicts, part: Part, write: bool, of_vector: bool) -> None:
        for kind, chosen in (("data race", ~conflicts.alike), ("overlapping writes", conflicts.alike)):
            if chosen.any():
                first = int(np.argmax(chosen))
                facts = partial(self._race_facts, variable, conflicts, first, part, write, of_vector)
                both = np.concatenate([conflicts.lane[chosen], conflicts.other_lane[chosen]])
                self.collector.add(kind, part.at, both, facts, int(conflicts.other_at[first]))

    def _race_facts(
        self, variable: Variable, conflicts: Conflicts, i: int, part: Part, write: bool, of_vector: bool
    ) -> Race | Overlap:
        first = int(conflicts.lane[i])
        second = int(conflicts.other_lane[i])
        threads = self.who(first), self.who(second, first)
        same_workgroup = bool(self._dispatch.groups[first] == self._dispatch.groups[second])
        word = self._element(variable, int(conflicts.where[i]))
        if conflicts.alike[i]:
            return Overlap(threads, word, same_workgroup)
        wrote = write, bool(conflicts.other_wrote[i])
        at = int(conflicts.where[i]) % self._words.arrays[variable].shape[-1]
        steps = self.log.steps_of_stores(first, variable, at)
        others_steps = self.log.steps_of_stores(second, variable, at)
        at_once = not steps.isdisjoint(others_steps)
        return Race(
            threads=threads,
            wrote=wrote,
            word=word,
            other_line=self.other_line(int(conflicts.other_at[i]), part.at),
            space=variable.space,
            same_workgroup=same_workgroup,
            no_barrier_helps=at_once if same_workgroup else bool(steps and others_steps),
            of_vector=of_vector,
        )

    def _element(self, variable: Variable, where: int) -> MemoryWord | Texel:
        """A word of a variable, by the element that it is in; or a texel."""
        if variable in self._words.images:
            at = np.unravel_index(where, self._words.images[variable].sizes, order="F")
            return Texel(str(variable.name), where, tuple(map(int, at)))
        at = where % self._words.arrays[variable].shape[-1]
        index, *path = steps_to(variable.type, self._words.offset(variable, at)) or [None]
        return MemoryWord(str(variable.name), index, tuple(path))

    # --- Atomic functions -------------------------------------------------------------------------------------

    def atomic(
        self, variable: Variable, where: np.ndarray, bits: np.ndarray, lanes: Lanes, kept: np.ndarray, part: AtomicCall
    ) -> None:  # fmt: skip
        """Report the updates that may overwrite another one; nothing is `kept` past the end of an array."""
        if part.name != "atomicLoad":
            self.waits.write(variable, lanes)
        if not self._updating:
            return
        if variable not in self._updates:
            words = self._words.arrays[variable].size
            self._updates[variable] = Updates(words, self._dispatch.groups, self._updating)
        where, bits, lanes = where[kept], bits[kept], lanes.where(kept)
        epoch = self._epochs[variable.space][lanes.groups]
        updates = self._updates[variable]
        if part.name != "atomicStore":
            updates.read(part, where, lanes, epoch)
        if part.name != "atomicLoad":
            for lost in updates.write(part, where, lanes, epoch, bits):
                if len(lost.lane):
                    both = np.concatenate([lost.lane, lost.other_lane])
                    self.collector.add("lost update", lost.at, both, partial(self._lost_facts, variable, lost))

    def _lost_facts(self, variable: Variable, lost: Lost) -> LostUpdate:
        first, second = int(lost.lane[0]), int(lost.other_lane[0])
        threads = self.who(first), self.who(second, first)
        read_in, written_in = (self.other_line(int(at[0]), lost.at) for at in (lost.read_at, lost.other_at))
        return LostUpdate(threads, self._element(variable, int(lost.where[0])), read_in, written_in)

    # --- Barriers ---------------------------------------------------------------------------------------------

    def barrier(self, name: str, lanes: Lanes, at: int) -> None:
        """Let the workgroups of these invocations pass a barrier, and report those that are not complete."""
        dispatch = self._dispatch
        present = np.bincount(lanes.groups, minlength=dispatch.group_count)
        here = present > 0
        self.counter.add(at, "barriers", int(here.sum()))
        self._epochs[ORDERED.get(name, "workgroup")] += here
        waited_for = (here & (present < dispatch.threads))[dispatch.groups]
        waited_for[lanes.index] = False
        if waited_for.any():
            missing = np.flatnonzero(waited_for)
            arrived = int(present[dispatch.groups[missing[0]]])
            first = int(missing[0])
            facts = partial(MissedBarrier, name, arrived, dispatch.threads, self.who(first), self.kept_by(first))
            self.collector.add("non-uniform barrier", at, missing, facts)

    def not_portable(self, place: NotPortable) -> None:
        """Report what browsers refuse before a run; of a barrier that this run has missed, that is enough."""
        if ("non-uniform barrier", place.part.at) not in self.collector:
            nobody = self._dispatch.none.index
            facts = partial(place.facts, self._text)
            self.collector.add("not portable", place.part.at, nobody, facts, place.other and place.other.at)

    # --- The end of the run -----------------------------------------------------------------------------------

    def end(self, outputs: Iterable[Variable]) -> None:
        """Report the loops that wait for other invocations, and what is not written of these outputs."""
        for loop, who, variable in self.waits.found():
            self.collector.add("endless loop", loop.at, who, partial(Waiting, str(variable.name)))
        for variable in outputs:
            self._unwritten(variable)

    def _unwritten(self, variable: Variable) -> None:
        """Report the words of an output that no invocation stored."""
        stored = self._stored_words(variable)
        wanted = np.arange(stored.size)
        if variable not in self._words.images:
            offsets, _ = numbers(variable.type, self._words.offset(variable, stored.size))
            wanted = self._words.index(variable, offsets)
        left = wanted[~stored[wanted]]
        if len(left):
            parts = "texels" if variable in self._words.images else "numbers"
            facts = partial(Unwritten, str(variable.name), len(left), len(wanted), int(left[0]), parts)
            nobody = self._dispatch.none.index
            self.collector.add("unwritten output", variable.at, nobody, facts, numbers=len(left))
