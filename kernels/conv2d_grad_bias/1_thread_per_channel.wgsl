// conv2d_grad_bias / 1_thread_per_channel
//
// equation  grad_bias[co] = sum over n, oh, ow of grad_output[n,co,oh,ow]
// numpy     grad_bias = grad_output.sum((0, 2, 3))
// in        grad_output (N, Co, oH, oW)
// out       grad_bias (Co)
// dispatch  ceil(Co / 256) workgroups of 256 threads
// barriers  none: each thread writes its own channel and reads only inputs
// cost      per channel: N*oH*oW global loads, 0 workgroup loads,
//           0 multiply-adds (only additions); all by one thread
// limits    neighbors read oH*oW elements apart: their loads are not coalesced;
//           and few channels leave a GPU idle
// new here  each bias is added to every output of its channel,
//           so its gradient is a plain sum

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

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which channel is mine?
  let co = (workgroup.y * grid.x + workgroup.x) * 256u + thread;  // [0, Co) or more
  if (co >= params.out_channels) {
    return;  // the last workgroup is rarely full
  }

  // 2. Sum its plane of every image.
  var sum = 0.0;
  let pixels = params.out_h * params.out_w;
  for (var n = 0u; n < params.batch; n++) {  // [0, N)
    let plane = (n * params.out_channels + co) * pixels;
    for (var i = 0u; i < pixels; i++) {      // [0, oH*oW)
      sum += grad_output[plane + i];
    }
  }

  // 3. Write it.
  grad_bias[co] = sum;
}
