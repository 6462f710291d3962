"""What a kernel file promises its reader, and the rules that no compiler checks."""

import re
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from support.headers import header, letters_of
from support.problems import EVERY_VERSION, every_version, fitted, general, refused, specialized

from helpers.activations import act, derivative
from helpers.convolution import reference as convolution
from helpers.convolution.shapes import ConvShape
from helpers.exercises import PUZZLES
from helpers.gemm import reference as gemm
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Operation, Shape
from helpers.gpu.passes import pipeline
from helpers.operations import OPERATIONS
from helpers.oracles.harness import answer, drawn, normal, operation_of
from helpers.summation import reference as summation
from helpers.summation.shapes import SumShape
from helpers.wgsl import KERNELS, PART, Kernel, Listing, load, versions

KEYS = ["title", "equation", "numpy", "in", "out", "dispatch", "barriers", "cost", "limits", "new here"]
FLOAT_INDEX = re.compile(r"\b[iu]32\(\s*(f32|floor|round|trunc)\b")  # u32(f32(i) * inverse) is wrong for 41, 47, ...
# No two sizes are equal; a stride that leaves a rest, and a padding larger than the filter.
CONVOLUTIONS = (ConvShape(2, 3, 30, 40, 10, 4, 7, 6, (1, 8)), ConvShape(2, 3, 6, 8, 4, 3, 2, 1, (4, 5)))
FORWARD = replace(CONVOLUTIONS[0], activation="gelu"), replace(CONVOLUTIONS[1], activation="tanh")
LAYERS = (GemmShape(2, 3, 5, 4, "gelu", b_per_item=True), GemmShape(5, 4, 3, 2, "tanh", per_item=True))
SUMS = (SumShape(7), SumShape(600))
# In a JupyterLab window of 1280 x 720, beside the list of files and a scroll bar, a line of an output has room for
# 89 characters of Menlo or DejaVu Sans Mono. A listing's line number takes 5 of them.
COLUMNS = 84
REFERENCES = convolution, gemm, summation
LOOPS = {name: f for module in REFERENCES for name, f in vars(module).items() if name.endswith("_loops")}
LISTINGS = {kernel.name: kernel.listing for kernel in EVERY_VERSION} | {name: Listing.of(LOOPS[name]) for name in LOOPS}
LISTINGS |= {name: puzzle.official.listing for name, puzzle in PUZZLES.items()}

every_operation = pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)


def shapes_for(operation: Operation) -> tuple[Shape, Shape]:
    if operation.name == "sum":
        return SUMS
    if operation.name == "conv2d":
        return FORWARD
    return LAYERS if "gemm" in operation.name else CONVOLUTIONS


def entry_points(kernel: Kernel) -> list[str]:
    return re.findall(r"@compute[^{]*?\bfn (\w+)", kernel.code)


def late_barrier(code: str) -> bool:
    """Is there a function in which a thread may return while others wait at a barrier?"""
    return any("return" in body and "Barrier()" in body for body in re.split(r"\bfn \w+", code)[1:])


def too_long(listing: Listing) -> list[str]:
    return [line for line in listing.text.split("\n") if len(line) > COLUMNS]


def require_numpy(kernel: Kernel, shape: Shape) -> None:
    """Execute the header's NumPy with the tensors and sizes under their names, and compare every output."""
    operation = operation_of(kernel)
    if "activation" in (refused(kernel, shape) or ""):
        shape = replace(shape, activation="none")
    tensors = {name: tensor.astype(np.float64) for name, tensor in drawn(operation, shape, normal).items()}
    names = {"np": np, "sliding_window_view": np.lib.stride_tricks.sliding_window_view, **tensors}
    if isinstance(shape, ConvShape):
        names |= letters_of(shape)
    if not isinstance(shape, SumShape):
        names |= {f.__name__: lambda x, f=f: f(x, shape.activation) for f in (act, derivative)}
    lines = header(kernel)["numpy"]
    exec(lines.replace("->kn", "->ikn") if getattr(shape, "per_item", False) else lines, names)
    for name, right in zip(operation.outputs, answer(operation, shape, tensors), strict=True):
        np.testing.assert_allclose(names[name], right, rtol=1e-9, atol=1e-9, err_msg=f"{kernel.name}: {name}")


# --- What the reader sees -------------------------------------------------------------------------------


