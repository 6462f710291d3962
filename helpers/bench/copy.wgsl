// A copy, to compare what only reads with: one thread for each vec4f.
@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> target_: array<vec4f>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let i = id.y * groups.x * 256u + id.x;
    if (i < arrayLength(&source)) {
        target_[i] = source[i];
    }
}
