// conv2d / 1_thread_per_output
//
// equation  output[n,co,oh,ow] = bias[co] + sum over ci, kh, kw of
//             input[n, ci, oh*S + kh - Ph, ow*S + kw - Pw] * weight[co,ci,kh,kw]
// numpy     padded = np.pad(input, [(0,), (0,), (Ph,), (Pw,)])
//           windows = sliding_window_view(padded, (kH, kW), (2, 3))[:, :, ::S, ::S]
//           output = np.einsum("nchwij,ocij->nohw", windows, weight)
//           output += bias[:, None, None]
// in        input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co)
// out       output (N, Co, oH, oW)
// dispatch  ceil(N*Co*oH*oW / 256) workgroups of 256 threads
// barriers  none: each thread writes its own element and reads only inputs
// cost      per element, at most:
//           2*Ci*kH*kW + 1 global loads, 0 workgroup loads, Ci*kH*kW multiply-adds
// limits    neighbors load most of the same pixels again: their windows overlap
// new here  one thread computes one element: it decodes its flat index,
//           then sums the window under it

// --- Shared with other files: convolution_params ---

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

// --- Shared with other files: conv2d_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> input: array<f32>;         // (N,Ci,H,W)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;        // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (Co)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (N,Co,oH,oW)

// --- In this file only: kernel ---

@group(0) @binding(4)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which output element is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.batch * params.out_channels * params.out_h * params.out_w) {
    return;  // the last workgroup is rarely full
  }
  let ow = index % params.out_w;                                         // [0, oW)
  let oh = index / params.out_w % params.out_h;                          // [0, oH)
  let co = index / (params.out_w * params.out_h) % params.out_channels;  // [0, Co)
  let n = index / (params.out_w * params.out_h * params.out_channels);   // [0, N)

  // 2. Sum the window under it.
  var sum = bias[co];
  for (var ci = 0u; ci < params.in_channels; ci++) {          // [0, Ci)
    for (var kh = 0u; kh < params.kernel_h; kh++) {           // [0, kH)
      // Padding adds nothing. Below 0, ih and iw wrap to more than H and W.
      let ih = oh * params.stride + kh - params.padding_h;    // [0, H) or padding
      if (ih >= params.in_h) { continue; }
      let input_plane = (n * params.in_channels + ci) * params.in_h;
      let weight_plane = (co * params.in_channels + ci) * params.kernel_h;
      let input_row = (input_plane + ih) * params.in_w;
      let weight_row = (weight_plane + kh) * params.kernel_w;
      for (var kw = 0u; kw < params.kernel_w; kw++) {         // [0, kW)
        let iw = ow * params.stride + kw - params.padding_w;  // [0, W) or padding
        if (iw < params.in_w) {
          sum += input[input_row + iw] * weight[weight_row + kw];
        }
      }
    }
  }

  // 3. Write it.
  output[index] = sum;
}
