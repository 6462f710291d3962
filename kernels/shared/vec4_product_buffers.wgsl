const PAD: u32 = 0u;  // vec4s behind each row of left, if there is room

@group(0) @binding(0)
var<storage, read> a: array<f32>;             // (batch, M, K)
@group(0) @binding(1)
var<storage, read> b: array<vec4f>;           // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (N)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (batch, M, N)

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;  // a, transposed
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;       // b
