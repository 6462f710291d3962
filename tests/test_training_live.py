"""Training that is watched: stopped, gone on with, interrupted and finished, it computes what it computes alone."""

import asyncio
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image
from support.legible import CONTRAST, LIGHT, contrast, faults, illegible

from helpers.data.digits import seen_and_unseen
from helpers.lessons.shared.pictures.curves import MOST, CurvesPicture, FiltersPicture
from helpers.lessons.train_lenet import explorers, film
from helpers.lessons.train_lenet.live import ON, Live
from helpers.network.layers import Conv2d, Linear
from helpers.network.network import Network
from helpers.network.training import DivergedError, Moment, Training

SMALL = Conv2d("conv1", 3, 5, stride=4), Linear("fc", 10, activation="none")
IMAGES, LABELS, UNSEEN, ANSWERS = seen_and_unseen()
EPOCH = 32  # steps


@pytest.fixture(autouse=True)
def no_event_loop() -> Iterator[None]:
    """A browser of other tests leaves its event loop running in this thread: here, none is."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


def small(**options: float) -> Training:
    """A run of 32 steps an epoch, as it begins."""
    return Training(Network(SMALL, seed=1), IMAGES[:256], LABELS[:256], batch=8, **options)


@pytest.fixture(scope="module")
def alone() -> Training:
    """Two epochs without anybody watching."""
    return small().run(2)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of one step, so that much can happen between them."""
    monkeypatch.setattr("helpers.lessons.train_lenet.live.SLICE", 0)


def words(live: Live) -> str:
    return live._words.value


def same(one: Training, other: Training) -> bool:
    return all(map(np.array_equal, one.network.state(), other.network.state())) and one.step == other.step


def test_the_simulator_trains_for_a_few_steps_and_says_so(monkeypatch):
    simulator = SimpleNamespace(simulated=True)
    monkeypatch.setattr("helpers.lessons.train_lenet.live.adapter_info", lambda: simulator)
    live = explorers.train(small(), unseen=(UNSEEN, ANSWERS))
    assert live.finish().step == 8
    assert "Of 8 unseen images" in words(live)
    assert "it trains for at most 8." in words(live)
    simulator.simulated = False
    assert explorers.train(small()).until == EPOCH


def test_a_run_on_a_network_that_was_trained_before_says_so():
    first = small()
    live = explorers.train(first, epochs=1)
    assert ON not in words(live)
    live.finish()
    assert ON not in words(live)
    again = explorers.train(Training(first.network, IMAGES[:256], LABELS[:256], batch=8), epochs=1)
    assert ON in words(again)
    again.finish()
    assert ON in words(again)
    gone_on = explorers.train(first, epochs=1)  # the same run: its number of steps says so
    assert ON not in words(gone_on)


async def until(reached: Callable[[], bool]) -> None:
    """Let the event loop run until something holds."""
    async with asyncio.timeout(30):
        while not reached():
            await asyncio.sleep(0.001)


# --- The run --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("short")
def test_a_slice_waits_for_the_lock(monkeypatch):
    training, waiting = small(), []
    monkeypatch.setattr("helpers.lessons.train_lenet.live.with_lock", waiting.append)  # as where a cell is at work

    async def watch() -> None:
        explorers.train(training, 2)
        await until(lambda: waiting)
        assert training.step == 0
        waiting.pop()()
        assert training.step > 0

    asyncio.run(watch())


async def stop_and_go_on(live: Live) -> None:
    """Stop a run after three steps, and let it go on: nothing is trained in between."""
    training = live.training
    await until(lambda: training.step >= 3)
    live._button.click()
    step = training.step
    await until(lambda: "Stopped" in words(live))
    assert training.step == step < 20
    await asyncio.sleep(0.1)
    assert training.step == step
    assert live._button.description == "Go on"
    live._button.click()
    live._button.click()  # stopped and begun again at once: still one step after the other
    live._button.click()
    await until(lambda: training.step > step)
    assert [handle._callback for handle in live._loop._scheduled if not handle.cancelled()].count(live._wait) == 1


