"""Mistakes in learners' own texts, not written as the edits that the grader knows: each is named."""

from functools import reduce

import pytest
from support.trials import simulate_once

from helpers.convolution.exercise.slips import WEIGHT_AT
from helpers.exercises import PUZZLES
from helpers.gemm.exercise.slips import PRODUCT
from helpers.grading.judge import judged
from helpers.grading.puzzle import same_code

OWN_TEXTS = {  # by puzzle: edits of the official text, and words of the mistake or the question that it must be given
    "conv2d": (
        (("sum = bias[co]", "sum = 0.0; let start = bias[co]"), "if all weights are 0, what is each output"),
        (
            (WEIGHT_AT, "co * params.kH * params.kW + kh * params.kW + kw"),
            "Ci and ci are left out in the weight's offset",
        ),
        (
            (WEIGHT_AT, "co * params.Ci * params.kH * params.kW + kh * params.kW + kw"),
            "ci is left out in the weight's offset",
        ),
        (("(co * params.Ci + ci)", "(ci + co)"), "co is not multiplied by Ci"),
        (
            (
                "if (ih >= params.H || iw >= params.W) { continue; }",
                "let inside = ih < params.W && iw < params.H; if (!inside) { continue; }",
            ),
            "H and W are exchanged in the test for the padding",
        ),
        (("if (index >= params.N", "if (index > params.N"), "lets threads without an output go on"),
        (("params.N * params.Co * oH", "params.Co * oH"), "the threads of the second image return"),
    ),
    "conv2d_grad_weight": (
        (
            (
                "out_h; oh++) {  // *\n      for (var ow = 0u; ow < out_w; ow++) {",
                "min(params.F, out_h); oh++) { for (var ow = 0u; ow < min(params.F, out_w); ow++) {",
            ),
            "the loops over oh and ow end at F",
        ),
        (
            ("oh = 0u; oh < out_h", "p = 0u; p < params.F"),
            ("oh++", "p++"),
            ("ow = 0u; ow < out_w", "q = 0u; q < params.F"),
            ("ow++", "q++"),
            ("out_h + oh) * out_w + ow;", "out_h + fh) * out_w + fw;"),
            ("params.H + oh + fh) * params.W + ow + fw;", "params.H + fh + p) * params.W + fw + q;"),
            "the loops run over the filter",
        ),
        (
            ("params.H + oh + fh) * params.W + ow + fw", "params.H + oh) * params.W + ow - fh * params.W - fw"),
            "fh and fw are subtracted from oh and ow",
        ),
        (("params.H + oh + fh)", "params.H - fh + oh)"), "fh is subtracted from oh"),
        (("params.W + ow + fw", "params.W - fw + ow"), "fw is subtracted from ow"),
        (
            ("let grad_at", "if (fh > oh || fw > ow) { continue; } let ih = oh - fh; let iw = ow - fw; let grad_at"),
            ("params.H + oh + fh) * params.W + ow + fw", "params.H + ih) * params.W + iw"),
            "and places outside of the input are skipped",
        ),
        (
            ("let grad_at = ((b * params.K + k)", "let grad_at = ((b * params.K + first)"),
            ("((b * params.C + c)", "((b * params.C + second)"),
            ("var sum = 0.0;", "let first = c; let second = k; var sum = 0.0;"),
            "c and k are exchanged in both offsets",
        ),
        (("sum +=", "sum += 1.0 / f32(params.batch) *"), "divided by the number of images"),
        (
            ("var sum = 0.0;", "var sum = 0.0; var count = 0.0;"),
            ("sum += grad", "count += 1.0; sum += grad"),
            ("= sum;", "= sum / count;"),
            "divided by the number of outputs",
        ),
        (
            ("k = idx / (params.F * params.F * params.C)", "k = idx / params.F / params.F"),
            "C is left out where k is decoded",
        ),
        (("if (idx >= params.K", "if (idx > params.K"), "lets threads without a weight go on"),
        (
            ("= sum;", "= sum; }"),
            ("  // 2.", "if (idx < params.F * params.F * params.K) {\n  // 2."),
            ("if (idx >= params.K * params.C * params.F * params.F) { return; }", ""),
            "C is left out in the guard",
        ),
    ),
    "conv2d_grad_input": (
        (("params.N * params.Ci * params.H * params.W) {", "params.N * 999u) {"), "threads without a pixel go on"),
        (
            ("if (row % params.S != 0u || column % params.S != 0u) { continue; }", ""),
            ("if (oh >= params.oH", "if (oh * params.S != row || ow * params.S != column || oh >= params.oH"),
            ("ow >= params.oW) { continue; }", "ow >= params.oW) { break; }"),
            "ends at the first weight that has no output",
        ),
        (
            ("column % params.S != 0u) { continue; }", "column % params.S != 0u) { break; }"),
            (
                "if (oh >= params.oH || ow >= params.oW) { continue; }",
                "if (oh >= params.oH) { break; } if (ow >= params.oW) { break; }",
            ),
            "ends at the first weight that has no output",
        ),
        ((WEIGHT_AT, "kw + params.kW * (kh + params.kH * co)"), "Ci and ci are left out in the weight's offset"),
        (("(co * params.Ci + ci)", "(params.Ci * co)"), "ci is left out in the weight's offset"),
        (("(co * params.Ci + ci)", "(ci + co)"), "co is not multiplied by Ci"),
        (("sum +=", "sum += 1.0 / f32(params.N) *"), "divided by the number of images"),
    ),
    "conv2d_grad_bias": (
        (("oh < params.H_out", "oh < params.W_out"), ("ow < params.W_out", "ow < params.H_out"), "in the loops"),
        (("k >= params.C_out", "k >= params.C_out * 8u"), "lets threads without a channel go on"),
    ),
    "tree_sum": (
        (
            ("var sum = 0.0;", "var sum = 0.0; if (thread < params.n) {"),
            ("partial[thread] = sum;", "partial[thread] = sum; }"),
            "the tree adds sums that no thread has put into partial",
        ),
    ),
    "tiled_product": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is transposed"),
        (
            ("right[slot] = b", "right[local.x * TILE + local.y] = b"),
            ("right[slot] = 0.0", "right[local.x * TILE + local.y] = 0.0"),
            "the tile of b is transposed",
        ),
        (("left[local.y * TILE + i]", "left[TILE * i + local.y]"), "the tile of a is transposed"),
        (
            (PRODUCT, "right[local.x * TILE + i] * left[i * TILE + local.y]"),
            "both tiles are transposed, in the loads or in the products",
        ),
        (("first < params.K; first", "first < params.M; first"), "runs up to M or N, and not to K"),
        (
            ("    left[slot] = 0.0;  // *\n    right[slot] = 0.0;  // *\n", ""),
            ("left[slot] = a[", "let place = local.y * TILE + local.x; left[place] = a["),
            "nothing writes 0 to the tiles past the edges",
        ),
    ),
    "gemm_bwd_grad_pre": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is transposed"),
        (("right[local.y * TILE + local.x]", "right[local.x * TILE + local.y]"), "the tile of b is transposed"),
        (("left[local.y * TILE + local.x]", "left[local.x * TILE + local.y]"), "the tile of a is transposed"),
        (("first < params.K; first", "first < params.M; first"), "runs up to M or N, and not to K"),
    ),
    "gemm_bwd_da": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of b is not transposed"),
        (("left[local.y * TILE + i]", "left[i * TILE + local.y]"), "the tile of grad_pre is transposed, too, in the"),
        (("first < params.N; first", "first < params.M; first"), "runs up to M or K, and not to N"),
    ),
    "gemm_bwd_db": (
        (("right[i * TILE + local.x]", "right[TILE * local.x + i]"), "the tile of grad_pre is transposed, too, in the"),
        (("left[local.y * TILE + i]", "left[i * TILE + local.y]"), "the tile of a is not transposed, in the loads or"),
        (("first < params.M; first", "first < params.K; first"), "runs up to K or N, and not to M"),
    ),
    "gemm_bwd_dbias": (
        (
            ("row = 0u; row < params.batch * params.M; row++", "column = 0u; column < params.N; column++"),
            ("grad_pre[row * params.N + n]", "grad_pre[n * params.N + column]"),
            "each thread adds up a whole row",
        ),
        (
            ("n >= params.N", "n >= params.M * params.batch"),
            ("row < params.batch * params.M", "row < params.N"),
            ("row * params.N + n", "n * params.N + row"),
            "each thread adds up a whole row",
        ),
        (
            ("n >= params.N", "n >= params.M"),
            ("row < params.batch * params.M", "row < params.N"),
            ("row * params.N + n", "n * params.N + row"),
            "each of the first M threads adds up a whole row",
        ),
    ),
    "register_tile": (
        (
            ("let m =", "let last = vec2u(column, row) + TILE * group.xy + 1u; let m ="),
            ("if (m < params.M && n < params.N)", "if (last.y < params.M && last.x < params.N)"),
            "only the lower right result of each square is tested",
        ),
        (
            ("sums[0] += left_0 * right_0;", "sums = array<f32, 4>(left_0 * right_0, left_0 * right_1, 0.0, 0.0);"),
            ("sums[1] += left_0 * right_1;", ""),
            ("sums[2] +=", "sums[2] ="),
            ("sums[3] +=", "sums[3] ="),
            "each product replaces the sum",
        ),
        (("k < TILE", "k < TILE / 2u"), "k runs up to SIDE in each turn"),
        (
            ("let m = group.y * TILE +", "let m = SIDE * group.y +"),
            ("let n = group.x * TILE +", "let n = SIDE * group.x +"),
            "SIDE stands in the place of TILE where the results are written",
        ),
    ),
}
TEXTS = [(name, edits, words) for name, texts in OWN_TEXTS.items() for *edits, words in texts]


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    simulate_once(monkeypatch)


@pytest.mark.parametrize(("name", "edits", "words"), TEXTS, ids=[f"{name}-{words}" for name, _, words in TEXTS])
def test_a_learners_own_text_is_named_by_its_mistake(name, edits, words):
    official, slips = PUZZLES[name].official, PUZZLES[name].slips
    own = reduce(lambda kernel, edit: kernel.edit(*edit), edits, official)
    assert not any(same_code(own, official.edit(slip.old, slip.new)) for slip in slips)
    named = [verdict.detail for verdict in judged(PUZZLES[name], own.source) if verdict.detail.startswith("this is ")]
    assert len(named) == 1
    assert words in named[0].partition("?")[0]
