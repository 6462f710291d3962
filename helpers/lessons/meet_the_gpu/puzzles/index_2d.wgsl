// The official kernel of the puzzle index_2d;
// lines that end in a star are not in the skeleton.
//
// equation  output[column,row] = input[row,column]
// numpy     output = input.T
// in        input (rows, columns), sizes: rows, columns
// out       output (columns, rows)
// dispatch  (ceil(columns / 8), ceil(rows / 8)) workgroups of 8 x 8 threads:
//           one thread moves one element
// barriers  none: each thread writes its own element

struct Sizes { rows: u32, columns: u32 }

// input (rows, columns), output (columns, rows)
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;
@group(0) @binding(2) var<uniform> sizes: Sizes;

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. x counts columns and y counts rows: name both.
  let column = global.x;  // *
  let row = global.y;  // *
  // 2. Return if there is no such row or no such column.
  if (row >= sizes.rows || column >= sizes.columns) { return; }  // *
  // 3. Write input[row,column] to output[column,row], at their offsets.
  output[column * sizes.rows + row] = input[row * sizes.columns + column];  // *
}
