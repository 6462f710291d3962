// conv2d_grad_input / 2_shared_weights
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  (ceil(W/TILE), ceil(H/TILE), min(N*Ci, 65535)) workgroups
//           of TILE x TILE = 16 x 16 threads
// barriers  one before a load: no thread may still read the old weights;
//           one after it: a thread reads weights that others loaded
// cost      per pixel of a full tile, with T = Co*ceil(kH/S)*ceil(kW/S), at most:
//           T + Co*kH*kW/(TILE*TILE) global loads,
//           T workgroup loads, T multiply-adds
// limits    ceil(W/TILE) and ceil(H/TILE) are at most 65,535;
//           the loads of grad_output are not shared
// new here  the workgroup loads each weight once for all its pixels,
//           a filter over CHUNK weights in pieces

override TILE: u32 = 16u;  // pixels along each side of a workgroup
const CHUNK: u32 = 4096u;  // weights held at once: 16 KiB, the most every GPU has

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

var<workgroup> shared_weights: array<f32, CHUNK>;

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, TILE*TILE)
) {
  // 1. Which input pixel is mine? A flag, not a return:
  //    every thread must reach the barriers.
  let iw = workgroup.x * TILE + local.x;         // [0, W) when inside
  let ih = workgroup.y * TILE + local.y;         // [0, H) when inside
  let inside = iw < params.in_w && ih < params.in_h;
  let taps = params.kernel_h * params.kernel_w;  // weights of one filter channel

  // 2. A dispatch has at most 65,535 layers, so a workgroup may serve several
  //    (n, ci) planes.
  let planes = params.batch * params.in_channels;
  for (var plane = workgroup.z; plane < planes; plane += grid.z) {  // [0, N*Ci)
    let ci = plane % params.in_channels;                            // [0, Ci)
    let n = plane / params.in_channels;                             // [0, N)
    var sum = 0.0;
    for (var co = 0u; co < params.out_channels; co++) {             // [0, Co)
      let grad_plane = (n * params.out_channels + co) * params.out_h;
      for (var first = 0u; first < taps; first += CHUNK) {          // [0, kH*kW)
        let count = min(CHUNK, taps - first);

        // 3. Load this channel's weights together.
        let start = (co * params.in_channels + ci) * taps + first;
        workgroupBarrier();  // no thread still reads the old weights
        for (var i = thread; i < count; i += TILE * TILE) {
          shared_weights[i] = weight[start + i];
        }
        workgroupBarrier();  // the new weights are in place

        // 4. Gather. kh and kw are counted up, which saves two divisions
        //    for each weight.
        var kh = first / params.kernel_w;           // [0, kH)
        var kw = first % params.kernel_w;           // [0, kW)
        for (var i = 0u; i < select(0u, count, inside); i++) {
          // Below 0, row and column wrap to more than oH*S and oW*S.
          let row = ih + params.padding_h - kh;     // oh*S, if oh is whole
          let column = iw + params.padding_w - kw;  // ow*S, if ow is whole
          var oh = row;                             // [0, oH) or no such output
          var ow = column;                          // [0, oW) or no such output
          var whole = true;                         // are both multiples of S?
          if (params.stride != 1u) {                // stride 1 needs no division
            whole = row % params.stride == 0u && column % params.stride == 0u;
            oh = row / params.stride;
            ow = column / params.stride;
          }
          if (whole && oh < params.out_h && ow < params.out_w) {
            let grad_at = (grad_plane + oh) * params.out_w + ow;
            sum += shared_weights[i] * grad_output[grad_at];
          }
          kw++;
          if (kw == params.kernel_w) {
            kw = 0u;
            kh++;
          }
        }
      }
    }

    // 5. Write it.
    if (inside) {
      grad_input[(plane * params.in_h + ih) * params.in_w + iw] = sum;
    }
  }
}