@every_version
def test_the_header_has_its_keys_in_order(kernel):
    found = header(kernel)
    assert list(found) == KEYS
    assert found["title"] == kernel.name.replace("/", " / ")
    assert all(found.values())
    assert re.search("global loads.*workgroup loads.*multiply-adds", found["cost"], re.DOTALL)
    assert found["barriers"].startswith("none") == ("Barrier()" not in kernel.code)


@every_version
def test_the_numpy_lines_compute_what_the_reference_does(kernel):
    for shape in shapes_for(operation_of(kernel)):
        require_numpy(kernel, shape)


@every_version
def test_storage_bindings_have_a_comment_with_their_shape_and_parts_count_from_one(kernel):
    for line in re.findall(r"^.*var<storage.*$", kernel.source, re.MULTILINE):
        assert re.search(r"; +// \([^()]+\)$", line), line
    numbers = [int(number) for number in PART.findall(kernel.source)]
    assert numbers == list(range(1, len(numbers) + 1)) != []


@pytest.mark.parametrize("listing", LISTINGS.values(), ids=LISTINGS)
def test_no_line_of_a_listing_wraps(listing):
    assert not too_long(listing)


def activation(kernel: Kernel) -> str:
    """The functions with which a forward kernel applies an activation, or ""."""
    found = re.search(r"^fn sigmoid.*?^fn activate.*?^}", kernel.source, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def without_activation(text: str) -> str:
    """An equation or a line of NumPy as it is where nothing is applied to the output."""
    return re.sub(r"output = act\(pre\), with\s+|; output = act\(pre\)", "", text).replace("pre", "output")


def test_all_versions_that_apply_an_activation_share_its_text():
    texts = {kernel.name: activation(kernel) for kernel in EVERY_VERSION if activation(kernel)}
    assert {*texts} == {kernel.name for kernel in EVERY_VERSION if "activate(" in kernel.code} != set()
    assert {name.partition("/")[0] for name in texts} == {"conv2d", "gemm_bias_act"}
    assert len({*texts.values()}) == 1
    other = load("conv2d", "3_winograd").edit("clamp(x, -44.0, 44.0)", "clamp(x, -43.0, 44.0)")
    assert activation(other) not in texts.values()


@every_operation
def test_versions_share_equation_tensors_parameters_and_activation(operation):
    kernels = [load(operation.name, version) for version in operation.versions]
    families = [[kernel for kernel in kernels if general(kernel) == each] for each in (False, True)]
    for same in filter(None, families):
        for key in ("equation", "numpy", "in", "out"):
            assert len({header(kernel)[key] for kernel in same if activation(kernel)}) <= 1, key
            assert len({without_activation(header(kernel)[key]) for kernel in same}) == 1, key
        for tensor in operation.tensors:
            declared = (re.search(rf"(@binding.*)\s+var<.*> {tensor}: .*;(.*)", kernel.source) for kernel in same)
            assert len({" ".join(" ".join(found.groups()).split()) for found in declared}) == 1, tensor
    structs = (re.search(r"struct Params \{[^}]*\}", each.source)[0] for each in kernels if not specialized(each))
    assert len({*structs}) == 1
    if "gemm" in operation.name:
        assert len({kernel.part(1).text for kernel in kernels}) == 1


# --- What the compiler does not see ---------------------------------------------------------------------


@every_version
def test_every_thread_reaches_every_barrier_and_no_index_is_rounded(kernel):
    assert not late_barrier(kernel.code)
    assert not FLOAT_INDEX.search(kernel.code)


@every_version
def test_a_workgroup_fits_every_gpu(kernel):
    """At most 256 threads and 16 KiB: wgpu checks neither where an `override` gives the size."""
    assert all(0 < kernel.threads(entry_point) <= 256 for entry_point in entry_points(kernel))
    assert ("var<workgroup>" in kernel.code) == (kernel.workgroup_bytes > 0)
    assert kernel.workgroup_bytes <= 16384


# --- What the launcher relies on ------------------------------------------------------------------------


@every_version
def test_what_a_layer_decides_is_written_into_every_specialized_text_and_the_text_as_it_stands_compiles(kernel):
    operation = operation_of(kernel)
    schedule = operation.versions[kernel.version](fitted(kernel, shapes_for(operation)[0]), kernel)
    assert bool(schedule.constants) == specialized(kernel)
    for entry_point in entry_points(kernel):
        assert pipeline(kernel, entry_point)


def test_folders_and_files_are_the_operations_and_their_versions():
    assert {path.parent.name for path in KERNELS.glob("*/*.wgsl")} == {*OPERATIONS}
    for name, operation in OPERATIONS.items():
        assert tuple(operation.versions) == versions(name) != ()


@every_version
def test_bindings_and_entry_points_have_the_order_of_the_schedule(kernel):
    operation = operation_of(kernel)
    schedule = operation.versions[kernel.version](fitted(kernel, shapes_for(operation)[0]), kernel)
    names = re.findall(r"@binding\(\d\)\s+var<[^>]*> (\w+)", kernel.code)
    assert names == [*operation.tensors, *schedule.scratch, *["params"] * (not specialized(kernel))]
    assert re.findall(r"@binding\((\d)\)", kernel.code) == [str(i) for i in range(len(names))]
    order = [name for name in entry_points(kernel) if name in {step.entry_point for step in schedule.steps}]
    assert list(dict.fromkeys(step.entry_point for step in schedule.steps)) == order != []


WITH_PARAMETERS = [kernel for kernel in EVERY_VERSION if not specialized(kernel)]


@pytest.mark.parametrize("kernel", WITH_PARAMETERS, ids=lambda kernel: kernel.name)
def test_parameters_have_the_documented_order_in_struct_and_launcher(kernel):
    operation = operation_of(kernel)
    struct = re.search(r"struct Params \{(.*?)\}", kernel.code, re.DOTALL)[1]
    if operation.name == "sum":
        names = "count"
        assert [operation.params(shape) for shape in SUMS] == [(7,), (600,)]
    elif "gemm" in operation.name:
        names = "m k n batch_size activation b_stride d_b_stride unused"
        assert [operation.params(shape) for shape in LAYERS] == [(2, 3, 5, 4, 2, 15, 0, 0), (5, 4, 3, 2, 5, 0, 12, 0)]
    else:
        all_names = "batch in_channels in_h in_w out_channels kernel_h kernel_w stride padding_h out_h out_w padding_w"
        names = "batch out_channels out_h out_w" if operation.name == "conv2d_grad_bias" else all_names
        values = tuple(getattr(CONVOLUTIONS[0], name) for name in names.replace("stride", "stride_h").split())
        assert operation.params(CONVOLUTIONS[0]) == values
        assert len({*values}) == len(values)  # else two of them could change places
    assert re.findall(r"(\w+): u32,", struct) == names.split()


# --- The checks above can fail --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("conv2d_grad_weight/1_thread_per_weight", "grad_output, windows)", "grad_output, windows[..., ::-1])"),
        ("conv2d_grad_input/1_gather", "weight[:, :, ::-1, ::-1]", "weight"),
        ("gemm_bias_act_backward/2_tiled", "derivative(a @ b + bias)", "derivative(a @ b)"),
    ],
)
def test_a_wrong_numpy_line_is_noticed(name, old, new):
    kernel = load(*name.split("/"))
    wrong = kernel.edit(old, new)
    with pytest.raises(AssertionError, match=name):
        require_numpy(wrong, shapes_for(operation_of(kernel))[1])


