"""Operations: what is planned, which version is chosen and why, and launches over buffers that stay on the GPU."""

import re
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from support.launcher import MADE_ONCE, CallCounter, python

import helpers
from helpers import gpu
from helpers.convolution import operations as convolution
from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.gemm import operations as gemm
from helpers.gemm import reference as gemm_reference
from helpers.gemm.shapes import GemmShape
from helpers.gpu import GpuError, passes
from helpers.gpu.operation import (
    Choice,
    Operation,
    Schedule,
    Shape,
    Step,
    _chosen,
    _planned,
    nested_loops,
    one_step,
    tree_reduction,
)
from helpers.operations import OPERATIONS, explain_choice
from helpers.oracles.harness import normal, resident, whole
from helpers.summation.shapes import SumShape
from helpers.wgsl import Kernel


@pytest.fixture
def calls(monkeypatch) -> CallCounter:
    return CallCounter(monkeypatch)


@pytest.fixture
def cap(monkeypatch):
    """Pretend that the driver stops a thread after this many iterations."""

    def pretend(iterations: int | None) -> None:
        monkeypatch.setattr(passes, "CAP", iterations)
        monkeypatch.setattr(passes, "loop_cap", lambda: iterations)
        for plans in (_planned, _chosen):
            plans.cache_clear()

    yield pretend
    for plans in (_planned, _chosen):
        plans.cache_clear()


SOFTWARE, HARDWARE = (replace(gpu.adapter_info(), kind=kind) for kind in ("software", "hardware"))
CONV1, LARGE = ConvShape(1, 1, 28, 28, 6, 5, 5), ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1)
LONG = ConvShape(1, 1, 50, 60, 1, 1, 1)  # 3,000 products: a thread of version 1 takes all of them, of version 2 twelve
SHAPES = {  # of the operations that are no convolutions
    "sum": [SumShape(30), SumShape(30_000)],
    "gemm_bias_act": [GemmShape(5, 6, 7), GemmShape(512, 512, 512), GemmShape(512, 512, 511)],
    "gemm_bias_act_backward": [GemmShape(5, 6, 7), GemmShape(512, 512, 512)],
}
SMALL = ConvShape(1, 2, 12, 13, 3, 3, 3)
FAST = (  # layers for which a GPU takes a version of its own each
    CONV1,
    ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 1),
    ConvShape(32, 128, 28, 28, 128, 3, 3, 2, 1),
    ConvShape(256, 6, 12, 12, 16, 5, 5),
)
DILATED = ConvShape(32, 64, 56, 56, 64, 3, 3, 1, 2, 2)
DEPTHWISE = ConvShape(32, 128, 56, 56, 128, 3, 3, 1, 1, groups=128)
UNEQUAL = replace(SMALL, stride=(2, 1))
STEPS = {"gemm_bias_act/4_vec4_tiles"}  # of the speed ladder only: a later version of the same idea is faster
WIDE = ConvShape(1, 70_000, 1, 1, 1, 1, 1)  # version 2 would need 70,000 workgroups in x

# --- Which version runs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "shape", "adapter", "version"),
    [  # beside the layers of test_choice: small ones, both sides of a threshold, software adapters
        ("conv2d_grad_weight", ConvShape(1, 255, 1, 1, 257, 1, 1), HARDWARE, "2_workgroup_per_weight"),
        ("conv2d_grad_weight", ConvShape(1, 256, 1, 1, 256, 1, 1), HARDWARE, "3_split_k"),
        ("conv2d_grad_input", ConvShape(1, 1, 12, 12, 1, 3, 3), HARDWARE, "2_shared_weights"),
        ("conv2d_grad_input", ConvShape(1, 1, 12, 11, 1, 3, 3), HARDWARE, "1_gather"),
        ("conv2d", FAST[1], SOFTWARE, "4_register_windows"),
        ("conv2d_grad_input", FAST[2], SOFTWARE, "4_residue_classes"),
        ("conv2d_grad_weight", FAST[2], SOFTWARE, "5_register_windows"),
        ("conv2d", DILATED, HARDWARE, "2_implicit_gemm"),
        ("conv2d_grad_weight", DEPTHWISE, SOFTWARE, "7_direct"),
        ("gemm_bias_act", GemmShape(512, 512, 511), HARDWARE, "3_register_tiles"),
        ("gemm_bias_act", GemmShape(512, 511, 512), SOFTWARE, "1_thread_per_element"),
        ("gemm_bias_act", GemmShape(63, 64, 64), HARDWARE, "2_tiled"),
        ("conv2d_grad_bias", ConvShape(31, 1, 1, 1, 8, 1, 1), HARDWARE, "1_thread_per_channel"),
        ("conv2d_grad_bias", ConvShape(32, 1, 1, 1, 8, 1, 1), HARDWARE, "2_workgroup_per_channel"),
        ("conv2d_grad_bias", LARGE, SOFTWARE, "1_thread_per_channel"),
        ("sum", SumShape(31), HARDWARE, "2_tree"),
        ("sum", SumShape(1_024), SOFTWARE, "1_one_thread"),
        ("sum", SumShape(16_384), SOFTWARE, "2_tree"),
    ],
)
def test_the_version_that_was_measured_to_be_best_is_chosen(operation, shape, adapter, version):
    assert OPERATIONS[operation].choose(shape, adapter)[0].version == version


