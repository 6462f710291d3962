// The official kernel of the puzzle arg_max_tree;
// lines that end in a star are not in the skeleton.

// A classifier answers with the class of the largest score. Find the largest
// of n numbers, and where it stands: of equal ones, the first. Write the
// whole kernel, with an entry point called main.
//
// binding 0  input (n)        var<storage, read>, array<f32>
// binding 1  result (2)       var<storage, read_write>, array<f32>:
//            the largest number, then its place, from 0 on, as an f32
// binding 2  var<uniform>, a struct of one u32: n, at least 1
// main       one workgroup of 256 threads
// dispatch   1 workgroup in x, 1 in y, 1 in z
// counts     of 2,100 numbers, your busiest thread may load 40 and run 952
//            statements; all threads together may read 1,365 sectors of 32
//            bytes; of an array in workgroup memory, your busiest thread may
//            load 18 elements, and 4 threads may store to one at once
struct Params { n: u32 }  // *
// *
@group(0) @binding(0) var<storage, read> input: array<f32>;  // *
@group(0) @binding(1) var<storage, read_write> result: array<f32>;  // *
@group(0) @binding(2) var<uniform> params: Params;  // *
// *
var<workgroup> values: array<f32, 256>;  // *
var<workgroup> places: array<u32, 256>;  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(local_invocation_index) thread: u32) {  // *
  // 1. Look at your own numbers; number 0 is everybody's first best one.  // *
  var best = input[0];  // *
  var place = 0u;  // *
  for (var i = thread; i < params.n; i += 256u) {  // *
    let x = input[i];  // *
    if (x > best) {  // *
      best = x;  // *
      place = i;  // *
    }  // *
  }  // *
  // 2. Share what you found.  // *
  values[thread] = best;  // *
  places[thread] = place;  // *
  // 3. Take the better one of two, until one is left.  // *
  for (var half = 128u; half > 0u; half /= 2u) {  // *
    workgroupBarrier();  // *
    if (thread < half) {  // *
      let other = thread + half;  // *
      let is_first = places[other] < places[thread];  // *
      let is_equal = values[other] == values[thread];  // *
      if (values[other] > values[thread] || (is_equal && is_first)) {  // *
        values[thread] = values[other];  // *
        places[thread] = places[other];  // *
      }  // *
    }  // *
  }  // *
  // 4. Write both.  // *
  if (thread == 0u) {  // *
    result[0] = values[0];  // *
    result[1] = f32(places[0]);  // *
  }  // *
}  // *
