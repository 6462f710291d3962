// The official kernel of the puzzle conv2d_grad_bias;
// lines that end in a star are not in the skeleton.
//
// equation  grad_bias[co] = sum over n, oh, ow of grad_output[n,co,oh,ow]
// dispatch  ceil(Co / 256) workgroups of 256 threads:
//           one thread computes one channel
// barriers  none: each thread writes its own channel and reads only inputs
// limits    Co at most 65,535 * 256

struct Params { N: u32, Co: u32, oH: u32, oW: u32 }

// grad_output (N, Co, oH, oW), grad_bias (Co)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read_write> grad_bias: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. co is global.x: workgroup * 256 + thread. Return if no channel has it.
  let co = global.x;  // *
  if (co >= params.Co) { return; }  // *
  // 2. Start a sum at 0.0.
  var sum = 0.0;  // *
  // 3. Loop over n, oh and ow.
  for (var n = 0u; n < params.N; n++) {  // *
    for (var oh = 0u; oh < params.oH; oh++) {  // *
      for (var ow = 0u; ow < params.oW; ow++) {  // *
        // 4. Add grad_output[n,co,oh,ow].
        let plane = n * params.Co + co;  // *
        sum += grad_output[(plane * params.oH + oh) * params.oW + ow];  // *
      }  // *
    }  // *
  }  // *
  // 5. Write the sum to grad_bias[co].
  grad_bias[co] = sum;  // *
}
