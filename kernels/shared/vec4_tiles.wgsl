// The tiles: rows of vec4f. Where an index is a constant, as k is in
// `multiply`, an array of rows saves what one flat array would have to check.
const TILE_M: u32 = 64u;  // rows of a workgroup
const TILE_N: u32 = 64u;  // columns of a workgroup
const TILE_K: u32 = 16u;  // products between two barriers
const THREADS: u32 = TILE_M / 8u * TILE_N / 8u;
const A_VEC4S: u32 = TILE_M / 4u;
const B_VEC4S: u32 = TILE_N / 4u;
const A_LOADS: u32 = TILE_K * A_VEC4S / THREADS;  // vec4s that one thread loads
const B_LOADS: u32 = TILE_K * B_VEC4S / THREADS;

var<private> sums: array<vec4f, 16>;  // 8 rows of 2 vec4s, in registers
var<private> next_left: array<vec4f, A_LOADS>;
var<private> next_right: array<vec4f, B_LOADS>;
