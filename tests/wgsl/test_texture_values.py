"""Texels beside the adapter: what is loaded from textures, and how values are rounded to the formats in stores."""

import numpy as np
import pytest
import wgpu

import wgsl
from helpers.gpu.adapter import adapter
from wgsl.simulator.textures import stored
from wgsl.types.textures import EVERYWHERE

FLOATS = ("rgba8unorm", "rgba8snorm", "rgba16float", "r32float", "rg32float", "rgba32float")
WIDTH, HEIGHT = 16, 8
SHAPES = {"1d": (WIDTH,), "2d": (HEIGHT, WIDTH), "2d_array": (3, HEIGHT, WIDTH), "3d": (3, HEIGHT, WIDTH)}
VALUES = {"1d": "id.x", "2d": "id.x + 16u * id.y", "2d_array": "id.x + 16u * (id.y + 8u * id.z)"}
VALUES["3d"] = VALUES["2d_array"]
COORDINATES = {"1d": "id.x", "2d": "id.xy", "2d_array": "id.xy, id.z", "3d": "id"}
GROUPS = {"1d": (WIDTH, 1, 1), "2d": (WIDTH, HEIGHT, 1), "2d_array": (WIDTH, HEIGHT, 3), "3d": (WIDTH, HEIGHT, 3)}
STORE = """
@group(0) @binding(0) var<storage> numbers: array<vec4<SCALAR>>;
@group(0) @binding(1) var image: texture_storage_SHAPE<FORMAT, write>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
  textureStore(image, COORDINATES, numbers[VALUE]);
}
"""
LOAD = """
@group(0) @binding(0) var image: TYPE;
@group(0) @binding(1) var<storage, read_write> numbers: array<vec4<SCALAR>>;
@compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
  numbers[VALUE] = vec4<SCALAR>(textureLoad(image, COORDINATES LEVEL));
}
"""
EDGES = [0, -0.0, 1, -1, 0.5, -0.5, 2, -2, 1e-8, 6e-8, 3e-8, 65504, -65504, 1 / 255, 1.5 / 255, 63.5 / 127, 0.49999]
NAMES = {"f": "f32", "u": "u32", "i": "i32"}


@pytest.fixture(scope="module")
def device():
    device = adapter().request_device_sync()
    yield device
    device.destroy()


def filled(text: str, shape: str, **parts: str) -> str:
    for name, part in {"SHAPE": shape, "COORDINATES": COORDINATES[shape], "VALUE": VALUES[shape], **parts}.items():
        text = text.replace(name, part)
    return text


def texture(device, shape: str, format: str, array: np.ndarray, usage: int):
    """A texture on the adapter with the texels of an array."""
    sizes = SHAPES[shape][::-1]
    made = device.create_texture(
        size=(*sizes, *[1] * (3 - len(sizes))),
        format=format,
        dimension=shape[:2],
        usage=usage | wgpu.TextureUsage.COPY_DST | wgpu.TextureUsage.COPY_SRC,
    )
    row = array.nbytes // (array.size // array.shape[-1]) * WIDTH
    layout = {"bytes_per_row": row, "rows_per_image": HEIGHT if len(sizes) > 1 else 1}
    device.queue.write_texture({"texture": made}, np.ascontiguousarray(array), layout, made.size)
    return made


def read(device, made, like: np.ndarray) -> np.ndarray:
    row = like.nbytes // (like.size // like.shape[-1]) * WIDTH
    rows = HEIGHT if made.size[1] > 1 else 1
    layout = {"bytes_per_row": row, "rows_per_image": rows}
    data = device.queue.read_texture({"texture": made}, layout, made.size)
    return np.frombuffer(data, like.dtype).reshape(like.shape)


def dispatched(device, text: str, resources: list, shape: str) -> None:
    module = device.create_shader_module(code=text)
    pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
    entries = [{"binding": i, "resource": resource} for i, resource in enumerate(resources)]
    encoder = device.create_command_encoder()
    compute = encoder.begin_compute_pass()
    compute.set_pipeline(pipeline)
    compute.set_bind_group(0, device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries))
    compute.dispatch_workgroups(*GROUPS[shape])
    compute.end()
    device.queue.submit([encoder.finish()])


def values(format: str, count: int) -> np.ndarray:
    """Values at the edges of a format, and random ones."""
    dice = np.random.default_rng(len(format))
    kind = "f" if format in FLOATS else format[-4]
    if kind != "f":
        ends = np.iinfo(stored(format).dtype)
        return dice.integers(ends.min, ends.max, count, endpoint=True).astype(np.dtype(f"{kind.replace('s', 'i')}4"))
    random = dice.uniform(-1.2, 1.2, count - len(EDGES))
    return np.float32([*EDGES, *random])


