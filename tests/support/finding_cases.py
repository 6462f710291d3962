"""Bodies of kernels, each with a mistake or close to one, for `small_kernels.run`.

A finding is expected where a comment has its kind, and no other one. Where a line ends in ``// earlier``, it is the
other one of a race; without one, both accesses are in one line.
"""

DECLARED = """
var<workgroup> pairs: array<vec2u, 8>;
var<workgroup> parts: array<f32, 8>;
var<private> grid: array<array<u32, 4>, 2>;
"""
RACES = {
    "a neighbor's slot is read before a barrier": """
  tile[t] = t;  // earlier
  numbers[t] = tile[t ^ 1u];  // data race""",
    "a neighbor's slot is overwritten before a barrier": """
  tile[t] = 7u;
  workgroupBarrier();
  numbers[t] = tile[t ^ 1u];  // earlier
  tile[t] = t;  // data race""",
    "in storage": """
  numbers[t] = t;  // earlier
  floats[t] = f32(numbers[t ^ 1u]);  // data race""",
    "in one statement: every thread reads, then writes": """
  numbers[0] += t;  // data race""",
    "two threads write different values": """
  numbers[t / 2u] = t;  // data race""",
    "different values in two statements": """
  if (t == 0u) { numbers[0] = 5u; }  // earlier
  if (t == 1u) { numbers[0] = 6u; }  // data race""",
    "two threads write the same value": """
  numbers[t / 2u] = 7u;  // overlapping writes""",
    "the same value in two statements": """
  if (t == 0u) { numbers[0] = 5u; }  // earlier
  if (t == 1u) { numbers[0] = 5u; }  // overlapping writes""",
    "some write the same value, some another one": """
  numbers[0] = t / 2u;  // data race, overlapping writes""",
    "a flag that says the data is there": """
  if (t == 0u) { numbers[1] = 5u; atomicStore(&counters[0], 1u); }  // earlier
  if (t == 1u && atomicLoad(&counters[0]) == 1u) {
    numbers[2] = numbers[1];  // data race
  }""",
    "through a pointer and a function": """
  tile[t] = t;  // earlier
  numbers[t] = neighbor(t);
}
fn neighbor(t: u32) -> u32 {
  return tile[t ^ 1u];  // data race""",
    "a struct and a whole vector": """
  pairs[t].x = t;  // earlier
  numbers[t] = dot(pairs[t ^ 1u], vec2u(1u));  // data race, uninitialized read""",
    "only one of the ways to the read has a barrier": """
  tile[t] = t;  // earlier
  if (sizes[0].x == 2u) { workgroupBarrier(); }
  numbers[t] = tile[t ^ 1u];  // data race""",
    "a loop's next iteration overwrites what others still read": """
  for (var i = 0u; i < 2u; i++) {
    tile[t] = i;  // data race
    workgroupBarrier();
    numbers[t] = tile[t ^ 1u];  // earlier
  }""",
    "a workgroupBarrier does not order storage": """
  numbers[t] = t;  // earlier
  workgroupBarrier();
  floats[t] = f32(numbers[t ^ 1u]);  // data race""",
    "a storageBarrier does not order workgroup memory": """
  tile[t] = t;  // earlier
  storageBarrier();
  numbers[t] = tile[t ^ 1u];  // data race""",
}
ORDERED = {
    "each thread its own": """
  numbers[t] = t; tile[t] = numbers[t]; numbers[t] += tile[t];""",
    "all read one": """
  tile[t] = numbers[0] + sizes[0].x;""",
    "a workgroupBarrier between": """
  tile[t] = t;
  workgroupBarrier();
  numbers[t] = tile[t ^ 1u];""",
    "a storageBarrier between": """
  numbers[t] = t;
  storageBarrier();
  floats[t] = f32(numbers[t ^ 1u]);""",
    "a barrier in a function": """
  tile[t] = t;
  wait();
  numbers[t] = tile[t ^ 1u];
}
fn wait() { workgroupBarrier();""",
    "workgroupUniformLoad is a barrier before and after": """
  if (t == 3u) { total = 5u; }
  numbers[t] = workgroupUniformLoad(&total);
  if (t == 4u) { total = 6u; }""",
    "atomics do not race with atomics": """
  atomicAdd(&counters[0], t);
  atomicStore(&counters[1], t);
  atomicStore(&tally, 0u);
  numbers[t] = atomicLoad(&counters[1]) + atomicMax(&tally, t);""",
    "a number that one thread writes twice": """
  if (t == 0u) { numbers[0] = 1u; numbers[0] = 2u; }""",
    "two barriers in a loop": """
  for (var i = 0u; i < 2u; i++) {
    tile[t] = i;
    workgroupBarrier();
    numbers[t] = tile[t ^ 1u];
    workgroupBarrier();
  }""",
    "private memory and variables": """
  own[0] = t;
  var mine = t;
  mine += own[0];
  numbers[t] = mine;""",
    "neighboring members of a struct and of an array": """
  if (t < 2u) { numbers[t] = 1u; } else if (t == 2u) { pairs[0].x = 1u; } else if (t == 3u) { pairs[1].x = 1u; }""",
}
BETWEEN_WORKGROUPS = {
    "a read of another workgroup's number": """
  if (t == 0u) { numbers[group] = 5u; }  // earlier
  storageBarrier();
  if (t == 0u) { numbers[group + 2u] = numbers[1u - group]; }  // data race""",
    "two workgroups write one number": """
  if (t == 0u) { numbers[0] = group; }  // data race""",
    "two workgroups write the same number": """
  if (t == 0u) { numbers[0] = 3u; }  // overlapping writes""",
    "each workgroup has its own workgroup memory": """
  tile[t] = group;
  workgroupBarrier();
  if (t == 0u) { numbers[group] = tile[1]; }""",
    "both add to one counter": """
  atomicAdd(&counters[0], 1u);""",
}
UNINITIALIZED = {
    "nobody writes it": """
  numbers[8u * group + t] = tile[t];  // uninitialized read""",
    "some threads write theirs": """
  if (t < 3u) { tile[t] = t; }
  numbers[8u * group + t] = tile[t];  // uninitialized read""",
    "it is written later": """
  numbers[8u * group + t] = tile[t];  // uninitialized read
  tile[t] = t;""",
    "added to": """
  tile[t] += t;  // uninitialized read""",
    "one workgroup writes its own": """
  if (group == 0u) { tile[t] = t; }
  numbers[8u * group + t] = tile[t];  // uninitialized read""",
    "an atomic": """
  atomicAdd(&tally, t);  // uninitialized read""",
    "one component of a vector": """
  pairs[t].x = t;
  numbers[8u * group + t] = pairs[t].x + pairs[t].y;  // uninitialized read""",
    "in a called function": """
  numbers[8u * group + t] = read(t);
}
fn read(i: u32) -> u32 {
  return tile[i];  // uninitialized read""",
    "another thread has written it": """
  if (t == 0u) { for (var i = 0u; i < 8u; i++) { tile[i] = 0u; } }
  workgroupBarrier();
  tile[t] += t;
  numbers[8u * group + t] = tile[t];""",
    "an atomic that is stored first": """
  if (t == 0u) { atomicStore(&tally, 0u); }
  workgroupBarrier();
  atomicAdd(&tally, t);""",
    "private memory, variables and buffers begin with what WGSL or the caller says": """
  var mine: array<u32, 4>;
  numbers[8u * group + t] = own[0] + mine[1] + numbers[8u * group + t];""",
}
OUT_OF_RANGE = {
    "a read of a buffer": """
  tile[t] = numbers[t + 9u];  // out-of-range read""",
    "a write to a buffer": """
  numbers[t + 9u] = t;  // out-of-range write""",
    "both": """
  numbers[t + 9u] += t;  // out-of-range read, out-of-range write""",
    "a negative index": """
  tile[t] = numbers[i32(t) - 1];  // out-of-range read""",
    "workgroup memory": """
  if (t == 7u) { tile[t + 1u] = t; }  // out-of-range write""",
    "private memory": """
  own[t] = t;  // out-of-range write""",
    "a function's array": """
  var mine: array<u32, 4>;
  numbers[t] = mine[t];  // out-of-range read""",
    "the array of a value": """
  let mine = array(5u, 6u, 7u);
  numbers[t] = mine[t];  // out-of-range read""",
    "a component of a vector": """
  var mine = vec3u(5u, 6u, 7u);
  numbers[t] = mine[t];  // out-of-range read""",
    "a uniform array": """
  numbers[t] = sizes[t].x;  // out-of-range read""",
    "an array in an array": """
  numbers[t] = grid[1][t];  // out-of-range read""",
    "an atomic": """
  atomicAdd(&counters[t], 1u);  // out-of-range write""",
    "an atomic read": """
  numbers[t] = atomicLoad(&counters[t]);  // out-of-range read""",
    "in a called function": """
  numbers[t] = read(t + 9u);
}
fn read(i: u32) -> u32 {
  return numbers[i];  // out-of-range read""",
    "through a pointer": """
  var mine: array<u32, 4>;
  let slot = &mine[t];  // out-of-range write
  *slot = 1u;""",
    "a place that is named and never used": """
  let slot = &own[t];""",
    "a guard on the left of &&": """
  if (t + 9u < arrayLength(&numbers) && numbers[t + 9u] == 0u) { tile[t] = 1u; }""",
    "a guard on the right of && comes too late": """
  if (numbers[t + 9u] == 0u && t + 9u < arrayLength(&numbers)) { tile[t] = 1u; }  // out-of-range read""",
    "both arms of a select are evaluated": """
  tile[t] = select(0u, numbers[t + 9u], t + 9u < 16u);  // out-of-range read""",
}
MISSED_BARRIERS = {
    "in an if": """
  if (t < 3u) { workgroupBarrier(); }  // non-uniform barrier""",
    "behind an early return": """
  if (t == 3u) { return; }
  workgroupBarrier();  // non-uniform barrier""",
    "in a loop that some leave early": """
  for (var i = 0u; i < t; i++) {
    workgroupBarrier();  // non-uniform barrier
  }""",
    "behind a break": """
  loop {
    if (t == 0u) { break; }
    storageBarrier();  // non-uniform barrier
    break;
  }""",
    "behind a continue": """
  for (var i = 0u; i < 2u; i++) {
    if (t == i) { continue; }
    workgroupBarrier();  // non-uniform barrier
  }""",
    "one barrier in each branch": """
  if (t < 3u) {
    workgroupBarrier();  // non-uniform barrier
  } else {
    workgroupBarrier();  // non-uniform barrier
  }""",
    "in a switch": """
  switch t { case 0u, 1u: { workgroupBarrier(); } default: {} }  // non-uniform barrier""",
    "in a function that not all call": """
  if (t < 3u) { wait(); }
}
fn wait() {
  workgroupBarrier();  // non-uniform barrier""",
    "workgroupUniformLoad": """
  if (t < 3u) { tile[t] = workgroupUniformLoad(&total); }  // non-uniform barrier, uninitialized read""",
    "on the right of &&": """
  if (t < 3u && workgroupUniformLoad(&total) == 0u) { tile[t] = 1u; }  // non-uniform barrier, uninitialized read""",
    "in a branch that all take": """
  if (sizes[0].x == 1u) { workgroupBarrier(); }""",
    "in a loop of the same length for all": """
  for (var i = 0u; i < sizes[0].w; i++) { workgroupBarrier(); }""",
    "whole workgroups skip it": """
  if (group == 1u) { return; }
  workgroupBarrier();""",
    "each workgroup its own number of iterations": """
  for (var i = 0u; i <= group; i++) { workgroupBarrier(); }""",
    "only one workgroup divides": """
  if (group == 1u && t == 2u) { return; }
  workgroupBarrier();  // non-uniform barrier""",
}
OVERFLOWS = {
    "a wrap that is used": """
  tile[t] = numbers[t - 1u];  // index overflow, out-of-range read""",
    "a wrap that lands inside": """
  tile[t] = numbers[t * 0x80000000u / 0x40000000u];  // index overflow""",
    "a wrap that a guard catches": """
  let left = t - 1u;
  if (left < 8u) { tile[t] = numbers[left]; }""",
    "a wrap that is undone": """
  tile[t] = numbers[t - 1u + 1u];""",
    "a wrap that is undone later, by way of a variable, a function and a vector": """
  var at = vec2u(t - 5u, t);
  at.x += 2u;
  tile[t] = numbers[back(at.x)];
}
fn back(x: u32) -> u32 {
  return x + 3u;""",
    "a wrap in a variable and a function": """
  var at = vec2u(t - 5u, t);
  at.x += 2u;
  tile[t] = numbers[back(at.x)];  // index overflow, out-of-range read
}
fn back(x: u32) -> u32 {
  return x + 1u;""",
    "a remainder by a power of two": """
  tile[t] = numbers[(t - 1u) % 16u] + numbers[(t - 5u) & 7u];""",
    "a large product's remainder by a power of two": """
  tile[t] = numbers[(t + 4000000000u) * 2654435761u % 16u];""",
    "a remainder by another number": """
  tile[t] = numbers[(t - 1u) % 7u];  // index overflow""",
    "a hash": """
  var hash = (t + 1u) * 2654435761u;
  hash ^= hash << 13u;
  hash ^= hash >> 17u;
  tile[t] = numbers[hash >> 28u];""",
    "a countdown": """
  for (var i = t; i < 8u; i--) { tile[t] = numbers[i]; }""",
    "an i32 below 0 as u32": """
  tile[t] = numbers[u32(i32(t) - 1)];  // index overflow, out-of-range read""",
    "an i32 that comes back before it is used": """
  tile[t] = numbers[u32(i32(t) - 1 + 1)];""",
    "max keeps it away": """
  tile[t] = numbers[min(t - 1u, 15u)];
  tile[t] = numbers[u32(max(i32(t) - 1, 0))];""",
    "max lets it through": """
  tile[t] = numbers[max(t - 1u, 2u)];  // index overflow, out-of-range read""",
    "a comparison and a value are no index": """
  if (t - 1u > 5u) { numbers[t] = t - 1u; }""",
    "select keeps it away": """
  tile[t] = numbers[select(t - 1u, 0u, t == 0u)];""",
}
NOT_NUMBERS = {
    "the root of -1": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number""",
    "0 / 0": """
  floats[t] = f32(t) / f32(t);  // not-a-number""",
    "infinity - infinity": """
  let huge = exp(f32(t) * 100.0);
  let rest = huge - huge;  // not-a-number
  floats[t] = rest;""",
    "0 * infinity": """
  floats[t] = exp(f32(t) * 100.0) * exp(f32(t) * -200.0);  // not-a-number""",
    "a logarithm": """
  floats[t] = log(f32(t) - 1.0);  // not-a-number""",
    "a remainder": """
  floats[t] = 1.0 % f32(t);  // not-a-number""",
    "a power": """
  floats[t] = pow(f32(t) - 1.0, 0.5);  // not-a-number""",
    "the direction of a vector of zeros": """
  floats[t] = normalize(vec2f(f32(t), 0.0)).x;  // not-a-number""",
    "born in a function, stored elsewhere": """
  let x = root(f32(t) - 1.0);
  var y = x + 1.0;
  y *= 2.0;
  floats[t] = y;
}
fn root(x: f32) -> f32 {
  return sqrt(x);  // not-a-number""",
    "through other functions": """
  let x = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t] = abs(exp(x)) * floor(vec2f(x, 1.0)).x;""",
    "by way of workgroup memory": """
  parts[t] = sqrt(f32(t) - 1.0);  // not-a-number
  workgroupBarrier();
  floats[t] = parts[t ^ 1u];""",
    "by way of another buffer's element": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t + 8u] = floats[t];""",
    "in a sum": """
  var sum = 0.0;
  for (var i = 0u; i < 4u; i++) {
    sum += sqrt(f32(i) - f32(t));  // not-a-number
  }
  floats[t] = sum;""",
    "two places of birth": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t + 8u] = log(f32(t) - 1.0);  // not-a-number""",
    "not stored": """
  if (sqrt(f32(t) - 1.0) > 0.5) { floats[t] = 1.0; }""",
    "a select takes the other one": """
  floats[t] = select(sqrt(f32(t) - 1.0), 0.0, t == 0u);""",
    "infinities are numbers of a kind": """
  floats[t] = exp(f32(t) * 100.0) + 1.0 / f32(t);""",
}
