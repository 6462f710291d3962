"""The stepper: each step's picture and sentence are what the trace says, legible, and soon there."""

import re

import numpy as np
import pytest
from support.legible import faults
from support.sample import sample
from support.stepped import SWAP, numbers, race, sum_steps, swap, tiled, tree, two_groups

from helpers import simulate
from helpers.kernels import load
from helpers.stepper import stepper
from helpers.stepper.sentences import plural


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
    assert [i for event in events for i in event.accesses] == list(range(len(trace.accesses)))
    steps = [event for event in events if not event.after_call]
    assert [(m.line, m.active) for m in steps] == [(s.line, frozenset(s.active.tolist())) for s in trace.steps]
    for event in events:
        assert {*trace.accesses["line"][event.accesses]} <= {event.line}
        assert {*(a[4] for a in during(trace, event))} <= event.active


def test_each_sentence_says_who_is_active_and_what_is_touched(run):
    trace, shapes, explorer = run
    replay = explorer.picture.replay
    last = {thread: step for step, (_, active) in enumerate(trace.steps) for thread in active.tolist()}
    count = len(last)
    for step, event in enumerate(replay.events):
        thread = 7 * step % count
        words, touched = explorer.set(step=step, thread=thread), list(during(trace, event))
        assert words.startswith(f"Line {event.line}: ")
        assert (f"all {count} threads are active" in words) == (len(event.active) == count)
        waiting = sum(event.step < end for other, end in last.items() if other not in event.active)
        for number, state in ((waiting, "waiting"), (count - len(event.active) - waiting, "done")):
            assert (f"{number} {state}" in words) == (number > 0), words
        wanted = []
        for name, write in dict.fromkeys((a[0], a[3]) for a in touched):
            uses = [a for a in touched if (a[0], a[3]) == (name, write)]
            sectors = len({a[2] // 8 for a in uses if a[1] is None})
            lie = f" ({plural(sectors, 'sector')})" if sectors else ""
            wanted.append(f"{plural(len({a[1:3] for a in uses}), 'element')} of {name}{lie}")
        assert sorted(re.findall(r"\d+ elements? of \w+(?: \(\d+ sectors?\))?", words)) == sorted(wanted), words
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


def test_an_output_is_empty_until_it_is_written_and_workgroup_memory_zero():
    replay = stepper(*tree()).picture.replay
    memory = {memory.name: replay.values(memory, replay.events[0])[0] for memory in replay.memories}
    assert np.isnan(memory["total"]).all()
    assert not memory["partial"].any()
    assert (memory["input"] == numbers(16)).all()


def test_each_state_is_legible_and_shows_the_threads_and_the_line(run):
    """White on blue are the active threads; the line is marked by more than color."""
    picture, explorer = run[2].picture, run[2]
    events = picture.replay.events
    top, bottom = picture._thread(0).y, picture.memory_top - 20
    for step in sample(range(len(events)), 12):
        explorer.set(step=step, thread=step * 5 % picture.replay.count)
        assert not list(faults(picture, 11)), step
        words = [(w, m.face) for m in picture.marks for w in m.words]
        strip = [face for w, face in words if top < w.y < bottom and w.x > picture.right and w.text.isdigit()]
        assert len(strip) == picture.replay.count
        assert strip.count((1, 1, 1, 1)) == len(events[step].active)
        (pointer,) = (w for w, _ in words if w.text == "▸")
        assert next(w.text for w, _ in words if w.y == pointer.y and w.code) == str(events[step].line)


def test_each_sector_that_is_read_has_its_number():
    trace, shapes = tree()
    explorer = stepper(trace, shapes, only=["input["])
    events = explorer.picture.replay.events
    assert len(events) == 2
    for step, event in enumerate(events):
        explorer.set(step=step)
        small = {w.text for m in explorer.picture.marks for w in m.words if w.size == 11}
        assert small == {str(a[2] // 8) for a in during(trace, event)} == {"0", "1"}
        assert "8 elements of input (2 sectors)" in explorer.sentence


# --- Text, sliders, refusals --------------------------------------------------------------------------------


def test_a_call_whose_lines_are_not_shown_is_one_step():
    trace, shapes = tiled()
    loads = stepper(trace, shapes, only=["right[local"]).picture.replay.events
    for event, rows in zip(loads, (4, 3), strict=True):
        names = [(name, write) for name, _, _, write, _, _ in during(trace, event)]
        assert (names.count(("right", True)), names.count(("b", False))) == (16, 4 * rows)


def test_buttons_play_the_steps():
    explorer = stepper(*swap())
    player = explorer._player
    assert (player.min, player.max, player.value) == (0, explorer._controls["step"][1].max, 0)
    player.value = 1  # as a browser does while it plays
    assert explorer.values["step"] == explorer._controls["step"][1].value == 1
    explorer.set(step=2)
    assert player.value == 2


# --- Variables and stops ------------------------------------------------------------------------------------


def watched(**options):
    """The tree of `tree`, whose variables are watched."""
    kernel = load("sum", "2_tree").with_constants(THREADS=8)
    return sum_steps(kernel, numbers(16), watch=["thread", "i", "sum", "half"], **options)


def test_a_threads_variables_are_what_the_trace_has_at_each_step():
    explorer = watched()
    replay, trace = explorer.picture.replay, explorer.picture.replay.trace
    for step, event in enumerate(replay.events):
        thread = 3 * step % 8
        explorer.set(step=step, thread=thread)
        held = {}
        for name, rows in trace.watched.items():
            mine = rows[(rows["invocation"] == thread) & (rows["step"] <= event.step)]
            if len(mine):
                bits = mine["value"][-1]
                held[name] = (f"{bits.view(np.float32) if name == 'sum' else bits:g}", mine["step"][-1] == event.step)
        words = " and ".join(f"{name} = {text}" for name, (text, _) in held.items()).replace(
            " and ", ", ", len(held) - 2
        )
        assert f"Thread {thread} holds {words}." in explorer.sentence
        boxes = {v.name: box.middle for v, box in explorer.picture.chips.items()}
        shown = {(w.x, w.y): (w.text, m.weight == "bold") for m in explorer.picture.marks for w in m.words}
        assert {name: shown[place] for name, place in boxes.items() if place in shown} == held, step


@pytest.mark.parametrize("condition", ["sum is 7", "sum == 7", " sum  = 7.0 "])
def test_next_stop_goes_where_a_variable_of_the_thread_gets_the_value(condition):
    """The third number of the list of ones is added in the third iteration, by each thread in its own steps."""
    kernel = load("sum", "2_tree").with_constants(THREADS=2)
    explorer = sum_steps(kernel, np.full(6, 7 / 2, np.float32), watch=["sum", "i"], thread=1)
    rows = explorer.picture.replay.trace.watched["sum"]
    (wanted,) = {int(row["step"]) for row in rows if row["value"].view(np.float32) == 7 and row["invocation"] == 1}
    assert explorer.stop_when(condition) == f"Thread 1 gives sum the value 7 in step {wanted}."
    assert explorer.values["step"] == 0
    assert explorer.next_stop() == "Thread 1 gives sum the value 7: stop 1 of 1."
    assert explorer.values["step"] == wanted
    assert "sum = 7" in explorer.sentence
    assert explorer.next_stop().startswith(f"No stop comes after step {wanted}. Thread 1 gives sum the value 7 in step")
    assert explorer.values["step"] == wanted


@pytest.mark.parametrize(
    ("condition", "written_now"),
    [
        ("partial[2] is written", ("partial", {2})),
        ("partial[2]", ("partial", {2})),
        ("total is written", ("total", {0})),
        ("partial", ("partial", set(range(8)))),
    ],
)
def test_next_stop_goes_where_an_element_is_written(condition, written_now):
    explorer, stops = watched(), []
    explorer.stop_when(condition)
    for _ in range(9):
        if not explorer.next_stop().startswith("No stop"):
            stops.append(explorer.values["step"])
    replay, (name, words) = explorer.picture.replay, written_now
    events = enumerate(replay.events)
    assert stops == [
        i for i, e in events if any(a.write and a.name == name and a.word in words for a in replay.during(e))
    ]
    assert f"{len(stops)} of {len(stops)}" in (explorer.set(step=stops[-1] - 1) and explorer.next_stop())


def test_a_stop_in_a_line_that_is_not_shown_is_the_next_step_that_is():
    explorer = watched(only=["workgroupBarrier"], stop="sum is written")
    assert explorer.told == "Thread 0 gives sum a value in step 0."
    assert "sum = " in explorer.sentence


def test_what_a_hidden_call_returns_is_there_at_the_step_that_calls():
    text = """@group(0) @binding(0) var<storage, read_write> numbers: array<u32, 1>;
fn twice(x: u32) -> u32 {
  return 2u * x;
}
@compute @workgroup_size(1) fn main() {
  let doubled = twice(3u);
  numbers[0] = doubled;
}"""
    trace = simulate(text, [np.zeros(1, np.uint32)], (1, 1, 1), watch=["doubled"])
    explorer = stepper(trace, only=["doubled"], stop="doubled is 6")
    assert explorer.told == "Thread 0 gives doubled the value 6 in step 0."
    assert explorer.sentence.endswith("Thread 0 holds doubled = 6.")


def test_each_workgroup_has_stops_of_its_own():
    text = SWAP.replace("numbers[thread] =", "numbers[thread + 4u * id.x] =").replace(
        "fn main(", "fn main(@builtin(workgroup_id) id: vec3u, "
    )
    text = text.replace("box[thread] = ", "if (id.x == 1u) { box[thread] = 1; } box[thread] = ")
    explorer = stepper(simulate(text, [numbers(8)], (2, 1, 1)))
    found = [explorer.set(thread=thread) and explorer.stop_when("box[0] is written ") for thread in (0, 4)]
    assert found[0] != found[1], found


# --- The lessons' steppers ----------------------------------------------------------------------------------


def _whole(*shape):
    return numbers(int(np.prod(shape))).reshape(shape)


SIXTEEN = load("sum", "2_tree").with_constants(THREADS=16)
LESSONS = {  # each with its right output, and whether it races
    "a swap, racing": (
        lambda: stepper(simulate(SWAP.replace("  workgroupBarrier();\n", ""), [numbers(4)], (1, 1, 1))),
        {},
        True,
    ),
    "04": (lambda: sum_steps(SIXTEEN, numbers(16)), {"total": numbers(16).sum(keepdims=True)}, False),
}


@pytest.mark.parametrize(("make", "right", "races"), LESSONS.values(), ids=LESSONS)
def test_a_lessons_stepper_is_legible_and_ends_with_the_right_numbers(make, right, races):
    explorer, said = make(), ""
    replay = explorer.picture.replay
    for step in range(len(replay.events)):
        said += explorer.set(step=step, thread=step % replay.count)
        assert not list(faults(explorer.picture, 11)), step
    assert ("found in this line: data race." in said) == races
    last = {memory.name: replay.values(memory, replay.events[-1])[0] for memory in replay.memories}
    assert all(last[name].tolist() == values.ravel().tolist() for name, values in right.items())
