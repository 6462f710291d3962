"""The first calls of a process, by eight threads at once: what differs from NumPy in float64, and which errors came.

`faults_of("conv2d", ...)` in a fresh process names the calls, which the threads take in turn. Nothing of the project
but `helpers` is imported before the threads begin, as in a program that serves a class; what `helpers` does not name is
imported after a first use of what it names.
"""

from collections.abc import Callable, Sequence
from threading import Barrier, Thread

import numpy as np

import helpers

THREADS, ROUNDS = 8, 3  # calls of a thread
Pairs = Sequence[tuple[object, object]]  # what was computed, and what is right


def faults_of(*names: str) -> str:
    """Return a line for each fault that a thread has seen; nothing where all is right."""
    together, faults = Barrier(THREADS), []

    def call(number: int) -> None:
        rng = np.random.default_rng(number)
        together.wait()
        for turn in range(ROUNDS):
            name = names[(number + turn) % len(names)]
            try:
                right = all(np.array_equal(*pair) for pair in CALLS[name](rng))
                faults.extend([] if right else [f"{name}: wrong"])
            except Exception as error:
                faults.append(f"{name}: {type(error).__name__}: {error}")

    threads = [Thread(target=call, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return "\n".join(faults)


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Return small whole numbers, whose sums every order gets right."""
    return rng.integers(-4, 5, shape).astype(np.float32)


def conv2d(rng: np.random.Generator) -> Pairs:
    size = rng.integers(5, 9)
    input, weight = whole(rng, 2, 3, size, size), whole(rng, 4, 3, 3, 3)
    computed = helpers.conv2d(input, weight)
    from helpers.operations.convolution import reference

    return [(computed, reference.conv2d(input, weight))]


def gradients(rng: np.random.Generator) -> Pairs:
    size = rng.integers(5, 9)
    input, weight, grad = whole(rng, 2, 3, size, size), whole(rng, 4, 3, 3, 3), whole(rng, 2, 4, size - 2, size - 2)
    by_weight, by_input = (weight.shape, grad), (weight, grad)
    computed = (
        helpers.conv2d_grad_weight(input, *by_weight),
        helpers.conv2d_grad_input(input.shape, *by_input),
        helpers.conv2d_grad_bias(grad),
    )
    from helpers.operations.convolution import reference

    right = (
        reference.conv2d_grad_weight(input, *by_weight),
        reference.conv2d_grad_input(input.shape, *by_input),
        reference.conv2d_grad_bias(grad),
    )
    return [*zip(computed, right, strict=True)]


def products(rng: np.random.Generator) -> Pairs:
    a, b, bias, grad = whole(rng, 2, 5, 7), whole(rng, 7, 4), whole(rng, 4), whole(rng, 2, 5, 4)
    computed = helpers.gemm_bias_act(a, b, bias), *helpers.gemm_bias_act_backward(a, b, bias, grad)
    from helpers.operations.gemm import reference

    return [*zip(computed, (reference.forward(a, b, bias), *reference.backward(a, b, bias, grad)), strict=True)]


def max_pool2d(rng: np.random.Generator) -> Pairs:
    input = whole(rng, 2, 3, 6, 8)
    return [(helpers.max_pool2d(input, 2), np.float64(input).reshape(2, 3, 3, 2, 4, 2).max((3, 5)))]


ADDER = """
@group(0) @binding(0) var<storage, read_write> data: array<f32>;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) i: vec3u) { data[i.x] += 1.0; }
"""


def simulate(rng: np.random.Generator) -> Pairs:
    data = whole(rng, 8)
    return [(helpers.simulate(ADDER, [data], (1, 1, 1)).buffers[0], np.float64(data) + 1)]


def refused(rng: np.random.Generator) -> Pairs:
    """A text that does not compile: its error reaches the thread that sent it, and no other one."""
    helpers.adapter_info()
    from helpers.gpu import launch

    name = f"unknown_{rng.integers(1000)}"
    try:
        launch(ADDER.replace("1.0", name), [whole(rng, 8)])
    except helpers.WgslError as error:
        return [(name in str(error), True)]
    return [("compiled", "refused")]


def learn(rng: np.random.Generator) -> Pairs:
    """The loss of a network that knows nothing but that its parameters are 0: the logarithm of its classes."""
    network = helpers.Network(seed=int(rng.integers(1000)))
    network.load_parameters({name: np.zeros(shape, np.float32) for name, shape in network.shapes.items()})
    images, labels = whole(rng, 4, 1, 28, 28), rng.integers(0, 10, 4)
    training = helpers.Training(network, images, labels, batch=4)
    training.advance(1)
    return [(np.float32(training.moments[0].loss).round(5), np.float32(np.log(10)).round(5))]


def report(rng: np.random.Generator) -> Pairs:
    helpers.adapter_info()
    from helpers.gpu import doctor, timing

    times = timing.measure(doctor.counting_pass(), repeats=2, awake=0)
    return [(doctor.machine_report().partition(" ")[0], "adapters"), (times.median > 0, True)]


def list_adapters(rng: np.random.Generator) -> Pairs:
    """Adapters that are found, and let go, again and again."""
    helpers.adapter_info()
    from helpers.gpu import doctor

    return [(doctor.machine_report().partition(" ")[0], "adapters") for _ in range(5)]


def grade(rng: np.random.Generator) -> Pairs:
    official = "output[i] = input[i] + 1.0;"
    grades = helpers.grade("map", helpers.skeleton("map") if rng.integers(2) else official)
    outcomes = {verdict.outcome for verdict in grades}
    return [(outcomes <= {"not attempted", "does not compile"}, True)]


CALLS: dict[str, Callable[[np.random.Generator], Pairs]] = {
    call.__name__: call
    for call in (conv2d, gradients, products, max_pool2d, simulate, refused, learn, report, list_adapters, grade)
}
