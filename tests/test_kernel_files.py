"""The promises of a kernel file to its reader, and the rules that no compiler checks."""

import re
from collections import Counter
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from support.headers import header, is_first, keys, letters_of
from support.kernel_order import WORKGROUP_ID, disorder
from support.problems import (
    EVERY_VERSION,
    every_general_version,
    every_version,
    fitted,
    general,
    general_versions_of,
    kind_of,
    parametrized,
    refused,
    versions_of,
)
from support.shared_blocks import BLOCKS, FILES, in_runs, own, with_blocks, without_entry_points

from helpers.gpu.passes import pipeline
from helpers.lessons.exercises import PUZZLES
from helpers.operations.activations import act, derivative
from helpers.operations.convolution import reference as convolution
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm import reference as gemm
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, normal, operation_of
from helpers.operations.kernels import load, versions
from helpers.operations.network import reference as network
from helpers.operations.network.shapes import PoolShape
from helpers.operations.operation import Shape
from helpers.operations.registry import OPERATIONS
from helpers.operations.summation import reference as summation
from wgsl import PART, SHARED, Kernel, Listing

ROOT = Path(__file__).resolve().parents[1]
FLOAT_INDEX = re.compile(r"\b[iu]32\(\s*(f32|floor|round|trunc)\b")  # u32(f32(i) * inverse) is wrong for 41, 47, ...
# In a JupyterLab window of 1280 x 720, beside the list of files and a scroll bar, a line of an output has room for
# 89 characters of Menlo or DejaVu Sans Mono. A listing's line number takes 5 of them.
COLUMNS = 84
LISTINGS = {kernel.name: kernel.listing for kernel in EVERY_VERSION}
for module in (convolution, gemm, summation, network):
    LISTINGS |= {name: Listing.of(function) for name, function in vars(module).items() if "_loops" in name}
LISTINGS |= {name: puzzle.official.listing for name, puzzle in PUZZLES.items()}


def too_long(listing: Listing) -> list[str]:
    """The lines of a listing that would wrap in a notebook."""
    return [line for line in listing.text.split("\n") if len(line) > COLUMNS]


def require_numpy(kernel: Kernel, shape: Shape) -> None:
    """Execute the header's NumPy with the tensors and sizes under their names, and compare every output."""
    operation = operation_of(kernel)
    if "activation" in (refused(kernel, shape) or ""):
        shape = replace(shape, activation="none")
    tensors = drawn(operation, shape, normal)
    for name in tensors.keys() - {"labels"}:
        tensors[name] = tensors[name].astype(np.float64)
    names = {"np": np, "sliding_window_view": np.lib.stride_tricks.sliding_window_view, **tensors}
    names |= {f.__name__: lambda x, f=f: f(x, shape.activation) for f in (act, derivative)}
    names |= {**vars(shape), **letters_of(shape)}
    lines = header(kernel)["numpy"]
    if getattr(shape, "per_item", False):
        lines = lines.replace("->kn", "->ikn")
    exec(lines, names)
    for name, right in zip(operation.outputs, operation.right(shape, tensors), strict=True):
        np.testing.assert_allclose(names[name], right, rtol=1e-9, atol=1e-9, err_msg=f"{kernel.name}: {name}")


# --- What the reader sees -------------------------------------------------------------------------------


@every_version
def test_the_header_has_its_keys_in_order(kernel):
    """Equation and NumPy stand in the first version, for all of them, and nowhere else."""
    entries = header(kernel)
    assert list(entries) == keys(kernel)
    assert entries["title"] == kernel.name.replace("/", " / ")
    assert all(entries.values())
    assert re.search("global loads?.*workgroup loads?.*multiply-adds?", entries["cost"], re.DOTALL)
    assert entries["barriers"].startswith("none") == ("Barrier()" not in kernel.code)


@parametrized([*filter(is_first, EVERY_VERSION)])
def test_the_numpy_lines_compute_what_the_reference_does(kernel):
    for shape in operation_of(kernel).examples:
        require_numpy(kernel, shape)


