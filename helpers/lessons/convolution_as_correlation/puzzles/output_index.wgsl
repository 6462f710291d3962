// The official kernel of the puzzle output_index;
// lines that end in a star are not in the skeleton.
//
// equation  decoded[index] = n, co, oh, ow,
//             where index = ((n*Co + co)*oH + oh)*oW + ow
// dispatch  ceil(N*Co*oH*oW / 64) workgroups of 64 threads:
//           one thread decodes one index
// barriers  none: each thread writes its own row and reads no buffer
// limits    N*Co*oH*oW at most 65,535 * 64

struct Params { batch: u32, out_channels: u32, out_h: u32, out_w: u32 }

// decoded (N * Co * oH * oW, 4): for each output, in the order of
// their shape (N, Co, oH, oW), a row with its n, co, oh and ow
@group(0) @binding(0) var<storage, read_write> decoded: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  let plane = params.out_h * params.out_w;
  if (index >= params.batch * params.out_channels * plane) { return; }
  // 1. Decode ow, oh, co and n from index, in four lines with `let`.
  let ow = index % params.out_w;  // *
  let oh = index / params.out_w % params.out_h;  // *
  let co = index / plane % params.out_channels;  // *
  let n = index / (plane * params.out_channels);  // *
  // 2. (Given.) They are stored as floating-point numbers.
  decoded[4u * index] = f32(n);
  decoded[4u * index + 1u] = f32(co);
  decoded[4u * index + 2u] = f32(oh);
  decoded[4u * index + 3u] = f32(ow);
}
