// The official kernel that exchanges rows and columns of a matrix;
// lines that end in a star are not in the skeleton.
//
// equation  y[j,i] = x[i,j]
// dispatch  (ceil(columns/16), ceil(rows/16), 1)
//           workgroups of 16 x 16 threads: one thread moves one number
// barriers  one after the loads: a thread writes what another one loaded

struct Params { rows: u32, columns: u32 }  // of x

// x (rows, columns), y (columns, rows)
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

const TILE = 16u;
// 1. A row of the tile, with slots that are never used.
var<workgroup> tile: array<array<f32, TILE + 1u>, TILE>;  // *

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  // 2. Load a number of x: neighbors read side by side.
  let i = workgroup.y * TILE + local.y;
  let j = workgroup.x * TILE + local.x;
  if (i < params.rows && j < params.columns) {
    tile[local.y][local.x] = x[i * params.columns + j];  // *
  }
  workgroupBarrier();  // the tile is loaded
  // 3. Which element of y do I write? Neighbors: side by side.
  let row = workgroup.x * TILE + local.y;
  let column = workgroup.y * TILE + local.x;  // *
  // 4. Write the number that belongs there, if y has it.
  if (row < params.columns && column < params.rows) {  // *
    y[row * params.rows + column] = tile[local.x][local.y];  // *
  }  // *
}