@pytest.mark.parametrize("adapter", [SOFTWARE, HARDWARE], ids=["software", "hardware"])
def test_with_an_activation_the_best_version_that_has_one_is_chosen(adapter, monkeypatch):
    monkeypatch.setattr("helpers.gpu.operation.adapter_info", lambda: adapter)
    for shape in (SMALL, *FAST, LARGE, replace(SMALL, stride=2)):
        shape, forward = replace(shape, activation="relu"), convolution.FORWARD
        names = [choice.version for choice in forward.choose(shape, adapter)]
        assert names == [choice.version for choice in forward.choose(replace(shape, activation="none"), adapter)]
        taken = next(name for name in names if forward.problem(shape, name) is None)
        sentence = explain_choice("conv2d", shape)
        assert sentence.startswith(f"conv2d takes {taken}: ")
        assert (names[0] == TEACHING) == (f"({TEACHING} comes first, but cannot run: {NO_ACTIVATION})" in sentence)


TEACHING = "1_thread_per_output"
NO_ACTIVATION = f"conv2d/{TEACHING}: activation = 'relu': it has none; choose another version"


def test_the_first_version_has_no_activation():
    x, w = np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 2, 2), np.float32)
    with pytest.raises(GpuError, match=f"^{NO_ACTIVATION}$"):
        helpers.conv2d(x, w, activation="relu", kernel=TEACHING)
    assert (helpers.conv2d(x, w, np.float32([-5]), activation="relu") == 0).all()
    assert (helpers.conv2d(x, w, np.float32([-5]), activation="none", kernel=TEACHING) == -1).all()


@pytest.mark.parametrize("operation", ["conv2d_grad_input", "conv2d_grad_weight", "conv2d_grad_bias"])
def test_an_activation_changes_nothing_for_a_gradient(operation):
    operation = OPERATIONS[operation]
    for shape in (SMALL, *FAST):
        acting = replace(shape, activation="gelu")
        assert operation.plan(acting) == operation.plan(shape)
        assert operation.params(acting) == operation.params(shape)
        for version, schedule in operation.versions.items():
            assert schedule(acting, operation.kernel(version)) == schedule(shape, operation.kernel(version))


