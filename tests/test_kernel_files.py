"""A kernel file keeps its promises to the reader: header, comments, and the rules that no compiler checks."""

import re
from pathlib import Path

import pytest

from helpers import gemm, ops, wgsl
from helpers.shapes import ConvShape

KEYS = ["equation", "in", "out", "dispatch", "owner", "barriers", "limits", "new here"]
FILES = sorted(wgsl.KERNELS.glob("*/*.wgsl"))
FLOAT_INDEX = re.compile(r"\b[iu]32\(\s*(f32|floor|round|trunc)\b")
DISTINCT = ConvShape(2, 3, 30, 40, 5, 4, 7, 1, 8, 9)  # no two of its twelve parameters are equal

every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
every_operation = pytest.mark.parametrize("operation", ops.OPERATIONS)


def kernel(path: Path) -> wgsl.Kernel:
    return wgsl.load(path.parent.name, path.stem)


def header(source: str) -> dict[str, str]:
    """The text at each key of the comment that opens a file; the first line stands under "title"."""
    comment = source.split("\n\n", 1)[0]
    title, _, *lines = comment.split("\n")
    found, key = {"title": title.removeprefix("// ")}, ""
    for line in lines:
        key = line[3:13].strip() or key  # a line without a key continues the one above
        found[key] = f"{found.get(key, '')} {line[13:].strip()}".strip()
    return found


def late_barrier(code: str) -> bool:
    """Is there a function from which one thread may return while others wait at a barrier?"""
    return any("return" in body and "Barrier()" in body for body in re.split(r"\bfn \w+", code)[1:])


# --- What the reader sees -------------------------------------------------------------------------------


@every_file
def test_the_header_has_its_keys_in_order(path):
    found = header(kernel(path).source)
    assert list(found) == ["title", *KEYS]
    assert found["title"] == f"{path.parent.name} / {path.stem}"
    assert all(found.values())


@every_file
def test_the_header_tells_the_truth_about_barriers(path):
    source = kernel(path)
    assert header(source.source)["barriers"].startswith("none") == ("Barrier()" not in source.code)


@every_file
def test_every_storage_binding_says_its_shape(path):
    bindings = re.findall(r"^.*var<storage.*$", kernel(path).source, re.MULTILINE)
    assert bindings
    for line in bindings:
        assert re.search(r"; +// \([^()]+\)$", line), line


@every_file
def test_the_parts_count_from_one(path):
    numbers = [int(number) for number in wgsl.PART.findall(kernel(path).source)]
    assert numbers == list(range(1, len(numbers) + 1)) != []


# --- What the compiler does not see ---------------------------------------------------------------------


@every_file
def test_no_thread_returns_while_others_wait(path):
    assert not late_barrier(kernel(path).code)


@every_file
def test_no_index_goes_through_a_float(path):
    """``u32(f32(i) * inverse)`` is wrong for many divisors, 41 and 47 among them."""
    assert not FLOAT_INDEX.search(kernel(path).code)


@every_file
def test_a_workgroup_fits_every_gpu(path):
    """At most 256 threads and 16 KiB: wgpu checks neither where an `override` gives the size."""
    source = kernel(path)
    entry_points = re.findall(r"@compute[^{]*?\bfn (\w+)", source.code)
    assert entry_points
    assert all(0 < source.threads(entry_point) <= 256 for entry_point in entry_points)
    assert ("var<workgroup>" in source.code) == (source.workgroup_bytes > 0)
    assert source.workgroup_bytes <= 16384


# --- What the launcher relies on ------------------------------------------------------------------------


def test_every_operation_has_a_folder():
    assert {*ops.OPERATIONS} <= {path.parent.name for path in FILES}


@every_operation
def test_every_rung_has_a_plan(operation):
    assert tuple(sorted(ops.OPERATIONS[operation].plans)) == wgsl.rungs(operation)