@every_version
def test_storage_bindings_have_a_comment_with_their_shape_and_parts_count_from_one(kernel):
    for line in re.findall(r"^.*var<storage.*$", kernel.source, re.MULTILINE):
        assert re.search(r"; +// \([^()]+\)$", line), line
    numbers = [int(number) for number in PART.findall(kernel.source)]
    assert numbers == list(range(1, len(numbers) + 1)) != []


@every_version
def test_a_file_is_read_from_the_top_down(kernel):
    """Constants, bindings, the passes in the file's own text, and helpers last (`support/kernel_order.py`)."""
    assert disorder(kernel) == []


def test_every_kernel_and_skeleton_calls_the_workgroups_id_workgroup():
    """`group` would be a group of channels. A lesson's kernels and its puzzles are files, too."""
    paths = [*ROOT.glob("kernels/**/*.wgsl"), *ROOT.glob("helpers/**/*.wgsl")]
    names = set()
    for path in paths:
        names.update(WORKGROUP_ID.findall(path.read_text(encoding="utf-8")))
    assert names == {"workgroup"}


@pytest.mark.parametrize("listing", LISTINGS.values(), ids=LISTINGS)
def test_no_line_of_a_listing_wraps(listing):
    assert not too_long(listing)


def core(kernel: Kernel) -> str:
    """The function that multiplies two tiles of vec4f, or ""."""
    function = re.search(r"^fn multiply\(row.*?^}", kernel.code, re.MULTILINE | re.DOTALL)
    if function and "vec4f(a0[i])" in function[0]:
        return " ".join(function[0].split())
    return ""


def test_the_version_that_introduces_a_product_of_vec4s_has_the_text_of_the_shared_block():
    """It has the text among its own, where its reader looks for it."""
    texts = [*filter(None, map(core, EVERY_VERSION))]
    assert len(texts) >= 8
    assert len({*texts}) == 1


@pytest.mark.parametrize("operation", OPERATIONS)
def test_versions_share_tensors_and_parameters(operation):
    kernels = versions_of(operation)
    for_any_layer = [kernel for kernel in kernels if general(kernel)]
    for_plain_layers = [kernel for kernel in kernels if not general(kernel)]
    for alike in filter(None, (for_any_layer, for_plain_layers)):
        for key in ("in", "out"):
            assert len({header(kernel)[key] for kernel in alike}) == 1, key
        for tensor in OPERATIONS[operation].tensors:
            assert len({declaration(kernel, tensor) for kernel in alike}) == 1, tensor
    structs = {re.search(r"struct Params \{[^}]*\}", kernel.source)[0] for kernel in general_versions_of(operation)}
    assert len(structs) == 1


def declaration(kernel: Kernel, tensor: str) -> str:
    """The binding of a tensor, and the comment beside it."""
    binding, comment = re.search(rf"(@binding.*)\s+var<.*> {tensor}: .*;(.*)", kernel.source).groups()
    return " ".join(f"{binding} {comment}".split())


# --- What the files share -------------------------------------------------------------------------------


TEXTS = [path.read_text(encoding="utf-8") for path in FILES]


@pytest.mark.parametrize(("path", "text"), [*zip(FILES, TEXTS, strict=True)], ids=[path.stem for path in FILES])
def test_the_shared_blocks_are_as_in_their_folder(path, text):
    """Run `python tests/support/shared_blocks.py` where this fails."""
    assert with_blocks(text) == text


def test_each_shared_block_is_in_several_files():
    names = Counter()
    for text in TEXTS:
        names.update(SHARED.findall(text))
    assert {*names} == {path.stem for path in BLOCKS.iterdir()}
    assert min(names.values()) > 1


def test_outside_the_shared_blocks_few_lines_are_copies():
    """Of the whole files, more than a third of the lines are copies: the blocks, in each file that has them.

    Each file has its entry points and its main loop in its own text, also where another file has the same ones: of
    seven lines that two files have, six are in them. What else is common to two files could be a block.
    """
    own_texts = [*map(own, TEXTS)]
    assert in_runs(own_texts, before=True) <= 0.15
    assert in_runs(own_texts, before=False) <= 0.24
    others = [*map(without_entry_points, own_texts)]
    assert in_runs(others, before=True) <= 0.05
    assert in_runs(others, before=False) <= 0.09
    assert in_runs(TEXTS, before=True) > 0.30


