// The official kernel of the classroom's first half;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[co,ci,kh,kw] = sum over n, oh, ow of
//             grad_output[n,co,oh,ow] * input[n, ci, oh + kh, ow + kw]
// dispatch  ceil(Co*Ci*F*F / 256) workgroups of 256 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    stride 1, no padding, square filters, Co*Ci*F*F at most 65,535 * 256

struct Params {
  batch: u32,                           // N
  in_channels: u32,                     // Ci
  in_h: u32, in_w: u32,                 // H, W
  out_channels: u32, kernel_size: u32,  // Co, F
}

// grad_output (N, Co, H-F+1, W-F+1), input (N, Ci, H, W),
// grad_weight (Co, Ci, F, F)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. index is global.x: workgroup * 256 + thread. Return if no weight has it.
  let index = global.x;  // *
  let taps = params.kernel_size * params.kernel_size;  // *
  if (index >= params.out_channels * params.in_channels * taps) { return; }  // *
  // 2. Decode kw, kh, ci and co from index.
  let kw = index % params.kernel_size;  // *
  let kh = index / params.kernel_size % params.kernel_size;  // *
  let ci = index / taps % params.in_channels;  // *
  let co = index / (taps * params.in_channels);  // *
  // 3. Start a sum at 0.0, and compute the size of the output.
  var sum = 0.0;  // *
  let out_h = params.in_h - params.kernel_size + 1u;  // *
  let out_w = params.in_w - params.kernel_size + 1u;  // *
  // 4. Loop over n, oh and ow.
  for (var n = 0u; n < params.batch; n++) {  // *
    for (var oh = 0u; oh < out_h; oh++) {  // *
      for (var ow = 0u; ow < out_w; ow++) {  // *
        // 5. Add grad_output[n,co,oh,ow] * input[n, ci, oh + kh, ow + kw].
        let grad_plane = (n * params.out_channels + co) * out_h;  // *
        let grad_at = (grad_plane + oh) * out_w + ow;  // *
        let input_plane = (n * params.in_channels + ci) * params.in_h;  // *
        let input_at = (input_plane + oh + kh) * params.in_w + ow + kw;  // *
        sum += grad_output[grad_at] * input[input_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum to grad_weight[index].
  grad_weight[index] = sum;  // *
}
