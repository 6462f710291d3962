// conv2d_grad_input / 1_gather
//
// equation  grad_input[n,ci,ih,iw] = sum over co, kh, kw of
//             grad_output[n, co, oh, ow] * weight[co,ci,kh,kw]
//             where oh*S = ih + Ph - kh and ow*S = iw + Pw - kw have an answer inside the output
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  ceil(N*Ci*H*W / 256) workgroups, in rows of at most 65,535
// owner     one thread owns one input pixel and is the only one that writes it
// barriers  none: each thread gathers what is its own, and nobody scatters
// limits    one thread walks through Co*kH*kW products, most of them empty when S > 1
// new here  the gather: ask which outputs a pixel went into, instead of pushing into pixels

struct Params {
  batch: u32,         // N
  in_channels: u32,   // Ci
  in_h: u32,          // H
  in_w: u32,          // W
  out_channels: u32,  // Co
  kernel_h: u32,      // kH
  kernel_w: u32,      // kW
  stride: u32,        // S
  padding_h: u32,     // Ph
  out_h: u32,         // oH
  out_w: u32,         // oW
  padding_w: u32,     // Pw
}

@group(0) @binding(0) var<storage, read> grad_output: array<f32>;       // (N, Co, oH, oW)
@group(0) @binding(1) var<storage, read> weight: array<f32>;            // (Co, Ci, kH, kW)
@group(0) @binding(2) var<storage, read_write> grad_input: array<f32>;  // (N, Ci, H, W)
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which input pixel is mine?
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.batch * params.in_channels * params.in_h * params.in_w) {
    return;  // the last workgroup is rarely full
  }
  let iw = index % params.in_w;                                        // [0, W)
  let ih = index / params.in_w % params.in_h;                          // [0, H)
  let ci = index / (params.in_w * params.in_h) % params.in_channels;   // [0, Ci)
  let n = index / (params.in_w * params.in_h * params.in_channels);    // [0, N)

  // 2. Gather from every output whose window covered it.
  var sum = 0.0;
  for (var co = 0u; co < params.out_channels; co++) {                  // [0, Co)
    for (var kh = 0u; kh < params.kernel_h; kh++) {                    // [0, kH)
      let row = ih + params.padding_h - kh;                            // oh*S; below 0 it wraps to > oH*S
      let oh = row / params.stride;                                    // [0, oH) or no such output
      if (row % params.stride != 0u || oh >= params.out_h) { continue; }
      let output_row = ((n * params.out_channels + co) * params.out_h + oh) * params.out_w;
      let weight_row = ((co * params.in_channels + ci) * params.kernel_h + kh) * params.kernel_w;
      for (var kw = 0u; kw < params.kernel_w; kw++) {                  // [0, kW)
        let column = iw + params.padding_w - kw;                       // ow*S
        let ow = column / params.stride;                               // [0, oW) or no such output
        if (column % params.stride == 0u && ow < params.out_w) {
          sum += grad_output[output_row + ow] * weight[weight_row + kw];
        }
      }
    }
  }

  // 3. Write it.
  grad_input[index] = sum;
}
