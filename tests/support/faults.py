"""Wrong kernels that look right: one piece of text replaced, and a problem that shows it."""

from typing import NamedTuple

from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Shape
from helpers.summation.shapes import SumShape

# The smallest problems that catch a fault. In ODD all sizes differ, and so do both paddings.
ODD = ConvShape(2, 3, 7, 9, 4, 3, 2, 2, 1, 2)

STRIDE_1 = ConvShape(2, 3, 5, 7, 4, 3, 2, 1, 1, 2)

WIDE = ConvShape(1, 2, 18, 17, 2, 17, 16)  # more weights than 256 threads

HUGE = ConvShape(1, 1, 66, 65, 1, 65, 64)  # more weights than fit into workgroup memory

MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads

SEVEN_HUNDRED = SumShape(700)  # more numbers than 256 threads, and no multiple of them

LAYER = GemmShape(5, 20, 37, 3, "relu")  # all sizes differ, no tile is full; one, two and three tiles

LINEAR = GemmShape(5, 20, 37, 3)

OWN_B = GemmShape(5, 20, 37, 3, "relu", True)

PER_ITEM = GemmShape(5, 20, 37, 3, "relu", True, True)

BROAD = GemmShape(2, 3, 300)  # more columns than 256 threads

TALL = GemmShape(35, 3, 4)  # more rows than two tiles

RELU, GELU, SILU, SIGMOID, TANH = "relu", "gelu", "silu", "sigmoid", "tanh"  # act at the ends of float32


class Fault(NamedTuple):
    """`old` becomes `new` in one kernel; a launch with `shape`, or this activation alone, shows it."""

    kernel: str
    name: str
    shape: Shape | str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


FORWARD = "conv2d/1_thread_per_output"

WEIGHT_1, WEIGHT_2 = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_weight/2_workgroup_per_weight"

INPUT_1, INPUT_2 = "conv2d_grad_input/1_gather", "conv2d_grad_input/2_shared_weights"

BIAS_1, BIAS_2 = "conv2d_grad_bias/1_thread_per_channel", "conv2d_grad_bias/2_workgroup_per_channel"

SUM_1, SUM_2, SUM_3 = "sum/1_one_thread", "sum/2_tree", "sum/3_two_passes"

GEMM_1, GEMM_2 = "gemm_bias_act/1_thread_per_element", "gemm_bias_act/2_tiled"

BACK_1, BACK_2 = "gemm_bias_act_backward/1_thread_per_element", "gemm_bias_act_backward/2_tiled"

