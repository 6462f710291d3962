override TILE: u32 = 8u;     // rows and columns of a workgroup
override DEPTH: u32 = 128u;  // products between two barriers
override VEC4S: u32 = DEPTH / 4u;     // of a row of a tile; in all, one a thread
override SLICES: u32 = VEC4S / TILE;  // threads that share a sum
override STRIDE: u32 = VEC4S + 1u;    // from row to row, odd: no bank conflicts

// A tile of each operand, in vec4s: four numbers that lie side by side along
// the sum. So the right one holds columns.
var<workgroup> left: array<vec4f, TILE * STRIDE>;
var<workgroup> right: array<vec4f, TILE * STRIDE>;
var<workgroup> parts: array<f32, TILE * TILE * SLICES>;  // the sum of each thread
