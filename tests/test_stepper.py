"""The stepper: each step's picture and sentence are what the trace says, legible, and soon there.

What it says at a stop, and of lines that are not shown, is in `messages/stops.txt` and `steppers.txt`.
"""

import re
from itertools import chain

import numpy as np
import pytest
from support.legible import faults, words_of
from support.sample import sample
from support.stepped import race, swap, tiled, tree, two_groups, watched

from helpers.widgets.stepper import stepper
from helpers.widgets.stepper.sentences import plural
from helpers.widgets.stepper.stops import Stop


@pytest.fixture(scope="module", params=[tree, swap, race, two_groups, tiled])
def run(request):
    """A run: its trace, its shapes, and its explorer, which is made once."""
    trace, shapes = request.param()
    return trace, shapes, stepper(trace, shapes)


def during(trace, event):
    """The accesses of an event as (name, workgroup or None, index, write, thread, value)."""
    x, y, _ = trace.workgroups
    for a in trace.accesses[event.accesses]:
        group = int(a["workgroup"][0] + x * (a["workgroup"][1] + y * a["workgroup"][2]))
        shared, thread = a["space"] == "workgroup", group * np.prod(trace.workgroup_size) + a["invocation"]
        value = float(a["value"].view(np.float32))
        name = trace.variables[a["variable"]]
        yield name, group if shared else None, int(a["index"]), bool(a["write"]), int(thread), value


# --- What is said -----------------------------------------------------------------------------------------


def test_the_moments_are_all_steps_and_accesses_in_order(run):
    trace, _, explorer = run
    events = explorer.picture.replay.events
    assert [*chain.from_iterable(event.accesses for event in events)] == list(range(len(trace.accesses)))
    steps = [event for event in events if not event.after_call]
    assert [(m.line, m.active) for m in steps] == [(s.line, frozenset(s.active.tolist())) for s in trace.steps]
    for event in events:
        assert {*trace.accesses["line"][event.accesses]} <= {event.line}
        assert {*(a[4] for a in during(trace, event))} <= event.active


