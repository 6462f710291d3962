// conv2d_grad_input / 6_register_windows
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  one thread for each CHANNELS channels of ROWS x COLUMNS pixels,
//           in workgroups of THREADS threads
// barriers  none: each thread writes its own pixels and reads only inputs
// cost      per pixel of full tiles:
//           Co*((ROWS+kH-1)*(COLUMNS+kW-1)/CHANNELS + kH*kW)/(ROWS*COLUMNS)
//           global loads, 0 workgroup loads, Co*kH*kW multiply-adds
// limits    S = 1 only; the text grows with the filter, and takes longer to
//           compile; a zero outside the output is multiplied too, so that a
//           weight of NaN or infinity reaches pixels at the border
// new here  threads share no memory: each keeps the outputs above its pixels,
//           the window, in registers, and uses each for up to kH*kW*CHANNELS
//           products; all threads of a workgroup read the same weight

const KERNEL_H: u32 = 3u;       // kH
const KERNEL_W: u32 = 3u;       // kW

// What a thread computes.
const CHANNELS: u32 = 2u;       // input channels
const ROWS: u32 = 2u;           // pixels below each other
const VEC4S: u32 = 1u;          // four pixels side by side

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

// --- Shared with other files: register_windows ---

const TAPS: u32 = KERNEL_H * KERNEL_W;
const COLUMNS: u32 = 4u * VEC4S;
const WINDOW_H: u32 = ROWS + KERNEL_H - 1u;
const WINDOW_W: u32 = COLUMNS + KERNEL_W - 1u;
const SUMS: u32 = ROWS * VEC4S;  // of one channel
const THREADS: u32 = 8u;

// --- In this file only: threads ---

// How the threads cover the image.
const ACROSS: u32 = (IN_W + COLUMNS - 1u) / COLUMNS;
const DOWN: u32 = (IN_H + ROWS - 1u) / ROWS;

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: kernel ---

// An output, or 0 outside of them: below 0, oh and ow wrap to more than oH, oW.
fn output_or_zero(plane: u32, oh: u32, ow: u32) -> f32 {
  let inside = oh < OUT_H && ow < OUT_W;
  let at = select(0u, (plane * OUT_H + oh) * OUT_W + ow, inside);
  return select(0.0, grad_output[at], inside);
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 1. Which pixels are mine? Neighboring threads take neighboring columns.
  let tile = (workgroup.y * grid.x + workgroup.x) * THREADS + thread;
  let first_iw = tile % ACROSS * COLUMNS;        // [0, W)
  let first_ih = tile / ACROSS % DOWN * ROWS;    // [0, H)
  let n = tile / (ACROSS * DOWN);                // [0, N)
  let first_ci = workgroup.z * CHANNELS;         // [0, Ci), for all threads
  if (n >= BATCH) {
    return;  // the last workgroup is rarely full
  }

  // All indices into these are constants, so that they stay in registers.
  var sums: array<vec4f, CHANNELS * SUMS>;
  var window: array<array<f32, WINDOW_W>, WINDOW_H>;
  var taps: array<f32, TAPS>;

  for (var co = 0u; co < OUT_CHANNELS; co++) {  // [0, Co)

    // 2. Load the outputs to which my pixels contributed. The filter's last
    //    tap lies over the first of them.
    let plane = n * OUT_CHANNELS + co;
    for (var y = 0u; y < WINDOW_H; y++) {  // unroll
      for (var x = 0u; x < WINDOW_W; x++) {  // unroll
        let oh = first_ih + PADDING_H - (KERNEL_H - 1u) + y;
        let ow = first_iw + PADDING_W - (KERNEL_W - 1u) + x;
        window[y][x] = output_or_zero(plane, oh, ow);
      }
    }
    for (var c = 0u; c < CHANNELS; c++) {  // unroll

      // 3. Load a channel's filter, last tap first: the same one for all
      //    threads. A channel behind the last one repeats that.
      let ci = min(first_ci + c, IN_CHANNELS - 1u);
      for (var k = 0u; k < TAPS; k++) {  // unroll
        taps[k] = weight[(co * IN_CHANNELS + ci) * TAPS + TAPS - 1u - k];
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
    let ci = first_ci + c;                       // [0, Ci) when inside
    for (var i = 0u; i < SUMS * 4u; i++) {  // unroll
      let ih = first_ih + i / COLUMNS;           // [0, H) when inside
      let iw = first_iw + i % COLUMNS;           // [0, W) when inside
      if (ci < IN_CHANNELS && ih < IN_H && iw < IN_W) {
        let at = ((n * IN_CHANNELS + ci) * IN_H + ih) * IN_W + iw;
        grad_input[at] = sums[i / 4u][i % 4u];
      }
    }
    for (var i = SUMS; i < CHANNELS * SUMS; i++) {  // unroll
      sums[i - SUMS] = sums[i];
    }
  }
}