def test_a_return_before_a_barrier_an_index_through_a_float_a_missing_key_and_a_long_line_are_noticed():
    kernels = {kernel.name: kernel for kernel in EVERY_VERSION}
    tiled = kernels["conv2d_grad_input/2_shared_weights"]
    assert late_barrier(tiled.edit("let taps", "if (!inside) { return; }\n  let taps").code)
    forward = kernels["conv2d/1_thread_per_output"]
    assert FLOAT_INDEX.search(forward.edit("index / params.out_w %", "u32(f32(index) * inverse) %").code)
    assert list(header(forward.edit("// cost ", "//      "))) != KEYS
    assert too_long(forward.edit("// 3. Write it.", "// 3. ".ljust(COLUMNS)).listing)


def cores(kernels: Iterable[Kernel]) -> dict[str, str]:
    """The function that multiplies two tiles, in each file that has tiles of vec4f."""
    found = {kernel.name: re.search(r"^fn multiply\(row.*?^}", kernel.code, re.M | re.S) for kernel in kernels}
    return {name: " ".join(text[0].split()) for name, text in found.items() if text and "vec4f(a0[i])" in text[0]}


def test_all_versions_with_tiles_share_one_core():
    assert len(cores(EVERY_VERSION)) >= 8
    assert len({*cores(EVERY_VERSION).values()}) == 1
    (name, _), *_ = cores(EVERY_VERSION).items()
    other = load(*name.split("/")).edit("let b0 = right[k][column];", "let b0 = right[k][row];")
    assert len({*cores([*EVERY_VERSION, other]).values()}) == 2
