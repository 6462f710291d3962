"""Appendix C: the short calls compute and refuse what wgpu does, and the GPU says whose the bytes of a buffer are."""

from itertools import product

import numpy as np
import pytest
import wgpu
from support.notebook_gate import NOTEBOOKS, Lesson

from helpers import gpu
from helpers.lessons.exercises import PYTHON_PUZZLES, QUESTIONS
from helpers.lessons.launcher.launch import CALLS, Access
from helpers.lessons.launcher.pictures import OBJECTS, WIDE, WORDS, BytesPicture, layouts, struct
from helpers.operations.gemm.operations import BACKWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.pictures.parts import Grid
from wgsl import WgslError

FIRST, SECOND = PYTHON_PUZZLES["raw_launch"], PYTHON_PUZZLES["second_launch"]
LINES = [line for line in FIRST.code(FIRST.solution.text).split("\n") if line]
CODE = "\n".join(LINES)
DOUBLE, KERNEL, ELEMENTS = (
    cell.source.split('"""')[1]
    for cell in Lesson.read(NOTEBOOKS / "appendix_c_launcher.ipynb").code
    if '"""' in cell.source
)
LAST = ELEMENTS.replace("a: f32, v: vec3f", "v: vec3f, a: f32").replace("v.x", "a")
LAST = LAST.replace("result[0] = f32(arrayLength(&elements));", "").replace("result[1]", "result[0]")
USAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


def _layout(*access: Access) -> wgpu.GPUBindGroupLayout:
    slots = [{"binding": i, "visibility": 4, "buffer": {"type": mode.value}} for i, mode in enumerate(access)]
    return gpu.device().create_bind_group_layout(entries=slots)


def _pipeline(layout: wgpu.GPUBindGroupLayout, module: wgpu.GPUShaderModule) -> wgpu.GPUComputePipeline:
    whole = gpu.device().create_pipeline_layout(bind_group_layouts=[layout])
    return gpu.device().create_compute_pipeline(layout=whole, compute={"module": module, "entry_point": "main"})


def _bind_group(layout: wgpu.GPUBindGroupLayout, *buffers: wgpu.GPUBuffer) -> wgpu.GPUBindGroup:
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
    return gpu.device().create_bind_group(layout=layout, entries=entries)


REAL = {  # what the short calls stand for
    "create_shader_module": lambda code: gpu.device().create_shader_module(code=code),
    "create_buffer": lambda size: gpu.device().create_buffer(size=size, usage=USAGE),
    "write_buffer": lambda buffer, numbers: gpu.device().queue.write_buffer(buffer, 0, np.float32(numbers)),
    "create_bind_group_layout": _layout,
    "create_compute_pipeline": _pipeline,
    "create_bind_group": _bind_group,
    "create_command_encoder": lambda: gpu.device().create_command_encoder(),
    "begin_compute_pass": lambda encoder: encoder.begin_compute_pass(),
    "set_pipeline": lambda compute, pipeline: compute.set_pipeline(pipeline),
    "set_bind_group": lambda compute, group: compute.set_bind_group(0, group),
    "dispatch_workgroups": lambda compute, workgroups: compute.dispatch_workgroups(workgroups),
    "end": lambda compute: compute.end(),
    "finish": lambda encoder: encoder.finish(),
    "submit": lambda commands: gpu.device().queue.submit([commands]),
    "read_buffer": lambda buffer: tuple(np.frombuffer(gpu.device().queue.read_buffer(buffer), np.float32).tolist()),
}


def test_the_short_calls_compute_what_wgpu_does():
    assert REAL.keys() == CALLS.keys()
    for first, second in zip(FIRST.cases(), SECOND.cases(), strict=True):
        names = first.given[0] | REAL | {"code": KERNEL, "workgroups": second.given[0]["workgroups"]}
        for puzzle, case in (FIRST, first), (SECOND, second):
            exec(puzzle.solution.text, names)
            assert names["result"] == case.right[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("create_bind_group(layout, input, output)", "create_bind_group(layout, input)"),
        ("create_bind_group(layout, input, output)", "create_bind_group(layout, input, input)"),
        ("READ, WRITE", "WRITE, READ"),
        ("READ, WRITE", "READ"),
        ("input = create_buffer(4 * count)", "input = create_buffer(4)"),
        ("output = create_buffer(4 * count)", "output = create_buffer(count)"),
        ("set_pipeline(compute, pipeline)", ""),
        ("set_bind_group(compute, bind_group)", ""),
        ("end(compute)", ""),
    ],
)
def test_what_wgpu_refuses_is_refused(old, new):
    assert CODE.count(old) == 1
    text = CODE.replace(old, new)
    case = FIRST.cases()[1]
    with pytest.raises(WgslError):
        FIRST.read(text).run(case.given[0])
    with pytest.raises((wgpu.GPUError, ValueError)):  # ValueError: bytes that do not fit
        exec(text, case.given[0] | REAL | {"code": KERNEL})