# --- What the compiler does not see ---------------------------------------------------------------------


@every_version
def test_a_workgroup_fits_every_gpu_and_no_index_is_rounded(kernel):
    """At most 256 threads and 16 KiB: wgpu checks neither where an `override` gives the size."""
    assert not FLOAT_INDEX.search(kernel.code)
    assert all(0 < kernel.threads(entry_point) <= 256 for entry_point in kernel.entry_points)
    assert ("var<workgroup>" in kernel.code) == (kernel.workgroup_bytes > 0)
    assert kernel.workgroup_bytes <= 16384


# --- What the launcher relies on ------------------------------------------------------------------------


def test_folders_and_files_are_the_operations_and_their_versions():
    assert {path.parent.name for path in FILES} == {*OPERATIONS}
    for name, operation in OPERATIONS.items():
        assert tuple(operation.versions) == versions(name) != ()


@every_version
def test_bindings_and_entry_points_have_the_order_of_the_schedule_and_the_text_as_it_stands_compiles(kernel):
    operation = operation_of(kernel)
    schedule = operation.versions[kernel.version](fitted(kernel, operation.examples[0]), kernel)
    names = [*operation.tensors, *schedule.scratch]
    if not schedule.constants:
        names.append("params")
    assert [variable.name for variable in kernel.bindings] == names
    steps = list(dict.fromkeys(step.entry_point for step in schedule.steps))
    assert {*steps} <= {*kernel.entry_points}
    text = own(kernel.source)
    assert steps == sorted(steps, key=lambda name: text.index(f"fn {name}("))
    assert all(pipeline(kernel, entry_point) for entry_point in kernel.entry_points)


ORDER = {  # of the parameters, where they are not the whole numbers of the shape
    GemmShape: "m k n batch_size activation b_stride d_b_stride unused",
    "conv2d_grad_bias": "batch out_channels out_h out_w",
    ConvShape: "batch in_channels in_h in_w out_channels kernel_h kernel_w stride padding_h out_h out_w padding_w",
    PoolShape: "planes in_h in_w kernel_h kernel_w stride_h stride_w padding_h padding_w out_h out_w",
}


@every_general_version
def test_parameters_have_the_documented_order(kernel):
    """Another order in the launcher makes wrong numbers: no two sizes of the cases in test_kernels are equal."""
    kind = kind_of(kernel)
    sizes = " ".join(size.name for size in fields(kind) if size.type is int)
    names = ORDER.get(operation_of(kernel).name) or ORDER.get(kind, sizes)
    struct = re.search(r"struct Params \{(.*?)\}", kernel.code, re.DOTALL)[1]
    assert re.findall(r"(\w+): u32,", struct) == names.split()


# --- The checks above can fail --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("conv2d_grad_weight/1_thread_per_weight", "grad_output, windows)", "grad_output, windows[..., ::-1])"),
        ("conv2d_grad_input/1_gather", "weight[:, :, ::-1, ::-1]", "weight"),
        ("gemm_bias_act_backward/1_thread_per_element", "derivative(a @ b + bias)", "derivative(a @ b)"),
        ("max_pool2d_backward/1_gather", "oh*Sh + i", "oh + i"),
        ("cross_entropy/1_thread_per_row", "total - one_hot) / N", "total - one_hot) / C"),
        ("sgd/1_thread_per_parameter", "velocity = momentum * velocity + grad", "velocity = velocity + grad"),
    ],
)
def test_a_wrong_numpy_line_is_noticed(name, old, new):
    wrong = load(name).edit(old, new)
    with pytest.raises(AssertionError, match=name):
        require_numpy(wrong, operation_of(wrong).examples[-1])


def test_an_index_through_a_float_a_missing_key_and_a_long_line_are_noticed():
    forward = load("conv2d", "1_thread_per_output")
    assert FLOAT_INDEX.search(forward.edit("index / params.out_w %", "u32(f32(index) * inverse) %").code)
    assert list(header(forward.edit("// cost ", "//      "))) != keys(forward)
    assert list(header(replace(forward, name="conv2d/2_another"))) != keys(replace(forward, name="conv2d/2_another"))
    assert too_long(forward.edit("// 3. Write it.", "// 3. ".ljust(COLUMNS)).listing)
