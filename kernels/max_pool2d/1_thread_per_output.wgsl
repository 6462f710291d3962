// max_pool2d / 1_thread_per_output
//
// equation  output[n,c,oh,ow] = max over kh, kw of input[n,c,ih,iw],
//             where ih = oh*Sh + kh - Ph and iw = ow*Sw + kw - Pw
// numpy     padded = np.pad(input, [(0,), (0,), (Ph,), (Pw,)],
//                           constant_values=-np.inf)
//           windows = sliding_window_view(padded, (kH, kW), (2, 3))
//           windows = windows[:, :, ::Sh, ::Sw]
//           output = windows.max((4, 5))
// in        input (N, C, H, W)
// out       output (N, C, oH, oW)
// dispatch  ceil(N*C*oH*oW / 256) workgroups of 256 threads
// barriers  none: each thread writes its own output and reads only inputs
// cost      per output, at most:
//           kH*kW global loads, 0 workgroup loads, 0 multiply-adds
// limits    two windows that overlap load their common pixels again
// new here  one thread computes one output; padding never wins, and NaN always
//           wins, as in PyTorch

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
var<storage, read> input: array<f32>;         // (N,C,H,W)
@group(0) @binding(1)
var<storage, read_write> output: array<f32>;  // (N,C,oH,oW)
@group(0) @binding(2)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which output is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= params.planes * params.out_h * params.out_w) {
    return;  // the last workgroup is rarely full
  }
  let ow = index % params.out_w;                 // [0, oW)
  let oh = index / params.out_w % params.out_h;  // [0, oH)
  let plane = index / (params.out_w * params.out_h) * params.in_h;

  // 2. The largest pixel of the window, and the largest of their bits without
  // the sign: those of NaN lie above those of infinity.
  var lowest = 0xff800000u;  // the bits of -infinity: WGSL has no literal of it
  var largest = bitcast<f32>(lowest);
  var most_bits = 0u;
  for (var kh = 0u; kh < params.kernel_h; kh++) {              // [0, kH)
    // Above the image, ih wraps to more than H; left of it, iw to more than W.
    let ih = oh * params.stride_h + kh - params.padding_h;     // [0, H) or padding
    if (ih >= params.in_h) { continue; }
    for (var kw = 0u; kw < params.kernel_w; kw++) {            // [0, kW)
      let iw = ow * params.stride_w + kw - params.padding_w;   // [0, W) or padding
      if (iw < params.in_w) {
        let pixel = input[(plane + ih) * params.in_w + iw];
        largest = max(largest, pixel);
        most_bits = max(most_bits, bitcast<u32>(pixel) & 0x7fffffffu);
      }
    }
  }

  // 3. Write it; NaN counts as larger than any number.
  output[index] = select(largest, bitcast<f32>(most_bits), most_bits > 0x7f800000u);
}
