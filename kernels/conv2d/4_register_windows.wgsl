// conv2d / 4_register_windows
//
// in        input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co)
// out       output (N, Co, oH, oW)
// dispatch  one thread for each CHANNELS channels of ROWS x COLUMNS outputs,
//           in workgroups of THREADS threads
// barriers  none: each thread writes its own outputs and reads only inputs
// cost      per element of full tiles, without act:
//           Ci*((ROWS+kH-1)*(COLUMNS+kW-1)/CHANNELS + kH*kW)/(ROWS*COLUMNS)
//             + 1/(ROWS*COLUMNS)
//           global loads, 0 workgroup loads, Ci*kH*kW multiply-adds
// limits    S = 1 only; the text grows with the filter, and takes longer to
//           compile; a zero of the padding is multiplied too, so that a weight
//           of NaN or infinity reaches outputs at the border
// new here  threads share no memory: each keeps the pixels under its outputs,
//           the window, in registers, and uses each for up to kH*kW*CHANNELS
//           products; all threads of a workgroup read the same weight;
//           act follows the sum

const KERNEL_H: u32 = 3u;       // kH
const KERNEL_W: u32 = 3u;       // kW

// What a thread computes.
const CHANNELS: u32 = 2u;       // output channels
const ROWS: u32 = 2u;           // outputs below each other
const VEC4S: u32 = 1u;          // four outputs side by side

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

// --- Shared with other files: activation_number ---

const ACTIVATION: u32 = 0u;  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh

// --- Shared with other files: register_windows ---

const TAPS: u32 = KERNEL_H * KERNEL_W;
const COLUMNS: u32 = 4u * VEC4S;
const WINDOW_H: u32 = ROWS + KERNEL_H - 1u;
const WINDOW_W: u32 = COLUMNS + KERNEL_W - 1u;
const SUMS: u32 = ROWS * VEC4S;  // of one channel
const THREADS: u32 = 8u;

// --- In this file only: threads ---

// How the threads cover the image.
const ACROSS: u32 = (OUT_W + COLUMNS - 1u) / COLUMNS;
const DOWN: u32 = (OUT_H + ROWS - 1u) / ROWS;

// --- Shared with other files: conv2d_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> input: array<f32>;         // (N,Ci,H,W)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;        // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (Co)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (N,Co,oH,oW)

// --- In this file only: kernel ---

