// conv2d_grad_input / 7_split_channels
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  a workgroup for each CHANNELS channels of TILES x 4 pixels:
//           SLICES threads for each 4 neighboring pixels
// barriers  one: a thread adds the sums that others stored
// cost      per pixel of full tiles:
//           Co*kH*WIDE/(4*CHANNELS) + Co*kH*kW/4 global loads,
//           SLICES/4 workgroup loads, Co*kH*kW multiply-adds
// limits    S = 1, and oW divisible by 4; a zero outside the output is
//           multiplied too, so that a weight of NaN or infinity reaches
//           pixels at the border
// new here  SLICES threads share the sum over the output channels of the same
//           pixels: a small layer has few pixels, and a long sum makes a
//           thread wait for each load; outputs are loaded in fours

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

// --- In this file only: kernel ---

const KERNEL_H: u32 = 3u;       // kH
const KERNEL_W: u32 = 3u;       // kW
const TAPS: u32 = KERNEL_H * KERNEL_W;
const ACROSS: u32 = (IN_W + 3u) / 4u;  // vec4s: four pixels side by side
const OUT_ACROSS: u32 = OUT_W / 4u;

// What a thread computes, and a workgroup.
const CHANNELS: u32 = 2u;       // input channels of a thread
const TILES: u32 = 32u;         // vec4s of a workgroup
const SLICES: u32 = 4u;         // threads that share the sums of a vec4
const THREADS: u32 = TILES * SLICES;

// The window: WIDE vec4s of outputs over four pixels. The first output that lies
// over them is SHIFT outputs right of the one 4*kW before the pixels: counted
// so, it is never below 0. Its vec4 begins with SKIPPED others.
const SHIFT: u32 = 3u * KERNEL_W + 1u + PADDING_W;
const SKIPPED: u32 = SHIFT % 4u;
const WIDE: u32 = (SKIPPED + KERNEL_W + 6u) / 4u;

@group(0) @binding(0)
var<storage, read> grad_output: array<vec4f>;     // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

var<workgroup> parts: array<array<vec4f, THREADS>, CHANNELS>;

// Four outputs, or zeros outside of them: below 0, oh and four wrap to more than
// there are.
fn outputs_or_zeros(plane: u32, oh: u32, four: u32) -> vec4f {
  let inside = oh < OUT_H && four < OUT_ACROSS;
  let at = select(0u, (plane * OUT_H + oh) * OUT_ACROSS + four, inside);
  return select(vec4f(), grad_output[at], inside);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 1. Which pixels are mine, and which slice of their sums? Neighboring threads
  //    take neighboring vec4s, and the same slice: they read the same weight.
  let four = (workgroup.y * grid.x + workgroup.x) * TILES + thread % TILES;
  let slice = thread / TILES;                    // [0, SLICES)
  let inside = four < BATCH * IN_H * ACROSS;
  let n = min(four / (IN_H * ACROSS), BATCH - 1u);
  let ih = four / ACROSS % IN_H;                 // [0, H)
  let first_ci = workgroup.z * CHANNELS;         // [0, Ci), for all threads

  // All indices into these are constants, so that they stay in registers.
  var sums: array<vec4f, CHANNELS>;
  var window: array<array<f32, 4u * WIDE>, KERNEL_H>;
  for (var co = slice; co < OUT_CHANNELS; co += SLICES) {

    // 2. Load the outputs to which my pixels contributed.
    let plane = n * OUT_CHANNELS + co;
    for (var y = 0u; y < KERNEL_H; y++) {  // unroll
      for (var i = 0u; i < WIDE; i++) {  // unroll
        let oh = ih + PADDING_H - (KERNEL_H - 1u) + y;
        let out_four = four % ACROSS + SHIFT / 4u - KERNEL_W + i;
        let four = outputs_or_zeros(plane, oh, out_four);
        window[y][4u * i] = four.x;
        window[y][4u * i + 1u] = four.y;
        window[y][4u * i + 2u] = four.z;
        window[y][4u * i + 3u] = four.w;
      }
    }

    // 3. Multiply with the filters, last tap first. A channel behind the last
    //    one repeats that.
    for (var c = 0u; c < CHANNELS; c++) {  // unroll
      let ci = min(first_ci + c, IN_CHANNELS - 1u);
      let last = (co * IN_CHANNELS + ci) * TAPS + TAPS - 1u;
      for (var k = 0u; k < TAPS; k++) {  // unroll
        let y = k / KERNEL_W;
        let x = SKIPPED + k % KERNEL_W;
        sums[c] += weight[last - k] * vec4f(
          window[y][x], window[y][x + 1u],
          window[y][x + 2u], window[y][x + 3u],
        );
      }
    }
  }

  // 4. Store my sums, so that others can add them.
  for (var c = 0u; c < CHANNELS; c++) {  // unroll
    parts[c][thread] = sums[c];
  }
  workgroupBarrier();  // all slices are in place

  // 5. Add the slices, each channel in another thread, and write four pixels.
  for (var c = slice; c < CHANNELS; c += SLICES) {
    let ci = first_ci + c;                       // [0, Ci) when inside
    var sum = vec4f();
    for (var i = 0u; i < SLICES; i++) {  // unroll
      sum += parts[c][i * TILES + thread % TILES];
    }
    for (var i = 0u; i < 4u; i++) {  // unroll
      let iw = four % ACROSS * 4u + i;           // [0, W) when inside
      if (inside && ci < IN_CHANNELS && iw < IN_W) {
        grad_input[((n * IN_CHANNELS + ci) * IN_H + ih) * IN_W + iw] = sum[i];
      }
    }
  }
}
