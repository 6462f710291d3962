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
from helpers.operations.operation import Shape
from wgsl import Kernel, UnsupportedWgsl
from wgsl.simulator.findings import Finding
from wgsl.simulator.work import Work

WORKER = Worker("helpers.lessons.train_lenet.training_apart")
SECONDS = 600  # for a driver that hangs: from one answer to the next, the check of a kernel or 5 steps
SIMULATED = 2  # images
SHOWN = 5  # steps from one answer to the next
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
        report = f"{len(self.losses):,} steps with your {', '.join(self.puzzles)}"
        if self.losses:
            report += f", mean loss of the last ten {np.mean(self.losses[-10:]):.2f}"
        report += f", {self.accuracy:.1%} of unseen digits right"
        if self.ended:
            report += f"; {self.ended}"
        return report


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
    check_size("digits", as_int(digits), 1, 4000)
    check_size("unseen", as_int(unseen), 1, 1000)
    check_size("batch", as_int(batch), 1, digits)
    check_size("seed", as_int(seed), 0, 2**32 - 1)
    check_number("epochs", epochs, MAX_SIZE // digits)
    UpdateShape(1, learning_rate)  # refuses what no update takes
    texts = {puzzle: _allowed(puzzle) for puzzle in dict.fromkeys(puzzles)}
    student_kernels(texts)  # refuses two for one place
    request = {
        "texts": texts,
        "epochs": epochs,
        "learning_rate": learning_rate,
        "seed": seed,
        "digits": digits,
        "unseen": unseen,
        "batch": batch,
    }
    losses: list[float] = []

    def add_losses(progress: Sequence[float]) -> None:
        losses.extend(progress)
        show(losses)

    return _run(tuple(texts), _ask(request, add_losses))


def _ask(request: Mapping[str, object], add_losses: Callable[[Sequence[float]], None]) -> dict:
    """Return the last answer of the process apart. Raises RefusedError where it was stopped, or refuses a text."""
    try:
        answer = WORKER.ask(request, SECONDS, add_losses)
    except (TimeoutError, MemoryError, EOFError) as stopped:
        raise RefusedError(f"your {', '.join(request['texts'])}: {words.stopped(why(stopped, SECONDS))}") from None
    if "refused" in answer:
        raise RefusedError(_refusal(answer["refused"], record(answer["diagnosis"])))
    return answer


def _run(puzzles: tuple[str, ...], answer: Mapping[str, object]) -> OwnRun:
    """Return the run that the last answer describes."""
    parameters = {name: np.array(values, np.float32) for name, values in answer["parameters"].items()}
    return OwnRun(puzzles, tuple(answer["losses"]), answer["accuracy"], parameters, answer["ended"])


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
        answer = _check(puzzle, text)
        yield answer
        if "refused" in answer:
            return
    images, labels, others, answers = seen_and_unseen()
    network = Network(seed=how["seed"], kernels=student_kernels(texts))
    training = Training(network, images[:digits], labels[:digits], **how)
    ended = ""
    try:
        until = int(np.ceil(epochs * training.steps_per_epoch))
        for step in range(0, until, SHOWN):
            training.advance(min(SHOWN, until - step))
            yield {"progress": [moment.loss for moment in training.moments[step:]]}
    except DivergedError as error:
        ended = str(error)
    predictions = network.predict(others[:unseen], batch=50)
    yield {
        "losses": [moment.loss for moment in training.moments],
        "accuracy": float((predictions == answers[:unseen]).mean()),
        "parameters": {name: array.tolist() for name, array in network.parameters().items()},
        "ended": ended,
    }


def _check(puzzle: str, text: str) -> dict:
    """Return the answer for one text: no progress yet, or that it is refused, and the diagnosis if there is one."""
    try:
        finding = _found(puzzle, Kernel(text, f"your {puzzle}"))
    except UnsupportedWgsl:
        return {"refused": puzzle, "diagnosis": None}
    if finding:
        return {"refused": puzzle, "diagnosis": plain(Diagnosis(finding))}
    return {"progress": []}


def _found(puzzle: str, kernel: Kernel) -> Finding | None:
    """Return what the simulator finds on the puzzle's tests or on LeNet's layers, or None; numbers may be wrong."""
    work = Work(2 * MOST_WORK)
    for case in (*PUZZLES[puzzle].cases(), *_lenet(puzzle)):
        run = simulated(kernel, case, work=work)
        if run.findings:
            return run.finding
    return None


def _lenet(puzzle: str) -> Iterator[Case]:
    """The layers of LeNet in which a puzzle's kernel runs, or its update, with random whole numbers."""
    place = PLACES[puzzle]
    network = Network()
    random = np.random.default_rng(0)
    steps = [(step.layer, step.operation, step.shape) for step in network.workspace(SIMULATED).steps]
    steps.append(("update", SGD, UpdateShape(network.words, 0.05, 0.9)))
    for layer, operation, shape in steps:
        if operation is place.operation and place.fits(shape):
            yield _layer_case(puzzle, layer, shape, random)


def _layer_case(puzzle: str, layer: str, shape: Shape, random: np.random.Generator) -> Case:
    """A layer as a test of a puzzle's kernel; only what the simulator finds is looked at, not the result."""
    place = PLACES[puzzle]
    tensors = []
    for name in place.tensors.split():
        draw = place.operation.draws.get(name)
        if draw:
            tensors.append(draw(shape))
        else:
            tensors.append(random.integers(-3, 4, shape.of(name)).astype(np.float32))
    count = len(PUZZLES[puzzle].cases()[0].inputs)
    return Case(
        layer,
        inputs=tuple(tensors[:count]),
        expected=np.zeros_like(tensors[count]),
        params=place.words(shape),
        dispatches=(Dispatch(place.workgroups(shape)),),
        scratch=tuple(tensor.size for tensor in tensors[count + 1 :]),
    )


if __name__ == "__main__":
    first = next(iter(PUZZLES.values()))
    serve(work, partial(grade_here, first, first.official.source), SECONDS)
