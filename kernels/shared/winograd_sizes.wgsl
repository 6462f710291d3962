const PAD: u32 = 0u;            // vec4s behind each row, which is stored as it lies
const M_VEC4S: u32 = M / 4u;
const N_VEC4S: u32 = (TILES + TILE_N - 1u) / TILE_N * B_VEC4S;
const LINE: u32 = 64u;          // threads of a workgroup in the other passes
const LINES: u32 = (N_VEC4S + LINE - 1u) / LINE;

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;
var<workgroup> staged: array<array<vec4f, LINE>, 4>;  // one tile a thread
