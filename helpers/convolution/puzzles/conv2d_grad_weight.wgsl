// The official kernel of the classroom's first half;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weights[k,c,fh,fw] = sum over b, oh, ow of
//             grad_output[b,k,oh,ow] * input[b, c, oh + fh, ow + fw]
// dispatch  ceil(K*C*F*F / 256) workgroups of 256 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    stride 1, no padding, square filters, K*C*F*F at most 65,535 * 256

struct Params { batch: u32, C: u32, H: u32, W: u32, K: u32, F: u32 }

// grad_output (batch, K, H-F+1, W-F+1), input (batch, C, H, W),
// grad_weights (K, C, F, F)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weights: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. idx is global.x: workgroup * 256 + thread. Return if no weight has it.
  let idx = global.x;  // *
  if (idx >= params.K * params.C * params.F * params.F) { return; }  // *
  // 2. Decode fw, fh, c and k from idx.
  let fw = idx % params.F;  // *
  let fh = idx / params.F % params.F;  // *
  let c = idx / (params.F * params.F) % params.C;  // *
  let k = idx / (params.F * params.F * params.C);  // *
  // 3. Start a sum at 0.0, and compute the size of the output.
  var sum = 0.0;  // *
  let out_h = params.H - params.F + 1u;  // *
  let out_w = params.W - params.F + 1u;  // *
  // 4. Loop over b, oh and ow.
  for (var b = 0u; b < params.batch; b++) {  // *
    for (var oh = 0u; oh < out_h; oh++) {  // *
      for (var ow = 0u; ow < out_w; ow++) {  // *
        // 5. Add grad_output[b,k,oh,ow] * input[b, c, oh + fh, ow + fw].
        let grad_at = ((b * params.K + k) * out_h + oh) * out_w + ow;  // *
        let input_at =  // *
          ((b * params.C + c) * params.H + oh + fh) * params.W + ow + fw;  // *
        sum += grad_output[grad_at] * input[input_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum to grad_weights[idx].
  grad_weights[idx] = sum;  // *
}
