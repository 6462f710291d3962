// The official kernel of the puzzle conv2d_grad_bias;
// lines that end in a star are not in the skeleton.
//
// equation  grad_bias[k] = sum over b, oh, ow of grad_output[b,k,oh,ow]
// dispatch  ceil(C_out / 256) workgroups of 256 threads:
//           one thread computes one channel
// barriers  none: each thread writes its own channel and reads only inputs
// limits    C_out at most 65,535 * 256

struct Params { batch: u32, C_out: u32, H_out: u32, W_out: u32 }

// grad_output (batch, C_out, H_out, W_out), grad_bias (C_out)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read_write> grad_bias: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. k is global.x: workgroup * 256 + thread. Return if no channel has it.
  let k = global.x;  // *
  if (k >= params.C_out) { return; }  // *
  // 2. Start a sum at 0.0.
  var sum = 0.0;  // *
  // 3. Loop over b, oh and ow.
  for (var b = 0u; b < params.batch; b++) {  // *
    for (var oh = 0u; oh < params.H_out; oh++) {  // *
      for (var ow = 0u; ow < params.W_out; ow++) {  // *
        // 4. Add grad_output[b,k,oh,ow].
        let plane = b * params.C_out + k;  // *
        sum += grad_output[(plane * params.H_out + oh) * params.W_out + ow];  // *
      }  // *
    }  // *
  }  // *
  // 5. Write the sum to grad_bias[k].
  grad_bias[k] = sum;  // *
}
