// The official kernel of the puzzle reverse_in_workgroup;
// lines that end in a star are not in the skeleton.
//
// equation  output[4 * w + t] = input[4 * w + 3 - t] for thread t of workgroup w
// numpy     output = input.reshape(-1, 4)[:, ::-1].ravel()
// in        input (n), n a multiple of 4
// out       output (n)
// dispatch  n / 4 workgroups of 4 threads: one thread moves one element
// barriers  one: a thread takes what another one has put into the box

@group(0) @binding(0) var<storage, read> input: array<f32>;         // (n)
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (n)

var<workgroup> box: array<f32, 4>;  // (4), shared by the threads of a workgroup

@compute @workgroup_size(4)
fn main(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  // 1. Put your element of input into your own slot, box[thread].
  box[thread] = input[global.x];  // *
  // 2. Wait until all four threads have done so.
  workgroupBarrier();  // *
  // 3. Write the number in the mirrored slot to your element of output.
  output[global.x] = box[3u - thread];  // *
}
