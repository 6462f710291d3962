"""Wrong kernels of all versions, as in helpers/oracles/wrong_kernels.py: here of those that lesson 05 does not show."""

import re
from collections.abc import Iterator
from dataclasses import replace

from helpers import wgsl
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.oracles.wrong_kernels import (
    ENDLESS,
    GROUPS,
    MISSED_BARRIER,
    NOT_A_NUMBER,
    NOT_PORTABLE,
    NUMBERS,
    ODD,
    ONE_FILTER,
    OVERLAP,
    RACE,
    READ,
    STRIDE_1,
    UNINITIALIZED,
    UNWRITTEN,
    WRAPPED,
    WRITE,
    WrongKernel,
    small,
    wrong_kernels,
)
from helpers.oracles.wrong_kernels import WRONG_KERNELS as OF_LESSON_05
from helpers.summation.shapes import SumShape

# --- Problems, the smallest that show a mistake: rows are not columns, no tile is full ------------------------

UNEQUAL = ConvShape(1, 2, 5, 6, 4, 2, 3, (1, 2), (0, 1), (2, 1), 2)  # a group has one channel, and two filters
# Of versions with tiles: a sum has two steps of 8.
TILES = ConvShape(1, 3, 2, 3, 3, 3, 2, 1, (1, 2))
TILES_RELU = replace(TILES, activation="relu")
STRIDE_2 = ConvShape(1, 2, 4, 5, 2, 3, 2, 2, (1, 0))
WHOLE_TAPS = ConvShape(1, 7, 3, 2, 1, 1, 2)  # each step has a single tap, filled up to 8 channels
DEEP_IN, DEEP_OUT = ConvShape(1, 9, 2, 2, 1, 1, 2), ConvShape(1, 1, 2, 2, 9, 1, 2)  # three parts of a sum
DEEP_RELU = replace(DEEP_IN, activation="relu")
LONG = ConvShape(1, 1, 5, 5, 1, 1, 1)  # likewise
CLASSES = ConvShape(1, 2, 4, 3, 9, 2, 3, 2, (1, 0))  # two steps or more for each class of pixels
STEPS = ConvShape(1, 4, 5, 6, 4, 3, 2, (1, 2), (1, 2), (2, 3), 2)  # no two steps along an axis are equal
# Likewise, and each step has a single tap of its 7 channels, filled up to 8.
SPREAD = ConvShape(1, 14, 4, 3, 2, 2, 2, (2, 1), (1, 0), (1, 2), 2)
SPREAD_BACK = ConvShape(1, 2, 4, 4, 14, 2, 2, (2, 1), (1, 0), (1, 2), 2)
# Of weight gradients in registers: no padding equals another.
WEIGHTS = ConvShape(2, 5, 4, 5, 5, 3, 2, 1, (1, 2))
WEIGHTS_STRIDE_2 = ConvShape(2, 2, 7, 6, 2, 3, 3, 2, (1, 2))  # a window keeps one of its rows
BROAD_FILTER = ConvShape(1, 1, 7, 14, 1, 6, 6)  # two tiles of taps along each axis
MANY_IMAGES = ConvShape(700, 1, 3, 2, 2, 2, 1)  # workgroups with two tiles each
BATCH_17 = ConvShape(17, 1, 3, 2, 1, 2, 1)
PAIRS = ConvShape(2048, 4, 5, 1, 3, 4, 1)  # enough work for threads with two filters each, the last of them with one
BELOW = ConvShape(1, 1, 3, 4, 1, 3, 1, 2, (1, 0))
# Of windows in registers: 8 columns of outputs are two quads, in NARROW one and a half.
WINDOWS, NARROW = ConvShape(2, 5, 3, 5, 5, 3, 2, 1, (1, 2)), ConvShape(2, 5, 3, 5, 5, 3, 2, 1, 1)
WINDOWS_RELU, WINDOWS_TANH = replace(WINDOWS, activation="relu"), replace(WINDOWS, activation="tanh")
# Of Winograd's method: images whose tiles reach past them, and sums of two steps of 8.
OUT_9, IN_9 = ConvShape(1, 2, 3, 5, 9, 3, 3, 1, (1, 0)), ConvShape(1, 9, 3, 6, 2, 3, 3, 1, (1, 0))
IN_9_RELU = replace(IN_9, activation="relu")
TILES_18 = ConvShape(2, 2, 11, 11, 3, 3, 3, 1, (1, 0))
# Of the fully connected layer: M, K and N differ; one, two and three tiles.
LAYER = GemmShape(3, 6, 9, 2, "relu")
ONE_ROW = GemmShape(1, 6, 9)  # a term past the end of a is past the end of b
OWN_B = replace(LAYER, b_per_item=True)
PER_ITEM = replace(OWN_B, per_item=True)
BROAD = GemmShape(1, 1, 257)  # more columns than 256 threads
TALL = GemmShape(9, 2, 3)  # more rows than two tiles
SIGMOID, TANH = GemmShape(1, 2, 3, 1, "sigmoid"), GemmShape(1, 2, 3, 1, "tanh")
GELU, SILU = GemmShape(1, 2, 3, 1, "gelu"), GemmShape(1, 2, 3, 1, "silu")
QUADS = GemmShape(3, 12, 8, 2, "relu")  # two steps of 8 along k
QUADS_LONG = GemmShape(3, 12, 12, 4, "relu")  # two steps along k, n and the rows of all items
FOURS = GemmShape(3, 8, 12, 2, "relu")  # two steps of 4
FOURS_OWN_B = replace(FOURS, b_per_item=True)
FEW_NUMBERS, MANY_NUMBERS = SumShape(21), SumShape(700)  # 700 are more than 256 threads, and no multiple of them

