// The official kernel of an input gradient without holes;
// lines that end in a star are not in the skeleton.
//
// equation  grad_input[ih,iw] = sum over kh, kw of
//             grad_output[oh,ow] * weight[kh,kw],
//             where oh = (ih + Ph - kh) / S and ow = (iw + Pw - kw) / S
//             are whole and exist
// dispatch  ceil(H*W / 64) workgroups of 64 threads:
//           one thread computes one pixel
// barriers  none: each thread writes its own pixel and reads only inputs
// limits    one image, one channel

struct Params {
  in_h: u32, in_w: u32,            // H, W: the image
  kernel_h: u32, kernel_w: u32,    // kH, kW: the filter
  stride: u32,                     // S
  padding_h: u32, padding_w: u32,  // Ph above and below, Pw left and right
  out_h: u32, out_w: u32,          // oH, oW: the output
}

// grad_output (oH, oW), weight (kH, kW), grad_input (H, W)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_input: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.in_h * params.in_w) { return; }
  let S = params.stride;
  let row = index / params.in_w + params.padding_h;     // ih + Ph
  let column = index % params.in_w + params.padding_w;  // iw + Pw
  var sum = 0.0;
  // 1. Loop over the rows of the filter that your pixel's class needs.
  for (var kh = row % S; kh < params.kernel_h; kh += S) {  // *
  // ~   for (var kh = 0u; kh < params.kernel_h; kh++) {
    // 2. And over the columns.
    for (var kw = column % S; kw < params.kernel_w; kw += S) {  // *
    // ~     for (var kw = 0u; kw < params.kernel_w; kw++) {
      // 3. Which of these tests are still needed?
      // ~       if ((row - kh) % S != 0u || (column - kw) % S != 0u) { continue; }
      let oh = (row - kh) / S;
      let ow = (column - kw) / S;
      if (oh >= params.out_h || ow >= params.out_w) { continue; }
      let gradient = grad_output[oh * params.out_w + ow];
      sum += gradient * weight[kh * params.kernel_w + kw];
    }
  }
  grad_input[index] = sum;
}
