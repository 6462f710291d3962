// conv2d_grad_input / 2_shared_weights
//
// equation  grad_input[n,ci,ih,iw] = sum over co, kh, kw of
//             grad_output[n, co, oh, ow] * weight[co,ci,kh,kw]
//             where oh*S = ih + Ph - kh and ow*S = iw + Pw - kw have an answer inside the output
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  (ceil(W/16), ceil(H/16), min(N*Ci, 65535)) workgroups of TILE x TILE = 16 x 16 threads
// owner     one thread owns one input pixel and is the only one that writes it
// barriers  one before a load: nobody may still use the old weights;
//           one after it: the new weights are all in place
// limits    ceil(W/TILE) and ceil(H/TILE) are at most 65,535; kernels over CHUNK weights are loaded in pieces
// new here  256 neighbors need the same weights, so the workgroup loads each weight once for all of them

override TILE: u32 = 16u;  // pixels along each side of a workgroup
const CHUNK: u32 = 4096u;  // weights held at once: 16 KiB, all the workgroup memory that every GPU has

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

var<workgroup> shared_weights: array<f32, CHUNK>;

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, TILE*TILE)
) {
  // 1. Which input pixel is mine? A flag, not a return: every thread must reach the barriers.
  let iw = workgroup.x * TILE + local.x;                      // [0, W) when inside
  let ih = workgroup.y * TILE + local.y;                      // [0, H) when inside
  let inside = iw < params.in_w && ih < params.in_h;
  let taps = params.kernel_h * params.kernel_w;

  // 2. A dispatch has at most 65,535 layers, so a workgroup may serve several (n, ci) planes.
  for (var plane = workgroup.z; plane < params.batch * params.in_channels; plane += grid.z) {
    let ci = plane % params.in_channels;                      // [0, Ci)
    let n = plane / params.in_channels;                       // [0, N)
    var sum = 0.0;
    for (var co = 0u; co < params.out_channels; co++) {       // [0, Co)
      let output_plane = (n * params.out_channels + co) * params.out_h;
      for (var first = 0u; first < taps; first += CHUNK) {    // [0, kH*kW)
        let count = min(CHUNK, taps - first);

        // 3. Load this channel's weights together.
        workgroupBarrier();  // nobody still uses the old weights
        for (var i = thread; i < count; i += TILE * TILE) {
          shared_weights[i] = weight[(co * params.in_channels + ci) * taps + first + i];
        }
        workgroupBarrier();  // the new weights are in place

        // 4. Gather; counting kh and kw up is cheaper than dividing for them.
        var kh = first / params.kernel_w;                     // [0, kH)
        var kw = first % params.kernel_w;                     // [0, kW)
        for (var i = 0u; i < select(0u, count, inside); i++) {
          let row = ih + params.padding_h - kh;               // oh*S; below 0 it wraps to > oH*S
          let column = iw + params.padding_w - kw;            // ow*S
          var oh = row;                                       // [0, oH) or no such output
          var ow = column;                                    // [0, oW) or no such output
          var met = true;
          if (params.stride != 1u) {                          // stride 1 needs no division
            met = row % params.stride == 0u && column % params.stride == 0u;
            oh = row / params.stride;
            ow = column / params.stride;
          }
          if (met && oh < params.out_h && ow < params.out_w) {
            sum += shared_weights[i] * grad_output[(output_plane + oh) * params.out_w + ow];
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
