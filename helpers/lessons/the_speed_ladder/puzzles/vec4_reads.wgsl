// The official kernel of a product that moves four numbers at a time;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 4 x 16 threads: one thread computes four elements
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32 }  // K and N are multiples of 4

// a (M, K), b (K, N), c (M, N): each element has four numbers of a row
@group(0) @binding(0) var<storage, read> a: array<vec4f>;
@group(0) @binding(1) var<storage, read> b: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> c: array<vec4f>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;  // rows and columns of a tile
const FOURS = 4u;  // vectors in a row of a tile
var<workgroup> left: array<array<vec4f, FOURS>, TILE>;   // of a: [row][k / 4]
var<workgroup> right: array<array<vec4f, FOURS>, TILE>;  // of b: [k][column / 4]

@compute @workgroup_size(FOURS, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let row_of_a = params.K / 4u;  // vectors in a row of a
  let row_of_c = params.N / 4u;  // in a row of b and of c
  let m = workgroup.y * TILE + local.y;   // my row of c
  let n = workgroup.x * FOURS + local.x;  // my vector in it
  var sums = vec4f();
  for (var first = 0u; first < params.K; first += TILE) {
    let k_left = first / 4u + local.x;  // a vector of row m of a
    let k_right = first + local.y;      // a row of b
    left[local.y][local.x] = vec4f();
    right[local.y][local.x] = vec4f();
    // 1. Load four numbers of a at once, and four of b.
    if (m < params.M && k_left < row_of_a) {
      left[local.y][local.x] = a[m * row_of_a + k_left];  // *
    }
    if (k_right < params.K && n < row_of_c) {
      right[local.y][local.x] = b[k_right * row_of_c + n];  // *
    }
    workgroupBarrier();  // both tiles are loaded
    for (var i = 0u; i < FOURS; i++) {
      // 2. Read four numbers of my row of left, only once.
      let four = left[local.y][i];  // *
      for (var j = 0u; j < 4u; j++) {
        // 3. Add the products of number j with four of right.
        sums += four[j] * right[4u * i + j][local.x];  // *
      }
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  // 4. Write four results at once, if c has them.
  if (m < params.M && n < row_of_c) {
    c[m * row_of_c + n] = sums;  // *
  }
}