// A pixel, or 0 in the padding: below 0, ih and iw wrap to more than H and W.
fn pixel_or_zero(plane: u32, ih: u32, iw: u32) -> f32 {
  let inside = ih < IN_H && iw < IN_W;
  let at = select(0u, (plane * IN_H + ih) * IN_W + iw, inside);
  return select(0.0, input[at], inside);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 1. Which outputs are mine? Neighboring threads take neighboring columns.
  let tile = (workgroup.y * grid.x + workgroup.x) * THREADS + thread;
  let first_ow = tile % ACROSS * COLUMNS;        // [0, oW)
  let first_oh = tile / ACROSS % DOWN * ROWS;    // [0, oH)
  let n = tile / (ACROSS * DOWN);                // [0, N)
  let first_co = workgroup.z * CHANNELS;         // [0, Co), for all threads
  if (n >= BATCH) {
    return;  // the last workgroup is rarely full
  }

  // All indices into these are constants, so that they stay in registers.
  var sums: array<vec4f, CHANNELS * SUMS>;
  var window: array<array<f32, WINDOW_W>, WINDOW_H>;
  var taps: array<f32, TAPS>;

  for (var c = 0u; c < CHANNELS; c++) {  // unroll
    let co = min(first_co + c, OUT_CHANNELS - 1u);
    for (var i = 0u; i < SUMS; i++) {  // unroll
      sums[c * SUMS + i] = vec4f(bias[co]);
    }
  }
  for (var ci = 0u; ci < IN_CHANNELS; ci++) {  // [0, Ci)

    // 2. Load the pixels under my outputs' windows.
    let plane = n * IN_CHANNELS + ci;
    for (var y = 0u; y < WINDOW_H; y++) {  // unroll
      for (var x = 0u; x < WINDOW_W; x++) {  // unroll
        let ih = first_oh + y - PADDING_H;
        let iw = first_ow + x - PADDING_W;
        window[y][x] = pixel_or_zero(plane, ih, iw);
      }
    }
    for (var c = 0u; c < CHANNELS; c++) {  // unroll

      // 3. Load a channel's filter: the same one for all threads. A channel
      //    behind the last one repeats that.
      let co = min(first_co + c, OUT_CHANNELS - 1u);
      for (var k = 0u; k < TAPS; k++) {  // unroll
        taps[k] = weight[(co * IN_CHANNELS + ci) * TAPS + k];
      }

      // 4. Multiply. One sum is finished before the next, so that few
      //    registers change.
      for (var row = 0u; row < ROWS; row++) {  // unroll
        for (var four = 0u; four < VEC4S; four++) {  // unroll
          var sum = sums[c * SUMS + row * VEC4S + four];
          for (var k = 0u; k < TAPS; k++) {  // unroll
            let y = row + k / KERNEL_W;
            let x = four * 4u + k % KERNEL_W;
            sum += taps[k] * vec4f(
              window[y][x], window[y][x + 1u],
              window[y][x + 2u], window[y][x + 3u],
            );
          }
          sums[c * SUMS + row * VEC4S + four] = sum;
        }
      }
    }
  }

  // 5. Write the first channel and move the others up, so that all indices into
  //    the sums are constants here, too, in a text of one channel's length.
  for (var c = 0u; c < CHANNELS; c++) {
    let co = first_co + c;                       // [0, Co) when inside
    for (var i = 0u; i < SUMS * 4u; i++) {  // unroll
      let oh = first_oh + i / COLUMNS;           // [0, oH) when inside
      let ow = first_ow + i % COLUMNS;           // [0, oW) when inside
      if (co < OUT_CHANNELS && oh < OUT_H && ow < OUT_W) {
        let at = ((n * OUT_CHANNELS + co) * OUT_H + oh) * OUT_W + ow;
        output[at] = activate(sums[i / 4u][i % 4u]);
      }
    }
    for (var i = SUMS; i < CHANNELS * SUMS; i++) {  // unroll
      sums[i - SUMS] = sums[i];
    }
  }
}

// --- Shared with other files: sigmoid ---

// All activations except `none` and `relu` use the sigmoid.
fn sigmoid(x: f32) -> f32 {
  // Farther out, exp(-|x|) soon falls below the smallest normal float32.
  if (abs(x) > 87.0) { return select(0.0, 1.0, x > 0.0); }
  let e = exp(-abs(x));                        // at most 1: it never overflows
  return select(e, 1.0, x > 0.0) / (1.0 + e);  // 1/(1+e) right of 0, else e/(1+e)
}

const GELU = 1.5957691216;  // 2 * sqrt(2/pi)
const CUBE = 0.044715;

// --- Shared with other files: activate ---

// What layer and convolution apply to each output: right for every finite x, its
// limit at an infinity, and NaN of NaN.
fn activate(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  switch ACTIVATION {
    case 1u: { return max(x, 0.0); }                 // relu
    case 2u: {                                       // gelu: x * sigmoid(z)
      // Farther out sigmoid(z) is 0 or 1, and t*t stays finite.
      let t = clamp(x, -11.0, 11.0);
      return max(x, -11.0) * sigmoid(GELU * t * (1.0 + CUBE * t * t));
    }
    case 3u: {                                       // silu: x * sigmoid(x)
      return max(x, -88.0) * sigmoid(x);             // max keeps 0 * infinity away
    }
    case 4u: { return sigmoid(x); }
    case 5u: {                                       // tanh = (1-e) / (1+e),
      let t = clamp(x, -44.0, 44.0);                 // with e = exp(-2x)
      // Near 0 a difference cancels: a series replaces it.
      let series = t - t * t * t * (1.0 / 3.0 - t * t * (2.0 / 15.0));
      return select(sigmoid(2.0 * t) - sigmoid(-2.0 * t), series, abs(t) < 0.1);
    }
    default: { return x; }                           // none
  }
}

// --- Shared with other files: is_nan ---

// Is x NaN? Only its bits show it: WGSL lets compilers assume that NaN does not
// occur, so that x != x may be false; max, min and clamp may drop a NaN.
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
