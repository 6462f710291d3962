// conv2d_grad_weight / 2_workgroup_per_weight
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci, kH, kW)
// dispatch  (Ci*kW, kH, Co) workgroups of THREADS = 256 threads
// barriers  one before each step of the tree:
//           a thread adds a partial sum that another thread wrote
// cost      per weight, at most: 2*N*oH*oW global loads,
//           2*THREADS - 1 workgroup loads, N*oH*oW multiply-adds;
//           one thread has ceil(N*oH*oW/THREADS) of the products,
//           then log2(THREADS) = 8 steps of the tree
// limits    Ci*kW, kH and Co are at most 65,535; THREADS is a power of two
// new here  THREADS threads share one weight's sum: coalesced loads,
//           then a tree reduction in workgroup memory

override THREADS: u32 = 256u;

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

var<workgroup> partial: array<f32, THREADS>;  // one partial sum per thread

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 1. Which weight is ours?
  let kw = workgroup.x % params.kernel_w;  // [0, kW)
  let ci = workgroup.x / params.kernel_w;  // [0, Ci)
  let kh = workgroup.y;                    // [0, kH)
  let co = workgroup.z;                    // [0, Co)

  // 2. Take every THREADS-th product: neighbors read neighboring addresses
  //    (coalesced loads; in input S apart).
  var sum = 0.0;
  let products = params.batch * params.out_h * params.out_w;
  for (var i = thread; i < products; i += THREADS) {      // [0, N*oH*oW)
    let row = i / params.out_w;                           // [0, N*oH)
    let ow = i % params.out_w;                            // [0, oW)
    let oh = row % params.out_h;                          // [0, oH)
    let n = row / params.out_h;                           // [0, N)
    // In the padding below 0, ih and iw wrap to more than H and W.
    let ih = oh * params.stride + kh - params.padding_h;  // [0, H) or padding
    let iw = ow * params.stride + kw - params.padding_w;  // [0, W) or padding
    if (ih < params.in_h && iw < params.in_w) {
      let grad_plane = (n * params.out_channels + co) * params.out_h;
      let grad_row = (grad_plane + oh) * params.out_w;
      let input_plane = (n * params.in_channels + ci) * params.in_h;
      let input_row = (input_plane + ih) * params.in_w;
      sum += grad_output[grad_row + ow] * input[input_row + iw];
    }
  }
  partial[thread] = sum;

  // 3. Add the partial sums in a tree: each step leaves half as many,
  //    until one is left.
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }

  // 4. Thread 0 wrote the last sum itself, so it needs no barrier to read it.
  if (thread == 0u) {
    let weight_plane = (co * params.in_channels + ci) * params.kernel_h;
    grad_weight[(weight_plane + kh) * params.kernel_w + kw] = partial[0];
  }
}
