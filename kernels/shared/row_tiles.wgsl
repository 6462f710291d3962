// A thread's tile: rows of vec4f. The workgroup is the 8 threads that a
// CPU with AVX runs as one: DOWN rows of ACROSS threads, with neighboring vec4s.
const TILE_ROWS: u32 = 4u;
const TILE_VEC4S: u32 = 1u;
const ACROSS: u32 = 4u;
const DOWN: u32 = 8u / ACROSS;
const NEXT: u32 = 4u * ACROSS;  // from one of a thread's vec4s to its next

// Of both operands, four steps along k; and the results.
var<private> left: array<vec4f, TILE_ROWS>;  // each row's numbers at the four steps
var<private> right: array<vec4f, 4>;         // one vec4 of columns at each step
var<private> sums: array<vec4f, TILE_ROWS * TILE_VEC4S>;
