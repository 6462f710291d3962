// conv2d_grad_input / 8_direct
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci/G, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  ceil(ceil(N/IMAGES)*Ci*H*W / 256) workgroups of 256 threads
// barriers  none: each thread writes its own pixels and reads only inputs
// cost      per pixel of whole blocks of IMAGES images, where no number above 1
//           divides both a stride and its dilation, with
//           T = Co/G*ceil(kH/Sh)*ceil(kW/Sw), at most:
//           T*(1 + 1/IMAGES) global loads, 0 workgroup loads, T multiply-adds
// limits    where a group has many channels, each element of grad_output is loaded
//           again for each of them: then tiles of a matrix product load less
// new here  a thread gathers for the same pixel of IMAGES images, so that it finds
//           its outputs, and loads each weight, once for all of them; strides,
//           dilation and groups as in version 3

// --- Shared with other files: convolution_sizes ---

// The layer: the launcher writes its sizes in here.
const BATCH: u32 = 2u;         // N
const IN_CHANNELS: u32 = 4u;   // Ci
const IN_H: u32 = 8u;          // H
const IN_W: u32 = 9u;          // W
const OUT_CHANNELS: u32 = 4u;  // Co
const PADDING_H: u32 = 1u;     // Ph
const PADDING_W: u32 = 1u;     // Pw
const OUT_H: u32 = 8u;         // oH
const OUT_W: u32 = 9u;         // oW

// --- Shared with other files: filter_sizes ---

// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;    // kH
const KERNEL_W: u32 = 3u;    // kW
const STRIDE_H: u32 = 1u;    // Sh
const STRIDE_W: u32 = 1u;    // Sw
const DILATION_H: u32 = 1u;  // Dh
const DILATION_W: u32 = 1u;  // Dw
const GROUPS: u32 = 1u;      // G
const GROUP_IN: u32 = IN_CHANNELS / GROUPS;  // channels of a group
const GROUP_OUT: u32 = OUT_CHANNELS / GROUPS;

// --- In this file only: sizes ---

const IMAGES: u32 = 2u;        // of a thread
const BLOCKS: u32 = (BATCH + IMAGES - 1u) / IMAGES;
const OUT_IMAGE: u32 = OUT_CHANNELS * OUT_H * OUT_W;  // numbers of an output image

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: kernel ---

var<private> sums: array<f32, IMAGES>;

// 1. Is there such an image? Only the last block may be without some.
fn exists(n: u32) -> bool {
  return BATCH % IMAGES == 0u || n < BATCH;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 2. Which pixel is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= BLOCKS * IN_CHANNELS * IN_H * IN_W) {
    return;  // the last workgroup is rarely full
  }
  let iw = index % IN_W;                                 // [0, W)
  let ih = index / IN_W % IN_H;                          // [0, H)
  let ci = index / (IN_W * IN_H) % IN_CHANNELS;          // [0, Ci)
  let n = index / (IN_W * IN_H * IN_CHANNELS) * IMAGES;  // its first image

  // 3. Gather from every output to which it contributed.
  let first = ci / GROUP_IN * GROUP_OUT;
  for (var co = first; co < first + GROUP_OUT; co++) {   // the filters of its group
    let weight_plane = (co * GROUP_IN + ci % GROUP_IN) * KERNEL_H;
    for (var kh = 0u; kh < KERNEL_H; kh++) {             // [0, kH)
      // Below 0, row and column wrap to more than oH*Sh and oW*Sw.
      let row = ih + PADDING_H - kh * DILATION_H;        // oh*Sh, if oh is whole
      let oh = row / STRIDE_H;                           // [0, oH), or none
      if (row % STRIDE_H != 0u || oh >= OUT_H) { continue; }
      let grad_row = ((n * OUT_CHANNELS + co) * OUT_H + oh) * OUT_W;
      let weight_row = (weight_plane + kh) * KERNEL_W;
      for (var kw = 0u; kw < KERNEL_W; kw++) {           // [0, kW)
        let column = iw + PADDING_W - kw * DILATION_W;   // ow*Sw, if ow is whole
        let ow = column / STRIDE_W;                      // [0, oW), or none
        if (column % STRIDE_W != 0u || ow >= OUT_W) { continue; }
        let factor = weight[weight_row + kw];
        for (var i = 0u; i < IMAGES; i++) {  // unroll
          if (exists(n + i)) {
            sums[i] += grad_output[grad_row + ow + i * OUT_IMAGE] * factor;
          }
        }
      }
    }
  }

  // 4. Write it.
  for (var i = 0u; i < IMAGES; i++) {  // unroll
    if (exists(n + i)) {
      grad_input[(((n + i) * IN_CHANNELS + ci) * IN_H + ih) * IN_W + iw] = sums[i];
    }
  }
}
