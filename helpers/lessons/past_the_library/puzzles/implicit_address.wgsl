// The official kernel of a convolution as a product of matrices, of which one
// is never stored; lines that end in a star are not in the skeleton.
//
// equation  output[n,co,oh,ow] = sum over ci, kh, kw of
//             weight[co,ci,kh,kw] * input[n,ci,oh*S+kh,ow*S+kw]
// dispatch  (ceil(N*oH*oW / 16), ceil(Co / 16), 1)
//           workgroups of 16 x 16 threads: one thread computes one output
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite
// limits    no padding

struct Params {
  images: u32, in_channels: u32,   // N, Ci
  in_h: u32, in_w: u32,            // H, W: the image
  out_channels: u32,               // Co
  kernel_h: u32, kernel_w: u32,    // kH, kW: the filter
  stride: u32,                     // S
  out_h: u32, out_w: u32,          // oH, oW: the output
}

// input (N, Ci, H, W), weight (Co, Ci, kH, kW), output (N, Co, oH, oW)
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;
var<workgroup> left: array<array<f32, TILE>, TILE>;   // weights [co][row]
var<workgroup> right: array<array<f32, TILE>, TILE>;  // [row][column]

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let outputs = params.out_h * params.out_w;  // of one channel
  let columns = params.images * outputs;
  let rows = params.in_channels * params.kernel_h * params.kernel_w;
  let co = workgroup.y * TILE + local.y;
  let column = workgroup.x * TILE + local.x;
  var sum = 0.0;
  for (var first = 0u; first < rows; first += TILE) {
    left[local.y][local.x] = 0.0;
    right[local.y][local.x] = 0.0;
    if (co < params.out_channels && first + local.x < rows) {
      left[local.y][local.x] = weight[co * rows + first + local.x];
    }
    if (first + local.y < rows && column < columns) {
      right[local.y][local.x] = input[address(first + local.y, column)];
    }
    workgroupBarrier();  // both tiles are loaded
    for (var k = 0u; k < TILE; k++) {
      sum += left[local.y][k] * right[k][local.x];
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  if (co < params.out_channels && column < columns) {
    let plane = column / outputs * params.out_channels + co;
    output[plane * outputs + column % outputs] = sum;
  }
}

// The address in input of element [row,column] of the im2col matrix.
fn address(row: u32, column: u32) -> u32 {
  // A row is a weight of a filter, (ci, kh, kw).
  let kw = row % params.kernel_w;
  let kh = row / params.kernel_w % params.kernel_h;
  let ci = row / (params.kernel_w * params.kernel_h);
  // A column is an output of one channel, (n, oh, ow).
  let ow = column % params.out_w;
  let oh = column / params.out_w % params.out_h;
  let n = column / (params.out_w * params.out_h);
  var at = 0u;
  // 1. Which pixel does this weight multiply for this output?
  let ih = oh * params.stride + kh;  // *
  let iw = ow * params.stride + kw;  // *
  // 2. Where does that pixel lie in input?
  at = ((n * params.in_channels + ci) * params.in_h + ih) * params.in_w + iw;  // *
  return at;
}
