"""Train LeNet with your own kernels from the lessons, in a process apart, which the notebook survives.

`python -m helpers.lessons.train_lenet.training_apart` is that process (`helpers.grading.sandbox`). It simulates each
text on the puzzle's tests and on LeNet's layers with 2 images, and trains with them only where nothing is found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from helpers.checks.arguments import MAX_SIZE, as_int, check_number, check_size
from helpers.data.digits import seen_and_unseen
from helpers.grading import student_files, words
from helpers.grading.grader import MOST_WORK
from helpers.grading.grader import grade as grade_here
from helpers.grading.puzzle import Case, Dispatch
from helpers.grading.reasons import Diagnosis
from helpers.grading.sandbox import Worker, serve, why
from helpers.grading.test_run import simulated
from helpers.grading.transport import plain, record
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, UNSAFE, MessageAlone
from helpers.lessons.exercises import PUZZLES, grade
from helpers.lessons.shared.student_kernels import PLACES, student_kernels
from helpers.network.network import Network
from helpers.network.training import DivergedError, Training
from helpers.operations.network.operations import SGD
from helpers.operations.network.shapes import UpdateShape
from wgsl import Kernel, UnsupportedWgsl
from wgsl.simulator.findings import Finding
from wgsl.simulator.work import Work

WORKER = Worker("helpers.lessons.train_lenet.training_apart")
SECONDS = 600  # for a driver that hangs: from one answer to the next, the check of a kernel or 5 steps
SIMULATED, SHOWN = 2, 5  # images; steps from one answer to the next
CURES = {  # what to do about a text that is not run
    NOT_ATTEMPTED: "write it first, with helpers.write({puzzle!r})",
    NO_COMPILE: "it does not compile; see helpers.grade({puzzle!r})",
    UNSAFE: "it is unsafe; see helpers.grade({puzzle!r}), and repair it first",
}


class RefusedError(MessageAlone, ValueError):
    """The reason why a text may not train, and what to do."""


@dataclass(frozen=True, repr=False)
class OwnRun:
    """A run with the learner's kernels: the loss of each step, and what the network then knows.

    `accuracy` is the share of unseen digits that are right; `parameters` are as `Network.load_parameters` takes
    them; `ended` says why the run ended early, if it did.
    """

    puzzles: tuple[str, ...]
    losses: tuple[float, ...]
    accuracy: float
    parameters: Mapping[str, np.ndarray]
    ended: str

    def __repr__(self) -> str:
        mean = f", mean loss of the last ten {np.mean(self.losses[-10:]):.2f}" if self.losses else ""
        ended = f"; {self.ended}" if self.ended else ""
        steps = f"{len(self.losses):,} steps with your {', '.join(self.puzzles)}"
        return f"{steps}{mean}, {self.accuracy:.1%} of unseen digits right{ended}"


def train_apart(
    *puzzles: str,
    epochs: float = 1,
    digits: int = 4000,
    batch: int = 32,
    learning_rate: float = 0.05,
    seed: int = 0,
    unseen: int = 1000,
    show: Callable[[Sequence[float]], object] = lambda losses: None,
) -> OwnRun:
    """Train LeNet with your kernels in place of the official ones, in every layer that they fit.

    A kernel that is right, or wrong in its numbers alone, may train: try what a wrong one learns. One that is unsafe
    may not. The notebook's own network is not touched: take over the parameters with ``load_parameters``.

    Parameters
    ----------
    puzzles : str
        Names in `helpers.lessons.shared.student_kernels.PLACES`. The text of each is what you wrote last, in your file,
        notebooks/my/<puzzle>.wgsl, or in a cell that graded it.
    epochs, digits, batch, learning_rate, seed
        Of the training: the first `digits` of 4,000, `batch` images a step.
    unseen : int
        Of how many of 1,000 other digits the network is then asked.
    show : function, optional
        Called with the losses of all steps so far, every 5 steps.

    Raises
    ------
    ValueError
        A puzzle has no place in a network, or two take the same.
    RefusedError, a ValueError
        A text may not train, or was stopped; the message says why and what to do.
    GpuError
        This machine cannot run any kernel, or not this batch.
    """
    for name, value, most in ("digits", digits, 4000), ("unseen", unseen, 1000), ("batch", batch, digits):
        check_size(name, as_int(value), 1, most)
    check_size("seed", as_int(seed), 0, 2**32 - 1)
    check_number("epochs", epochs, MAX_SIZE // digits)
    UpdateShape(1, learning_rate)  # refuses what no update takes
    texts = {puzzle: _allowed(puzzle) for puzzle in dict.fromkeys(puzzles)}
    student_kernels(texts)  # refuses two for one place
    how = {"epochs": epochs, "learning_rate": learning_rate, "seed": seed}
    how |= {"digits": digits, "unseen": unseen, "batch": batch}
    losses: list[float] = []

    def heard(progress: Sequence[float]) -> None:
        losses.extend(progress)
        show(losses)

    try:
        answer = WORKER.ask({"texts": texts, **how}, SECONDS, heard)
    except (TimeoutError, MemoryError, EOFError) as stopped:
        raise RefusedError(f"your {', '.join(texts)}: {words.stopped(why(stopped, SECONDS))}") from None
    if "refused" in answer:
        raise RefusedError(_refusal(answer["refused"], record(answer["diagnosis"])))
    parameters = {name: np.array(values, np.float32) for name, values in answer["parameters"].items()}
    return OwnRun(tuple(texts), tuple(answer["losses"]), answer["accuracy"], parameters, answer["ended"])


def _allowed(puzzle: str) -> str:
    """The learner's text, once it is graded. Raises as `train_apart` does where it may not train."""
    if puzzle not in PLACES:
        raise ValueError(f"puzzle = {puzzle!r}: it must be one of {', '.join(PLACES)}")
    text = student_files.latest(puzzle)
    outcomes = {verdict.outcome for verdict in grade(puzzle, text)}
    for outcome, cure in CURES.items():
        if outcome in outcomes:
            raise RefusedError(f"your {puzzle} is not run: {cure.format(puzzle=puzzle)}")
    return text


