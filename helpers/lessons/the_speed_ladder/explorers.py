"""Pictures to touch of the speed ladder: who loads what, tiles and their costs, banks, and the ladder itself."""

from functools import partial

from helpers.bench.ladder import SQUARE, TILE
from helpers.bench.recorded import measured, recorded
from helpers.bench.tile_sizes import TileSizes
from helpers.gpu import adapter_info
from helpers.lessons.the_speed_ladder import ladder_steps
from helpers.lessons.the_speed_ladder.pictures.ahead import END, MOST_PRODUCTS, AheadPicture
from helpers.lessons.the_speed_ladder.pictures.banks import MOST_PAD, SIDE, BanksPicture
from helpers.lessons.the_speed_ladder.pictures.ladder import LadderPicture
from helpers.lessons.the_speed_ladder.pictures.one_result import OneResultPicture
from helpers.lessons.the_speed_ladder.pictures.tile_sizes import Shown, TileSizesPicture, TrafficPicture
from helpers.lessons.the_speed_ladder.traffic import Traffic, traffic
from helpers.operations.kernels import load
from helpers.widgets.controls import Values, by_playing
from helpers.widgets.explorer import Explorer

STEPS = {  # the steps that are shown thread by thread: the version, and the sizes of its tiles
    "naive": ("1_thread_per_element", TILE),
    "shared tile": ("2_tiled", TILE),
    "register tile": ("3_register_tiles", SQUARE),
    "vec4 and pads": ("4_vec4_tiles", SQUARE),
}
SIZES = {  # what the tiles may have
    "rows": (16, 32, 64, 128),
    "columns": (16, 32, 64, 128),
    "depth": (4, 8, 16, 32),
    "side": (1, 2, 4, 8),
}


def one_result() -> Explorer:
    """One slider over the threads of a workgroup in which each computes one result, without tiles."""
    (shown,) = _shown("naive")
    picture = OneResultPicture(shown, recorded()[-1].adapter, adapter_info().short)
    steps = {
        "Press play: which numbers does each thread load?": by_playing({"thread": TILE.threads - 1}),
        "Set thread to 38: what does it share with thread 37?": {"thread": 38},
        "Point at the result of thread 53, below that of 37.": {"thread": 53},
    }
    rules = {"thread": TILE.threads}
    return Explorer(picture.show, rules, {"thread": 37}, play="thread", front=["thread"], steps=steps)


def who_loads() -> Explorer:
    """Sliders over the first four steps of the ladder, by number, and over the threads of one workgroup.

    What is shown is a simulated run of the kernel.
    """
    picture = TrafficPicture(_shown(*STEPS), recorded()[-1].adapter, adapter_info().short)

    def threads(chosen: Values) -> int:
        return TILE.threads if chosen["step"] < 3 else SQUARE.threads

    steps = {
        "Step 2: which numbers does thread 37 not load itself?": {"step": 2},
        "Step 3: where are the 64 results of a thread?": {"step": 3},
        "Step 4: which count falls, and which stays?": {"step": 4},
    }
    rules = {"step": (1, len(STEPS)), "thread": threads}
    start = {"thread": 37}

    def draw(step: int, thread: int) -> TrafficPicture:
        return picture.show(step - 1, thread)

    return Explorer(draw, rules, start, play="thread", front=["step", "thread"], steps=steps)


def _shown(*names: str) -> list[Shown]:
    """Some steps, with what was measured of each."""
    shown = []
    for name in names:
        title = f"step {1 + list(STEPS).index(name)}, {name}"
        shown.append(Shown(title, measured(name).share, partial(_simulated, *STEPS[name])))
    return shown


def _simulated(version: str, sizes: TileSizes) -> Traffic:
    kernel = load("gemm_bias_act", version)
    if sizes == SQUARE:
        kernel = kernel.with_constants(TILE_M=sizes.rows, TILE_N=sizes.columns, TILE_K=sizes.depth)
    return traffic(kernel, sizes.rows, sizes.columns, sizes.depth)


def tile_sizes() -> Explorer:
    """Lists of sizes of the tiles of a product of 4,096 x 4,096 matrices: what do they cost?

    `rows`, `columns` and `depth` are those of the tiles, and each thread computes `side` x `side` results.
    """
    picture = TileSizesPicture((4096, 4096, 4096))

    def chosen(values: Values) -> TileSizes:
        return TileSizes(**{name: sizes[values[name]] for name, sizes in SIZES.items()})

    def is_full(values: Values) -> bool:
        """Return whether nothing limits the product to less than 90 % of the arithmetic."""
        sizes = chosen(values)
        return not sizes.problem and min(sizes.limits(4096, 4096).values()) >= 0.9

    steps = {
        "Set side to 2: which bar grows?": {"side": 1},
        "Make all bars at least 90 % long.": is_full,
        "Set side to 8: how many threads fit at a time?": {"side": 3},
    }
    choices = {name: [str(size) for size in sizes] for name, sizes in SIZES.items()}
    rules = {name: len(sizes) for name, sizes in SIZES.items()}
    return Explorer(
        lambda **values: picture.show(chosen(values)), rules, {"depth": 2}, choices=choices, front=[*SIZES], steps=steps
    )


def ahead() -> Explorer:
    """Sliders over the time that the products of a turn take, and over time: with loads ahead, and without."""
    steps = {
        "Press play: when does the upper row multiply nothing?": by_playing({"time": END}),
        "Set products to 6: what do both rows wait for now?": {"products": 6},
        "Set products to 1: how much does a prefetch help?": {"products": 1},
    }
    rules = {"products": (1, MOST_PRODUCTS), "time": END + 1}
    start = {"products": 4}
    return Explorer(AheadPicture().show, rules, start, play="time", front=[*rules], steps=steps, pace=200)


def banks() -> Explorer:
    """Sliders over the columns of a tile, and over the slots behind each of its rows that hold no number."""
    steps = {
        "Point at a column: in how many banks does it lie?": {"column": 5},
        "Set pad to 1: how many turns now?": {"pad": 1},
        "Set pad to 4: why is it worse again?": {"pad": 4},
    }
    return Explorer(BanksPicture().show, {"pad": MOST_PAD + 1, "column": SIDE}, front=["pad", "column"], steps=steps)


def ladder() -> Explorer:
    """A slider over the steps of the ladder: those that were measured on a GPU, and the reader's own, counted.

    Raises ValueError where nothing is recorded.
    """
    run = recorded()[-1]
    steps = [*ladder_steps.measured(run), *ladder_steps.own()]
    picture = LadderPicture(run, steps)
    trials = {
        "Press play: climb all steps.": by_playing({"step": len(steps)}),
        "Step 2: is it the roof that limits it?": {"step": 2},
        "Which of yours comes nearest to the roof?": {"step": len(steps)},
    }
    return Explorer(picture.show, {"step": (1, len(steps))}, play="step", front=["step"], steps=trials)
