// The largest score of each digit: scores (N, C), with C at most 16, and largest (N).

struct Params { N: u32, C: u32 }

@group(0) @binding(0) var<storage, read> scores: array<f32>;         // (N, C)
@group(0) @binding(1) var<storage, read_write> largest: array<f32>;  // (N)
@group(0) @binding(2) var<uniform> params: Params;

const TILE = 16u;
const LOWEST = -3e38;  // below every score
var<workgroup> tile: array<f32, TILE * TILE>;  // 16 scores of 16 digits

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  // 1. Copy one score, or LOWEST where there is none.
  let n = workgroup.x * TILE + local.y;  // [0, N) or past the last digit
  let c = local.x;                   // [0, C) or past the last class
  var score = LOWEST;
  if (n < params.N && c < params.C) {
    score = scores[n * params.C + c];
  }
  tile[local.y * TILE + local.x] = score;
  workgroupBarrier();  // all scores are in place

  // 2. The first row of threads: one digit for each thread.
  let digit = workgroup.x * TILE + local.x;  // [0, N) or past the last digit
  if (local.y == 0u && digit < params.N) {
    var best = LOWEST;
    for (var i = 0u; i < TILE; i++) {
      best = max(best, tile[local.x * TILE + i]);
    }
    largest[digit] = best;
  }
}
