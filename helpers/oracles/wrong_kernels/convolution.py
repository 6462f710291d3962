"""Wrong kernels of the convolution and its three gradients."""

from helpers.convolution.shapes import ConvShape
from helpers.oracles.wrong_kernels.row import (
    ENDLESS,
    MISSED_BARRIER,
    NUMBERS,
    OVERLAP,
    RACE,
    READ,
    UNINITIALIZED,
    UNWRITTEN,
    WRAPPED,
    WRITE,
    WrongKernel,
)

# The smallest problems that show a mistake. In ODD rows are not columns, and N, Ci and Co differ.
ODD = ConvShape(2, 3, 5, 7, 4, 3, 2, 2, (1, 2))
STRIDE_1 = ConvShape(2, 3, 3, 5, 4, 3, 2, 1, (1, 2))
ONE_FILTER = ConvShape(1, 2, 3, 5, 1, 3, 2, 1, (1, 0))  # a step past the end of one tensor is past the end of all
POINT = ConvShape(1, 1, 1, 1, 1, 1, 1)
MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads
WIDE = ConvShape(1, 2, 2, 5, 2, 5, 4, 1, (4, 3))  # more weights than the 16 threads of a tile
IN_PIECES = ConvShape(1, 1, 2, 5, 1, 7, 3, 1, (6, 2))  # more weights than are held at once

FORWARD = "conv2d/1_thread_per_output"
WEIGHT_1, WEIGHT_2 = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_weight/2_workgroup_per_weight"
INPUT_1, INPUT_2 = "conv2d_grad_input/1_gather", "conv2d_grad_input/2_shared_weights"
BIAS_1, BIAS_2 = "conv2d_grad_bias/1_thread_per_channel", "conv2d_grad_bias/2_workgroup_per_channel"

FLAT = "(workgroup.y * grid.x + workgroup.x) * 256u + thread"  # the number of a thread
STEP = "    workgroupBarrier();  // the sums that this step reads are written\n"
BRANCH = "    if (thread < half) {\n"

