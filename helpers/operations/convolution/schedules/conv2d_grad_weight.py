"""The schedules of the versions of conv2d_grad_weight."""

from itertools import product
from math import ceil, log2, prod

from helpers.gpu.adapter import MAX_BINDING
from helpers.gpu.passes import CAP
from helpers.operations.convolution.schedules import shared
from helpers.operations.convolution.schedules.shared import (
    MANY_THREADS,
    MANY_WORKGROUPS,
    POINTS,
    Tile,
    Tiling,
    equal_length,
    simple_rule,
    takes,
    winograd_rule,
)
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, Step, flat, nested_loops, one_step, tree_reduction
from wgsl import MAX_THREADS, MAX_WORKGROUP_BYTES, Kernel
from wgsl.specialize import chosen, sized

# --- The versions that lessons 02 and 08 begin with -----------------------------------------------------------


@takes(simple_rule)
def thread_per_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.weight)), nested_loops(s.batch, s.out_h, s.out_w))


@takes(simple_rule)
def workgroup_per_weight(s: ConvShape, kernel: Kernel) -> Schedule:
    products = s.batch * s.out_h * s.out_w
    workgroups = s.in_channels * s.kernel_w, s.kernel_h, s.out_channels
    return one_step(workgroups, tree_reduction(products, kernel.value("THREADS")))


# --- 3_split_k and 4_winograd: matrix products in tiles --------------------------------------------------------

SHORTEST = 8  # steps of a part: a shorter one costs more to write and to add than it gains
MOST_PARTS = 14  # of a sum: on an H200, more of them cost more to add up than they gain


