// max_pool2d_backward / 1_gather
//
// equation  grad_input[n,c,ih,iw] = sum of grad_output[n,c,oh,ow] over the windows
//             whose first maximum, row by row, is input[n,c,ih,iw]
// numpy     padded = np.pad(input, [(0,), (0,), (Ph,), (Pw,)],
//                           constant_values=-np.inf)
//           windows = sliding_window_view(padded, (kH, kW), (2, 3))
//           windows = windows[:, :, ::Sh, ::Sw]
//           i, j = np.divmod(windows.reshape(N, C, oH, oW, kH*kW).argmax(-1), kW)
//           n, c, oh, ow = np.indices((N, C, oH, oW))
//           grad_input = np.zeros((N, C, H + 2*Ph, W + 2*Pw))
//           np.add.at(grad_input, (n, c, oh*Sh + i, ow*Sw + j), grad_output)
//           grad_input = grad_input[:, :, Ph:Ph + H, Pw:Pw + W]
// in        input (N, C, H, W), grad_output (N, C, oH, oW)
// out       grad_input (N, C, H, W)
// dispatch  ceil(N*C*H*W / 256) workgroups of 256 threads
// barriers  none: each thread writes its own pixel and reads only inputs
// cost      per pixel, at most:
//           1 + ceil(kH/Sh)*ceil(kW/Sw)*(1 + kH*kW) global loads,
//           0 workgroup loads, 0 multiply-adds
// limits    each pixel looks through all of its windows again, instead of
//           storing where the forward pass found the maximum
// new here  a tie goes to the first of its pixels, row by row, as in PyTorch; NaN
//           counts as larger than any number, and the last NaN takes the gradient

// --- Shared with other files: pool_params ---

struct Params {
  planes: u32,     // N*C
  in_h: u32,       // H
  in_w: u32,       // W
  kernel_h: u32,   // kH
  kernel_w: u32,   // kW
  stride_h: u32,   // Sh
  stride_w: u32,   // Sw
  padding_h: u32,  // Ph
  padding_w: u32,  // Pw
  out_h: u32,      // oH
  out_w: u32,      // oW
}

// --- In this file only: kernel ---

@group(0) @binding(0)
var<storage, read> input: array<f32>;             // (N,C,H,W)
@group(0) @binding(1)
var<storage, read> grad_output: array<f32>;       // (N,C,oH,oW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,C,H,W)
@group(0) @binding(3)
var<uniform> params: Params;

// 1. Is pixel `mine`, with this value, the first maximum of a window?
fn wins(mine: u32, value: f32, plane: u32, oh: u32, ow: u32) -> bool {
  var last_nan = mine;  // NaN counts as larger than any number; the last one wins
  for (var kh = 0u; kh < params.kernel_h; kh++) {             // [0, kH)
    // Above the image, ih wraps to more than H; left of it, iw to more than W.
    let ih = oh * params.stride_h + kh - params.padding_h;    // [0, H) or padding
    if (ih >= params.in_h) { continue; }
    for (var kw = 0u; kw < params.kernel_w; kw++) {           // [0, kW)
      let iw = ow * params.stride_w + kw - params.padding_w;  // [0, W) or padding
      if (iw >= params.in_w) { continue; }                    // padding never wins
      let other = (plane * params.in_h + ih) * params.in_w + iw;
      let rival = input[other];
      if (rival > value || (rival == value && other < mine)) { return false; }
      if (is_nan(rival)) { last_nan = other; }
    }
  }
  return last_nan == mine;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 2. Which pixel is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.planes * params.in_h * params.in_w) {
    return;  // the last workgroup is rarely full
  }
  let iw = index % params.in_w;                // [0, W)
  let ih = index / params.in_w % params.in_h;  // [0, H)
  let plane = index / (params.in_w * params.in_h);

  // 3. Add up the gradients of the windows that took this pixel.
  let value = input[index];
  var sum = 0.0;
  let down = ih + params.padding_h;   // [Ph, H + Ph)
  let right = iw + params.padding_w;  // [Pw, W + Pw)
  let rows = windows(down, params.kernel_h, params.stride_h, params.out_h);
  let columns = windows(right, params.kernel_w, params.stride_w, params.out_w);
  for (var oh = rows.x; oh < rows.y; oh++) {          // of [0, oH), or none
    for (var ow = columns.x; ow < columns.y; ow++) {  // of [0, oW), or none
      if (wins(index, value, plane, oh, ow)) {
        sum += grad_output[(plane * params.out_h + oh) * params.out_w + ow];
      }
    }
  }

  // 4. Write it.
  grad_input[index] = sum;
}

// --- Shared with other files: pool_windows ---

// The windows that hold a row or column of the padded input: from x to below y.
fn windows(at: u32, size: u32, stride: u32, count: u32) -> vec2u {
  var first = 0u;
  if (at >= size) {
    first = (at - size) / stride + 1u;  // behind the last one that ends before it
  }
  return vec2u(first, min(at / stride + 1u, count));
}

// --- Shared with other files: is_nan ---

// Is x NaN? Only its bits show it: WGSL lets compilers assume that NaN does not
// occur, so that x != x may be false; max, min and clamp may drop a NaN.
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
