"""The benchmark refuses a wrong kernel, skips what takes too long, and sees what became slower. No time is asserted."""

import json
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support.sample import ALL

from helpers.bench import __main__ as command
from helpers.bench import candidates, libraries, report, suite
from helpers.bench.candidates import Candidate, Row, compete
from helpers.bench.layers import LAYERS, Layer, multiply_adds, rate
from helpers.bench.suite import Suite
from helpers.gpu import adapter_info
from helpers.operations import harness
from helpers.operations import operation as launcher
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.kernels import load
from helpers.operations.network import operations as network
from helpers.operations.registry import OPERATIONS
from helpers.operations.summation.shapes import SumShape

CONV = ConvShape(5, 3, 7, 6, 5, 3, 2, 2, 1)
GEMM = GemmShape(9, 8, 10, 1, "relu")
SHAPES = [
    replace(CONV, in_channels=4, out_channels=6, dilation=(2, 1), groups=2),
    replace(CONV, stride=1),
    GEMM,
    SumShape(300),
]
CASES = []
for layer in [Layer("", shape) for shape in SHAPES]:
    CASES += [(name, layer.problem(name)) for name in layer.operations]
TINY = (Layer("tiny", CONV, tuned=True, small=True, quick=True), Layer("tiny GEMM", GEMM, small=True, quick=True))
FIRST, SECOND = "1_thread_per_weight", "2_workgroup_per_weight"


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command knows two tiny layers alone, and takes few samples."""
    monkeypatch.setattr(command, "LAYERS", TINY)
    monkeypatch.setattr(command, "BUDGET", 1e-3)


def weight_gradient(folder: Path, *words: str) -> int:
    """The exit status of the command, which times the weight gradient without a library."""
    return command.main(["--operation", "conv2d_grad_weight", "--output", str(folder), "--beside", "none", *words])


def edited(monkeypatch: pytest.MonkeyPatch, version: str, old: str, new: str) -> None:
    """From now on, a version is loaded with a fault in it."""

    def loaded(operation: str, name: str):
        kernel = load(operation, name)
        return kernel.edit(old, new) if name == version else kernel

    monkeypatch.setattr(launcher, "load", loaded)


def quiet(**options) -> Suite:
    return Suite(libraries.installed(["numpy"]), budget=1e-3, **options)


# --- Correctness ----------------------------------------------------------------------------------------------


def test_a_wrong_kernel_is_not_timed_and_is_the_exit_status(tiny, tmp_path, monkeypatch, capsys):
    assert weight_gradient(tmp_path) == 0
    edited(monkeypatch, FIRST, "oh < params.out_h", "oh + 1u < params.out_h")
    assert weight_gradient(tmp_path) == 1
    assert f"WRONG, and not timed: conv2d_grad_weight, tiny, {FIRST}:\ngrad_weight" in capsys.readouterr().out
    first, second, *_ = json.loads((tmp_path / "bench.json").read_text())["rows"]
    assert (bool(first["wrong"]), bool(first["kernel_us"])) == (True, False)
    assert (bool(second["wrong"]), bool(second["kernel_us"])) == (False, True)


def failing(shape: object, kernel: object) -> None:
    """A schedule with a fault."""
    raise ValueError(f"{FIRST} has no such constant")


@pytest.mark.parametrize("edit", [("@compute", "@computed"), ("var<uniform> params", "var<uniform> sizes"), None])
def test_what_does_not_compile_or_has_no_schedule_is_wrong_and_the_others_are_timed(edit, monkeypatch):
    if edit:
        edited(monkeypatch, FIRST, *edit)
    else:
        monkeypatch.setitem(OPERATIONS["conv2d_grad_weight"].versions, FIRST, failing)
        launcher._planned.cache_clear()
    rows = {row.name: row for row in quiet().measure("conv2d_grad_weight", TINY[0])}
    assert FIRST in rows[FIRST].wrong
    assert rows[FIRST].kernel_us is None
    assert rows[SECOND].kernel_us


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize(("large", "how"), [(False, "float64"), (True, "whole numbers, exactly")])
def test_one_wrong_number_is_found(groups, large, how, monkeypatch):
    monkeypatch.setattr(suite, "LARGE", 30 if large else 10**9)
    operation = OPERATIONS["conv2d_grad_weight"]
    check = suite.Check(operation, replace(CONV, out_channels=9, in_channels=9, groups=groups))
    (right,) = operation.right(check.shape, check.tensors)
    kernel = operation.kernel(SECOND)
    got = right.astype(np.float32)
    assert check.require(kernel, [got]).endswith(how)
    got[4, 2, 1, 1] += 1
    with pytest.raises(AssertionError, match=f"1 of {got.size} wrong"):
        check.require(kernel, [got])


@pytest.mark.parametrize(("off", "right"), [(0.4, True), (0.6, False), (np.nan, False)])
def test_a_version_that_rounds_is_near_whole_numbers(off, right, monkeypatch):
    monkeypatch.setattr(suite, "LARGE", 30)
    operation = OPERATIONS["conv2d_grad_weight"]
    check = suite.Check(operation, CONV)
    got = check.right[0].copy()
    got[2, 1, 1, 1] += off
    for version, passes in ((FIRST, False), ("4_winograd", right)):
        outcome = nullcontext() if passes else pytest.raises(AssertionError, match="1 of 90 wrong")
        with outcome:
            check.require(operation.kernel(version), [got])


@pytest.mark.parametrize(("name", "shape"), CASES)
def test_libraries_compute_the_same(name, shape):
    operation = OPERATIONS[name]
    tensors = harness.drawn(operation, shape, harness.normal)
    for library in libraries.installed([]):
        outputs = library.call(name, shape, tensors)()
        if not isinstance(outputs, tuple):
            outputs = (outputs,)
        for got, want in zip(outputs, operation.right(shape, tensors), strict=True):
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4, err_msg=library.name)


# --- What is timed --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "shape"), CASES if ALL else CASES[4:])
def test_all_versions_are_checked_timed_or_refused_with_a_reason(name, shape):
    unchecked = name == "sum" or (ALL and getattr(shape, "stride", None) != (1, 1))
    rows = quiet(unchecked=unchecked).measure(name, Layer("a layer", shape))
    versions = [row for row in rows if row.kind == "version"]
    assert {row.name for row in versions} == {*OPERATIONS[name].versions}
    for row in versions:
        assert bool(row.skipped) != bool(row.kernel_us and row.host_us and row.check and row.rate), row
        assert not row.rate or row.rate == pytest.approx(rate(name, shape, row.kernel_us / 1e6)[0])
    ran = {row.name for row in versions if row.kernel_us and row.checked}
    assert ran
    ran_unchecked = {row.name for row in versions if row.kernel_us and not row.checked}
    assert ran_unchecked == (ran if unchecked else set())
    assert [row.chosen for row in rows].count(True) == 1


def test_an_output_that_nothing_writes_is_nan_whatever_it_was_before():
    operation = OPERATIONS["conv2d_grad_weight"]
    resident = candidates.Resident(operation, CONV)
    resident.write(harness.drawn(operation, CONV))
    passes, _ = resident.prepared(FIRST, checked=True)
    assert not np.isnan(resident.outputs(passes)[0]).any()
    assert np.isnan(resident.outputs(())[0]).all()


def test_what_is_prepared_again_was_compiled_before_and_unchecked_is_another_program():
    resident = candidates.Resident(OPERATIONS["conv2d"], replace(CONV, batch=2, in_w=9))
    for checked, new in ((True, True), (False, True), (False, False)):
        passes, milliseconds = resident.prepared("2_implicit_gemm", checked)
        assert [step.checked for step in passes] == [checked] * len(passes)
        assert (milliseconds is not None) == new


def test_what_is_predicted_to_take_too_long_is_skipped():
    before = [Row("sum", "small", "2_tree", "version", rate=0.4, unit="GB/s")]
    predicted = quiet(longest=2, rows=before).too_long("sum", Layer("large", SumShape(3 * 10**8)), "2_tree")
    assert predicted.startswith("predicted to take 3.0 s, more than 2 s")
    suite = quiet(longest=1e-12)
    small = suite.measure("conv2d", Layer("small", CONV))
    large = suite.measure("conv2d", Layer("large", replace(CONV, batch=10)))
    assert [row.kernel_us for row in large] == [None] * len(small)
    predicted = [row for row, before in zip(large, small, strict=True) if before.kernel_us]
    assert len(predicted) >= 2  # a version and NumPy
    for row in predicted:
        assert re.fullmatch(r"predicted to take .* s, more than 1e-12 s \(at the .* GFLOP/s of small\)", row.skipped)


def test_samples_are_taken_in_turn_and_the_median_counts():
    order = []

    def entry(name: str, figures: list[float], once: float = 1e-6) -> Candidate:
        def sample(count: int) -> list[float]:
            order.append(name)
            return figures

        return Candidate(Row("sum", "", name, "version"), sample, once)

    entries = [entry("a", [3.0, 1.0, 2.0]), entry("b", [5.0]), entry("slow", [1.0], once=9.0)]
    compete(entries)
    assert order == ["a", "b"] * candidates.ROUNDS
    assert [candidate.row.kernel_us for candidate in entries] == [2e6, 5e6, 9e6]


def test_the_quick_run_is_small_and_has_every_operation():
    operations = set()
    for layer in LAYERS:
        if layer.quick:
            assert layer.small
            assert all(multiply_adds(name, layer.shape) < 2e6 for name in layer.operations)
            operations.update(layer.operations)
    assert operations == OPERATIONS.keys() - network.OPERATIONS.keys()  # which only move memory


def test_a_forward_convolution_is_timed_with_its_activation_and_its_table_says_so():
    timed = quiet().measure("conv2d", Layer("a layer", CONV))
    assert {row.activation for row in timed} == {"relu"}
    assert "activation = 'relu': it has none" in timed[0].skipped
    assert next(report.tables(timed, "NumPy")).startswith("\nconv2d, with relu\n")


# --- The command ----------------------------------------------------------------------------------------------


def test_the_result_is_written_and_its_table_kept(tiny, tmp_path, capsys):
    words = ["--quick", "--output", str(tmp_path), "--beside", "numpy", "--operation", "grad_bias", "gemm"]
    assert command.main(words) == 0
    result = json.loads((tmp_path / "bench.json").read_text())
    assert (result["library"], result["adapter"]) == ("NumPy", adapter_info().name)
    assert ConvShape(**result["layers"]["tiny"]["sizes"]) == CONV
    operations = {row["operation"] for row in result["rows"]}
    assert operations == {"conv2d_grad_bias", "gemm_bias_act", "gemm_bias_act_backward"}
    assert {*json.loads((tmp_path / "table.json").read_text())["versions"]} == operations
    assert "| tiny GEMM | NumPy |" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["--layers", "conv9"], ["--operation", "pool"], ["--beside", "abacus"]])
def test_a_name_that_there_is_not_is_refused(words, capsys):
    with pytest.raises(SystemExit):
        command.main(words)
    assert repr(words[-1]) in capsys.readouterr().err
