// conv2d_grad_bias / 2_workgroup_per_channel
//
// in        grad_output (N, Co, oH, oW)
// out       grad_bias (Co)
// dispatch  Co workgroups of THREADS = 256 threads
// barriers  one before each step of the tree:
//           a thread adds a partial sum that another thread wrote
// cost      per channel: N*oH*oW global loads,
//           2*THREADS - 1 workgroup loads, 0 multiply-adds (only additions);
//           one thread has ceil(N*oH*oW/THREADS) of the elements,
//           then log2(THREADS) = 8 steps of the tree
// limits    Co is at most 65,535; THREADS is a power of two
// new here  THREADS threads share one channel's sum: coalesced loads,
//           then a tree reduction in workgroup memory

override THREADS: u32 = 256u;

// --- Shared with other files: channel_params ---

struct Params {
  batch: u32,         // N
  out_channels: u32,  // Co
  out_h: u32,         // oH
  out_w: u32,         // oW
}

// --- Shared with other files: conv2d_grad_bias_buffers ---

@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;      // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read_write> grad_bias: array<f32>;  // (Co)

// --- In this file only: kernel ---

@group(0) @binding(2)
var<uniform> params: Params;

var<workgroup> partial: array<f32, THREADS>;  // one partial sum per thread

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 1. Which channel is ours?
  let co = workgroup.x;  // [0, Co)

  // 2. Take every THREADS-th element: neighbors read neighboring addresses
  //    (coalesced loads).
  var sum = 0.0;
  let pixels = params.out_h * params.out_w;
  for (var i = thread; i < params.batch * pixels; i += THREADS) {  // [0, N*oH*oW)
    let n = i / pixels;                                            // [0, N)
    sum += grad_output[(n * params.out_channels + co) * pixels + i % pixels];
  }
  partial[thread] = sum;

  // 3. Add the partial sums in a tree: each step leaves half as many.
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }

  // 4. Thread 0 wrote the last sum itself, so it needs no barrier to read it.
  if (thread == 0u) {
    grad_bias[co] = partial[0];
  }
}