def touched_elements(accesses):
    """The words for the elements that accesses touch, for each array that is read, and each that is written."""
    counts = []
    for name, write in dict.fromkeys((access[0], access[3]) for access in accesses):
        uses = [access for access in accesses if (access[0], access[3]) == (name, write)]
        elements = {access[1:3] for access in uses}
        words = f"{plural(len(elements), 'element')} of {name}"
        sectors = {access[2] // 8 for access in uses if access[1] is None}
        if sectors:
            words += f" ({plural(len(sectors), 'sector')})"
        counts.append(words)
    return counts


def test_each_sentence_says_who_is_active_and_what_is_touched(run):
    trace, shapes, explorer = run
    replay = explorer.picture.replay
    last = {}  # the last step of each thread
    for step, (_, active) in enumerate(trace.steps):
        last |= dict.fromkeys(active.tolist(), step)
    count = len(last)
    for step, event in enumerate(replay.events):
        thread = 7 * step % count
        words = explorer.set(step=step, thread=thread)
        touched = list(during(trace, event))
        assert words.startswith(f"Line {event.line}: ")
        assert (f"all {count} threads are active" in words) == (len(event.active) == count)
        waiting = sum(event.step < end for other, end in last.items() if other not in event.active)
        for number, state in ((waiting, "waiting"), (count - len(event.active) - waiting, "done")):
            assert (f"{number} {state}" in words) == (number > 0), words
        counts = re.findall(r"\d+ elements? of \w+(?: \(\d+ sectors?\))?", words)
        assert sorted(counts) == sorted(touched_elements(touched)), words
        for name, _, index, _, who, value in touched:
            place = ",".join(map(str, np.unravel_index(index, shapes.get(name, (index + 1,)))))
            assert who != thread or f"{name}[{place}] = {value:g}" in words
        if thread not in event.active:
            assert re.search(rf"Thread {thread % replay.threads}\b.* is (waiting|done)", words)


# --- What is drawn ----------------------------------------------------------------------------------------


def test_memory_holds_what_was_written_so_far(run):
    trace, _, explorer = run
    replay, held = explorer.picture.replay, {}
    for event in replay.events:
        held |= {access[:3]: access[5] for access in during(trace, event) if access[3]}
        for memory in replay.memories:
            values, put = replay.values(memory, event)
            home = memory.group if memory.shared else None
            here = {index: value for (*place, index), value in held.items() if place == [memory.name, home]}
            assert values[[*here]].tolist() == [*here.values()]
            assert not memory.shared or set(np.flatnonzero(put)) == {*here}
    for binding, buffer in zip(trace.kernel.bindings, trace.buffers, strict=True):
        for memory in (memory for memory in replay.memories if memory.name == binding.name):
            np.testing.assert_array_equal(replay.values(memory, replay.events[-1])[0], buffer)


def test_each_state_is_legible_and_shows_the_threads_and_the_line(run):
    """White on blue are the active threads; the line is marked by more than color."""
    picture, explorer = run[2].picture, run[2]
    events = picture.replay.events
    top, bottom = picture._thread(0).y, picture.memory_top - 20
    for step in sample(range(len(events)), 12):
        explorer.set(step=step, thread=step * 5 % picture.replay.count)
        assert not list(faults(picture, 11)), step
        words = [*words_of(picture)]
        numbers = [(word, mark.face) for word, mark in words if word.x > picture.right and word.text.isdigit()]
        strip = [face for word, face in numbers if top < word.y < bottom]
        assert len(strip) == picture.replay.count
        assert strip.count((1, 1, 1, 1)) == len(events[step].active)
        (pointer,) = (word for word, _ in words if word.text == "▸")
        assert next(word.text for word, _ in words if word.y == pointer.y and word.code) == str(events[step].line)


def test_a_dashed_line_is_around_each_sector_that_is_read_and_no_more():
    trace, shapes = tree()
    explorer = stepper(trace, shapes)
    picture = explorer.picture
    reads = [{a[2] for a in during(trace, event) if a[0] == "input"} for event in picture.replay.events]
    explorer.set(step=next(step for step, words in enumerate(reads) if words))
    (grid,) = (grid for grid in picture.grids if grid.memory.name == "input")
    outlines = [mark.path for mark in picture.marks if mark.dashes]
    inside = [[i for i, box in enumerate(grid.boxes) if path.contains_point(box.middle)] for path in outlines]
    assert inside == [[*range(8)], [*range(8, 16)]]


# --- Sliders -------------------------------------------------------------------------------------------------


def test_buttons_play_the_steps():
    explorer = stepper(*swap())
    player = explorer._player
    assert (player.min, player.max, player.value) == (0, explorer._controls["step"][1].max, 0)
    player.value = 1  # as a browser does while it plays
    assert explorer.values["step"] == explorer._controls["step"][1].value == 1
    explorer.set(step=2)
    assert player.value == 2


# --- Stops ---------------------------------------------------------------------------------------------------


def test_an_element_is_named_by_an_index_for_each_axis_or_by_one_for_all():
    stops = stepper(*tiled()).stops
    for condition, word in {"a": None, "a[0,0]": 0, "a[3,6]": 27, "a[2,1]": 15, "a[2][1]": 15, "a[27]": 27}.items():
        assert stops.read(f"{condition} is written") == Stop("a", word=word)
    for brackets in "[4,0]", "[0,7]", "[28]", "[1,1,1]":
        message = f"a has 4 × 7 elements, counted from 0: {brackets} is none of them."
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            stops.read(f"a{brackets} is written")


# --- Variables ----------------------------------------------------------------------------------------------


def test_a_threads_variables_are_what_the_trace_has_at_each_step():
    explorer = watched()
    replay, trace = explorer.picture.replay, explorer.picture.replay.trace
    for step, event in enumerate(replay.events):
        thread = 3 * step % 8
        explorer.set(step=step, thread=thread)
        held = {}  # the text of each variable, and whether it is new
        for name, rows in trace.watched.items():
            values = rows[(rows["invocation"] == thread) & (rows["step"] <= event.step)]
            if len(values):
                bits = values["value"][-1]
                number = bits.view(np.float32) if name == "sum" else bits
                held[name] = f"{number:g}", values["step"][-1] == event.step
        words = " and ".join(f"{name} = {text}" for name, (text, _) in held.items())
        words = words.replace(" and ", ", ", len(held) - 2)
        assert f"Thread {thread} holds {words}." in explorer.sentence
        shown = {(word.x, word.y): (word.text, mark.weight == "bold") for word, mark in words_of(explorer.picture)}
        boxes = {variable.name: box.middle for variable, box in explorer.picture.chips.items()}
        assert {name: shown[place] for name, place in boxes.items() if place in shown} == held, step
