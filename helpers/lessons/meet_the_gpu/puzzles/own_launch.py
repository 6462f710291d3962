# The official lines of the puzzle own_launch;
# the lines that end in a star are not in the skeleton.

# You have three arrays, a, b and d, of n elements each, and the
# text of a kernel that computes c = a * b + d, called kernel:
#
#   struct Sizes { n: u32 }
#   @group(0) @binding(0) var<storage, read> a: array<f32>;
#   @group(0) @binding(1) var<storage, read> b: array<f32>;
#   @group(0) @binding(2) var<storage, read> d: array<f32>;
#   @group(0) @binding(3) var<storage, read_write> c: array<f32>;
#   @group(0) @binding(4) var<uniform> sizes: Sizes;
#
#   @compute @workgroup_size(4)
#   fn main(@builtin(global_invocation_id) global: vec3u) {
#     let i = global.x;
#     if (i >= sizes.n) { return; }
#     c[i] = a[i] * b[i] + d[i];
#   }
#
# The call launch(kernel, [...], workgroups) returns c, as it is
# afterwards. The list has an array for each binding, and for a
# uniform a tuple of its values, such as (7,). An array of three
# zeros is zeros(3). Launch the kernel, and give c the name result.

# 1. How many workgroups do n elements need?
workgroups = (n + 3) // 4  # *
# 2. What is bound where?
result = launch(kernel, [a, b, d, zeros(n), (n,)], workgroups)  # *
