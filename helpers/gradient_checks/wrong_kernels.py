"""Wrong kernels that look right: the gradients' versions that lesson 05 shows, each with one mistake that has a name.

Every kind of mistake that is made in practice is here, and every barrier is missing once. The tests show that the
checker rejects each for exactly the reasons that it states, and accepts the right kernel on the same problem. Those of
all other versions are in tests/support/wrong_kernels.py.
"""

from collections.abc import Mapping
from typing import NamedTuple

from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Shape
from helpers.kernels import load
from wgsl import Kernel

# What rejects a kernel. Several are added, as in READ + NUMBERS.
NUMBERS = ("wrong numbers",)
READ, WRITE = ("out-of-range read",), ("out-of-range write",)
RACE, OVERLAP = ("data race",), ("overlapping writes",)
UNWRITTEN, WRAPPED, ENDLESS = ("unwritten output",), ("index overflow",), ("endless loop",)
MISSED_BARRIER, NOT_A_NUMBER = ("non-uniform barrier",), ("not-a-number",)
NOT_PORTABLE = ("not portable",)
UNINITIALIZED = ("uninitialized read",)

SMALL = {
    "TILE: u32 = 16u": "TILE: u32 = 4u",
    "TILE: u32 = 8u": "TILE: u32 = 3u",
    "DEPTH: u32 = 128u": "DEPTH: u32 = 36u",
    "TILE_K: u32 = 16u": "TILE_K: u32 = 8u",
    "CHUNK: u32 = 4096u": "CHUNK: u32 = 20u",  # weights held at once
}


def small(kernel: Kernel) -> Kernel:
    """A version with tiles and chunks so small that a problem of a few numbers has several of them."""
    for old, new in SMALL.items():
        kernel = kernel.edit(old, new) if old in kernel.code else kernel
    return kernel


class WrongKernel(NamedTuple):
    """In the version `kernel`, `old` becomes `new`; a run with `shape` shows it, and it is rejected for the `reasons`.

    The reasons are "wrong numbers" and the kinds of the simulator's findings: the same on every adapter. `constants`
    are set where a schedule would choose others, for problems this small.
    """

    kernel: str
    name: str
    old: str
    new: str
    reasons: tuple[str, ...]
    shape: Shape
    constants: Mapping[str, int]

    @property
    def right(self) -> Kernel:
        """The version as it should be, made `small`."""
        return small(load(*self.kernel.split("/"))).with_constants(**self.constants)

    @property
    def wrong(self) -> Kernel:
        """The version with the mistake."""
        return self.right.edit(self.old, self.new)

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


# By version and by the name of the mistake: the old text, the new one and, where they are not usual, reasons, shape
# and constants.
Edits = Mapping[str, Mapping[str, tuple]]
FIELDS = {tuple: "reasons", dict: "constants"}


def wrong_kernels(
    edits: Edits, shapes: Mapping[str, Shape], constants: Mapping[str, Mapping[str, int]]
) -> tuple[WrongKernel, ...]:
    """The rows of a table. What an edit leaves out: wrong numbers, and the usual shape and constants of its version."""
    rows = []
    for kernel, mistakes in edits.items():
        usual = {"reasons": NUMBERS, "shape": shapes[kernel], "constants": constants.get(kernel, {})}
        for name, (old, new, *others) in mistakes.items():
            own = {FIELDS.get(type(value), "shape"): value for value in others}
            rows.append(WrongKernel(kernel, name, old, new, **usual | own))
    return tuple(rows)


# --- Problems, the smallest that show a mistake ---------------------------------------------------------------

