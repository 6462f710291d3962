"""Lesson 08: its pictures are legible and say what was counted, and a reader's own kernel is a rung of its ladder."""

import re
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.bench.gpu_limits import H200
from helpers.bench.recorded import Recorded, measured, recorded
from helpers.bench.tile_sizes import TileSizes
from helpers.grading import drawn, student_files
from helpers.grading.test_run import simulated
from helpers.lessons.exercises import PUZZLES
from helpers.lessons.the_speed_ladder import explorers, ladder_steps
from helpers.lessons.the_speed_ladder.pictures.ahead import LOAD, TURNS, AheadPicture, ahead, one_after_the_other
from helpers.lessons.the_speed_ladder.pictures.banks import BanksPicture
from helpers.lessons.the_speed_ladder.pictures.ladder import CHART, LadderPicture
from wgsl import Kernel

LESSON = Lesson.read(NOTEBOOKS / "08_the_speed_ladder.ipynb")
PROSE = " ".join(" ".join(cell.source for cell in LESSON.prose).split())

# --- Who loads what, tiles, and banks ---------------------------------------------------------------------------


def test_the_lessons_figures_are_those_of_the_recorded_run():
    naive, tile, prefetch = map(measured, ("naive", "shared tile", "prefetch"))
    assert f"does {100 * naive.share:.1f} % of the arithmetic" in PROSE
    assert f"is {tile.gain:.2f} times as fast: {100 * tile.share:.1f} % of the arithmetic" in PROSE
    library = prefetch.share / prefetch.ratio
    assert f"Step 5 reaches {100 * prefetch.share:.0f} % of the float32 arithmetic" in PROSE
    assert f"cuBLAS, {100 * library:.0f} %" in PROSE
    (row,) = (
        row
        for row in recorded()[-1].table["ratios"]
        if row["operation"] == "gemm_bias_act_backward" and row["version"] == "chosen"
    )
    assert f"reach {row['mean']:.2f} of its speed" in PROSE


def test_the_lessons_figures_of_a_multiprocessor_are_those_of_the_gpu():
    assert f"One of the H200's {H200.multiprocessors} makes {H200.lanes} multiply-adds in a clock" in PROSE
    assert 4 < H200.memory_bytes / 4 < 5
    assert f"delivers only {H200.workgroup_bytes // 4} numbers in a clock" in PROSE


def test_the_first_picture_shows_one_step_with_the_part_of_the_arithmetic_that_was_measured():
    picture = explorers.one_result().picture
    assert "2.3 %" in written(picture)
    for thread in (0, 37, 255):
        assert not list(faults(picture.show(thread)))
    other = explorers.who_loads()
    for step, share in {1: "2.3 %", 2: "4.2 %", 3: "38 %", 4: "63 %"}.items():
        other.set(step=step)
        assert share in written(other.picture)
        assert not list(faults(other.picture))


def test_neighbors_share_a_row_of_a_and_threads_below_each_other_a_column_of_b():
    loaded = explorers.one_result().picture.traffic.loaded
    assert loaded["a"][37] == loaded["a"][38] != loaded["a"][53]
    assert loaded["b"][37] == loaded["b"][53] != loaded["b"][38]


def test_the_tiles_are_chosen_by_their_sizes_and_the_step_is_done_where_nothing_limits():
    explorer = explorers.tile_sizes()
    assert explorer.set(rows=2, columns=2, depth=2, side=2).startswith("256 threads compute 64 × 64 results, 16 each")
    assert explorer.steps.done == [False, False, False]
    assert explorer.set(rows=2, columns=2, depth=2, side=3).startswith("64 threads compute 64 × 64 results, 64 each")
    assert explorer.steps.done == [False, True, True]


@pytest.mark.parametrize(
    ("sizes", "resident"),
    [(TileSizes(16, 16, 16, 1), 2048), (TileSizes(64, 64, 16, 8), 448), (TileSizes(128, 128, 16, 8), 512)],
)
def test_as_many_threads_are_there_at_a_time_as_their_registers_allow(sizes, resident):
    assert sizes.resident == resident
    assert sizes.resident * sizes.registers <= H200.registers


def test_a_column_takes_as_many_turns_as_the_simulator_counts_conflicts():
    """Of a kernel in which 16 threads read down a column of a tile whose rows have a pad."""
    for pad, column in product(range(5), (0, 7)):
        sentence = BanksPicture().show(pad, column).sentence
        turns = int(re.search(r"takes (\d+) turn", sentence)[1])
        banks = Counter((16 + pad) * row % 32 for row in range(16))
        assert turns == max(banks.values())
        kernel = Kernel(
            f"@group(0) @binding(0) var<storage, read_write> y: array<f32>; var<workgroup> tile: array<f32, {16 * 20}>;"
            "@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {"
            f"y[i] = tile[i * {16 + pad}u + {column}u]; }}"
        )
        counts = helpers.simulate(kernel, [np.zeros(16, np.float32)], (1, 1, 1), max_steps=9).counts.total
        assert counts["bank_conflicts"] == turns - 1