def split_k(s: ConvShape, kernel: Kernel) -> Schedule:
    """Rows are output channels, columns weights of a filter (channels in fours), terms output pixels of all images."""
    rows = s.out_channels // s.groups
    columns = s.kernel_h * s.kernel_w * ceil(s.weight[1] / 4) * 4
    steps = ceil(s.batch * s.out_h * s.out_w / kernel.value("TILE_K"))
    tiles = [(32, 128)] if rows <= 32 else [(64, 128), (128, 64), (64, 64)]
    tiling = Tiling(rows, columns, steps, groups=s.groups).fastest(tiles, kernel)
    sums = s.out_channels * columns
    add = Step(flat(sums // 4, 16), nested_loops(ceil(tiling.splits / 8)), "add_parts")
    scratch = {"parts": 4 * sums * tiling.splits}
    constants = {**shared.layer(s, kernel), **tiling.constants}
    return Schedule((tiling.step("multiply_parts"), add), scratch, constants)


@takes(simple_rule, winograd_rule)
def winograd(s: ConvShape, kernel: Kernel) -> Schedule:
    kernel = _in_tiles_and_parts(s, kernel)
    count = kernel.value
    steps = count("STEPS")
    m = count("M")
    n = 4 * count("N_VEC4S")
    parts = count("PARTS")
    tiles = (m // count("TILE_M")) * (n // count("TILE_N"))
    terms = steps * count("TILE_K")
    return Schedule(
        (
            Step(((m + n) // 64 * 4, steps, 1), 0, "transform"),
            Step((tiles, POINTS, parts), nested_loops(ceil(steps / parts)), "multiply_points"),
            Step((s.out_channels * n // 4 // count("LINE"), 1, 1), nested_loops(parts), "write_weights"),
        ),
        scratch={
            "transformed_grad": 4 * POINTS * terms * m,
            "transformed_input": 4 * POINTS * terms * n,
            "products": 4 * POINTS * parts * m * n,
        },
        constants=dict(kernel.constants),
    )


def _in_tiles_and_parts(s: ConvShape, kernel: Kernel) -> Kernel:
    """The kernel of 4_winograd with wide tiles where they keep a GPU busy, and as many parts of a sum as that takes."""
    sizes = shared.layer(s, kernel)
    tiled = sized(kernel, {**sizes, "TILE_N": 128})
    if _threads_of_products(tiled) < MANY_THREADS:
        tiled = sized(kernel, {**sizes, "TILE_N": 64})
    for_busy_gpu = ceil(MANY_THREADS / _threads_of_products(tiled))
    long_enough = ceil(tiled.value("STEPS") / SHORTEST)
    return sized(tiled, {"PARTS": min(for_busy_gpu, long_enough, MOST_PARTS)})


def _threads_of_products(kernel: Kernel) -> int:
    """Threads at work on the products where a sum is one part; each of them holds over 100 registers, for 64 sums."""
    return POINTS * kernel.value("M") * 4 * kernel.value("N_VEC4S") // 64


# --- 5_register_windows: a thread keeps sums and windows in registers -------------------------------------------

VEC4 = 4  # channels of one load; also the most sums side by side
MOST_TAPS_A_SIDE = 5  # of a thread along each axis
WINDOW_PRODUCTS = 144  # of a vec4 each, written out: more take longer to compile than they save
LONGEST = 128  # outputs below each other in a strip
ALL_CORES = 1024  # threads that keep all cores of a processor busy
WINDOW_THREADS = 32


@takes(simple_rule)
def register_windows(s: ConvShape, kernel: Kernel) -> Schedule:
    """Copy both tensors with channels in fours, sum in parts, and add the parts."""
    constants = {**shared.layer(s, kernel), **_window_tile(s), "ROWS": equal_length(s.out_h, LONGEST), "RUNS": CAP}
    count = sized(kernel, constants).value
    threads = count("SUMMING") // count("PARTS")  # of a part
    strips = count("STRIPS")
    most = max(1, min(strips, ceil(ALL_CORES / threads), MAX_BINDING // (4 * VEC4 * count("PART"))))
    constants["RUNS"] = min(ceil(strips / most), CAP // (count("ROWS") + 2))
    kernel = sized(kernel, constants)
    return Schedule(_window_steps(kernel), _window_copies(kernel), dict(kernel.constants))


def _window_steps(kernel: Kernel) -> tuple[Step, ...]:
    """The four passes of 5_register_windows."""
    count = kernel.value

    def step(threads: int, iterations: int, entry_point: str) -> Step:
        return Step(flat(threads, WINDOW_THREADS), iterations, entry_point)

    return (
        step(count("GRAD_ROWS"), nested_loops(count("GRAD_W")), "copy_grad_output"),
        step(count("INPUT_ROWS"), nested_loops(count("COPY_W")), "copy_input"),
        step(count("SUMMING"), nested_loops(count("RUNS"), count("ROWS")), "sum_parts"),
        step(count("WEIGHTS"), nested_loops(count("PARTS")), "add_parts"),
    )


def _window_copies(kernel: Kernel) -> dict[str, int]:
    """The bytes of the scratch buffers of 5_register_windows."""
    count = kernel.value
    nbytes = 4 * VEC4  # of one vec4
    return {
        "grad_vec4s": nbytes * count("GRAD_ROWS") * count("GRAD_W"),
        "input_vec4s": nbytes * count("INPUT_ROWS") * count("COPY_W"),
        "parts": nbytes * count("PARTS") * count("PART"),
    }


def _window_tile(s: ConvShape) -> Tile:
    """The sums of a thread, and the outputs that it takes at a time."""
    channels = min(VEC4, s.in_channels)
    taps_h = equal_length(s.kernel_h, MOST_TAPS_A_SIDE)
    taps_w = equal_length(s.kernel_w, MOST_TAPS_A_SIDE)
    if s.stride_w > taps_w:
        columns = 1  # the window of several outputs would be full of holes
    else:
        most = max(1, min(VEC4, WINDOW_PRODUCTS // (channels * taps_h * taps_w)))
        columns = equal_length(s.out_w, most)
    kept = max(0, taps_h - s.stride_h)
    return {"CHANNELS": channels, "TAPS_H": taps_h, "TAPS_W": taps_w, "COLUMNS": columns, "KEPT": kept}


# --- 6_filter_rows: for layers with few weights; the work of a workgroup -----------------------------------------

# The limits were chosen on an NVIDIA H200, for LeNet's layers and one with 32 filters.
WIDEST = 16  # weights in a row of a filter, as a thread has such rows in registers
FILTERS = 4  # of a thread, at most
ROW_PRODUCTS = 480  # of a thread and a row, written out: more take longer to compile than they save
UNITS = 64  # rows of filters in a team, at most
TEAM = 128  # threads that share the rows of the outputs, where there are at least that many rows
BUSY_THREADS = 32_768  # that keep a large GPU busy
BUSY_WORKGROUPS = 300  # likewise; more of them leave more partial sums to add
PARTS = 4096  # that the last pass can add
TILES = tuple(product((32, 16, 8, 4), (24, 12, 6, 3, 1)))  # columns and rows, the best first


@takes(simple_rule)
def filter_rows(s: ConvShape, kernel: Kernel) -> Schedule:
    """Sums over parts of the outputs, and where there are several parts, their sum."""
    tiled = _largest_that_fits(s, sized(kernel, shared.layer(s, kernel)))
    if tiled is None:
        return shared.refusal(kernel, _no_rows(s))
    tiled = sized(tiled, {"RUNS": _tiles_of_a_workgroup(s, tiled)})
    count = tiled.value
    sums = s.kernel_w * count("THREADS")
    if count("SHARED") < sums:  # of an edited or an older text
        return shared.refusal(kernel, f"SHARED = {count('SHARED')}: it must be at least KERNEL_W * THREADS = {sums}")
    parts = count("PARTS")
    rows = ceil(count("ROWS") / count("SLOTS"))
    columns = nested_loops(ceil(s.kernel_w / count("SLOTS")))
    iterations = nested_loops(count("RUNS"), rows) + count("FILTERS") * columns
    add_up = Step((parts, count("CO_BLOCKS"), count("CI_BLOCKS")), iterations, "sum_parts")
    constants = dict(tiled.constants)
    if parts == 1:
        unused = 4  # bytes: a buffer is never empty
        return Schedule((add_up,), {"parts": unused}, constants)
    add_parts = Step(flat(count("WEIGHTS"), 16), 0, "add_parts")
    return Schedule((add_up, add_parts), {"parts": 4 * count("WEIGHTS") * parts}, constants)


def _tiles_of_a_workgroup(s: ConvShape, tiled: Kernel) -> int:
    """The number of tiles that a workgroup takes, so that the last pass can add all parts, and they fit a binding."""
    tiles = tiled.value("TILES")
    for_busy_gpu = _workgroups(tiled) // BUSY_WORKGROUPS
    for_last_pass = ceil(tiles / PARTS)
    for_binding = ceil(tiles * 4 * prod(s.weight) / MAX_BINDING)
    return min(tiles, max(1, for_busy_gpu, for_last_pass, for_binding))


def _largest_that_fits(s: ConvShape, kernel: Kernel) -> Kernel | None:
    """The first of TILES whose sums fit into registers and whose numbers into workgroup memory, with the most teams."""
    if s.kernel_w > WIDEST:
        return None
    for (columns, rows), teams in product(TILES, (4, 2, 1)):
        tiled = _with_tile(s, kernel, columns, rows, teams)
        if _fits(s, tiled):
            return tiled
    return None


def _fits(s: ConvShape, tiled: Kernel) -> bool:
    """True where sums fit into registers and numbers into workgroup memory, and several teams leave no GPU idle."""
    count = tiled.value
    if count("FILTERS") * count("COLUMNS") * s.kernel_w > ROW_PRODUCTS:
        return False
    if count("THREADS") > MAX_THREADS:
        return False
    if count("TEAMS") > 1 and _workgroups(tiled) < BUSY_WORKGROUPS:
        return False
    return tiled.workgroup_bytes <= MAX_WORKGROUP_BYTES  # last, as it takes the longest to compute


def _with_tile(s: ConvShape, kernel: Kernel, columns: int, rows: int, teams: int) -> Kernel:
    """The kernel with the work of a workgroup: at most this many columns and rows of outputs."""
    rows_of_a_thread = s.batch * s.out_channels * s.in_channels * s.kernel_h * s.out_h / BUSY_THREADS
    filters = min(FILTERS, 2 ** round(log2(max(1, rows_of_a_thread)) / 2))
    channels = equal_length(s.in_channels, max(1, UNITS // s.kernel_h))
    rows = equal_length(s.out_h, rows)
    tile = {
        "FILTERS": equal_length(s.out_channels, filters),
        "TEAMS": teams,
        "CHANNELS": channels,
        "ROWS": rows,
        "COLUMNS": 4 * ceil(equal_length(s.out_w, columns) / 4),
        "SLOTS": equal_length(rows, max(1, TEAM // (s.kernel_h * channels))),
    }
    return sized(kernel, tile)


def _workgroups(kernel: Kernel) -> int:
    """The number of workgroups where each takes one tile."""
    return kernel.value("TILES") * kernel.value("CO_BLOCKS") * kernel.value("CI_BLOCKS")


def _no_rows(s: ConvShape) -> str:
    """The reason why no tile fits."""
    if s.kernel_w > WIDEST:
        rule = f"kernel_w = {s.kernel_w}: a thread holds rows of filters in registers, of at most {WIDEST} weights"
        return f"{rule}: choose another version"
    window = f"what one output sees of the input must fit into {MAX_WORKGROUP_BYTES:,} bytes of workgroup memory"
    threads = f"a thread for each row of a filter into {MAX_THREADS}"
    return f"kernel_h = {s.kernel_h}: {window}, and {threads}: choose another version"


# --- 7_direct: every convolution -----------------------------------------------------------------------------

MOST_TAPS = 9  # weights of a filter that a workgroup adds up: a sum in a register each


def direct(s: ConvShape, kernel: Kernel) -> Schedule:
    """Some workgroups share the long sums of some weights of a filter; a second pass adds their parts."""
    weights = s.kernel_h * s.kernel_w
    count = s.batch * s.out_h * s.out_w
    threads = kernel.value("THREADS")
    (taps,) = chosen(kernel, TAPS=equal_length(weights, min(MOST_TAPS, threads)))
    filters = prod(s.weight[:2]) * ceil(weights / taps)
    most = min(ceil(count / threads), MAX_BINDING // (4 * prod(s.weight)))
    (parts,) = chosen(kernel, PARTS=max(1, min(most, ceil(MANY_WORKGROUPS / filters))))
    steps = (
        Step(flat(filters * parts, 1), tree_reduction(ceil(count / parts), threads), "sum_slices"),
        Step(flat(prod(s.weight)), nested_loops(parts), "sum_parts"),
    )
    scratch = {"parts": 4 * prod(s.weight) * parts}
    constants = {**shared.layer(s, kernel), "TAPS": taps, "PARTS": parts}
    refused = None
    if taps > threads:
        refused = f"{kernel.name}: TAPS = {taps}: a thread writes each sum, so it may be at most THREADS = {threads}"
    return Schedule(steps, scratch, constants, refused)
