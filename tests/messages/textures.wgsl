@group(0) @binding(0) var a: texture_2d<f32>;
@group(0) @binding(1) var b: texture_storage_2d<rgba8unorm, write>;
@group(0) @binding(2) var w: texture_storage_2d<r32uint, read_write>;
@group(0) @binding(3) var<storage, read_write> o: array<f32>;
@group(1) @binding(0) var s: sampler;
@compute @workgroup_size(4, 4) fn main(@builtin(global_invocation_id) id: vec3u) {
  let p = id.xy;
  let i = p.x + 4u * p.y;
  BODY
}
