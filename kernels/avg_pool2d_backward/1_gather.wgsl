// avg_pool2d_backward / 1_gather
//
// equation  grad_input[n,c,ih,iw] = sum / (kH*kW), with
//             sum = sum of grad_output[n,c,oh,ow] over the windows with
//             oh*Sh <= ih + Ph < oh*Sh + kH and ow*Sw <= iw + Pw < ow*Sw + kW
// numpy     grad_input = np.zeros((N, C, H + 2*Ph, W + 2*Pw))
//           for i, j in np.ndindex(kH, kW):
//             rows, columns = slice(i, i + Sh*oH, Sh), slice(j, j + Sw*oW, Sw)
//             grad_input[:, :, rows, columns] += grad_output / (kH*kW)
//           grad_input = grad_input[:, :, Ph:Ph + H, Pw:Pw + W]
// in        grad_output (N, C, oH, oW)
// out       grad_input (N, C, H, W)
// dispatch  ceil(N*C*H*W / 256) workgroups of 256 threads
// barriers  none: each thread writes its own pixel and reads only inputs
// cost      per pixel, at most:
//           ceil(kH/Sh)*ceil(kW/Sw) global loads, 0 workgroup loads,
//           0 multiply-adds
// limits    neighbors load the same gradients where their windows are the same
// new here  a pixel gathers an equal share from each window that it lies in

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
var<storage, read> grad_output: array<f32>;       // (N,C,oH,oW)
@group(0) @binding(1)
var<storage, read_write> grad_input: array<f32>;  // (N,C,H,W)
@group(0) @binding(2)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which pixel is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.planes * params.in_h * params.in_w) {
    return;  // the last workgroup is rarely full
  }
  let iw = index % params.in_w;                // [0, W)
  let ih = index / params.in_w % params.in_h;  // [0, H)
  let plane = index / (params.in_w * params.in_h);

  // 2. Add up the gradients of the windows in which the pixel lies.
  var sum = 0.0;
  let down = ih + params.padding_h;   // [Ph, H + Ph)
  let right = iw + params.padding_w;  // [Pw, W + Pw)
  let rows = windows(down, params.kernel_h, params.stride_h, params.out_h);
  let columns = windows(right, params.kernel_w, params.stride_w, params.out_w);
  for (var oh = rows.x; oh < rows.y; oh++) {          // of [0, oH), or none
    for (var ow = columns.x; ow < columns.y; ow++) {  // of [0, oW), or none
      sum += grad_output[(plane * params.out_h + oh) * params.out_w + ow];
    }
  }

  // 3. Write its share.
  grad_input[index] = sum / f32(params.kernel_h * params.kernel_w);
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