WRONG_KERNELS = (
    # --- conv2d -------------------------------------------------------------------------------------------
    WrongKernel(FORWARD, "bias forgotten", ODD, "var sum = bias[co];", "var sum = 0.0;"),
    WrongKernel(FORWARD, "sum cut to a range", ODD, "] = sum;", "] = clamp(sum, -9999.0, 9999.0);"),
    WrongKernel(FORWARD, "sum rounded to a step", ODD, "] = sum;", "] = round(sum * 65536.0) / 65536.0;"),
    WrongKernel(FORWARD, "every image is image 0", ODD, "(n * params.in_channels + ci)", "ci"),
    WrongKernel(FORWARD, "stride of the rows forgotten", ODD, "oh * params.stride", "oh"),
    WrongKernel(FORWARD, "padding added", ODD, "+ kh - params.padding_h", "+ kh + params.padding_h"),
    WrongKernel(FORWARD, "one padding for both axes", ODD, "- params.padding_w", "- params.padding_h"),
    WrongKernel(FORWARD, "padding read as data", ODD, "if (iw < params.in_w)", "if (true)", WRAPPED + READ + NUMBERS),
    WrongKernel(FORWARD, "filter flipped", STRIDE_1, "+ kh - params", "+ (params.kernel_h - 1u - kh) - params"),
    WrongKernel(
        FORWARD, "filter sides swapped", ODD, "+ kh) * params.kernel_w", "+ kh) * params.kernel_h", READ + NUMBERS
    ),
    WrongKernel(FORWARD, "channels swapped", ODD, "(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
    WrongKernel(FORWARD, "first channel only", ODD, "ci < params.in_channels", "ci < 1u"),
    WrongKernel(
        FORWARD, "one channel too many", ONE_FILTER, "ci < params.in_channels", "ci <= params.in_channels", READ
    ),
    WrongKernel(FORWARD, "row and column exchanged", ODD, "index % params.out_w;", "index % params.out_h;"),
    WrongKernel(FORWARD, "last output left out", ODD, "if (index >= ", "if (index + 1u >= ", UNWRITTEN + NUMBERS),
    WrongKernel(FORWARD, "no guard at the end", ODD, "if (index >= ", "if (false && index >= ", READ + WRITE),
    WrongKernel(
        FORWARD,
        "zeros not written",
        ODD,
        "output[index] = sum;",
        "if (sum != 0.0) { output[index] = sum; }",
        UNWRITTEN + NUMBERS,
    ),
    WrongKernel(FORWARD, "added to what was there", ODD, "output[index] = sum", "output[index] += sum"),
    # --- conv2d_grad_weight -------------------------------------------------------------------------------
    WrongKernel(WEIGHT_1, "batch not summed", ODD, "n < params.batch", "n < 1u"),
    WrongKernel(WEIGHT_1, "one image too many", STRIDE_1, "n < params.batch", "n <= params.batch", READ),
    WrongKernel(WEIGHT_1, "mean over the batch", ODD, "= sum;", "= sum / f32(params.batch);"),
    WrongKernel(WEIGHT_1, "last output row left out", ODD, "oh < params.out_h", "oh + 1u < params.out_h"),
    WrongKernel(WEIGHT_1, "stride forgotten", ODD, "ow * params.stride", "ow"),
    WrongKernel(WEIGHT_1, "padding added", ODD, "+ kw - params.padding_w", "+ kw + params.padding_w"),
    WrongKernel(WEIGHT_1, "one padding for both axes", ODD, "- params.padding_w", "- params.padding_h"),
    WrongKernel(WEIGHT_1, "padding read as data", ODD, "if (iw < params.in_w)", "if (true)", WRAPPED + READ + NUMBERS),
    WrongKernel(WEIGHT_1, "filter flipped", STRIDE_1, "+ kh - params", "+ (params.kernel_h - 1u - kh) - params"),
    WrongKernel(WEIGHT_1, "index decoded by rows", ODD, "index % params.kernel_w", "index % params.kernel_h"),
    WrongKernel(
        WEIGHT_1, "batch and channel swapped", ODD, "(n * params.out_channels + co)", "(co * params.batch + n)"
    ),
    WrongKernel(WEIGHT_1, "input channel ignored", ODD, "(n * params.in_channels + ci)", "(n * params.in_channels)"),
    WrongKernel(WEIGHT_1, "only the last product", ODD, "sum += grad_output", "sum = grad_output"),
    WrongKernel(WEIGHT_1, "sum cut to a whole number", ODD, "= sum;", "= trunc(sum);"),
    WrongKernel(WEIGHT_1, "sum rounded to 16 bits", ODD, "= sum;", "= quantizeToF16(sum);"),
    WrongKernel(WEIGHT_1, "loop over the batch never ends", POINT, "n++", "n *= 2u", ENDLESS),
    WrongKernel(WEIGHT_1, "last element left out", ODD, "if (index >= ", "if (index + 1u >= ", UNWRITTEN + NUMBERS),
    WrongKernel(WEIGHT_1, "writes past the end", ODD, "if (index >= ", "if (index > ", READ + WRITE),
    WrongKernel(
        WEIGHT_1,
        "threads past the end repeat the last",
        ODD,
        FLAT,
        f"min({FLAT}, arrayLength(&grad_weight) - 1u)",
        OVERLAP,
    ),
    WrongKernel(
        WEIGHT_1,
        "neighbor overwritten",
        ODD,
        "= sum;",
        "= sum;\n  if (index > 0u) { grad_weight[index - 1u] = 0.0; }",
        RACE + NUMBERS,
    ),
    WrongKernel(WEIGHT_1, "added to what was there", ODD, "grad_weight[index] = sum", "grad_weight[index] += sum"),
    WrongKernel(WEIGHT_1, "larger than what was there", ODD, "= sum;", "= max(grad_weight[index], sum);"),
    WrongKernel(WEIGHT_2, "tree stops at two", ODD, "half > 0u", "half > 1u"),
    WrongKernel(WEIGHT_2, "tree drops a half", ODD, "thread + half]", "thread + half / 2u]", RACE + NUMBERS),
    WrongKernel(WEIGHT_2, "tree begins at a quarter", MANY, "half = THREADS / 2u", "half = THREADS / 4u"),
    WrongKernel(WEIGHT_2, "tree never ends", POINT, "half /= 2u", "half /= 1u", ENDLESS),
    WrongKernel(WEIGHT_2, "no barrier in the tree", ODD, STEP, "", RACE),
    WrongKernel(WEIGHT_2, "half of the threads miss a barrier", ODD, STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
    WrongKernel(
        WEIGHT_2,
        "two threads share a slot",
        ODD,
        "partial[thread] = sum",
        "partial[thread / 2u] = sum",
        RACE + OVERLAP + UNINITIALIZED + NUMBERS,
    ),
    WrongKernel(WEIGHT_2, "one product per thread", MANY, "i < products;", "i < min(products, THREADS);"),
    WrongKernel(
        WEIGHT_2, "products of an image too many", MANY, "i < products;", "i < products + products / 2u;", READ
    ),
    WrongKernel(WEIGHT_2, "one product too many", ONE_FILTER, "i < products;", "i <= products;", READ),
    WrongKernel(WEIGHT_2, "last product left out", ODD, "i < products;", "i + 1u < products;"),
    WrongKernel(
        WEIGHT_2,
        "channel decoded by rows",
        ODD,
        "x / params.kernel_w",
        "x / params.kernel_h",
        OVERLAP + UNWRITTEN + NUMBERS,
    ),
    WrongKernel(WEIGHT_2, "output decoded by rows", ODD, "i % params.out_w", "i % params.out_h"),
    WrongKernel(WEIGHT_2, "columns of padding read", ODD, " && iw < params.in_w", "", WRAPPED + READ + NUMBERS),
    WrongKernel(WEIGHT_2, "all threads write", ODD, "if (thread == 0u)", "if (true)", RACE + OVERLAP),
    WrongKernel(WEIGHT_2, "another thread writes", ODD, "thread == 0u", "thread == 1u", RACE),
    WrongKernel(WEIGHT_2, "added to what was there", ODD, "= partial[0];", "+= partial[0];"),
    # --- conv2d_grad_input --------------------------------------------------------------------------------
    WrongKernel(INPUT_1, "every image is image 0", ODD, "(n * params.out_channels + co)", "co"),
    WrongKernel(INPUT_1, "stride divides badly", ODD, "row % params.stride != 0u || ", ""),
    WrongKernel(INPUT_1, "holes between columns filled", ODD, "column % params.stride == 0u && ", ""),
    WrongKernel(
        INPUT_1, "one output row too many", STRIDE_1, "oh >= params.out_h", "oh > params.out_h", READ + NUMBERS
    ),
    WrongKernel(
        INPUT_1, "one channel too many", ONE_FILTER, "co < params.out_channels", "co <= params.out_channels", READ
    ),
    WrongKernel(INPUT_1, "channels swapped", ODD, "(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
    WrongKernel(INPUT_1, "correlated, not flipped", STRIDE_1, "params.padding_h - kh", "kh - params.padding_h"),
    WrongKernel(INPUT_1, "padding subtracted", ODD, "iw + params.padding_w", "iw - params.padding_w"),
    WrongKernel(INPUT_1, "one padding for both axes", ODD, "iw + params.padding_w", "iw + params.padding_h"),
    WrongKernel(INPUT_1, "last filter column left out", ODD, "kw < params.kernel_w", "kw + 1u < params.kernel_w"),
    WrongKernel(INPUT_1, "no guard at the end", ODD, "if (index >= ", "if (false && index >= ", READ + WRITE),
    WrongKernel(
        INPUT_1,
        "zeros not written",
        ODD,
        "grad_input[index] = sum;",
        "if (sum != 0.0) { grad_input[index] = sum; }",
        UNWRITTEN + NUMBERS,
    ),
    WrongKernel(INPUT_1, "added to what was there", ODD, "grad_input[index] = sum", "grad_input[index] += sum"),
    WrongKernel(
        INPUT_2,
        "only one weight per thread loaded",
        WIDE,
        "i < count; i += TILE",
        "i < min(count, TILE * TILE); i += TILE",
        UNINITIALIZED + NUMBERS,
    ),
    WrongKernel(
        INPUT_2,
        "room for 3x3 weights",
        WIDE,
        "array<f32, CHUNK>",
        "array<f32, 9>",
        RACE + OVERLAP + READ + WRITE + NUMBERS,
    ),
    WrongKernel(
        INPUT_2, "weights of the first filter used for all", ODD, "i < count; i +=", "i < count && co == 0u; i +="
    ),
    WrongKernel(INPUT_2, "only the first chunk", IN_PIECES, "first += CHUNK", "first += 1000000u"),
    WrongKernel(INPUT_2, "no barrier before a load", ODD, "workgroupBarrier();  // no thread", "// no thread", RACE),
    WrongKernel(INPUT_2, "no barrier after a load", ODD, "workgroupBarrier();  // the new", "// the new", RACE),
    WrongKernel(
        INPUT_2,
        "threads outside return above a barrier",
        ODD,
        "iw < params.in_w && ih < params.in_h;",
        "iw < params.in_w && ih < params.in_h;\n  if (!inside) { return; }",
        MISSED_BARRIER + UNINITIALIZED + NUMBERS,
    ),
    WrongKernel(INPUT_2, "all threads write", ODD, "if (inside) {", "if (true) {", RACE + OVERLAP + WRITE + NUMBERS),
    WrongKernel(
        INPUT_2,
        "weights of channel 0",
        ODD,
        "(co * params.in_channels + ci) * taps",
        "(co * params.in_channels) * taps",
    ),
    WrongKernel(
        INPUT_2, "weights past the filter loaded", ODD, "i < count; i += TILE", "i < TILE * TILE; i += TILE", READ
    ),
    WrongKernel(INPUT_2, "column wraps at the wrong side", ODD, "kw == params.kernel_w", "kw == params.kernel_h"),
    WrongKernel(INPUT_2, "stride 1 everywhere", ODD, "params.stride != 1u", "false"),
    WrongKernel(
        INPUT_2, "one output column too many", ONE_FILTER, "ow < params.out_w)", "ow <= params.out_w)", READ + NUMBERS
    ),
    WrongKernel(
        INPUT_2,
        "tiles overlap",
        ODD,
        "workgroup.y * TILE + local.y",
        "workgroup.x * TILE + local.y",
        OVERLAP + UNWRITTEN + NUMBERS,
    ),
    WrongKernel(INPUT_2, "added to what was there", ODD, "+ iw] = sum;", "+ iw] += sum;"),
    # --- conv2d_grad_bias ---------------------------------------------------------------------------------
    WrongKernel(BIAS_1, "batch not summed", ODD, "n < params.batch", "n < 1u"),
    WrongKernel(BIAS_1, "one image too many", ODD, "n < params.batch", "n <= params.batch", READ),
    WrongKernel(BIAS_1, "mean over the pixels", ODD, "= sum;", "= sum / f32(pixels);"),
    WrongKernel(BIAS_1, "last pixel left out", ODD, "i < pixels", "i + 1u < pixels"),
    WrongKernel(BIAS_1, "batch and channel swapped", ODD, "(n * params.out_channels + co)", "(co * params.batch + n)"),
    WrongKernel(BIAS_1, "planes overlap", ODD, "* params.out_channels + co", "+ co"),
    WrongKernel(BIAS_1, "no guard at the end", ODD, "if (co >= ", "if (false && co >= ", READ + WRITE),
    WrongKernel(
        BIAS_1,
        "threads past the end repeat the last",
        ODD,
        f"{FLAT};",
        f"min({FLAT}, params.out_channels - 1u);",
        OVERLAP,
    ),
    WrongKernel(BIAS_1, "added to what was there", ODD, "grad_bias[co] = sum;", "grad_bias[co] += sum;"),
    WrongKernel(BIAS_1, "smaller than what was there", ODD, "= sum;", "= min(grad_bias[co], sum);"),
    WrongKernel(BIAS_2, "one element per thread", MANY, "i += THREADS", "i += params.batch * pixels"),
    WrongKernel(BIAS_2, "every image is image 0", ODD, "(n * params.out_channels + co)", "co"),
    WrongKernel(
        BIAS_2, "one element too many", ONE_FILTER, "i < params.batch * pixels", "i <= params.batch * pixels", READ
    ),
    WrongKernel(BIAS_2, "tree stops at two", ODD, "half > 0u", "half > 1u"),
    WrongKernel(BIAS_2, "tree begins at a quarter", MANY, "half = THREADS / 2u", "half = THREADS / 4u"),
    WrongKernel(BIAS_2, "no barrier in the tree", ODD, STEP, "", RACE),
    WrongKernel(BIAS_2, "half of the threads miss a barrier", ODD, STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
    WrongKernel(
        BIAS_2,
        "every channel is written to channel 0",
        ODD,
        "grad_bias[co] = partial",
        "grad_bias[0] = partial",
        RACE + UNWRITTEN + NUMBERS,
    ),
)