# In ODD rows are not columns, and N, Ci and Co differ.
ODD = ConvShape(2, 3, 5, 7, 4, 3, 2, 2, (1, 2))
STRIDE_1 = ConvShape(2, 3, 3, 5, 4, 3, 2, 1, (1, 2))
ONE_FILTER = ConvShape(1, 2, 3, 5, 1, 3, 2, 1, (1, 0))  # a step past the end of one tensor is past the end of all
POINT = ConvShape(1, 1, 1, 1, 1, 1, 1)
MANY = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads
WIDE = ConvShape(1, 2, 2, 5, 2, 5, 4, 1, (4, 3))  # more weights than the 16 threads of a tile
IN_PIECES = ConvShape(1, 1, 2, 5, 1, 7, 3, 1, (6, 2))  # more weights than are held at once
# No two steps along an axis are equal; two groups with two filters each over two channels; an odd number of images.
GROUPS = ConvShape(3, 4, 5, 7, 4, 3, 2, (2, 1), (1, 2), (1, 3), 2)
CHANNELS = ConvShape(2, 1, 3, 4, 3, 1, 1)
SLICES = ConvShape(1, 1, 33, 64, 1, 1, 1)  # a slice and a part of one

# --- The table, and what its rows share -----------------------------------------------------------------------

WEIGHT_1, WEIGHT_2 = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_weight/2_workgroup_per_weight"
WEIGHT_7, INPUT_8 = "conv2d_grad_weight/7_direct", "conv2d_grad_input/8_direct"
INPUT_1, INPUT_2 = "conv2d_grad_input/1_gather", "conv2d_grad_input/2_shared_weights"
BIAS_1, BIAS_2 = "conv2d_grad_bias/1_thread_per_channel", "conv2d_grad_bias/2_workgroup_per_channel"
BIAS_3 = "conv2d_grad_bias/3_two_passes"
FLAT = "(workgroup.y * grid.x + workgroup.x) * 256u + thread"  # the number of a thread
STEP = "    workgroupBarrier();  // the sums that this step reads are written\n"
BRANCH = "    if (thread < half) {\n"

