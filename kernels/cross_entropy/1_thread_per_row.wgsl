// cross_entropy / 1_thread_per_row
//
// equation  losses[n] = log(sum over c of exp(logits[n,c])) - logits[n,label],
//             where label = labels[n]
//           grad_logits[n,c] = (softmax(logits)[n,c] - one_hot) / N,
//             where one_hot is 1 if c == label, else 0
// numpy     shifted = logits - logits.max(1, keepdims=True)
//           total = np.exp(shifted).sum(1, keepdims=True)
//           losses = np.log(total[:, 0]) - shifted[np.arange(N), labels]
//           one_hot = np.arange(C) == labels[:, None]
//           grad_logits = (np.exp(shifted) / total - one_hot) / N
// in        logits (N, C), labels (N)
// out       losses (N), grad_logits (N, C)
// dispatch  ceil(N / 64) workgroups of 64 threads
// barriers  none: each thread writes its own row and reads only inputs
// cost      per row:
//           3*C + 2 global loads, 0 workgroup loads, 2*C multiply-adds
//           (and 2*C exponentials)
// limits    a row is read three times, by one thread
// new here  loss and gradient in one kernel; the largest logit of a row is taken
//           from all, so that no exponential is more than 1; as in PyTorch, NaN
//           or +infinity in a row makes all of its results NaN

struct Params {
  rows: u32,     // N
  classes: u32,  // C
}

@group(0) @binding(0)
var<storage, read> logits: array<f32>;             // (N,C)
@group(0) @binding(1)
var<storage, read> labels: array<u32>;             // (N)
@group(0) @binding(2)
var<storage, read_write> losses: array<f32>;       // (N)
@group(0) @binding(3)
var<storage, read_write> grad_logits: array<f32>;  // (N,C)
@group(0) @binding(4)
var<uniform> params: Params;

// 1. exp(x - largest). Halves, as the difference of two finite numbers may
//    overflow; below -87, the exponential is too small for a normal number.
//    NaN is not below -87: it stays NaN, and with it the whole row.
fn exponential(x: f32, largest: f32) -> f32 {
  let half = 0.5 * x - 0.5 * largest;  // at most 0
  return select(exp(2.0 * half), 0.0, half <= -43.5);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 2. Which row is mine?
  let row = global.x;
  if (row >= params.rows) { return; }
  let first = row * params.classes;
  let label = labels[row];

  // 3. The largest logit, and the sum of all exponentials.
  var largest = logits[first];
  for (var c = 1u; c < params.classes; c++) {  // [1, C)
    largest = max(largest, logits[first + c]);
  }
  var total = 0.0;
  for (var c = 0u; c < params.classes; c++) {  // [0, C)
    total += exponential(logits[first + c], largest);
  }

  // 4. Write the loss and the gradient.
  losses[row] = log(total) + (largest - logits[first + label]);
  for (var c = 0u; c < params.classes; c++) {  // [0, C)
    let share = exponential(logits[first + c], largest) / total;
    let one_hot = select(0.0, 1.0, c == label);
    grad_logits[first + c] = (share - one_hot) / f32(params.rows);
  }
}
