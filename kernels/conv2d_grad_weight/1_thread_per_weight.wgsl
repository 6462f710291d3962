// conv2d_grad_weight / 1_thread_per_weight
//
// equation  grad_weight[co,ci,kh,kw] = sum over n, oh, ow of
//             grad_output[n,co,oh,ow] * input[n,ci,ih,iw],
//             where ih = oh*S + kh - Ph and iw = ow*S + kw - Pw
// numpy     padded = np.pad(input, [(0,), (0,), (Ph,), (Pw,)])
//           windows = sliding_window_view(padded, (kH, kW), (2, 3))[:, :, ::S, ::S]
//           grad_weight = np.einsum("nohw,nchwij->ocij", grad_output, windows)
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci, kH, kW)
// dispatch  ceil(Co*Ci*kH*kW / 256) workgroups of 256 threads
// barriers  none: each thread writes its own weight and reads only inputs
// cost      per weight, at most:
//           2*N*oH*oW global loads, 0 workgroup loads, N*oH*oW multiply-adds;
//           all by one thread
// limits    a small filter has fewer weights than a GPU has threads,
//           and the others stay idle
// new here  one thread computes one weight: it decodes its flat index,
//           then loops over every output

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

// --- Shared with other files: conv2d_grad_weight_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;        // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> input: array<f32>;              // (N,Ci,H,W)
@group(0) @binding(2)
var<storage, read_write> grad_weight: array<f32>;  // (Co,Ci,kH,kW)

// --- In this file only: kernel ---

@group(0) @binding(3)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which weight is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  let taps = params.kernel_h * params.kernel_w;  // weights of one filter channel
  if (index >= params.out_channels * params.in_channels * taps) {
    return;  // the last workgroup is rarely full
  }
  let kw = index % params.kernel_w;                    // [0, kW)
  let kh = index / params.kernel_w % params.kernel_h;  // [0, kH)
  let ci = index / taps % params.in_channels;          // [0, Ci)
  let co = index / (taps * params.in_channels);        // [0, Co)

  // 2. Loop over every output: the weight contributed to each
  //    that lies over a pixel.
  var sum = 0.0;
  for (var n = 0u; n < params.batch; n++) {                   // [0, N)
    for (var oh = 0u; oh < params.out_h; oh++) {              // [0, oH)
      // Padding adds nothing. Below 0, ih and iw wrap to more than H and W.
      let ih = oh * params.stride + kh - params.padding_h;    // [0, H) or padding
      if (ih >= params.in_h) { continue; }
      let grad_plane = (n * params.out_channels + co) * params.out_h;
      let grad_row = (grad_plane + oh) * params.out_w;
      let input_plane = (n * params.in_channels + ci) * params.in_h;
      let input_row = (input_plane + ih) * params.in_w;
      for (var ow = 0u; ow < params.out_w; ow++) {            // [0, oW)
        let iw = ow * params.stride + kw - params.padding_w;  // [0, W) or padding
        if (iw < params.in_w) {
          sum += grad_output[grad_row + ow] * input[input_row + iw];
        }
      }
    }
  }

  // 3. Write it.
  grad_weight[index] = sum;
}