@pytest.mark.parametrize("pad", range(5))
def test_the_banks_are_legible(pad):
    assert not list(faults(BanksPicture().show(pad, 15)))


@pytest.mark.parametrize("products", [1, 4, 6, 9])
def test_a_turn_multiplies_only_what_it_has_loaded_and_loads_ahead_are_never_later(products):
    without, with_it = one_after_the_other(products), ahead(products)
    for course in (without, with_it):
        for loads, made in zip(course.loads, course.products, strict=True):
            assert loads.end <= made.start
        for first, second in pairwise([*course.products]):
            assert first.end <= second.start
    assert without.end == TURNS * (LOAD + products)
    assert with_it.end == LOAD + (TURNS - 1) * max(LOAD, products) + products
    assert not list(faults(AheadPicture().show(products, 17)))


# --- The ladder -------------------------------------------------------------------------------------------------


def test_the_rungs_are_the_measured_steps_of_the_product_and_the_lessons_own_kernels_counted():
    steps = [*ladder_steps.measured(recorded()[-1]), *ladder_steps.own()]
    assert [step.measured for step in steps] == [True] * 5 + [False] * 5
    reads = {step.name: step.reads for step in steps[5:]}
    assert reads == {
        "two results": 1.5,
        "2 × 2 results": 1,
        "four at a time": 1.25,
        "loads ahead": 2,
        "4 × 2 results": 0.75,
    }
    assert {step.loads for step in steps[5:]} == {0.125}
    assert [round(100 * step.share) for step in steps[5:]] == [17, 25, 20, 12, 29]
    assert [step.limit for step in steps[5:]] == ["workgroup memory"] * 4 + ["memory"]


def test_ones_own_kernel_is_a_rung_and_moves_its_square(monkeypatch):
    """A right kernel that reads less is higher: here, four results that share both numbers."""
    variant = PUZZLES["two_results"].solution.text.replace("let number", "let another = left[0][0];\n      let number")
    monkeypatch.setattr(ladder_steps, "is_right", lambda puzzle: puzzle == "two_results")
    monkeypatch.setattr(student_files, "latest", lambda puzzle: variant)
    first, *others = ladder_steps.own()
    assert (first.words, first.reads) == ("your two_results", 2)
    assert others[0].words == "our register_tile, until yours is right"
    picture = LadderPicture(recorded()[-1], [*ladder_steps.measured(recorded()[-1]), first])
    assert picture.place(first)[1] > picture.place(first.__class__(**vars(first) | {"share": 0.25}))[1]


def test_the_ladder_is_legible_and_no_two_marks_or_numbers_coincide():
    explorer = explorers.ladder()
    picture = explorer.picture
    for step in range(1, 11):
        explorer.set(step=step)
        assert not list(faults(picture)), step
    places = np.array([picture.place(rung) for rung in picture.rungs])
    distances = np.hypot(*(places[:, None] - places[None]).T)
    assert distances[~np.eye(len(places), dtype=bool)].min() > 8


def test_the_roof_rises_with_the_memory_to_the_arithmetic():
    picture = explorers.ladder().picture
    x, y = picture.roof
    assert (x[-1], y[-1]) == (pytest.approx(CHART.right), picture.axes.y(H200.tflops))
    assert y[0] > y[-1] + 100  # CSS pixels point down
    assert (np.diff(y) <= 1e-9).all()


def test_a_run_without_steps_of_the_product_has_no_rungs():
    run = recorded()[-1]
    assert ladder_steps.measured(Recorded(run.table | {"versions": {}})) == []


# --- What the exercises ask for ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*ladder_steps.OWN][:-1])
def test_the_given_lines_of_two_exercises_are_compared_without_those_that_are_to_be_written(name):
    shown = repr(ladder_steps.beside("two_results", name))
    solution = PUZZLES[name].solution.text
    written_lines = {*solution.split("\n")} - {*PUZZLES[name].skeleton.split("\n")}
    assert not [line for line in written_lines if line.strip(" {}") and f"+{line}" in shown]


def test_vectors_of_four_are_asked_for_only_where_sizes_are_multiples_of_four():
    puzzle = PUZZLES["vec4_reads"]
    with pytest.raises(ValueError, match="K = 6, N = 8: both must be multiples of 4"):
        puzzle.drawn.case("drawn", {"M": 3, "K": 6, "N": 8, "numbers": "whole"}, np.random.default_rng(1))


def test_loads_are_at_once_where_no_read_stands_between_them_and_their_tile():
    puzzle = PUZZLES["prefetch"]
    (case,) = (case for case in puzzle.cases() if case.name == "three_tiles")
    ours = simulated(puzzle.official, case).counts
    tiled = simulated(PUZZLES["tiled_product"].official, case).counts
    assert (ours["loads_at_once"], tiled["loads_at_once"]) == (512, 3 * 512)
    assert ours["loads_storage"] == tiled["loads_storage"]
    assert drawn.way_to_fail(simulated(puzzle.official, case)) is None
