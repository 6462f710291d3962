"""The page for those who know CUDA: its two texts go together, its race is one, and its figures were measured."""

import json
import re
from itertools import chain
from math import prod

import numpy as np
import pytest
from support.legible import faults, written
from support.notebook_gate import FOR_CUDA, Lesson

import helpers
from helpers import gpu
from helpers.bench.recorded import FOLDER
from helpers.gpu import adapter_info, device
from helpers.grading.race import race
from helpers.lessons.exercises import QUESTIONS
from helpers.lessons.if_you_know_cuda import explorers
from helpers.lessons.if_you_know_cuda.own_text import race_in
from helpers.lessons.if_you_know_cuda.side_by_side import COUNT, CUDA, WGSL, pairs
from helpers.operations.gemm.operations import BACKWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.widgets.race_picture import RacePicture
from wgsl import check, simulate

PAGE = Lesson.read(FOR_CUDA)
PROSE = "\n".join(cell.source for cell in PAGE.prose)
WITHOUT = WGSL.replace("workgroupBarrier();", "")
GIVEN = [np.ones(COUNT, np.float32), np.zeros(4, np.float32), np.uint32([COUNT])]


def test_the_text_beside_cuda_is_right_everywhere_and_adds_in_one_workgroup_what_belongs_to_it():
    assert check(WGSL) == ()
    trace = simulate(WGSL, GIVEN, (4, 1, 1), max_steps=99)
    assert not trace.findings
    assert trace.buffers[1].tolist() == [256, 256, 256, 232]


def test_every_line_has_a_counterpart_but_braces():
    """The lines of a pair stand below each other; each is in one pair."""
    for text, of_pairs in (CUDA, [pair.cuda for pair in pairs()]), (WGSL, [pair.wgsl for pair in pairs()]):
        lines = text.split("\n")
        numbers = sorted(chain.from_iterable(of_pairs))
        assert all(rows == [*range(rows[0], rows[-1] + 1)] for rows in of_pairs)
        assert numbers == [number for number, line in enumerate(lines, 1) if line.strip(" }")]


def test_each_pair_is_found_by_pointing_at_either_of_its_texts():
    explorer = explorers.side_by_side()
    for number, pair in enumerate(pairs()):
        for name, lines in ("CUDA", pair.cuda), ("WGSL", pair.wgsl):
            touched = explorer.picture.touchable[name].values_at((lines[-1] - 1, 0))
            assert explorer.set(**touched) == pair.says
            assert explorer.values["pair"] == number


@pytest.mark.parametrize(("step", "number", "word"), [(0, 12, "atomicAdd"), (1, 0, "template"), (2, 13, "<<<")])
def test_a_step_is_done_where_its_word_is(step, number, word):
    explorer = explorers.side_by_side()
    explorer.set(pair=number)
    explorer.steps.tick(explorer.values, "point")
    assert [i for i, done in enumerate(explorer.steps.done) if done] == [step]
    assert word in CUDA.split("\n")[pairs()[number].cuda[0] - 1]


def test_the_picture_names_the_adapter_and_the_sum_that_it_made():
    picture = explorers.side_by_side().picture
    assert f"1,000 ones on {adapter_info().short}: 1000" in written(picture)


@pytest.mark.parametrize("workgroups", [1, 4])
def test_a_race_in_workgroup_memory_is_drawn_in_one_workgroup(workgroups):
    """All workgroups have a `partial` of their own, with the same indices."""
    count = 256 * workgroups
    arrays = [np.ones(count, np.float32), np.zeros(workgroups, np.float32), np.uint32([count])]
    trace = simulate(WITHOUT, arrays, (workgroups, 1, 1), max_steps=99)
    (finding,) = (finding for finding in trace.findings if finding.kind == "data race")
    shown = race(trace, finding)
    assert shown.earlier.workgroup is shown.later.workgroup is None
    assert shown.index in {shown.earlier.thread, shown.later.thread}
    assert shown.earlier.thread != shown.later.thread
    assert shown.earlier.writes or shown.later.writes