FAULTS = [
    Fault(FORWARD, "bias forgotten", ODD, "var sum = bias[co];", "var sum = 0.0;"),
    Fault(FORWARD, "every image is image 0", ODD, "(n * params.in_channels + ci)", "ci"),
    Fault(FORWARD, "padding added", ODD, "+ kh - params.padding_h", "+ kh + params.padding_h"),
    Fault(FORWARD, "filter sides swapped", ODD, "+ kh) * params.kernel_w", "+ kh) * params.kernel_h"),
    Fault(WEIGHT_1, "batch not summed", ODD, "n < params.batch", "n < 1u"),
    Fault(WEIGHT_1, "one image too many", STRIDE_1, "n < params.batch", "n <= params.batch"),
    Fault(WEIGHT_1, "stride forgotten", ODD, "ow * params.stride", "ow"),
    Fault(WEIGHT_1, "one padding for both axes", ODD, "- params.padding_w", "- params.padding_h"),
    Fault(WEIGHT_1, "filter flipped", STRIDE_1, "+ kh - params", "+ (params.kernel_h - 1u - kh) - params"),
    Fault(WEIGHT_1, "index decoded by rows", ODD, "index % params.kernel_w", "index % params.kernel_h"),
    Fault(WEIGHT_1, "padding read as data", ODD, "if (iw < params.in_w)", "if (true)"),
    Fault(WEIGHT_1, "last element left out", ODD, "if (index >= ", "if (index + 1u >= "),
    Fault(WEIGHT_1, "writes past the end", ODD, "if (index >= ", "if (index > "),
    Fault(WEIGHT_1, "only the last product", ODD, "sum += grad_output", "sum = grad_output"),
    Fault(WEIGHT_2, "tree stops at two", ODD, "half > 0u", "half > 1u"),
    Fault(WEIGHT_2, "tree drops a half", ODD, "thread + half]", "thread + half / 2u]"),
    Fault(WEIGHT_2, "one product per thread", MANY, "i < products;", "i < min(products, THREADS);"),
    Fault(WEIGHT_2, "products of an image too many", MANY, "i < products;", "i < products + products / 2u;"),
    Fault(WEIGHT_2, "channel decoded by rows", ODD, "x / params.kernel_w", "x / params.kernel_h"),
    Fault(WEIGHT_2, "columns of padding read", ODD, " && iw < params.in_w", ""),
    Fault(INPUT_1, "stride divides badly", ODD, "row % params.stride != 0u || ", ""),
    Fault(INPUT_1, "one output row too many", STRIDE_1, "oh >= params.out_h", "oh > params.out_h"),
    Fault(INPUT_1, "one channel too many", STRIDE_1, "co < params.out_channels", "co <= params.out_channels"),
    Fault(INPUT_1, "channels swapped", ODD, "(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
    Fault(INPUT_1, "correlated, not flipped", STRIDE_1, "params.padding_h - kh", "kh - params.padding_h"),
    Fault(INPUT_1, "holes between columns filled", ODD, "column % params.stride == 0u && ", ""),
    Fault(INPUT_1, "one padding for both axes", ODD, "iw + params.padding_w", "iw + params.padding_h"),
    Fault(INPUT_2, "weights over 256 not loaded", WIDE, "i < count; i += TILE", "i < min(count, 256u); i += TILE"),
    Fault(INPUT_2, "room for 7x7 weights", WIDE, "array<f32, CHUNK>", "array<f32, 49>"),
    Fault(INPUT_2, "only the first chunk", HUGE, "first += CHUNK", "first += 1000000u"),
    Fault(INPUT_2, "column wraps at the wrong side", ODD, "kw == params.kernel_w", "kw == params.kernel_h"),
    Fault(INPUT_2, "stride 1 everywhere", ODD, "params.stride != 1u", "false"),
    Fault(INPUT_2, "tiles overlap", WIDE, "workgroup.y * TILE + local.y", "workgroup.x * TILE + local.y"),
    Fault(BIAS_1, "batch not summed", ODD, "n < params.batch", "n < 1u"),
    Fault(BIAS_1, "one image too many", ODD, "n < params.batch", "n <= params.batch"),
    Fault(BIAS_1, "planes overlap", ODD, "* params.out_channels + co", "+ co"),
    Fault(BIAS_2, "one element per thread", MANY, "i += THREADS", "i += params.batch * pixels"),
    Fault(BIAS_2, "every image is image 0", ODD, "(n * params.out_channels + co)", "co"),
    Fault(SUM_1, "only the last number", SEVEN_HUNDRED, "sum += input", "sum = input"),
    Fault(SUM_1, "one number too many", SEVEN_HUNDRED, "i < params.count", "i <= params.count"),
    Fault(SUM_2, "one number per thread", SEVEN_HUNDRED, "i += THREADS", "i += params.count"),
    Fault(SUM_2, "tree stops at two", SEVEN_HUNDRED, "half > 0u", "half > 1u"),
    Fault(SUM_3, "workgroups share nothing", SEVEN_HUNDRED, "workgroup.x * THREADS + thread", "thread"),
    Fault(SUM_3, "numbers added twice", SEVEN_HUNDRED, "i += grid.x * THREADS", "i += THREADS"),
    Fault(SUM_3, "last part left out", SEVEN_HUNDRED, "thread < array", "thread + 1u < array"),
    Fault(GEMM_1, "bias forgotten", LAYER, "var pre = bias[n];", "var pre = 0.0;"),
    Fault(GEMM_1, "activation forgotten", LAYER, "activate(pre)", "pre"),
    Fault(GEMM_1, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    Fault(GEMM_1, "one term too many", LINEAR, "k < params.k;", "k <= params.k;"),
    Fault(GEMM_1, "writes past the end", LAYER, "if (index >= ", "if (index > "),
    Fault(GEMM_1, "silu is swish of 1.702", SILU, "-88.0) * sigmoid(x)", "-88.0) * sigmoid(1.702 * x)"),
    Fault(GEMM_2, "bias forgotten", LAYER, "activate(pre + bias[n])", "activate(pre)"),
    Fault(GEMM_2, "activation forgotten", LAYER, "activate(pre + bias[n])", "pre + bias[n]"),
    Fault(GEMM_2, "last tile of k left out", LAYER, "first < params.k;", "first + TILE <= params.k;"),
    Fault(GEMM_2, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    Fault(GEMM_2, "reads past the last row of a", LAYER, "if (m < params.m && k < params.k)", "if (m < params.m)"),
    Fault(GEMM_2, "writes past its row", LAYER, "if (m < params.m && n < params.n) {", "if (m < params.m) {"),
    Fault(GEMM_2, "gelu is cut from below at -3", GELU, "clamp(x, -11.0, 11.0)", "clamp(x, -3.0, 11.0)"),
    Fault(GEMM_2, "sigmoid mirrored", SIGMOID, "exp(-abs(x))", "exp(abs(x))"),
    Fault(GEMM_2, "tanh at half its argument", TANH, "(2.0 * t) - sigmoid(-2.0 * t)", "(t) - sigmoid(-t)"),
    Fault(GEMM_2, "tanh's series too far out", TANH, "abs(t) < 0.1", "abs(t) < 2.0"),
    Fault(BACK_1, "upstream gradient forgotten", LAYER, "grad[index] * finite", "finite"),
    Fault(BACK_1, "d_a with another item's b", OWN_B, "+ n] * b[item * ", "+ n] * b[0u * "),
    Fault(BACK_1, "d_b of item 0 only", LAYER, "row < first + rows", "row < first + params.m"),
    Fault(BACK_1, "every item adds up all", PER_ITEM, "/ results * params.m", "* params.m"),
    Fault(BACK_1, "d_bias of item 0 only", LAYER, "row < params.batch_size * params.m", "row < params.m"),
    Fault(BACK_1, "d_bias with a row too many", LAYER, "row < params.batch_size", "row <= params.batch_size"),
    Fault(BACK_1, "silu without its x", SILU, "(1.0 + t * sigmoid(-t))", "(1.0 + sigmoid(-t))"),
    Fault(BACK_2, "bias forgotten", LAYER, "derivative(pre + bias[n])", "derivative(pre)"),
    Fault(BACK_2, "upstream gradient forgotten", LAYER, "grad[at] * finite", "finite"),
    Fault(BACK_2, "derivative forgotten", LAYER, "* finite_or_0(derivative(pre + bias[n]))", ""),
    Fault(BACK_2, "relu rises at 0", RELU, "x > 0.0); }    //", "x >= 0.0); }  //"),
    Fault(BACK_2, "gelu overflows", GELU, "clamp(x, -11.0, 11.0)", "x"),
    Fault(BACK_2, "gelu is cut too early", GELU, "clamp(x, -11.0, 11.0)", "clamp(x, -4.0, 4.0)"),
    Fault(BACK_2, "gelu's cube loses its factor", GELU, "3.0 * CUBE", "CUBE"),
    Fault(BACK_2, "gelu without the product rule", GELU, "(1.0 + t * dz * sigmoid(-z))", "1.0"),
    Fault(BACK_2, "silu is sigmoid", SILU, "sigmoid(t) * (1.0 + t * sigmoid(-t))", "sigmoid(t)"),
    Fault(BACK_2, "a difference cancels", SIGMOID, "sigmoid(x) * sigmoid(-x)", "sigmoid(x) * (1.0 - sigmoid(x))"),
    Fault(BACK_2, "sigmoid mirrored", SILU, "exp(-abs(x))", "exp(abs(x))"),
    Fault(BACK_2, "tanh at half its argument", TANH, "(2.0 * t) * sigmoid(-2.0 * t)", "(t) * sigmoid(-t)"),
    Fault(BACK_2, "activations counted from 1", LAYER, "case 1u", "case 0u"),
    Fault(BACK_2, "last tile of k left out", LAYER, "first < params.k;", "first + TILE <= params.k;"),
    Fault(BACK_2, "reads past the last column of b", LAYER, " && n < params.n) { return b", ") { return b"),
    Fault(BACK_2, "d_a walks along k", LAYER, "first < params.n;", "first < params.k;"),
    Fault(BACK_2, "b not transposed", LAYER, "right[local.x * TILE + local.y", "right[local.y * TILE + local.x"),
    Fault(BACK_2, "a not transposed", LAYER, "left[local.x * TILE + local.y", "left[local.y * TILE + local.x"),
    Fault(BACK_2, "d_b of the first rows only", TALL, "first < params.m;", "first < TILE;"),
    Fault(BACK_2, "d_b of item 0 only", LAYER, "select(params.batch_size, ", "select(1u, "),
    Fault(BACK_2, "d_b from item 0's a", LAYER, "read_a(item, first + local.y", "read_a(0u, first + local.y"),
    Fault(BACK_2, "every item adds up all", PER_ITEM, "params.d_b_stride != 0u", "false"),
    Fault(BACK_2, "every item writes item 0's d_b", PER_ITEM, "group.z * params.d_b_stride + ", ""),
    Fault(BACK_2, "every item reads item 0's b", OWN_B, "item * params.b_stride + ", ""),
    Fault(BACK_2, "d_bias of item 0 only", LAYER, "params.batch_size * params.m", "params.m"),
    Fault(BACK_2, "d_bias of the first 256 columns", BROAD, "let n = global.x;", "let n = global.x % 256u;"),
    Fault(BACK_2, "d_a writes past the end", LAYER, "m < params.m && k < params.k) {\n", "k < params.k) {\n"),
    Fault(BACK_2, "d_b writes past its row", LAYER, "k < params.k && n < params.n) {\n", "k < params.k) {\n"),
    Fault(BACK_2, "d_bias writes past the end", LAYER, "if (n >= params.n) {", "if (n > params.n) {"),
]