@pytest.mark.parametrize(("size", "dilation"), [((3, 3), 1), ((2, 3), 1), ((4, 2), (1, 3)), ((1, 5), (2, 2))])
def test_with_the_padding_same_the_output_is_as_large_as_the_input(size, dilation):
    x, w = (normal(shape, seed) for seed, shape in enumerate([(2, 3, 7, 9), (4, 3, *size)]))
    zeros = [(k - 1) * d for k, d in zip(size, np.broadcast_to(dilation, 2), strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *((count // 2, count - count // 2) for count in zeros)])
    got, right = helpers.conv2d(x, w, padding="same", dilation=dilation), reference.conv2d(padded, w, dilation=dilation)
    assert got.shape == (2, 4, 7, 9)
    np.testing.assert_allclose(got, right, rtol=1e-5, atol=1e-5)
    assert np.array_equal(helpers.conv2d(x, w, padding="valid"), helpers.conv2d(x, w))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_version_is_a_choice_somewhere(operation):
    shapes = SHAPES.get(operation, [SMALL, *FAST, replace(SMALL, dilation=2)])
    choices = [OPERATIONS[operation].choose(shape, adapter) for shape in shapes for adapter in (SOFTWARE, HARDWARE)]
    chosen = {f"{operation}/{choice.version}" for each in choices for choice in each}
    assert chosen | STEPS >= {f"{operation}/{version}" for version in OPERATIONS[operation].versions}
    assert not chosen & STEPS


ANY = {"conv2d": "5_direct", "conv2d_grad_input": "8_direct", "conv2d_grad_weight": "7_direct"}
# The weights of the first are too many for tiles: laid out for them, they take more than a binding holds.
HUGE = ConvShape(8, 512, 7, 7, 1337, 7, 7, activation="relu"), ConvShape(1, 2**17, 3, 3, 1, 3, 3, activation="relu")


@pytest.mark.parametrize("shape", [SMALL, *FAST, DILATED, DEPTHWISE, *HUGE], ids=str)
@pytest.mark.parametrize("adapter", [SOFTWARE, HARDWARE], ids=["software", "hardware"])
def test_one_of_the_choices_takes_every_layer(shape, adapter, monkeypatch):
    monkeypatch.setattr("helpers.gpu.operation.adapter_info", lambda: adapter)
    monkeypatch.setattr(passes, "loop_cap", lambda: None)
    for name, version in ANY.items():
        layer = shape if name == "conv2d" else replace(shape, activation="none")
        assert version in [choice.version for choice in OPERATIONS[name].choose(layer, adapter)]
        assert OPERATIONS[name].problem(layer, version) is None
        assert OPERATIONS[name].plan(layer)


KERNELS = {name: Kernel(f"// {name}", f"sum/{name}") for name in ("1_a", "2_b", "3_c")}
UNABLE = (70_000, 1, 1)  # workgroups that no adapter runs


def summing(workgroups: dict[str, tuple[int, int, int]], best_first: list[str]) -> Operation:
    """An operation whose versions have these workgroups and are preferred in this order."""
    operation = Operation(
        name="sum",
        tensors=("output",),
        outputs=("output",),
        versions={name: lambda shape, kernel, size=size: one_step(size, 1) for name, size in workgroups.items()},
        choose=lambda shape, adapter: [Choice(name, f"{name} is fast") for name in best_first],
    )
    object.__setattr__(operation, "kernel", lambda name: KERNELS[name])  # there is no such folder
    return operation


@pytest.mark.parametrize("best_first", [*permutations(KERNELS)])
def test_the_first_choice_that_can_run_is_taken_wherever_its_file_stands(best_first):
    one = (1, 1, 1)
    operation = summing(dict.fromkeys(KERNELS, one), list(best_first))
    assert operation.plan(CONV1).passes[0].kernel is KERNELS[best_first[0]]
    assert operation.explain_choice(CONV1) == f"sum takes {best_first[0]}: {best_first[0]} is fast."
    unable = summing({**dict.fromkeys(KERNELS, one), best_first[0]: UNABLE}, list(best_first))
    assert unable.plan(CONV1).passes[0].kernel is KERNELS[best_first[1]]
    assert f"takes {best_first[1]}" in unable.explain_choice(CONV1)
    assert f"{best_first[0]} comes first, but cannot run: sum/{best_first[0]}: (70000, 1, 1)" in unable.explain_choice(
        CONV1
    )


def test_where_no_version_can_run_the_best_one_says_why():
    with pytest.raises(GpuError, match=r"sum/2_b: \(70000, 1, 1\) workgroups.*: choose another kernel"):
        summing(dict.fromkeys(KERNELS, UNABLE), ["2_b", "1_a", "3_c"]).plan(CONV1)


def test_a_version_that_would_pass_the_loop_cap_gives_way_unless_it_is_named(cap):
    grad_weight = convolution.GRAD_WEIGHT
    assert grad_weight.plan(WIDE).passes[0].kernel.version == "1_thread_per_weight"
    cap(1000)
    assert grad_weight.plan(LONG).passes[0].kernel.version == "2_workgroup_per_weight"
    with pytest.raises(GpuError, match="conv2d_grad_weight/1_thread_per_weight: a thread may loop 3,1"):
        grad_weight.plan(LONG, "1_thread_per_weight")
    cap(10)
    with pytest.raises(GpuError, match="conv2d_grad_weight/"):
        grad_weight.plan(LONG)


def test_a_sum_longer_than_the_cap_is_right_or_refused():
    """Where the adapter has the cap, version 1 would stop after 65,535 of these 90,000 products without an error."""
    ones = np.ones((1, 1, 300, 300), np.float32)
    assert helpers.conv2d_grad_weight(ones, (1, 1, 1, 1), ones) == 90_000
    if passes.loop_cap():
        with pytest.raises(GpuError, match="1_thread_per_weight: a thread may loop 90,"):
            helpers.conv2d_grad_weight(ones, (1, 1, 1, 1), ones, kernel="1_thread_per_weight")


def test_a_choice_is_explained_in_one_sentence():
    for operation in OPERATIONS:
        shape = SHAPES.get(operation, [CONV1])[0]
        sentence = explain_choice(operation, shape)
        assert sentence.startswith(f"{operation} takes {OPERATIONS[operation].plan(shape).passes[0].kernel.version}: ")
        assert sentence.endswith(".")
    with pytest.raises(ValueError, match="operation = 'conv3d': it must be one of conv2d, "):
        helpers.explain_choice("conv3d", CONV1)


# --- Planned once -----------------------------------------------------------------------------------------


def test_a_second_call_plans_compiles_and_lists_nothing(calls, monkeypatch):
    def solve() -> None:
        helpers.conv2d_grad_bias(np.ones((1, 1, 3, 2), np.float32))

    solve()
    monkeypatch.setattr(Path, "glob", lambda *_: pytest.fail("a folder was listed"))
    calls.on(gpu.device(), *MADE_ONCE, "create_buffer_with_data").on(gpu.device().queue, "submit")
    solve()
    assert calls == {"submit": 2}  # the launch and the read; even the parameters are kept


def test_a_kernel_file_that_was_edited_is_planned_again(tmp_path, monkeypatch):
    folder = tmp_path / "conv2d_grad_bias"
    folder.mkdir()
    monkeypatch.setattr("helpers.wgsl.KERNELS", tmp_path)
    source = Path("kernels/conv2d_grad_bias/1_thread_per_channel.wgsl")
    right = (Path(helpers.__file__).parents[1] / source).read_text(encoding="utf-8")
    for start in ("0.0", "5.0"):
        text = right.replace("var sum = 0.0", f"var sum = {start}") + " " * int(float(start))
        (folder / source.name).write_text(text, encoding="utf-8")
        got = helpers.conv2d_grad_bias(np.ones((1, 1, 3, 2), np.float32), kernel=source.stem)
        assert got == 6 + float(start)


@pytest.mark.parametrize("threads", [3, 100, 255])
def test_a_tree_reduction_wants_a_power_of_two(threads):
    with pytest.raises(ValueError, match=f"THREADS = {threads}: it must be a power of two"):
        tree_reduction(100, threads)


def test_loops_inside_each_other_are_counted_with_the_tests_that_end_them():
    assert nested_loops(7) == 7 + 1
    assert nested_loops(3, 7) == 3 * (1 + 8) + 2  # the outer test, and the inner one for a thread that only waits
    assert nested_loops(2, 3, 7) == 2 * (1 + 29) + 3


# --- Buffers that stay on the GPU -------------------------------------------------------------------------


def new_buffers(operation: Operation, shape: Shape, **given: np.ndarray) -> dict:
    """The buffers of an operation in binding order; those that are not given are full of zeros."""
    return resident(operation, shape, given, before=0)


def test_launches_follow_each_other_without_a_read(calls):
    shape = ConvShape(2, 2, 6, 5, 3, 3, 2, 1, (1, 0))
    arrays = {name: whole(shape.of(name), seed) for seed, name in enumerate(("input", "weight", "bias"))}
    forward = new_buffers(convolution.FORWARD, shape, **arrays)
    backward = new_buffers(convolution.GRAD_WEIGHT, shape) | {
        "grad_output": forward["output"],
        "input": forward["input"],
    }
    bias = new_buffers(convolution.GRAD_BIAS, shape) | {"grad_output": forward["output"]}
    calls.on(gpu.device().queue, "read_buffer")
    # The loss is half the sum of squares, so that grad_output is the output itself.
    convolution.FORWARD.launch([*forward.values()], shape)
    convolution.GRAD_WEIGHT.launch([*backward.values()], shape)
    convolution.GRAD_BIAS.launch([*bias.values()], shape)
    assert not calls
    output = reference.conv2d(*arrays.values(), 1, (1, 0))
    want = reference.conv2d_grad_weight(arrays["input"], shape.weight, output, 1, (1, 0))
    assert np.array_equal(gpu.read(backward["grad_weight"], shape.weight), want)
    assert np.array_equal(gpu.read(bias["grad_bias"], (3,)), output.sum((0, 2, 3)))


ALL = GemmShape(18, 20, 36, 2, "relu")
LABELS = ["gemm_bwd_grad_pre", "gemm_bwd_da", "gemm_bwd_db", "gemm_bwd_dbias"]


def test_four_passes_are_labelled_ordered_and_dispatched_as_documented():
    buffers = [*new_buffers(gemm.BACKWARD, ALL).values()]
    four = gemm.BACKWARD.prepare(buffers, ALL, "2_tiled")
    assert [each.label for each in four] == LABELS
    assert [each.entry_point for each in four] == [f"{label}_f32" for label in LABELS]
    assert [each.workgroups for each in four] == [(3, 2, 2), (2, 2, 2), (3, 2, 1), (1, 1, 1)]
    assert gemm.BACKWARD.plan(replace(ALL, per_item=True), "2_tiled").passes[2].workgroups == (3, 2, 2)


@pytest.mark.parametrize("version", gemm.BACKWARD.versions)
@pytest.mark.parametrize("order", [p for p in permutations(range(4)) if p[0] != 0][::3])
def test_the_order_of_the_passes_matters(order, version):
    """A pass that runs before grad_pre is written reads the zeros of a new buffer."""
    data = {name: whole(ALL.of(name), seed) for seed, name in enumerate(("a", "b", "bias", "grad"))}
    buffers = new_buffers(gemm.BACKWARD, ALL, **data)
    four = gemm.BACKWARD.prepare([*buffers.values()], ALL, version)
    gpu.run(*(four[i] for i in order))
    want = gemm_reference.backward(**data, activation="relu")
    got = [gpu.read(buffers[name], ALL.of(name)) for name in ("d_a", "d_b", "d_bias")]
    early = order[: order.index(0)]
    assert [np.array_equal(*pair) for pair in zip(got, want, strict=True)] == [i not in early for i in (1, 2, 3)]


def test_four_passes_are_one_submission_over_one_bind_group(calls):
    buffers = [*new_buffers(gemm.BACKWARD, ALL).values()]
    gemm.BACKWARD.launch(buffers, ALL)
    calls.on(gpu.device(), *MADE_ONCE, "create_command_encoder", "create_bind_group")
    calls.on(gpu.device().queue, "submit", "read_buffer")
    gemm.BACKWARD.launch(buffers, replace(ALL, activation="silu"))
    assert calls == {"create_command_encoder": 1, "create_bind_group": 1, "submit": 1}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda b: b[:7], "gemm_bias_act_backward: 7 buffers: it takes 8, a, b, bias"),
        (lambda b: [*b[:4], b[3], *b[5:]], "one buffer was given for two tensors"),
        (lambda b: [gpu.empty(4, "a"), *b[1:]], r"a is a buffer of 4 bytes: \(2, 18, 20\) takes 2880"),
    ],
)
def test_buffers_that_do_not_hold_the_tensors_are_refused(change, words):
    with pytest.raises(ValueError, match=words):
        gemm.BACKWARD.launch(change([*new_buffers(gemm.BACKWARD, ALL).values()]), ALL)


def test_more_items_than_a_dispatch_has_layers_go_to_the_version_that_can():
    """Tiles need a layer of workgroups for each item; one thread an element does not."""
    many = GemmShape(1, 1, 1, 65_536)
    by_tiles, by_threads = gemm.FORWARD.choose(many, HARDWARE)
    assert (by_tiles.version, by_threads.version) == ("2_tiled", "1_thread_per_element")
    with pytest.raises(GpuError, match=r"\(1, 1, 65536\) workgroups"):
        gemm.FORWARD.plan(many, "2_tiled")
    a = whole((65_536, 1, 1), 0)
    assert np.array_equal(helpers.gemm_bias_act(a, np.float32([[2]]), np.float32([1])), 2 * a + 1)


# --- Several steps with a scratch buffer between them -----------------------------------------------------

PAIRS = """
@group(0) @binding(0) var<storage, read> input: array<f32>;         // (8)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;   // (1)
@group(0) @binding(2) var<storage, read_write> pairs: array<f32>;   // (4)
@group(0) @binding(3) var<uniform> params: vec4u;
@compute @workgroup_size(1)
fn add_pairs(@builtin(workgroup_id) i: vec3u) { pairs[i.x] = input[2u * i.x] + input[2u * i.x + 1u]; }
@compute @workgroup_size(1)
fn add_all() { for (var i = 0u; i < params.x / 2u; i++) { total[0] += pairs[i]; } }
"""


class Eight:
    """A sum of eight numbers."""

    def of(self, tensor: str) -> tuple[int, ...]:
        return {"input": (8,), "total": (1,)}[tensor]

    def params(self) -> tuple[int, ...]:
        return (8,)


def test_steps_share_a_scratch_buffer():
    steps = Step((4, 1, 1), 0, "add_pairs"), Step((1, 1, 1), 5, "add_all")
    operation = Operation(
        name="total",
        tensors=("input", "total"),
        outputs=("total",),
        versions={"1_pairs": lambda shape, kernel: Schedule(steps, {"pairs": 16})},
        choose=lambda shape, adapter: [],
    )
    kernel = Kernel(PAIRS, "total/1_pairs")
    assert operation.compute(Eight(), kernel, input=np.arange(8, dtype=np.float32))[0] == 28
    buffers = gpu.upload(np.ones(8, np.float32), "input"), gpu.empty(4, "total")
    first, second = operation.prepare(buffers, Eight(), kernel)
    assert first.buffers is second.buffers
    gpu.run(second, first, second)  # the first sum is of empty scratch
    assert gpu.read(buffers[1], (1,)) == 8


# --- Imports ------------------------------------------------------------------------------------------------

WITHOUT_WGPU = """
import sys
sys.modules["wgpu"] = None  # an import of it fails
import helpers
from helpers import pictures, simulate, stepper
from helpers.convolution import check, indices, pictures, reference, shapes
from helpers.gemm import check, indices, pictures, reference, shapes
from helpers.summation import check, indices, pictures, reference, shapes
from helpers.data import digits
from helpers.wgsl import load
print(digits.conv1_input().shape, len(load("conv2d", "1_thread_per_output").bindings))
try: helpers.conv2d
except ImportError as error: print("needs", error.name)
"""


def test_what_needs_no_gpu_imports_without_wgpu():
    assert python(WITHOUT_WGPU).split("\n")[:2] == ["(1, 1, 28, 28) 5", "needs wgpu"]


LAYERS = [  # each folder or module may import those of the layers before its own, and itself
    {"arguments", "data", "output", "websocket"},
    {"wgsl"},
    {"compile_errors", "specialize"},
    {"gpu", "pictures", "simulator"},
    {"grading", "stepper"},
    {"threads", "summation", "activations"},
    {"convolution", "gemm"},
    {"operations"},
    {"oracles", "speed"},
    {"exercises", "bench"},
    {"gradebook"},
]


def wrong_imports(root: Path) -> list[str]:
    """Imports of helpers that run against the layers."""
    level = {name: i for i, layer in enumerate(LAYERS) for name in layer}
    wrong = []
    for path in sorted(root.rglob("*.py")):
        home = path.relative_to(root).parts[0].removesuffix(".py")
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split()
            names = []
            if words[:2] == ["from", "helpers"] and home != "__init__":
                names = [name.strip(" ,(") for name in line.partition(" import ")[2].split(",")]
            elif words[:1] in (["from"], ["import"]) and words[1].startswith("helpers."):
                names = [words[1].split(".")[1]]
            wrong += [f"{path.relative_to(root)}: {line}" for n in names if n != home and level[n] >= level[home]]
    return wrong


def test_imports_run_one_way(tmp_path):
    assert wrong_imports(Path(helpers.__file__).parent) == []
    (tmp_path / "gpu").mkdir()
    against = "from helpers.wgsl import load\nfrom helpers.gemm import check\n"
    (tmp_path / "gpu" / "passes.py").write_text(against)
    (tmp_path / "gpu" / "__main__.py").write_text(against)
    line = "from helpers.gemm import check"
    assert wrong_imports(tmp_path) == [f"gpu/__main__.py: {line}", f"gpu/passes.py: {line}"]


def importers(root: Path, module: str) -> set[str]:
    """The files below a folder with a line that imports a module whose name begins so."""
    imported = re.compile(rf"^\s*(?:from|import) {module}", re.MULTILINE)
    return {path.name for path in root.rglob("*.py") if imported.search(path.read_text(encoding="utf-8"))}


def test_only_the_gpu_folder_imports_wgpu_and_no_test_imports_another(tmp_path):
    root = Path(helpers.__file__).parent
    assert importers(root, "wgpu") == importers(root / "gpu", "wgpu") != set()
    assert importers(root.parent / "tests", "test_") == set()
    (tmp_path / "test_a.py").write_text("from test_b import c\n")
    assert importers(tmp_path, "test_") == {"test_a.py"}