def test_a_text_without_a_race_says_what_else_is_found(capsys):
    assert race_in(WGSL, GIVEN, (4, 1, 1)) is None
    assert capsys.readouterr().out == "No race was found, and nothing else that is wrong.\n"
    assert race_in(WGSL.replace("i < n", "i <= n"), GIVEN, (4, 1, 1)) is None
    assert "out-of-range read" in capsys.readouterr().out


def test_the_cost_of_checks_is_what_was_measured():
    versions = json.loads((FOLDER / "nvidia_h200.json").read_text())["versions"]["gemm_bias_act"]["GEMM 4096"]
    ratios = [versions[name] / versions[f"{name}, unchecked"] for name in ("2_tiled", "5_prefetch")]
    assert [float(times) for times in re.findall(r"([\d.]+) times", PROSE)] == [
        round(ratios[0], 1),
        round(ratios[1], 2),
    ]


BETWEEN = """@group(0) @binding(0) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) global: vec3u) {
  sums[global.x] = 1.0;
  sums[global.x] = sums[(global.x + 64u) % 1024u];
}
"""


def test_a_race_between_workgroups_is_drawn_whole():
    trace = simulate(BETWEEN, [np.zeros(1024, np.float32)], (16, 1, 1), max_steps=9)
    drawn = [race(trace, finding) for finding in trace.findings if finding.kind == "data race"]
    assert drawn
    for shown in drawn:
        assert shown.earlier.workgroup != shown.later.workgroup
        assert not list(faults(RacePicture(shown)))


def test_the_question_on_passes_has_the_numbers_that_they_return():
    """The first of the four passes of a layer is recorded last, and all are run twice, with opposite gradients."""
    a, b = np.float32([[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]]), np.float32([[1, 2], [0, -1], [1, 0], [2, 1]])
    bias, grad = np.float32([-1, 1]), 6 * np.float32([[5, 2], [-1, 4], [2, -3]])
    shape = GemmShape(3, 4, 2, 1, "relu")
    buffers = tuple(gpu.upload(array, "input") for array in (a, b, bias, grad))
    buffers += tuple(gpu.empty(4 * prod(shape.of(name)), name) for name in ("grad_pre", "d_a", "d_b", "d_bias"))
    first, *others = BACKWARD.prepare(buffers, shape, kernel="2_tiled")
    seen = []
    for upstream in grad, -grad:
        gpu.device().queue.write_buffer(buffers[3], 0, upstream)
        gpu.run(*others, first)
        seen.append(gpu.read(buffers[6], shape.of("d_b"))[0, 0])
    right = helpers.gemm_bias_act_backward(a[None], b, bias, grad[None], "relu")[1][0, 0]
    question = QUESTIONS["first_pass_last_again"]
    assert seen[0] == 0
    assert question.grade("first_pass_last_again", float(seen[1])).outcome == "right"
    assert right == 24
    assert "the right order" in question.grade("first_pass_last_again", float(-right)).detail


def test_the_questions_on_sizes_have_the_numbers_of_wgsl_and_of_the_device():
    text = "@group(0) @binding(0) var<storage, read_write> x: array<vec3f, 100>;\n"
    text += "@compute @workgroup_size(1) fn main() { x[99].x = 1.0; }"
    with pytest.raises(ValueError, match="needs 400 words"):
        simulate(text, [np.zeros(300, np.float32)], (1, 1, 1), max_steps=9)
    assert QUESTIONS["bytes_of_vec3f"].grade("bytes_of_vec3f", 4.0 * 400).outcome == "right"
    most = device().limits["max-compute-workgroups-per-dimension"]
    threads = device().limits["max-compute-invocations-per-workgroup"]
    graded = QUESTIONS["elements_of_a_dispatch"].grade("elements_of_a_dispatch", float(most * threads))
    assert (threads, graded.outcome) == (256, "right")
