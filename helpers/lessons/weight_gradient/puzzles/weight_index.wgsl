// The official kernel of the puzzle weight_index;
// lines that end in a star are not in the skeleton.
//
// equation  decoded[index] = co, ci, kh, kw,
//             where index = ((co*Ci + ci)*kH + kh)*kW + kw
// dispatch  ceil(Co*Ci*kH*kW / 64) workgroups of 64 threads:
//           one thread decodes one index
// barriers  none: each thread writes its own row and reads no buffer
// limits    Co*Ci*kH*kW at most 65,535 * 64

struct Params {
  out_channels: u32, in_channels: u32,  // Co, Ci
  kernel_h: u32, kernel_w: u32,         // kH, kW
}

// decoded (Co * Ci * kH * kW, 4): for each weight, in the order of
// their shape (Co, Ci, kH, kW), a row with its co, ci, kh and kw
@group(0) @binding(0) var<storage, read_write> decoded: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  let taps = params.kernel_h * params.kernel_w;  // weights of a channel
  if (index >= params.out_channels * params.in_channels * taps) { return; }
  // 1. Decode kw, kh, ci and co from index, in four lines with `let`.
  let kw = index % params.kernel_w;  // *
  let kh = index / params.kernel_w % params.kernel_h;  // *
  let ci = index / taps % params.in_channels;  // *
  let co = index / (taps * params.in_channels);  // *
  // 2. They are stored as floating-point numbers.
  decoded[4u * index] = f32(co);
  decoded[4u * index + 1u] = f32(ci);
  decoded[4u * index + 2u] = f32(kh);
  decoded[4u * index + 3u] = f32(kw);
}