TENSORS = {name: operation.tensors for name, operation in ops.OPERATIONS.items()} | gemm.TENSORS


@pytest.mark.parametrize("operation", TENSORS)
def test_bindings_have_the_launchers_order(operation):
    for rung in wgsl.rungs(operation):
        code = wgsl.load(operation, rung).code
        names = re.findall(r"@binding\(\d\) var<[^>]*> (\w+)", code)
        assert names == [*TENSORS[operation], "params"]
        assert re.findall(r"@binding\((\d)\)", code) == [str(i) for i in range(len(names))]


@every_operation
def test_params_have_the_launchers_order(operation):
    """Each member of the struct, looked up by its name, is the number that the launcher packs at its place."""
    packed = ops.OPERATIONS[operation].params(DISTINCT)
    for rung in wgsl.rungs(operation):
        struct = re.search(r"struct Params \{(.*?)\}", wgsl.load(operation, rung).code, re.DOTALL)[1]
        names = re.findall(r"(\w+): u32,", struct)
        assert tuple(getattr(DISTINCT, name) for name in names) == packed


@pytest.mark.parametrize("operation", gemm.TENSORS)
def test_a_gemms_params_have_the_launchers_order(operation):
    values = {"m": 2, "k": 3, "n": 5, "batch_size": 7, "activation": 4, "b_stride": 15, "d_b_stride": 15, "unused": 0}
    packed = gemm.GemmShape(2, 3, 5, 7, b_per_item=True, per_item=True).params("sigmoid")
    assert gemm.GemmShape(2, 3, 5, 7, b_per_item=True).params("none")[4:] == (0, 15, 0, 0)
    for rung in wgsl.rungs(operation):
        struct = re.search(r"struct Params \{(.*?)\}", wgsl.load(operation, rung).code, re.DOTALL)[1]
        assert tuple(values[name] for name in re.findall(r"(\w+): u32,", struct)) == packed


@pytest.mark.parametrize("operation", gemm.TENSORS)
def test_a_gemms_entry_points_are_those_of_its_plan(operation):
    for rung in wgsl.rungs(operation):
        written = re.findall(r"@compute[^{]*?\bfn (\w+)", wgsl.load(operation, rung).code)
        assert [each.entry_point for each in gemm.plan(operation, gemm.GemmShape(2, 3, 5), rung)] == written


def test_all_convolutions_with_twelve_parameters_share_one_struct():
    structs = [re.search(r"struct Params \{.*?\n\}\n", kernel(path).source, re.DOTALL) for path in FILES]
    texts = [struct[0] for struct in structs if struct and struct[0].count("u32") == 12]
    assert len(texts) >= 5
    assert len(set(texts)) == 1


def test_the_twelve_parameters_have_the_documented_order():
    names = "batch in_channels in_h in_w out_channels kernel_h kernel_w stride padding_h out_h out_w padding_w"
    assert DISTINCT.params() == tuple(getattr(DISTINCT, name) for name in names.split())
    assert len(set(DISTINCT.params())) == 12


# --- The checks above can fail --------------------------------------------------------------------------


def test_a_return_before_a_barrier_would_be_seen():
    source = wgsl.load("conv2d_grad_input", "2_shared_weights").code
    assert late_barrier(source.replace("let taps", "if (!inside) { return; }\n  let taps"))


def test_an_index_made_by_a_reciprocal_would_be_seen():
    source = wgsl.load("conv2d", "1_thread_per_output").code
    assert FLOAT_INDEX.search(source.replace("index / params.out_w", "u32(f32(index) * inverse)"))


def test_a_missing_or_misplaced_key_would_be_seen():
    source = wgsl.load("conv2d", "1_thread_per_output").source
    without = re.sub(r"// owner .*\n", "", source)
    swapped = source.replace("// in   ", "// out  ").replace("// out       output", "// in        output")
    assert list(header(without)) != ["title", *KEYS]
    assert list(header(swapped)) != ["title", *KEYS]
