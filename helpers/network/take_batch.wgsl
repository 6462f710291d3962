// The images and labels of a step, out of all images and labels, in the order of the epoch.

struct Params {
  first: u32,  // place of the batch's first image in the order
  batch: u32,  // N
  size: u32,   // numbers of an image
}

@group(0) @binding(0) var<storage, read> order: array<u32>;             // the numbers of all images
@group(0) @binding(1) var<storage, read> all_images: array<f32>;
@group(0) @binding(2) var<storage, read> all_labels: array<u32>;
@group(0) @binding(3) var<storage, read_write> images: array<f32>;      // (N, size)
@group(0) @binding(4) var<storage, read_write> labels: array<u32>;      // (N)
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (i >= params.batch * params.size) { return; }
  let chosen = order[params.first + i / params.size];
  images[i] = all_images[chosen * params.size + i % params.size];
  if (i < params.batch) { labels[i] = all_labels[order[params.first + i]]; }
}
