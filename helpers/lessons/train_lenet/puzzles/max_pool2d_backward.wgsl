// The official kernel of max pooling's backward pass;
// lines that end in a star are not in the skeleton.

// Write the whole kernel, with an entry point called main.
//
// equation   grad_input[plane,ih,iw] = sum of grad_output[plane,oh,ow] over
//              the windows whose maximum is input[plane,ih,iw];
//              of equal maxima, the first one counts, row by row.
//              Window [oh,ow] begins in row oh*S - P and column ow*S - P.
//              It has k x k pixels; the padding is never its maximum
// binding 0  input (planes,H,W)          var<storage, read>, array<f32>
// binding 1  grad_output (planes,oH,oW)  var<storage, read>, array<f32>
// binding 2  grad_input (planes,H,W)     var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of eight u32 in this order:
//              planes, H, W, k, S, P, oH, oW   (planes is N*C)
// main       workgroups of 256 threads, and a thread for each pixel
// dispatch   ceil(planes*H*W / 256) workgroups in x, 1 in y, 1 in z
// counts     in the test pool_lenet_pool2, the busiest thread may load 24
//              numbers, write 2 pixels, and run 8 times the statements of ours
// planes is N*C; the windows are k x k, with stride S and padding P  // *
struct Params {  // *
  planes: u32, H: u32, W: u32,  // *
  k: u32, S: u32, P: u32, oH: u32, oW: u32,  // *
}  // *
// *
@group(0) @binding(0)  // *
var<storage, read> input: array<f32>;             // (planes, H, W)  // *
@group(0) @binding(1)  // *
var<storage, read> grad_output: array<f32>;       // (planes, oH, oW)  // *
@group(0) @binding(2)  // *
var<storage, read_write> grad_input: array<f32>;  // (planes, H, W)  // *
@group(0) @binding(3)  // *
var<uniform> params: Params;  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  // 1. index is global.x. Return if there is no such pixel.  // *
  let index = global.x;  // *
  if (index >= params.planes * params.H * params.W) { return; }  // *
  // 2. Decode iw, ih and plane. Read the pixel; start a sum at 0.0.  // *
  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
  let plane = index / (params.W * params.H);  // *
  let mine = input[index];  // *
  var sum = 0.0;  // *
  // 3. Loop over kh and kw: the pixel's place in a window.  // *
  for (var kh = 0u; kh < params.k; kh++) {  // *
    for (var kw = 0u; kw < params.k; kw++) {  // *
      // 4. Compute row (it should be oh * S) and column (ow * S), as in  // *
      //    lesson 03. Skip a place for which there is no window.  // *
      let row = ih + params.P - kh;  // *
      let column = iw + params.P - kw;  // *
      if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *
      let oh = row / params.S;  // *
      let ow = column / params.S;  // *
      if (oh >= params.oH || ow >= params.oW) { continue; }  // *
      // 5. Compare with all k * k pixels of the window, without padding: is  // *
      //    one larger, or equal and before this one?  // *
      var wins = true;  // *
      for (var i = 0u; i < params.k * params.k; i++) {  // *
        let y = row + i / params.k - params.P;  // *
        let x = column + i % params.k - params.P;  // *
        if (y >= params.H || x >= params.W) { continue; }  // *
        let rival = input[(plane * params.H + y) * params.W + x];  // *
        let before = i < kh * params.k + kw;  // *
        if (rival > mine || (rival == mine && before)) { wins = false; }  // *
      }  // *
      // 6. If not, add grad_output[plane,oh,ow].  // *
      let grad_at = (plane * params.oH + oh) * params.oW + ow;  // *
      if (wins) { sum += grad_output[grad_at]; }  // *
    }  // *
  }  // *
  // 7. Write the sum to grad_input[index].  // *
  grad_input[index] = sum;  // *
}  // *
