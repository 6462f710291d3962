"""The proof that accesses stay in bounds: right kernels are proven, mistakes are not, and most get a counterexample."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from helpers.convolution.shapes import ConvShape
from helpers.oracles.harness import drawn, operation_of, simulated
from helpers.simulator.__main__ import main
from helpers.simulator.proof.polynomial import Polynomial
from helpers.simulator.proof.report import Proof, prove
from helpers.simulator.proof.solver import follows
from helpers.wgsl import KERNELS, Kernel, without_comments

GEMM = "a == batch_size*m*k", "output == batch_size*m*n"
BACKWARD = "a == batch_size*m*k", "grad == batch_size*m*n", "grad_pre == batch_size*m*n", "d_a == batch_size*m*k"
SHARED, PER_ITEM = ("b_stride == 0", "b == k*n"), ("b_stride == k*n", "b == batch_size*k*n")
SUMMED, APART = ("d_b_stride == 0", "d_b == k*n"), ("d_b_stride == k*n", "d_b == batch_size*k*n")
WEIGHTS = "num_workgroups.x == in_channels*kernel_w", "num_workgroups.y == kernel_h", "num_workgroups.z == out_channels"
ONE, PASSES = "gemm_bias_act_backward/1_thread_per_element", "sum/3_two_passes"
RIGHT = [
    ("sum/1_one_thread", "main", (), 2),
    ("sum/2_tree", "main", (), 2),
    (PASSES, "sum_shares", ("parts == num_workgroups.x",), 2),
    (PASSES, "sum_parts", (), 2),
    ("conv2d/1_thread_per_output", "main", (), 4),
    ("conv2d_grad_weight/1_thread_per_weight", "main", (), 3),
    ("conv2d_grad_weight/2_workgroup_per_weight", "main", WEIGHTS, 3),
    ("conv2d_grad_input/1_gather", "main", (), 3),
    ("conv2d_grad_bias/1_thread_per_channel", "main", (), 2),
    ("conv2d_grad_bias/2_workgroup_per_channel", "main", ("num_workgroups.x == out_channels",), 2),
    ("gemm_bias_act/1_thread_per_element", "main", GEMM + SHARED, 4),
    ("gemm_bias_act/1_thread_per_element", "main", GEMM + PER_ITEM, 4),
    (ONE, "gemm_bwd_grad_pre_f32", BACKWARD + PER_ITEM + SUMMED, 5),
    (ONE, "gemm_bwd_da_f32", BACKWARD + PER_ITEM + SUMMED, 3),
    (ONE, "gemm_bwd_db_f32", BACKWARD + PER_ITEM + SUMMED, 3),
    (ONE, "gemm_bwd_db_f32", BACKWARD + PER_ITEM + APART, 3),
    (ONE, "gemm_bwd_dbias_f32", BACKWARD + PER_ITEM + SUMMED, 2),
]
FAULTS = [  # a kernel, what is replaced by what, and the buffers that are then accessed out of bounds
    ("conv2d/1_thread_per_output", "ih >= params.in_h", "ih > params.in_h", {"input"}),
    ("conv2d/1_thread_per_output", "kw < params.kernel_w;", "kw <= params.kernel_w;", {"weight"}),
    ("conv2d_grad_weight/1_thread_per_weight", "if (iw < params.in_w) {", "{", {"input"}),
    ("conv2d_grad_weight/1_thread_per_weight", "(index >= ", "(index > ", {"grad_output", "grad_weight"}),
    ("conv2d_grad_weight/1_thread_per_weight", "+ oh) * params.out_w", "+ oh) * params.out_h", {"grad_output"}),
    ("conv2d_grad_input/1_gather", "|| oh >= params.out_h", "", {"grad_output"}),
    ("conv2d_grad_bias/1_thread_per_channel", "n < params.batch", "n <= params.batch", {"grad_output"}),
    ("sum/1_one_thread", "i < params.count", "i <= params.count", {"input"}),
]
SQUARE = """
struct Params {{
  n: u32,  // n
}}
@group(0) @binding(0) var<storage, read_write> out: array<f32>;  // (n, n)
@group(0) @binding(1) var<uniform> params: Params;
@compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {{
  let n = params.n;
  {}
}}"""


def proof_of(name: str, entry_point: str = "main", where: Sequence[str] = (), old: str = "", new: str = "") -> Proof:
    source = (KERNELS / f"{name}.wgsl").read_text(encoding="utf-8")
    assert old in source
    return prove(Kernel(source.replace(old, new, 1) if old else source, name), entry_point, {}, where)


def proof_in_square(body: str) -> Proof:
    return prove(Kernel(SQUARE.format(body)), "main", {})


@pytest.mark.parametrize(("name", "entry_point", "where", "accesses"), RIGHT)
def test_right_kernels_are_proven(name, entry_point, where, accesses):
    proof = proof_of(name, entry_point, where)
    assert len(proof.verdicts) == accesses
    assert proof.complete, str(proof)


@pytest.mark.parametrize(("name", "old", "new", "buffers"), FAULTS)
def test_planted_mistakes_get_a_counterexample(name, old, new, buffers):
    verdicts = proof_of(name, old=old, new=new).verdicts
    assert {each.name for each in verdicts if not each.proven} == buffers
    assert {each.name for each in verdicts if each.counterexample} == buffers
    for each in verdicts:
        if each.counterexample:
            finding = each.counterexample.finding
            assert finding.kind.startswith("out-of-range")
            assert (finding.line, finding.column) == (each.line, each.column)


@pytest.mark.parametrize(
    "body",
    [
        "if (id.x * n < n * n) { out[id.x * n] = 1.0; }",
        "var i = n; if (id.x > 3u) { i = 0u; } if (i < n * n) { out[i] = 1.0; }",
        "let i = id.x - n; if (i < n) { out[i * n + n - 1u] = 1.0; }",
        "if (id.x < n && id.y < n) { out[id.x * n + id.y] = 1.0; }",
        "for (var i = min(id.x, n - 1u); i < n; i++) { if (i == 2u) { continue; } out[i] = 1.0; }",
        "out[id.x % (n * n)] = 1.0;",
        "out[0] = 1.0;",
    ],
)
def test_small_programs_are_proven(body):
    assert proof_in_square(body).complete


@pytest.mark.parametrize(
    "body",
    [
        "if (id.x * 2147483648u < n) { out[id.x] = 1.0; }",  # the product wraps
        "if (id.x - 1u < n) { } out[id.x - 1u] = 1.0;",  # the guard guards nothing
        "var i = 0u; for (; i < n * n; i++) { } out[i] = 1.0;",
        "var i = 0u; loop { if (i > 9u) { break; } i++; } out[i * n] = 1.0;",
        "var i = 0u; switch n { case 1u: { i = n; break; } default: { } } out[i] = 1.0;",
        "var i = 0u; let p = &i; *p = n * n; out[i] = 1.0;",
        "var i = 0u; if (n > 1u) { i = n * n; } out[i] = 1.0;",
        "out[id.x % (n - 1u)] = 1.0; out[n / (n - 1u) * n * n] = 1.0;",
        "for (var i = 0u; i < n; i++) { if (i == 1u) { continue; } } out[n * n * 65536u * 65536u + n * n] = 1.0;",
        "if (id.x < n || id.y < n) { out[id.x * n + id.y] = 1.0; }",
        "out[i32(n) - 1] = 1.0; out[-i32(n)] = 1.0;",
    ],
)
def test_wrong_small_programs_are_not_proven(body):
    assert not proof_in_square(body).complete


def test_products_follow_from_their_factors():
    n, c, of_n, of_c = map(Polynomial.unknown, ("n", "c", "N", "C"))
    facts = [of_n - 1 - n, of_c - 1 - c]
    assert follows(of_n * of_c - 1 - (n * of_c + c), facts)
    assert not follows(of_n * of_c - 2 - (n * of_c + c), facts)
    assert not follows(of_n * of_c - 1 - (n * of_n + c), facts)


def test_the_command_line(capsys, tmp_path):
    path = KERNELS / "conv2d_grad_bias" / "1_thread_per_channel.wgsl"
    assert main([str(path), "--prove"]) == 0
    assert "2 of 2 indexed accesses of buffers are proven" in capsys.readouterr().out
    wrong = tmp_path / "wrong.wgsl"
    wrong.write_text(path.read_text(encoding="utf-8").replace("co >= params", "co > params"), encoding="utf-8")
    assert main([str(wrong), "--prove"]) == 1
    assert re.search(r"grad_bias: out of bounds, seen in a run with batch = \d", capsys.readouterr().out)


@pytest.mark.parametrize("rule", ["batch", "nothing == 3", "batch == out_h / 2", "batch < 3 < 4", "batch =="])
def test_a_rule_that_cannot_be_read_is_refused(rule, capsys):
    path = KERNELS / "conv2d_grad_bias" / "1_thread_per_channel.wgsl"
    with pytest.raises(SystemExit, match="2"):
        main([str(path), "--prove", "--where", rule])
    assert f"--where {rule!r}: it must compare" in capsys.readouterr().err


# --- Against what is seen -------------------------------------------------------------------------------------

SEEN = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_input/1_gather", "conv2d_grad_bias/1_thread_per_channel"
SHAPES = ConvShape(2, 2, 4, 5, 3, 2, 3, 1, (1, 0)), ConvShape(1, 2, 5, 4, 2, 3, 2, 2, (0, 1))


def moved_bounds(name: str) -> list[Kernel]:
    """A kernel with each of its bounds moved by one."""
    source, moved = (KERNELS / f"{name}.wgsl").read_text(encoding="utf-8"), {"<": "<=", ">=": ">"}
    found = re.finditer(r" (<|>=) ", without_comments(source))
    return [Kernel(source[: m.start(1)] + moved[m[1]] + source[m.end(1) :], name) for m in found]


@pytest.mark.parametrize("kernel", [kernel for name in SEEN for kernel in moved_bounds(name)], ids=lambda k: k.version)
def test_no_access_is_proven_that_is_seen_out_of_range(kernel):
    seen = set()
    for shape in SHAPES:
        _, traces = simulated(kernel, shape, drawn(operation_of(kernel), shape), max_steps=3000)
        seen |= {(f.line, f.column) for trace in traces for f in trace.findings if f.kind.startswith("out-of-range")}
    assert seen
    assert not seen & {(each.line, each.column) for each in prove(kernel, "main", {}).verdicts if each.proven}