def channels_of(format: str) -> str:
    return NAMES[values(format, 20).dtype.kind]


@pytest.mark.parametrize("format", EVERYWHERE)
def test_stores_are_rounded_as_by_the_adapter(device, format):
    shape = "2d"
    text = filled(STORE, shape, FORMAT=format, SCALAR=channels_of(format))
    numbers = values(format, WIDTH * HEIGHT * 4)
    one = stored(format)
    image = np.zeros((*SHAPES[shape], one.channels), one.dtype)
    trace = wgsl.simulate(text, [numbers, image], GROUPS[shape])
    assert trace.findings == ()
    made = texture(device, shape, format, image, wgpu.TextureUsage.STORAGE_BINDING)
    buffer = device.create_buffer_with_data(data=numbers, usage=wgpu.BufferUsage.STORAGE)
    dispatched(device, text, [{"buffer": buffer}, made.create_view()], shape)
    found = read(device, made, image)
    if format == "rgba16float":  # the specification takes both neighbors of a number, and this adapter the smaller one
        nearest = trace.buffers[1]
        exact = numbers.reshape(nearest.shape)
        assert np.array_equal(nearest, exact.astype(np.float16))
        down = np.where(np.abs(nearest) > np.abs(exact), np.nextafter(nearest, np.float16(0)), nearest)
        assert np.array_equal(found, down)
    else:
        np.testing.assert_array_equal(trace.buffers[1], found)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_is_stored_and_loaded_where_the_adapter_does(device, shape):
    format = "rgba16sint"
    numbers = np.arange(np.prod(SHAPES[shape]) * 4, dtype=np.int32)
    image = np.zeros((*SHAPES[shape], 4), np.int16)
    text = filled(STORE, shape, FORMAT=format, SCALAR="i32")
    trace = wgsl.simulate(text, [numbers, image], GROUPS[shape])
    assert np.array_equal(trace.buffers[1].ravel(), numbers)
    usage = wgpu.TextureUsage.STORAGE_BINDING | wgpu.TextureUsage.TEXTURE_BINDING
    made = texture(device, shape, format, image, usage)
    buffer = device.create_buffer_with_data(data=numbers, usage=wgpu.BufferUsage.STORAGE)
    view = made.create_view(dimension=shape.replace("_", "-"))
    dispatched(device, text, [{"buffer": buffer}, view], shape)
    assert np.array_equal(read(device, made, image), trace.buffers[1])
    text = filled(LOAD, shape, TYPE=f"texture_{shape}<i32>", SCALAR="i32", LEVEL=", 0")
    loaded = wgsl.simulate(text, [trace.buffers[1], np.zeros_like(numbers)], GROUPS[shape])
    assert loaded.findings == ()
    assert np.array_equal(loaded.buffers[1], numbers)


@pytest.mark.parametrize("format", [*EVERYWHERE, "r8unorm", "rg8snorm", "r16float"])
def test_loads_are_those_of_the_adapter(device, format):
    one = stored(format)
    dice = np.random.default_rng(7)
    shape = "2d"
    raw = dice.integers(0, 256, (*SHAPES[shape], one.channels * one.dtype.itemsize), dtype=np.uint8)
    image = raw.view(one.dtype)
    if one.dtype.kind == "f":
        image = dice.standard_normal(image.shape).astype(one.dtype)
    scalar = {"uint": "u32", "sint": "i32"}.get(format[-4:], "f32")
    text = filled(LOAD, shape, TYPE=f"texture_2d<{scalar}>", SCALAR=scalar, LEVEL=", 0")
    numbers = np.zeros(WIDTH * HEIGHT * 4, {"u32": np.uint32, "i32": np.int32, "f32": np.float32}[scalar])
    trace = wgsl.simulate(text, [image, numbers], GROUPS[shape])
    assert trace.findings == ()
    made = texture(device, shape, format, image, wgpu.TextureUsage.TEXTURE_BINDING)
    usage = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC
    buffer = device.create_buffer_with_data(data=numbers, usage=usage)
    dispatched(device, text, [made.create_view(), {"buffer": buffer}], shape)
    found = np.frombuffer(device.queue.read_buffer(buffer), numbers.dtype)
    if scalar == "f32":
        np.testing.assert_array_max_ulp(found, trace.buffers[1], 1)
    else:
        np.testing.assert_array_equal(found, trace.buffers[1])
