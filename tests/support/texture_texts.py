"""Small texts with textures, vertex shaders and fragment shaders that Tint has judged, from `texture_judged.toml`."""

from pathlib import Path

from helpers.data import tables

JUDGED = Path(__file__).with_name("texture_judged.toml")
MAIN = """\
@group(0) @binding(0) var t: texture_2d<f32>;
@group(0) @binding(1) var s: sampler;
@group(0) @binding(2) var t1: texture_1d<f32>;
@group(0) @binding(3) var d: texture_depth_2d;
@group(0) @binding(4) var c: texture_cube<f32>;
@group(0) @binding(5) var t3: texture_3d<f32>;
@group(0) @binding(6) var ta: texture_2d_array<f32>;
@group(0) @binding(7) var e: texture_external;
@group(0) @binding(8) var st: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(9) var sc: sampler_comparison;
@group(0) @binding(10) var ms: texture_multisampled_2d<u32>;
@group(0) @binding(11) var dm: texture_depth_multisampled_2d;
@group(0) @binding(12) var da: texture_depth_2d_array;
@group(0) @binding(13) var sa: texture_storage_2d_array<rgba16sint, write>;
@group(0) @binding(14) var s1: texture_storage_1d<r32uint, read_write>;
@group(0) @binding(15) var s3: texture_storage_3d<rg32float, read>;
@group(0) @binding(16) var ca: texture_cube_array<f32>;
@group(0) @binding(17) var ti: texture_2d<i32>;
@compute @workgroup_size(1) fn main() {
%s
}
"""


def judged(heading: str) -> dict[str, str]:
    """Return the texts that Tint takes ("right"), or the "refused" ones: statements of a kernel, or a whole `text`."""
    rows = tables.parse(JUDGED)[heading]
    return {str(row): MAIN % row if isinstance(row, str) else row["text"] for row in rows}