def test_each_float_of_the_picture_is_the_one_that_a_kernel_reads():
    for before, floats in product(range(3), range(1, 5)):
        layout, packed = layouts(before, floats)
        reads = [f"elements[{e}].{name}" for e, name in filter(None, map(layout.owner, range(WORDS)))]
        text = f"""{struct(before, floats)}
            @group(0) @binding(0) var<storage, read> elements: array<Element>;
            @group(0) @binding(1) var<storage, read_write> result: array<f32>;
            @compute @workgroup_size(1) fn main() {{
              result[0] = f32(arrayLength(&elements));
              {"".join(f"result[{i}] = {read};" for i, read in enumerate(reads, 1))}
            }}"""
        got = gpu.launch(text, [np.arange(WORDS, dtype=np.float32), np.zeros(len(reads) + 1, np.float32)])
        assert got.tolist() == [layout.count, *(word for word in range(WORDS) if layout.owner(word))]
        assert [packed.owner(word) for word in range(len(reads))] == [*map(layout.owner, map(int, got[1:]))]


@pytest.mark.parametrize(("before", "floats"), [*product(range(3), range(1, 5))])
def test_a_byte_of_the_picture_belongs_to_the_number_of_its_word(before, floats, monkeypatch):
    tinted = []
    monkeypatch.setattr(Grid, "tinted", lambda grid, cells, *look: tinted.append([*map(tuple, cells)]))
    picture = BytesPicture().show(before, floats, 0)
    for name, layout in zip(("WGSL", "NumPy"), layouts(before, floats), strict=True):
        owners = [layout.owner(word) for word in range(WORDS)]
        words = picture.touchable[name].grid.values.reshape(WORDS, 4)  # a row for each word, of its four bytes
        for word, owner in enumerate(owners):
            expected = [4 * word, 4 * word + 1, 4 * word + 2, 4 * word + 3] if owner else [np.nan] * 4
            np.testing.assert_array_equal(words[word], expected)
        for element in range(layout.count):
            first_bytes = [4 * word for word, owner in enumerate(owners) if owner and owner[0] == element]
            cells = [divmod(byte + i, WIDE) for byte, i in product(first_bytes, range(4))]
            assert tinted.pop(0) == cells
        assert tinted.pop(0) == [(0, 0)]  # the byte that is pointed at
    assert tinted == []


def made_again(changed: str) -> set[str]:
    """The names of the objects of a launch that are made from an object, or from one that is made from it."""
    anew = {changed}
    for made in OBJECTS:  # in the order in which they are made
        if anew.intersection(made.made_from):
            anew.add(made.name)
    return anew & {"module", "layout", "pipeline", "bind group", "recording"}


def objects_created(text: str) -> int:
    """The number of objects that a launch in the short calls creates."""
    calls = FIRST.read(text).run(FIRST.cases()[0].given[0]).calls
    return sum("create" in call.name for call in calls)


def created_for_new_numbers() -> int:
    """The number of objects that a second recording in the same launch creates."""
    recording = LINES[LINES.index("encoder = create_command_encoder()") :]
    with_new_numbers = [*LINES, "write_buffer(input, numbers)", *recording]
    return objects_created("\n".join(with_new_numbers)) - objects_created(CODE)


def read_before_and_after() -> tuple[float, float]:
    """The first of eight numbers before and after a recording is submitted that doubles them twice."""
    device = gpu.device()
    eight = gpu.upload(np.arange(1, 9, dtype=np.float32), "eight")
    layout = _layout(Access.WRITE)
    pipeline = _pipeline(layout, device.create_shader_module(code=DOUBLE))
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, _bind_group(layout, eight))
    compute.dispatch_workgroups(2)
    compute.dispatch_workgroups(2)
    compute.end()
    before = gpu.read(eight, (8,))[0]
    device.queue.submit([encoder.finish()])
    return before, gpu.read(eight, (8,))[0]


def test_the_right_answers_follow_from_the_picture_the_calls_and_lesson_06():
    shape = GemmShape(3, 4, 2, 1, "relu")
    names = ["a", "b", "bias", "grad", "grad_pre", "d_a", "d_b", "d_bias"]
    buffers = tuple(gpu.empty(4 * int(np.prod(shape.of(name))), name) for name in names)
    passes = BACKWARD.prepare(buffers, shape, kernel="2_tiled")
    computed = {
        "read_before_and_after": read_before_and_after(),
        "float_after_a_vector": gpu.launch(LAST, [np.arange(16, dtype=np.float32), np.zeros(1, np.float32)])[0],
        "made_for_another_kernel": len(made_again("module")),
        "made_for_new_numbers": created_for_new_numbers(),
        "bind_groups_of_four_passes": len({id(launch.compiled[1]) for launch in passes}),
    }
    assert len(passes) == 4
    assert computed == {name: QUESTIONS[name].right for name in computed}
    assert made_again("buffers") == {"bind group", "recording"}
    renewed = {made.name for made in OBJECTS if made.renewed}
    assert renewed == made_again("buffers") | {"buffers", "queue"}


def test_a_recording_that_is_submitted_a_second_time_is_refused():
    text = CODE.replace("submit(finish(encoder))", "c = finish(encoder)\nsubmit(c)\nsubmit(c)")
    with pytest.raises(WgslError, match="submitted, which uses it up"):
        FIRST.read(text).run(FIRST.cases()[0].given[0])