# --- The table ------------------------------------------------------------------------------------------------

PAST = RACE + OVERLAP + WRITE + NUMBERS  # what is past the end of a row is another element, or past the tensor
ALONE, WHOLE = {"SPLITS": 1}, {"PIECES": 1}  # all steps of a sum in one workgroup; so small a layer would share them
STEP = "    workgroupBarrier();  // the sums that this step reads are written\n"
BRANCH = "    if (thread < half) {\n"

EDITS = {
    "conv2d/1_thread_per_output": {
        "bias forgotten": ("var sum = bias[co];", "var sum = 0.0;"),
        "sum cut to a range": ("] = sum;", "] = clamp(sum, -9999.0, 9999.0);"),
        "sum rounded to a step": ("] = sum;", "] = round(sum * 65536.0) / 65536.0;"),
        "every image is image 0": ("(n * params.in_channels + ci)", "ci"),
        "stride of the rows forgotten": ("oh * params.stride", "oh"),
        "padding added": ("+ kh - params.padding_h", "+ kh + params.padding_h"),
        "one padding for both axes": ("- params.padding_w", "- params.padding_h"),
        "padding read as data": ("if (iw < params.in_w)", "if (true)", WRAPPED + READ + NUMBERS),
        "filter flipped": ("+ kh - params", "+ (params.kernel_h - 1u - kh) - params", STRIDE_1),
        "filter sides swapped": ("+ kh) * params.kernel_w", "+ kh) * params.kernel_h", READ + NUMBERS),
        "channels swapped": ("(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
        "first channel only": ("ci < params.in_channels", "ci < 1u"),
        "one channel too many": ("ci < params.in_channels", "ci <= params.in_channels", READ, ONE_FILTER),
        "row and column exchanged": ("index % params.out_w;", "index % params.out_h;"),
        "last output left out": ("if (index >= ", "if (index + 1u >= ", UNWRITTEN + NUMBERS),
        "no guard at the end": ("if (index >= ", "if (false && index >= ", READ + WRITE),
        "zeros not written": ("output[index] = sum;", "if (sum != 0.0) { output[index] = sum; }", UNWRITTEN + NUMBERS),
        "added to what was there": ("output[index] = sum", "output[index] += sum"),
    },
    "conv2d/2_implicit_gemm": {
        "taps of a row counted by columns": ("k / RUN % KERNEL_W", "k / RUN % KERNEL_H", TILES),
        "no guard for pixels": ("(m < GROUP_OUT && pixel < PIXELS)", "m < GROUP_OUT", PAST, TILES),
        "channels past the end": (" || ci < GROUP_IN) {", " || true) {", READ, WHOLE_TAPS),
        "dilation forgotten": ("+ kw * DILATION_W", "+ kw", STEPS, ALONE),
        "dilation of a tap forgotten": ("tap % KERNEL_W * DILATION_W", "tap % KERNEL_W", SPREAD),
        "one stride for both axes": ("% OUT_W * STRIDE_W", "% OUT_W * STRIDE_H"),
        "pixels of the first group": (" + group * GROUP_IN) * PLANE", ") * PLANE"),
        "weights of the first group": ("tile.group * GROUP_QUADS", "0u", STEPS, ALONE),
        "last split lost": ("split < SPLITS; split", "split + 1u < SPLITS; split", DEEP_IN),
        "activation forgotten": ("activate(pre);\n      }", "pre;\n      }", TILES_RELU, ALONE),
        "activation before the bias": (
            "bias_co + sums[2u * i + j / 4u][j % 4u]",
            "bias_co + activate(sums[2u * i + j / 4u][j % 4u])",
            TILES_RELU,
            ALONE,
        ),
        "activation of the parts forgotten": ("activate(pre);\n}", "pre;\n}", DEEP_RELU),
        "activation of each part": (
            "parts[split * OUTPUTS + index]",
            "activate(parts[split * OUTPUTS + index])",
            DEEP_RELU,
        ),
    },
    "conv2d/3_winograd": {
        "activation forgotten": ("= activate(pre);", "= pre;", IN_9_RELU),
        "activation before the bias": ("pixels[i] + bias", "activate(pixels[i]) + bias", IN_9_RELU),
    },
    "conv2d/4_register_windows": {
        "bias forgotten": ("vec4f(bias[co])", "vec4f()"),
        "filter flipped": ("* TAPS + k]", "* TAPS + TAPS - 1u - k]"),
        "padding added": ("+ y - PADDING_H", "+ y + PADDING_H"),
        "one padding for both axes": ("+ x - PADDING_W", "+ x - PADDING_H"),
        "padding read as data": ("select(0.0, input[at], inside)", "input[at]"),
        "last channel left out": ("ci < IN_CHANNELS; ci", "ci + 1u < IN_CHANNELS; ci"),
        "the same channel each time": ("sums[i - SUMS] = sums[i]", "sums[i] = sums[i]", WINDOWS, {"CHANNELS": 2}),
        "activation forgotten": ("activate(sums[i / 4u][i % 4u])", "sums[i / 4u][i % 4u]", WINDOWS_RELU),
        "activation of each channel's sum": ("= sum;", "= vec4f(activate(sum.x), sum.yzw);", WINDOWS_RELU),
        "no series near 0": ("series, abs(t) < 0.1", "series, abs(t) < 0.9", WINDOWS_TANH),
        "no guard for columns": (" && ow < OUT_W) {", ") {", PAST, NARROW),
        "no guard for images": ("if (n >= BATCH)", "if (false)", READ + WRITE),
    },
    "conv2d/5_direct": {
        "dilation forgotten": ("kw * DILATION_W", "kw"),
        "one stride for both axes": ("ow * STRIDE_W", "ow * STRIDE_H"),
        "all filters read the first group": ("co / GROUP_OUT * GROUP_IN", "0u"),
        "group found by its channels": ("co / GROUP_OUT", "co / GROUP_IN", READ + NUMBERS, UNEQUAL, {}),
        "images past the last one": ("BATCH % IMAGES == 0u || ", "true || ", READ + WRITE),
    },
    "conv2d_grad_input/3_implicit_gemm": {
        "outputs between those that are": (" && w % STRIDE_W == 0u;\n      next", ";\n      next", STRIDE_2),
        "no guard for pixels": ("(m < GROUP_IN && pixel < PIXELS)", "m < GROUP_IN", PAST, TILES),
        "dilation of the other axis": ("kh * DILATION_H", "kh * DILATION_W", STEPS, ALONE),
        "stride of the other axis": ("w % STRIDE_W == 0u;\n    inside", "w % STRIDE_H == 0u;\n    inside", SPREAD_BACK),
        "outputs of the first group": (" + group * GROUP_OUT) * PLANE", ") * PLANE"),
        "filters of the first group": ("(group * GROUP_OUT + co)", "co", STEPS, ALONE),
        "last split lost": ("split < SPLITS; split", "split + 1u < SPLITS; split", DEEP_OUT),
    },
    "conv2d_grad_input/4_residue_classes": {
        "taps of another class": ("class_w + STRIDE * right_of", "STRIDE * right_of"),
        "last piece lost": ("piece < pieces; piece", "piece + 1u < pieces; piece"),
    },
    "conv2d_grad_input/5_winograd": {
        "filter not flipped": ("9u + 8u - tap", "9u + tap"),
    },
    "conv2d_grad_input/6_register_windows": {
        "filter not flipped": ("* TAPS + TAPS - 1u - k]", "* TAPS + k]"),
        "padding subtracted": ("+ PADDING_H - (", "- PADDING_H - ("),
        "one padding for both axes": ("+ PADDING_W - (", "+ PADDING_H - ("),
        "outside read as data": ("select(0.0, grad_output[at], inside)", "grad_output[at]"),
        "last channel left out": ("co < OUT_CHANNELS; co", "co + 1u < OUT_CHANNELS; co"),
        "no guard for columns": (" && iw < IN_W) {", ") {", PAST),
        "no guard for images": ("if (n >= BATCH)", "if (false)", READ + WRITE),
    },
    "conv2d_grad_input/7_split_channels": {
        "last slice left out": ("i < SLICES; i", "i < SLICES - 1u; i"),
        "every slice adds all channels": ("var co = slice;", "var co = 0u;"),
        "filter not flipped": ("weight[last - k]", "weight[last + 1u - TAPS + k]"),
        "window from the start of its quad": ("SKIPPED + k % KERNEL_W", "k % KERNEL_W"),
        "outside read as data": ("select(vec4f(), grad_output[at], inside)", "grad_output[at]"),
        "no guard for channels": ("ci < IN_CHANNELS && iw", "iw", RACE + WRITE + NUMBERS),
        "columns past the end": (" && iw < IN_W) {", ") {", PAST),
        "first channel only": (
            "let ci = first_ci + c;  ",
            "let ci = first_ci;  ",
            RACE + OVERLAP + UNWRITTEN + NUMBERS,
        ),
    },
    "conv2d_grad_weight/3_split_k": {
        "one padding for both axes": ("DILATION_W - PADDING_W", "DILATION_W - PADDING_H", TILES),
        "dilation forgotten": ("tap / KERNEL_W * DILATION_H", "tap / KERNEL_W"),
        "outputs of the first group": (" + group * GROUP_OUT;\n  let position", ";\n  let position"),
        "pixels of the first group": (" + group * GROUP_IN;", ";"),
        "channels past the end": (" || ci + c < GROUP_IN", " || true", RACE + WRITE + NUMBERS, TILES),
        "last split lost": ("split < SPLITS; split", "split + 1u < SPLITS; split", LONG),
    },
    "conv2d_grad_weight/4_winograd": {
        "last part left out": ("part < PARTS; part", "part + 1u < PARTS; part"),
    },
    "conv2d_grad_weight/5_register_windows": {
        "padding added": ("row - PADDING_H", "row + PADDING_H"),
        "columns one too far to the left": ("column - PADDING_W", "column - PADDING_W - 1u", READ + NUMBERS),
        "window does not slide": ("window[row] = window[row + NEW];", ""),
        "stride forgotten": ("(i * STRIDE + KEPT)", "(i + KEPT)", WEIGHTS_STRIDE_2),
        "last part left out": ("part < PARTS; part", "part + 1u < PARTS; part"),
        "taps of the first tile only": ("ow * STRIDE + kw)", "ow * STRIDE)", BROAD_FILTER),
        "channels past the end": (" && group * CHANNELS + i < IN_CHANNELS", "", READ),
    },
    "conv2d_grad_weight/6_filter_rows": {
        "padding added": ("% WINDOW_ROWS - PADDING_H", "% WINDOW_ROWS + PADDING_H"),
        "stride forgotten": ("(q * 4u + j) * STRIDE + kw", "(q * 4u + j) + kw", WEIGHTS_STRIDE_2),
        "one row for each slot": ("slot < SLOTS; slot", "slot < 1u; slot"),
        "first 16 parts only": ("i < PART_LOADS; i", "i < 1u; i", BATCH_17),
        "sums of channels past the end": (" && co < OUT_CHANNELS", "", PAST, PAIRS),
        "rows of the next channel": ("ih < IN_H && iw", "iw", READ + WRAPPED, BELOW),
    },
    "sum/1_one_thread": {
        "only the last number": ("sum += input", "sum = input"),
        "first number left out": ("var i = 0u", "var i = 1u"),
        "one number too many": ("i < params.count", "i <= params.count", READ),
        "counts down past 0": (
            "var i = 0u; i < params.count; i++",
            "var i = params.count - 1u; i >= 0u; i--",
            ENDLESS + WRAPPED + READ,
        ),
        "added to what was there": ("total[0] = sum", "total[0] += sum"),
    },
    "sum/2_tree": {
        "one number per thread": ("i += THREADS", "i += params.count"),
        "one number too many": ("i < params.count", "i <= params.count", READ),
        "tree stops at two": ("half > 0u", "half > 1u"),
        "tree begins at a quarter": ("half = THREADS / 2u", "half = THREADS / 4u"),
        "tree takes one step too many": ("half > 0u", "half >= 0u", ENDLESS),
        "barrier for another memory": ("workgroupBarrier();", "storageBarrier();", RACE),
        "half of the threads miss a barrier": (STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
        "barrier after a question": (
            "workgroupBarrier();",
            "if (sum == sum) { workgroupBarrier(); }",
            NOT_PORTABLE,
        ),
        "all threads write": ("if (thread == 0u)", "if (true)", RACE + OVERLAP),
        "two threads share a slot": (
            "partial[thread] = sum",
            "partial[thread / 2u] = sum",
            RACE + OVERLAP + UNINITIALIZED + NUMBERS,
        ),
    },
    "sum/3_two_passes": {
        "workgroups share nothing": ("workgroup.x * THREADS + thread", "thread"),
        "numbers added twice": ("i += grid.x * THREADS", "i += THREADS"),
        "tree stops at two": ("half > 0u", "half > 1u"),
        "all workgroups write one part": ("parts[workgroup.x]", "parts[0]", RACE + UNWRITTEN + NUMBERS),
        "last part left out": ("thread < array", "thread + 1u < array"),
        "parts read past the end": ("if (thread < arrayLength(&parts))", "if (true)", READ),
        "each workgroup writes the total": (
            "parts[workgroup.x] = partial[0];",
            "parts[workgroup.x] = partial[0];\n    total[0] = partial[0];",
            RACE,
        ),
    },
    "gemm_bias_act/1_thread_per_element": {
        "bias forgotten": ("var pre = bias[n];", "var pre = 0.0;"),
        "activation forgotten": ("activate(pre)", "pre"),
        "derivative instead of the activation": (
            "case 1u: { return max(x, 0.0); }",
            "case 1u: { return f32(x > 0.0); }",
        ),
        "relu is the absolute value": ("case 1u: { return max(x, 0.0); }", "case 1u: { return abs(x); }"),
        "every item reads item 0's a": ("a[row * params.k", "a[row % params.m * params.k"),
        "every item reads item 0's b": ("item * params.b_stride + ", "", OWN_B),
        "b transposed": ("k * params.n + n]", "n * params.k + k]"),
        "last term left out": ("k < params.k;", "k + 1u < params.k;"),
        "one term too many": ("k < params.k;", "k <= params.k;", READ, ONE_ROW),
        "writes past the end": ("if (index >= ", "if (index > ", READ + WRITE),
        "no guard at the end": ("if (index >= ", "if (false && index >= ", READ + WRITE),
        "added to what was there": ("output[index] =", "output[index] +="),
        "0 times what was there added": ("output[index] =", "output[index] = 0.0 * output[index] +"),
        "larger than what was there": ("= activate(pre)", "= max(output[index], activate(pre))"),
        "silu is swish of 1.702": ("-88.0) * sigmoid(x)", "-88.0) * sigmoid(1.702 * x)", SILU),
    },
    "gemm_bias_act/2_tiled": {
        "bias forgotten": ("activate(pre + bias[n])", "activate(pre)"),
        "activation forgotten": ("activate(pre + bias[n])", "pre + bias[n]"),
        "activation before the bias": ("activate(pre + bias[n])", "activate(pre) + bias[n]"),
        "last tile of k left out": ("first < params.k;", "first + TILE <= params.k;"),
        "only the last tile of k": ("pre += tile_product", "pre = tile_product"),
        "every tile of b is the first": ("first + local.y, n", "local.y, n"),
        "every item reads item 0's b": ("item * params.b_stride + ", "", OWN_B),
        "tile of b transposed": ("right[i * TILE + column]", "right[column * TILE + i]"),
        "last column of a tile left out": ("i < TILE; i++", "i + 1u < TILE; i++"),
        "one column too many": ("i < TILE; i++", "i <= TILE; i++", READ + NUMBERS),
        "threads outside return above a barrier": (
            "var pre = 0.0;",
            "var pre = 0.0;\n  if (m >= params.m || n >= params.n) { return; }",
            MISSED_BARRIER + UNINITIALIZED + NUMBERS,
        ),
        "reads past the last row of a": ("if (m < params.m && k < params.k)", "if (m < params.m)", READ),
        "writes past its row": (
            "if (m < params.m && n < params.n) {",
            "if (m < params.m) {",
            RACE + OVERLAP + READ + WRITE + NUMBERS,
        ),
        "last column left out": (
            "n < params.n) {\n    output",
            "n + 1u < params.n) {\n    output",
            UNWRITTEN + NUMBERS,
        ),
        "gelu is cut from below at -3": ("clamp(x, -11.0, 11.0)", "clamp(x, -3.0, 11.0)", GELU),
        "sigmoid mirrored": ("exp(-abs(x))", "exp(abs(x))", SIGMOID),
        "tanh at half its argument": ("(2.0 * t) - sigmoid(-2.0 * t)", "(t) - sigmoid(-t)", TANH),
        "tanh's series too far out": ("abs(t) < 0.1", "abs(t) < 2.0", TANH),
        "tanh as a quotient that overflows": (
            "select(sigmoid(2.0 * t) - sigmoid(-2.0 * t), series, abs(t) < 0.1)",
            "(exp(2.0 * x) - 1.0) / (exp(2.0 * x) + 1.0)",
            NOT_A_NUMBER + NUMBERS,
            TANH,
        ),
    },
    "gemm_bias_act/3_register_tiles": {
        "reads past the last row of a": ("(m < M && k < K)", "(k < K)", READ),
        "columns of b side by side": ("right[k][column + j * (TILE_N / 8u)]", "right[k][j]"),
    },
    "gemm_bias_act/4_vec4_tiles": {
        "reads past the last row of a": ("(m < M && k < K)", "(k < K)", READ),
        "a row of a quad twice": ("m + 3u, k)", "m + 2u, k)"),
    },
    "gemm_bias_act/5_prefetch": {
        "reads past the last row of a": ("(m < M && k < K)", "(k < K)", READ),
        "the same tile fetched again": ("n0, k0 + TILE_K); }", "n0, k0); }"),
    },
    "gemm_bias_act/6_registers_only": {
        "last step of k left out": ("k < K; k", "k + 4u < K; k"),
        "every item reads item 0's b": ("item * B_STRIDE + ", "", FOURS_OWN_B),
        "reads past the last row of a": ("min(m0 + row, M - 1u)", "m0 + row", READ),
    },
    "gemm_bias_act_backward/1_thread_per_element": {
        "bias forgotten in the recomputed pre": ("var pre = bias[n];", "var pre = 0.0;"),
        "upstream gradient forgotten": ("grad[index] * finite", "finite"),
        "derivative forgotten": (" * finite_or_0(derivative(pre))", ""),
        "activation instead of its derivative": (
            "case 1u: { return select(0.0, 1.0, x > 0.0); }",
            "case 1u: { return max(x, 0.0); }",
        ),
        "grad_pre's last element left out": (
            "(index >= params.batch_size * params.m * params.n)",
            "(index + 1u >= params.batch_size * params.m * params.n)",
            UNWRITTEN + NUMBERS,
        ),
        "no guard in grad_pre": ("(index >= params.batch_size * params.m * params.n)", "(false)", READ + WRITE),
        "d_a with another item's b": ("+ n] * b[item * ", "+ n] * b[0u * ", OWN_B),
        "d_a with b not transposed": ("k * params.n + n;", "n * params.k + k;"),
        "d_a without its last term": ("n < params.n; n++", "n + 1u < params.n; n++"),
        "no guard in d_a": ("(index >= params.batch_size * params.m * params.k)", "(false)", READ + WRITE),
        "d_a added to what was there": ("d_a[index] =", "d_a[index] +="),
        "d_b of item 0 only": ("row < first + rows", "row < first + params.m"),
        "d_b with a not transposed": ("a[row * params.k + k] * grad_pre", "a[k * params.m + row] * grad_pre"),
        "d_b is a mean over the batch": ("d_b[index] = sum", "d_b[index] = sum / f32(params.batch_size)"),
        "every item adds up all": ("/ results * params.m", "* params.m", READ + NUMBERS, PER_ITEM),
        "d_bias of item 0 only": ("row < params.batch_size * params.m", "row < params.m"),
        "d_bias with a row too many": ("row < params.batch_size", "row <= params.batch_size", READ),
        "d_bias is a mean over the rows": ("d_bias[n] = sum;", "d_bias[n] = sum / f32(params.m);"),
        "threads past d_bias repeat the last": (
            "let n = flat_index(global, grid);",
            "let n = min(flat_index(global, grid), params.n - 1u);",
            OVERLAP,
        ),
        "silu without its x": ("(1.0 + t * sigmoid(-t))", "(1.0 + sigmoid(-t))", SILU),
    },
    "gemm_bias_act_backward/2_tiled": {
        "bias forgotten in the recomputed pre": ("derivative(pre + bias[n])", "derivative(pre)"),
        "upstream gradient forgotten": ("grad[at] * finite", "finite"),
        "derivative forgotten": ("* finite_or_0(derivative(pre + bias[n]))", ""),
        "activations counted from 1": ("case 1u", "case 0u"),
        "last tile of k left out": ("first < params.k;", "first + TILE <= params.k;"),
        "only the last tile of k": ("pre += tile_product", "pre = tile_product"),
        "every item reads item 0's b": ("item * params.b_stride + ", "", OWN_B),
        "reads past the last column of b": (" && n < params.n) { return b", ") { return b", READ),
        "grad_pre of item 0 only": (
            "[0, batch)\n  var pre",
            "[0, batch)\n  if (item > 0u) { return; }\n  var pre",
            UNWRITTEN + NUMBERS,
        ),
        "threads outside return above a barrier": (
            "var pre = 0.0;",
            "var pre = 0.0;\n  if (m >= params.m || n >= params.n) { return; }",
            MISSED_BARRIER + UNINITIALIZED + NUMBERS,
        ),
        "relu rises at 0": ("x > 0.0); }    //", "x >= 0.0); }  //"),
        "gelu overflows": ("clamp(x, -11.0, 11.0)", "x", GELU),
        "gelu is cut too early": ("clamp(x, -11.0, 11.0)", "clamp(x, -4.0, 4.0)", GELU),
        "gelu's cube loses its factor": ("3.0 * CUBE", "CUBE", GELU),
        "gelu without the product rule": ("(1.0 + t * dz * sigmoid(-z))", "1.0", GELU),
        "silu is sigmoid": ("sigmoid(t) * (1.0 + t * sigmoid(-t))", "sigmoid(t)", SILU),
        "sigmoid instead of its derivative": ("sigmoid(x) * sigmoid(-x)", "sigmoid(x)", SIGMOID),
        "a difference cancels": ("sigmoid(x) * sigmoid(-x)", "sigmoid(x) * (1.0 - sigmoid(x))", SIGMOID),
        "sigmoid mirrored": ("exp(-abs(x))", "exp(abs(x))", SILU),
        "tanh at half its argument": ("(2.0 * t) * sigmoid(-2.0 * t)", "(t) * sigmoid(-t)", TANH),
        "d_a walks along k": ("first < params.n;", "first < params.k;"),
        "d_a's last tile left out": ("first < params.n;", "first + TILE <= params.n;"),
        "d_a with b not transposed": ("right[local.x * TILE + local.y", "right[local.y * TILE + local.x"),
        "d_a writes past the end": ("m < params.m && k < params.k) {\n", "k < params.k) {\n", RACE + WRITE),
        "d_a added to what was there": ("params.k + k] = sum", "params.k + k] += sum"),
        "d_b with a not transposed": ("left[local.x * TILE + local.y", "left[local.y * TILE + local.x"),
        "d_b of the first rows only": ("first < params.m;", "first < TILE;", TALL),
        "d_b of item 0 only": ("select(params.batch_size, ", "select(1u, "),
        "d_b from item 0's a": ("read_a(item, first + local.y", "read_a(0u, first + local.y"),
        "every item adds up all": ("params.d_b_stride != 0u", "false", PER_ITEM),
        "every item writes item 0's d_b": (
            "group.z * params.d_b_stride + ",
            "",
            RACE + OVERLAP + UNWRITTEN + NUMBERS,
            PER_ITEM,
        ),
        "d_b writes past its row": ("k < params.k && n < params.n) {\n", "k < params.k) {\n", PAST),
        "d_bias of item 0 only": ("params.batch_size * params.m", "params.m"),
        "d_bias of the first 256 columns": (
            "let n = global.x;",
            "let n = global.x % 256u;",
            OVERLAP + UNWRITTEN + NUMBERS,
            BROAD,
        ),
        "d_bias writes past the end": ("if (n >= params.n) {", "if (n > params.n) {", READ + WRITE),
        "d_bias added to what was there": ("d_bias[n] = sum;", "d_bias[n] += sum;"),
    },
    "gemm_bias_act_backward/3_register_tiles": {
        "d_b without the last rows": ("m0 < end; m0", "m0 + TILE_K <= end; m0"),
        "d_bias reads past the last column": ("min(n, N - 1u)", "n", READ),
    },
    "gemm_bias_act_backward/4_registers_only": {
        "b not transposed for d_a": ("right = transposed(right);", ""),
        "steps past the last row count in d_b": ("|| m < D_B_ROWS", "|| true"),
        "last row counted again in d_bias": (", row + i < ALL_ROWS)", ", true)"),
    },
}
SHAPES = {
    **{name: LAYER for name in EDITS if name.startswith("gemm")},
    "conv2d/1_thread_per_output": ODD,
    "conv2d/2_implicit_gemm": STEPS,
    "conv2d/3_winograd": IN_9,
    "conv2d/4_register_windows": WINDOWS,
    "conv2d/5_direct": GROUPS,
    "conv2d_grad_input/3_implicit_gemm": STEPS,
    "conv2d_grad_input/4_residue_classes": CLASSES,
    "conv2d_grad_input/5_winograd": OUT_9,
    "conv2d_grad_input/6_register_windows": WINDOWS,
    "conv2d_grad_input/7_split_channels": WINDOWS,
    "conv2d_grad_weight/3_split_k": STEPS,
    "conv2d_grad_weight/4_winograd": TILES_18,
    "conv2d_grad_weight/5_register_windows": WEIGHTS,
    "conv2d_grad_weight/6_filter_rows": WEIGHTS,
    "sum/1_one_thread": FEW_NUMBERS,
    "sum/2_tree": MANY_NUMBERS,
    "sum/3_two_passes": MANY_NUMBERS,
    **{f"gemm_bias_act/{name}": QUADS for name in ("3_register_tiles", "4_vec4_tiles", "5_prefetch")},
    "gemm_bias_act/6_registers_only": FOURS,
    "gemm_bias_act_backward/3_register_tiles": QUADS_LONG,
    "gemm_bias_act_backward/4_registers_only": FOURS,
}
CONSTANTS = {"conv2d/5_direct": {"IMAGES": 2}, "conv2d_grad_weight/4_winograd": {"TILE_K": 16, "PARTS": 2}}


# --- Every barrier, missing -----------------------------------------------------------------------------------

RACES = {  # the problem and the constants that show them, where they are not the usual ones
    "conv2d/2_implicit_gemm": (TILES, ALONE),
    "conv2d_grad_input/3_implicit_gemm": (TILES, ALONE),
    "conv2d_grad_input/4_residue_classes": (CLASSES, WHOLE),
    "conv2d_grad_weight/3_split_k": (TILES, ALONE),
    "conv2d_grad_weight/4_winograd": (TILES_18, {"TILE_K": 16}),
}
RARE = {  # by the barrier's comment, the only problem that shows the race
    "  // no thread still reads the old tile": MANY_IMAGES,
    "  // no thread still reads the sums of the filter before": PAIRS,
}


def without_a_barrier(name: str) -> Iterator[WrongKernel]:
    """A version without each of its barriers, one at a time: a data race."""
    shape, constants = RACES.get(name, (SHAPES[name], CONSTANTS.get(name, {})))
    source = small(wgsl.load(*name.split("/"))).source
    for barrier in re.finditer(r"workgroupBarrier\(\);(.*)", source):
        begin = barrier.start()
        while source.count(source[begin : barrier.end()]) > 1:  # with the text before it that makes it unique
            begin = source.rindex("\n", 0, begin)
        before, comment = source[begin : barrier.start()], barrier[1]
        title = f"no barrier in line {source.count(chr(10), 0, barrier.start()) + 1}"
        yield WrongKernel(name, title, before + barrier[0], before + comment, RACE, RARE.get(comment, shape), constants)


WRONG_KERNELS = (
    *OF_LESSON_05,
    *wrong_kernels(EDITS, SHAPES, CONSTANTS),
    *(row for name in EDITS for row in without_a_barrier(name)),
)