EDITS = {
    WEIGHT_1: {
        "batch not summed": ("n < params.batch", "n < 1u"),
        "one image too many": ("n < params.batch", "n <= params.batch", READ, STRIDE_1),
        "mean over the batch": ("= sum;", "= sum / f32(params.batch);"),
        "last output row left out": ("oh < params.out_h", "oh + 1u < params.out_h"),
        "stride forgotten": ("ow * params.stride", "ow"),
        "padding added": ("+ kw - params.padding_w", "+ kw + params.padding_w"),
        "one padding for both axes": ("- params.padding_w", "- params.padding_h"),
        "padding read as data": ("if (iw < params.in_w)", "if (true)", WRAPPED + READ + NUMBERS),
        "filter flipped": ("+ kh - params", "+ (params.kernel_h - 1u - kh) - params", STRIDE_1),
        "index decoded by rows": ("index % params.kernel_w", "index % params.kernel_h"),
        "batch and channel swapped": ("(n * params.out_channels + co)", "(co * params.batch + n)"),
        "input channel ignored": ("(n * params.in_channels + ci)", "(n * params.in_channels)"),
        "only the last product": ("sum += grad_output", "sum = grad_output"),
        "sum cut to a whole number": ("= sum;", "= trunc(sum);"),
        "sum rounded to 16 bits": ("= sum;", "= quantizeToF16(sum);"),
        "loop over the batch never ends": ("n++", "n *= 2u", ENDLESS, POINT),
        "last element left out": ("if (index >= ", "if (index + 1u >= ", UNWRITTEN + NUMBERS),
        "writes past the end": ("if (index >= ", "if (index > ", READ + WRITE),
        "threads past the end repeat the last": (FLAT, f"min({FLAT}, arrayLength(&grad_weight) - 1u)", OVERLAP),
        "neighbor overwritten": (
            "= sum;",
            "= sum;\n  if (index > 0u) { grad_weight[index - 1u] = 0.0; }",
            RACE + NUMBERS,
        ),
        "added to what was there": ("grad_weight[index] = sum", "grad_weight[index] += sum"),
        "larger than what was there": ("= sum;", "= max(grad_weight[index], sum);"),
    },
    WEIGHT_2: {
        "tree stops at two": ("half > 0u", "half > 1u"),
        "tree drops a half": ("thread + half]", "thread + half / 2u]", RACE + NUMBERS),
        "tree begins at a quarter": ("half = THREADS / 2u", "half = THREADS / 4u", MANY),
        "tree never ends": ("half /= 2u", "half /= 1u", ENDLESS, POINT),
        "no barrier in the tree": (STEP, "", RACE),
        "half of the threads miss a barrier": (STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
        "two threads share a slot": (
            "partial[thread] = sum",
            "partial[thread / 2u] = sum",
            RACE + OVERLAP + UNINITIALIZED + NUMBERS,
        ),
        "one product per thread": ("i < products;", "i < min(products, THREADS);", MANY),
        "products of an image too many": ("i < products;", "i < products + products / 2u;", READ, MANY),
        "one product too many": ("i < products;", "i <= products;", READ, ONE_FILTER),
        "last product left out": ("i < products;", "i + 1u < products;"),
        "channel decoded by rows": ("x / params.kernel_w", "x / params.kernel_h", OVERLAP + UNWRITTEN + NUMBERS),
        "output decoded by rows": ("i % params.out_w", "i % params.out_h"),
        "columns of padding read": (" && iw < params.in_w", "", WRAPPED + READ + NUMBERS),
        "all threads write": ("if (thread == 0u)", "if (true)", RACE + OVERLAP),
        "another thread writes": ("thread == 0u", "thread == 1u", RACE),
        "added to what was there": ("= partial[0];", "+= partial[0];"),
    },
    INPUT_1: {
        "every image is image 0": ("(n * params.out_channels + co)", "co"),
        "stride divides badly": ("row % params.stride != 0u || ", ""),
        "holes between columns filled": ("column % params.stride == 0u && ", ""),
        "one output row too many": ("oh >= params.out_h", "oh > params.out_h", READ + NUMBERS, STRIDE_1),
        "one channel too many": ("co < params.out_channels", "co <= params.out_channels", READ, ONE_FILTER),
        "channels swapped": ("(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
        "correlated, not flipped": ("params.padding_h - kh", "kh - params.padding_h", STRIDE_1),
        "padding subtracted": ("iw + params.padding_w", "iw - params.padding_w"),
        "one padding for both axes": ("iw + params.padding_w", "iw + params.padding_h"),
        "last filter column left out": ("kw < params.kernel_w", "kw + 1u < params.kernel_w"),
        "no guard at the end": ("if (index >= ", "if (false && index >= ", READ + WRITE),
        "zeros not written": (
            "grad_input[index] = sum;",
            "if (sum != 0.0) { grad_input[index] = sum; }",
            UNWRITTEN + NUMBERS,
        ),
        "added to what was there": ("grad_input[index] = sum", "grad_input[index] += sum"),
    },
    INPUT_2: {
        "only one weight per thread loaded": (
            "i < count; i += TILE",
            "i < min(count, TILE * TILE); i += TILE",
            UNINITIALIZED + NUMBERS,
            WIDE,
        ),
        "room for 3x3 weights": ("array<f32, CHUNK>", "array<f32, 9>", RACE + OVERLAP + READ + WRITE + NUMBERS, WIDE),
        "weights of the first filter used for all": ("i < count; i +=", "i < count && co == 0u; i +="),
        "only the first chunk": ("first += CHUNK", "first += 1000000u", IN_PIECES),
        "no barrier before a load": ("workgroupBarrier();  // no thread", "// no thread", RACE),
        "no barrier after a load": ("workgroupBarrier();  // the new", "// the new", RACE),
        "threads outside return above a barrier": (
            "iw < params.in_w && ih < params.in_h;",
            "iw < params.in_w && ih < params.in_h;\n  if (!inside) { return; }",
            MISSED_BARRIER + UNINITIALIZED + NUMBERS,
        ),
        "all threads write": ("if (inside) {", "if (true) {", RACE + OVERLAP + WRITE + NUMBERS),
        "weights of channel 0": ("(co * params.in_channels + ci) * taps", "(co * params.in_channels) * taps"),
        "weights past the filter loaded": ("i < count; i += TILE", "i < TILE * TILE; i += TILE", READ),
        "column wraps at the wrong side": ("kw == params.kernel_w", "kw == params.kernel_h"),
        "stride 1 everywhere": ("params.stride != 1u", "false"),
        "one output column too many": ("ow < params.out_w)", "ow <= params.out_w)", READ + NUMBERS, ONE_FILTER),
        "tiles overlap": (
            "workgroup.y * TILE + local.y",
            "workgroup.x * TILE + local.y",
            OVERLAP + UNWRITTEN + NUMBERS,
        ),
        "added to what was there": ("+ iw] = sum;", "+ iw] += sum;"),
    },
    BIAS_1: {
        "batch not summed": ("n < params.batch", "n < 1u"),
        "one image too many": ("n < params.batch", "n <= params.batch", READ),
        "mean over the pixels": ("= sum;", "= sum / f32(pixels);"),
        "last pixel left out": ("i < pixels", "i + 1u < pixels"),
        "batch and channel swapped": ("(n * params.out_channels + co)", "(co * params.batch + n)"),
        "planes overlap": ("* params.out_channels + co", "+ co"),
        "no guard at the end": ("if (co >= ", "if (false && co >= ", READ + WRITE),
        "threads past the end repeat the last": (f"{FLAT};", f"min({FLAT}, params.out_channels - 1u);", OVERLAP),
        "added to what was there": ("grad_bias[co] = sum;", "grad_bias[co] += sum;"),
        "smaller than what was there": ("= sum;", "= min(grad_bias[co], sum);"),
    },
    BIAS_2: {
        "one element per thread": ("i += THREADS", "i += params.batch * pixels", MANY),
        "every image is image 0": ("(n * params.out_channels + co)", "co"),
        "one element too many": ("i < params.batch * pixels", "i <= params.batch * pixels", READ, ONE_FILTER),
        "tree stops at two": ("half > 0u", "half > 1u"),
        "tree begins at a quarter": ("half = THREADS / 2u", "half = THREADS / 4u", MANY),
        "no barrier in the tree": (STEP, "", RACE),
        "half of the threads miss a barrier": (STEP + BRANCH, BRANCH + STEP, MISSED_BARRIER),
        "every channel is written to channel 0": (
            "grad_bias[co] = partial",
            "grad_bias[0] = partial",
            RACE + UNWRITTEN + NUMBERS,
        ),
    },
    INPUT_8: {
        "dilation forgotten": ("kw * DILATION_W", "kw"),
        "stride divides badly": ("row % STRIDE_H != 0u || ", ""),
        "filters of all groups": ("co < first + GROUP_OUT", "co < OUT_CHANNELS"),
        "images past the last one": ("BATCH % IMAGES == 0u || ", "true || ", READ + WRITE),
    },
    WEIGHT_7: {
        "no barrier in the tree": ("workgroupBarrier();  // the sums that this step reads are written", "", RACE),
        "no barrier after the tree": ("workgroupBarrier();  // the last step's sums are written", "", RACE),
        "dilation forgotten": ("tap % KERNEL_W * DILATION_W", "tap % KERNEL_W"),
        "channels of the first group": ("co / GROUP_OUT * GROUP_IN + ci", "ci"),
        "last part left out": ("part < PARTS; part", "part + 1u < PARTS; part"),
        "slice past the end": ("min((part + 1u) * SLICE, COUNT)", "(part + 1u) * SLICE", READ),
    },
    BIAS_3: {
        "no barrier in the tree": ("workgroupBarrier();  // the sums that this step reads", "// the sums", RACE),
        "slices past the end": ("min(first + SLICE, COUNT)", "first + SLICE", READ),
        "last part left out": ("i < SLICES; i", "i + 1u < SLICES; i", SLICES),
    },
}
SHAPES = dict.fromkeys((WEIGHT_1, WEIGHT_2, INPUT_1, INPUT_2, BIAS_1, BIAS_2), ODD)
SHAPES |= {WEIGHT_7: GROUPS, INPUT_8: GROUPS, BIAS_3: CHANNELS}
CONSTANTS = {WEIGHT_7: {"THREADS": 4, "PARTS": 5, "TAPS": 4}, INPUT_8: {"IMAGES": 2}}
WRONG_KERNELS = wrong_kernels(EDITS, SHAPES, CONSTANTS)


def named(kernel: str, name: str) -> WrongKernel:
    """One of them, by its version and its mistake."""
    return next(row for row in WRONG_KERNELS if (row.kernel, row.name) == (kernel, name))
