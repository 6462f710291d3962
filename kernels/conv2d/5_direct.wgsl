// conv2d / 5_direct
//
// in        input (N, Ci, H, W), weight (Co, Ci/G, kH, kW), bias (Co)
// out       output (N, Co, oH, oW)
// dispatch  ceil(ceil(N/IMAGES)*Co*oH*oW / 256) workgroups of 256 threads
// barriers  none: each thread writes its own elements and reads only inputs
// cost      per element of whole blocks of IMAGES images, at most, without act:
//           Ci/G*kH*kW*(1 + 1/IMAGES) + 1/IMAGES global loads,
//           0 workgroup loads, Ci/G*kH*kW multiply-adds
// limits    where a group has many channels, each pixel is loaded again for each
//           of its filters: then tiles of a matrix product load less
// new here  a thread computes the same position in IMAGES images, so that it finds
//           its window, and loads each weight, once for all of them; strides,
//           dilation, groups and act as in version 2

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

// --- Shared with other files: filter_sizes ---

// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;    // kH
const KERNEL_W: u32 = 3u;    // kW
const STRIDE_H: u32 = 1u;    // Sh
const STRIDE_W: u32 = 1u;    // Sw
const DILATION_H: u32 = 1u;  // Dh
const DILATION_W: u32 = 1u;  // Dw
const GROUPS: u32 = 1u;      // G
const GROUP_IN: u32 = IN_CHANNELS / GROUPS;  // channels of a group
const GROUP_OUT: u32 = OUT_CHANNELS / GROUPS;

// --- Shared with other files: activation_number ---

const ACTIVATION: u32 = 0u;  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh

// --- In this file only: sizes ---

const IMAGES: u32 = 2u;      // of a thread
const BLOCKS: u32 = (BATCH + IMAGES - 1u) / IMAGES;
const IMAGE: u32 = IN_CHANNELS * IN_H * IN_W;  // elements of an input image

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

var<private> sums: array<f32, IMAGES>;

// 1. Is there such an image? Only the last block may be without some.
fn exists(n: u32) -> bool {
  return BATCH % IMAGES == 0u || n < BATCH;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 2. Which position is mine? Workgroups lie in rows of up to 65,535.
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= BLOCKS * OUT_CHANNELS * OUT_H * OUT_W) {
    return;  // the last workgroup is rarely full
  }
  let ow = index % OUT_W;                                    // [0, oW)
  let oh = index / OUT_W % OUT_H;                            // [0, oH)
  let co = index / (OUT_W * OUT_H) % OUT_CHANNELS;           // [0, Co)
  let n = index / (OUT_W * OUT_H * OUT_CHANNELS) * IMAGES;   // its first image

  // 3. Sum the window under it, over the channels of its group.
  let first = co / GROUP_OUT * GROUP_IN;
  for (var ci = 0u; ci < GROUP_IN; ci++) {                   // [0, Ci/G)
    for (var kh = 0u; kh < KERNEL_H; kh++) {                 // [0, kH)
      // Padding adds nothing. Below 0, ih and iw wrap to more than H and W.
      let ih = oh * STRIDE_H + kh * DILATION_H - PADDING_H;  // [0, H) or padding
      if (ih >= IN_H) { continue; }
      let input_row = ((n * IN_CHANNELS + first + ci) * IN_H + ih) * IN_W;
      let weight_row = ((co * GROUP_IN + ci) * KERNEL_H + kh) * KERNEL_W;
      for (var kw = 0u; kw < KERNEL_W; kw++) {               // [0, kW)
        let iw = ow * STRIDE_W + kw * DILATION_W - PADDING_W;
        if (iw >= IN_W) { continue; }
        let factor = weight[weight_row + kw];
        for (var i = 0u; i < IMAGES; i++) {  // unroll
          if (exists(n + i)) {
            sums[i] += input[input_row + iw + i * IMAGE] * factor;
          }
        }
      }
    }
  }

  // 4. Write it.
  let bias_co = bias[co];
  for (var i = 0u; i < IMAGES; i++) {  // unroll
    if (exists(n + i)) {
      let at = (((n + i) * OUT_CHANNELS + co) * OUT_H + oh) * OUT_W + ow;
      output[at] = activate(bias_co + sums[i]);
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