def require_done(live: Live) -> None:
    """Raise AssertionError unless a run is at its end, says so, and stays there."""
    assert "Done: 64 of 64 steps" in words(live)
    assert "Of 20 unseen images" in words(live)
    assert live._button.disabled
    live._running = True  # as a click while it was finished
    live._wait()
    assert "Done" in words(live)
    assert not live._running
    data, _ = live._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= data.keys()


@pytest.mark.usefixtures("short")
def test_a_run_that_is_stopped_goes_on_and_ends_as_one_that_nobody_watched(alone):
    training = small()

    async def watch() -> None:
        live = explorers.train(training, 2, (UNSEEN[:20], ANSWERS[:20]))
        assert repr(live) == "Training to step 64, with 8 images a step: finish() waits for its end."
        await stop_and_go_on(live)
        assert live.finish() is training
        require_done(live)

    asyncio.run(watch())
    assert same(training, alone)


def test_without_an_event_loop_finish_does_all(alone):
    training = small()
    live = explorers.train(training, 2)
    live.go_on()
    assert training.step == 0
    assert live._button.disabled
    assert same(live.finish(), alone)
    assert same(live.finish(), alone)  # nothing is left
    assert [*training.states] == [*alone.states] == [0, 25, 50]


@pytest.mark.usefixtures("short")
def test_a_loss_that_is_no_number_is_said_and_a_smaller_rate_goes_on():
    training = small(learning_rate=0.05)

    async def watch() -> None:
        live = explorers.train(training, 2)
        await until(lambda: training.step >= 25)
        training.learning_rate = 1e30  # the box takes no such number
        await until(lambda: "Stopped" in words(live))
        assert " at learning_rate = 1e+30: the parameters of step" in words(live)
        assert training.step % 25 == 0
        assert live._button.description == "Go on"
        with pytest.raises(DivergedError):
            live.finish()
        assert " at learning_rate = 1e+30: the parameters of step" in words(live)
        live._rate.value = 0.01
        assert training.learning_rate == 0.01
        live.go_on()
        await until(lambda: live.done)
        assert "Done: 64" in words(live)

    asyncio.run(watch())


@pytest.mark.usefixtures("short")
def test_one_run_trains_at_a_time_and_a_closed_one_stops():
    async def watch() -> None:
        one, other = small(), small()
        first = explorers.train(one, 4)
        await until(lambda: one.step >= 2)
        second = explorers.train(other, 4)
        await until(lambda: other.step >= 2)
        assert "Stopped" in words(first)
        step = one.step
        second.close()
        closed = other.step
        await asyncio.sleep(0.1)
        assert (one.step, other.step) == (step, closed)
        first.finish()

    asyncio.run(watch())


@pytest.mark.parametrize("in_the_background", [True, False])
def test_an_interrupted_run_is_at_its_last_state_and_ends_as_any_other(alone, monkeypatch, in_the_background):
    training, calls = small(), []
    kept = training._history.moments

    def interrupted(*what: object) -> list[Moment]:
        calls.append(what)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return kept(*what)

    monkeypatch.setattr(training._history, "moments", interrupted)

    async def watch() -> None:
        live = explorers.train(training, 2)
        if in_the_background:
            await until(lambda: "interrupted" in words(live))
        else:
            with pytest.raises(KeyboardInterrupt):
                live.finish()
        assert training.step in training.states
        assert len(training.moments) == training.step
        live.go_on()
        await until(lambda: live.done)

    asyncio.run(watch())
    assert same(training, alone)


def test_training_goes_on_from_the_state_it_is_rewound_to(alone):
    training = small().run(2)
    assert training.rewind(30) == 25
    explorers.train(training, (64 - 25) / EPOCH).finish()
    assert same(training, alone)


