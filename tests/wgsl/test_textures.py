"""Textures in a run: the texels, what is found, and what is counted."""

from pathlib import Path

import numpy as np
import pytest

import wgsl
from wgsl.simulator.trace import Trace

TEXT = (Path(__file__).parents[1] / "messages/textures.wgsl").read_text(encoding="utf-8")
PIXELS = np.arange(16, dtype=np.float32).reshape(4, 4) / 16


def run(body: str, text: str = TEXT) -> Trace:
    arrays = [PIXELS, np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4), np.uint32), np.zeros(16, np.float32)]
    return wgsl.simulate(text.replace("BODY", body), arrays, (1, 1, 1), outputs=())


def kinds(body: str) -> list[str]:
    return [finding.kind for finding in run(body).findings]


def test_x_is_the_column_of_an_array_and_y_its_row():
    trace = run("textureStore(w, p, vec4(i)); o[i] = textureLoad(a, p, 0).x;")
    assert trace.findings == ()
    assert np.array_equal(trace.buffers[2], np.arange(16).reshape(4, 4))
    assert np.array_equal(trace.buffers[3], PIXELS.ravel())


def test_missing_channels_are_0_and_alpha_is_1():
    trace = run("textureStore(b, p, textureLoad(a, p, 0));")
    assert trace.buffers[1][1, 0].tolist() == [64, 0, 0, 255]


def test_the_arrays_that_are_given_stay_as_they_are():
    image = np.ones((4, 4, 4), np.uint8)
    text = TEXT.replace("BODY", "textureStore(b, p, vec4f());")
    trace = wgsl.simulate(text, [PIXELS, image, np.zeros((4, 4), np.uint32), np.zeros(16, np.float32)], (1, 1, 1))
    assert image.all()
    assert not trace.buffers[1].any()


def test_blue_comes_first_in_bgra():
    text = "@group(0) @binding(0) var b: texture_storage_1d<bgra8unorm, write>;\n"
    main = "@compute @workgroup_size(1) fn main() { textureStore(b, 0, vec4f(1, 0.5, 0, 1)); }"
    trace = wgsl.simulate(text + main, [np.zeros((1, 4), np.uint8)], (1, 1, 1))
    assert trace.buffers[0].tolist() == [[0, 128, 255, 255]]


def test_sizes_are_those_of_the_arrays():
    text = """
    @group(0) @binding(0) var a: texture_2d_array<u32>;
    @group(0) @binding(1) var b: texture_storage_3d<rg32float, read>;
    @group(0) @binding(2) var<storage, read_write> o: array<u32, 8>;
    @compute @workgroup_size(1) fn main() {
      let p = textureDimensions(a); let q = textureDimensions(b);
      o = array(p.x, p.y, textureNumLayers(a), textureNumLevels(a), q.x, q.y, q.z, 0);
    }"""
    arrays = [np.zeros((5, 3, 2), np.uint8), np.zeros((7, 6, 4, 2), np.float32), np.zeros(8, np.uint32)]
    assert wgsl.simulate(text, arrays, (1, 1, 1)).buffers[2].tolist() == [2, 3, 5, 1, 4, 6, 7, 0]


def test_functions_take_textures():
    text = TEXT.replace(
        "@compute", "fn f(x: texture_2d<f32>, at: vec2u) -> f32 { return textureLoad(x, at, 0).x; }\n@compute"
    )
    assert np.array_equal(run("o[i] = f(a, p);", text).buffers[3], PIXELS.ravel())


def test_what_is_out_of_range_is_a_finding_and_gives_0():
    trace = run("o[i] = textureLoad(a, vec2i(p) + 1, 0).x;")
    (finding,) = trace.findings
    assert (finding.kind, finding.count, finding.variable) == ("out-of-range read", 7, "a")
    assert trace.buffers[3].reshape(4, 4)[3].tolist() == [0] * 4
    assert kinds("textureStore(w, p + vec2u(0, i), vec4u());") == ["out-of-range write"]
    assert run("textureStore(w, p + 1, vec4u(9));").buffers[2].sum() == 9 * 9


@pytest.mark.parametrize("barrier", ["", "workgroupBarrier();", "storageBarrier();"])
def test_only_a_texture_barrier_orders_texels(barrier):
    stores = "textureStore(w, p, vec4(i)); BARRIER o[i] = f32(textureLoad(w, p.yx).x);"
    assert kinds(stores.replace("BARRIER", barrier)) == ["data race"]
    assert kinds(stores.replace("BARRIER", "textureBarrier();")) == []


def test_two_workgroups_race_for_a_texel():
    text = "@group(0) @binding(0) var b: texture_storage_1d<rgba32float, write>;\n"
    main = "@compute @workgroup_size(1) fn main(@builtin(workgroup_id) g: vec3u) { textureStore(b, 0, VALUE); }"
    found = {}
    for value in ("vec4f(0, 0, 0, f32(g.x))", "vec4f(1, 2, 3, 4)"):
        trace = wgsl.simulate(text + main.replace("VALUE", value), [np.zeros((1, 4), np.float32)], (2, 1, 1))
        found[value] = [finding.kind for finding in trace.findings]
    assert [*found.values()] == [["data race"], ["overlapping writes"]]


def test_a_texture_that_a_kernel_writes_must_be_written_whole():
    text = TEXT.replace("BODY", "if i != 5 { textureStore(b, p, vec4f()); }")
    arrays = [PIXELS, np.zeros((4, 4, 4), np.uint8), np.zeros((4, 4), np.uint32), np.zeros(16, np.float32)]
    (finding,) = wgsl.simulate(text, arrays, (1, 1, 1)).findings
    assert (finding.kind, finding.variable, finding.index) == ("unwritten output", "b", 5)


def test_texels_are_counted_and_logged():
    trace = run("textureStore(w, p, vec4(i)); _ = textureLoad(a, p, 0);")
    assert (trace.counts.total["stores_texture"], trace.counts.total["loads_texture"]) == (16, 16)
    assert trace.accesses["value"][:16].tolist() == [*range(16)]


def test_a_text_with_other_shaders_runs():
    """Their derivatives in branches do not matter to the kernel, and their errors do."""
    shaders = """
    @vertex fn v() -> @builtin(position) vec4f { return vec4f(); }
    @fragment fn f(@location(0) uv: vec2f) -> @location(0) vec4f {
      if uv.x < 0.5 { return textureSample(a, s, uv); }
      discard;
      return vec4f(fwidth(uv.x));
    }
    """
    trace = run("o[i] = textureLoad(a, p, 0).x;", TEXT + shaders)
    assert np.array_equal(trace.buffers[3], PIXELS.ravel())
    assert [problem.rule for problem in wgsl.check(TEXT.replace("BODY", "") + shaders)] == ["derivative"] * 2
    with pytest.raises(ValueError, match="does not compile"):
        run("", TEXT + shaders.replace("return vec4f();", "return 1.0;"))


def test_sampling_is_refused_by_name_only_where_the_kernel_samples():
    unused = "fn f() -> vec4f { return textureSampleLevel(a, s, vec2f(), 0); }\n"
    assert run("", TEXT + unused).findings == ()
    with pytest.raises(wgsl.UnsupportedWgsl, match="`textureSampleLevel` of a `texture_2d<f32>`"):
        run("_ = f();", TEXT + unused)


def test_values_that_a_format_does_not_have_are_clamped():
    trace = run("textureStore(b, p, vec4f(2, -1, 0.5, 1e30));")
    assert trace.buffers[1][0, 0].tolist() == [255, 0, 128, 255]
