// conv2d_grad_input / 1_gather
//
// equation  grad_input[n,ci,ih,iw] = sum over co, kh, kw of
//             grad_output[n,co,oh,ow] * weight[co,ci,kh,kw],
//             where oh = (ih + Ph - kh) / S and ow = (iw + Pw - kw) / S
//             are whole and inside the output
// numpy     # grad_output with zeros between and around its elements
//           dilated = np.zeros((N, Co, H + 2*Ph + kH - 1, W + 2*Pw + kW - 1))
//           dilated[:, :, kH-1:H+2*Ph:S, kW-1:W+2*Pw:S] = grad_output
//           windows = sliding_window_view(dilated, (kH, kW), (2, 3))
//           windows = windows[:, :, Ph:Ph+H, Pw:Pw+W]
//           flipped = weight[:, :, ::-1, ::-1]
//           grad_input = np.einsum("nohwij,ocij->nchw", windows, flipped)
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  ceil(N*Ci*H*W / 256) workgroups of 256 threads
// barriers  none: each thread writes its own pixel and reads only inputs
// cost      per pixel, with T = Co*ceil(kH/S)*ceil(kW/S), at most:
//           2*T global loads, 0 workgroup loads, T multiply-adds
// limits    one thread tests up to Co*kH*kW weights;
//           where S > 1, most of them contribute nothing
// new here  a gather: each pixel collects its gradient;
//           scattering it from the outputs would be a data race

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

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: kernel ---

@group(0) @binding(3)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which input pixel is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.batch * params.in_channels * params.in_h * params.in_w) {
    return;  // the last workgroup is rarely full
  }
  let iw = index % params.in_w;                                       // [0, W)
  let ih = index / params.in_w % params.in_h;                         // [0, H)
  let ci = index / (params.in_w * params.in_h) % params.in_channels;  // [0, Ci)
  let n = index / (params.in_w * params.in_h * params.in_channels);   // [0, N)

  // 2. Gather from every output to which it contributed.
  var sum = 0.0;
  for (var co = 0u; co < params.out_channels; co++) {  // [0, Co)
    for (var kh = 0u; kh < params.kernel_h; kh++) {    // [0, kH)
      // Below 0, row and column wrap to more than oH*S and oW*S.
      let row = ih + params.padding_h - kh;            // oh*S, if oh is whole
      let oh = row / params.stride;                    // [0, oH) or no such output
      if (row % params.stride != 0u || oh >= params.out_h) { continue; }
      let grad_plane = (n * params.out_channels + co) * params.out_h;
      let grad_row = (grad_plane + oh) * params.out_w;
      let weight_plane = (co * params.in_channels + ci) * params.kernel_h;
      let weight_row = (weight_plane + kh) * params.kernel_w;
      for (var kw = 0u; kw < params.kernel_w; kw++) {  // [0, kW)
        let column = iw + params.padding_w - kw;       // ow*S, if ow is whole
        let ow = column / params.stride;               // [0, oW) or no such output
        if (column % params.stride == 0u && ow < params.out_w) {
          sum += grad_output[grad_row + ow] * weight[weight_row + kw];
        }
      }
    }
  }

  // 3. Write it.
  grad_input[index] = sum;
}