# --- The pictures ---------------------------------------------------------------------------------------------


def made_up(steps: int, noise: float = 0) -> list[Moment]:
    """A run that learns, with a little noise as another adapter would have."""
    random = np.random.default_rng(0)
    falling = np.linspace(2.3, 0.1, steps).tolist()
    return [Moment(i, loss * (1 + noise * random.normal()), 1 - loss / 2.6, {}) for i, loss in enumerate(falling)]


def test_curves_draw_few_points_and_compare_with_round_numbers_only():
    picture = CurvesPicture(5000, 10)
    assert picture.show([]).sentence == "No step is done yet."
    picture.show(made_up(5000), 0.93)
    _, moving = picture.svg()
    assert 2 * MOST - 9 < moving.count("M") <= 2 * MOST + 9  # a move to each point, and one to each curve's begin
    assert list(faults(picture)) == []
    sentence = (
        "In 5,000 steps the loss goes from 2.3 (a pure guess: 2.3) to a mean below 0.2 over the last 10 batches, with "
        "over 90 % of their answers right; of the unseen images, over 90 %."
    )
    assert picture.sentence == sentence
    assert picture.show(made_up(5000, 0.01), 0.925).sentence == sentence
    assert "at 2.3" in picture.show(made_up(1)).sentence
    assert "less than 55 %" in picture.sentence
    assert list(faults(picture)) == []


def test_a_run_is_wound_back_step_by_step(alone):
    explorer = explorers.rewind(alone)
    assert explorer.sentence.startswith("In step 0 (of 0 to 63) the loss of the batch is 2.3")
    assert "all filters are still the random numbers of the start" in explorer.sentence
    step = 40
    start, now = (alone.moments[i].tensors["conv1.weight"] for i in (0, step))
    moved = np.abs(now - start).reshape(3, -1).mean(axis=1)
    assert f"filter {np.argmax(moved)} have changed most: by {max(moved):.1g} on average" in explorer.set(step=step)
    assert f"the loss of the batch is {alone.moments[step].loss:.1f}" in explorer.sentence
    assert illegible(explorer, 9) == []
    assert explorer._player.step == 1
    assert explorers.rewind(alone, step=40).values == {"step": 40}


def test_a_run_is_played_to_its_end(alone, monkeypatch):
    monkeypatch.setattr(explorers, "FRAMES", 10)
    explorer = explorers.rewind(alone)
    leap = explorer._player.step
    assert leap == 6
    for place in range(0, explorer._player.max + 1, leap):
        explorer._player.value = place
    assert explorer.values == {"step": 63}
    assert explorer.steps.done[0]


def test_the_film_is_legible_keeps_its_colors_and_holds_its_last_frame(alone, tmp_path, monkeypatch):
    steps = film.steps_shown(375)
    assert steps[:4] == [0, 1, 2, 3]
    assert steps[-1] == 375
    assert np.diff(steps[-9:]).min() > 2
    logits = np.random.default_rng(0).normal(size=(64, 10))
    picture = film.FilmPicture(alone.moments, logits, UNSEEN[0, 0])
    for step in (0, 63):
        assert list(faults(picture.show(step))) == []
    monkeypatch.setattr(film, "FRAMES", 5)
    film.write(picture, tmp_path / "film.webp")
    with Image.open(tmp_path / "film.webp") as written:
        frames = written.n_frames
        written.seek(frames - 1)
        written.load()
        assert written.info["duration"] == film.HOLD
    assert frames == len(film.steps_shown(63)) == 5


def test_all_words_stand_out(alone):
    colors = set()
    for picture in CurvesPicture(64, 10).show(alone.moments, 0.5), FiltersPicture(alone.moments, 10).show(9):
        colors |= {to_hex(mark.face) for mark in picture.marks if mark.words}
    assert len(colors) > 3
    assert min(contrast(color, LIGHT) for color in colors) >= CONTRAST