def _refusal(puzzle: str, diagnosis: Diagnosis | None) -> str:
    """Return why a text is not run: for what the simulator found, or as it cannot try it."""
    if diagnosis is None:
        return f"your {puzzle} is not run: our simulator cannot try it; see helpers.grade({puzzle!r})"
    cure = f"see helpers.grade({puzzle!r}), and repair it first"
    return f"your {puzzle} is not run: {words.finding(diagnosis)}; {cure}"


# --- In the process apart -------------------------------------------------------------------------------------


def work(texts: Mapping[str, str], epochs: float, digits: int, unseen: int, **how: float) -> Iterator[dict]:
    """Check the texts and train with them: an answer for each text and every 5 steps, and the last one."""
    for puzzle, text in texts.items():
        try:
            finding = _found(puzzle, Kernel(text, f"your {puzzle}"))
        except UnsupportedWgsl:
            yield {"refused": puzzle, "diagnosis": None}
            return
        if finding:
            yield {"refused": puzzle, "diagnosis": plain(Diagnosis(finding))}
            return
        yield {"progress": []}
    images, labels, others, answers = seen_and_unseen()
    network, ended = Network(seed=how["seed"], kernels=student_kernels(texts)), ""
    training = Training(network, images[:digits], labels[:digits], **how)
    try:
        until = int(np.ceil(epochs * training.steps_per_epoch))
        for step in range(0, until, SHOWN):
            training.advance(min(SHOWN, until - step))
            yield {"progress": [moment.loss for moment in training.moments[step:]]}
    except DivergedError as error:
        ended = str(error)
    yield {
        "losses": [moment.loss for moment in training.moments],
        "accuracy": float((network.predict(others[:unseen], batch=50) == answers[:unseen]).mean()),
        "parameters": {name: array.tolist() for name, array in network.parameters().items()},
        "ended": ended,
    }


def _found(puzzle: str, kernel: Kernel) -> Finding | None:
    """Return what the simulator finds on the puzzle's tests or on LeNet's layers, or None; numbers may be wrong."""
    cases, work = (*PUZZLES[puzzle].cases(), *_lenet(puzzle)), Work(2 * MOST_WORK)
    runs = (simulated(kernel, case, work=work) for case in cases)
    return next((run.finding for run in runs if run.findings), None)


def _lenet(puzzle: str) -> Iterator[Case]:
    """The layers of LeNet in which a puzzle's kernel runs, or its update, with random whole numbers."""
    place, network, random = PLACES[puzzle], Network(), np.random.default_rng(0)
    steps = [(step.layer, step.operation, step.shape) for step in network.workspace(SIMULATED).steps]
    inputs = len(PUZZLES[puzzle].cases()[0].inputs)
    for layer, operation, shape in [*steps, ("update", SGD, UpdateShape(network.words, 0.05, 0.9))]:
        if operation is place.operation and place.fits(shape):
            tensors = [
                operation.draws.get(name, lambda s, name=name: random.integers(-3, 4, s.of(name)).astype(np.float32))
                for name in place.tensors.split()
            ]
            made = [draw(shape) for draw in tensors]
            given, result, scratch = made[:inputs], np.zeros_like(made[inputs]), made[inputs + 1 :]
            passes = (Dispatch(place.workgroups(shape)),)
            yield Case(
                layer, (*given,), result, place.words(shape), passes, scratch=tuple(each.size for each in scratch)
            )


if __name__ == "__main__":
    first = next(iter(PUZZLES.values()))
    serve(work, partial(grade_here, first, first.official.source), SECONDS)
