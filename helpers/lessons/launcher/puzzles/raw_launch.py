# The official lines of the puzzle raw_launch;
# the lines that end in a star are not in the skeleton.

# Run a kernel on numbers, of which there are count. Its
# workgroups have 4 threads, and thread i computes
# output[i] = 3 * input[i] + 1 if there is such an element:
#
#   @group(0) @binding(0) var<storage, read> input: array<f32>;
#   @group(0) @binding(1) var<storage, read_write> output: array<f32>;
#
# You have its text, code, and the calls of wgpu in short form:
#
#   create_buffer(size)            write_buffer(buffer, numbers)
#   create_shader_module(code)
#   create_bind_group_layout(READ, WRITE)
#   create_compute_pipeline(layout, module)
#   create_bind_group(layout, buffer, buffer)
#
#   create_command_encoder()       begin_compute_pass(encoder)
#   set_pipeline(compute, pipeline)
#   set_bind_group(compute, bind_group)
#   dispatch_workgroups(compute, workgroups)      end(compute)
#
#   finish(encoder), which gives the recording
#   submit(recording)              read_buffer(buffer)
#
# Give what you make a name, as in
# module = create_shader_module(code). A call that makes
# nothing, such as end(compute), is a line of its own.

# 1. Two buffers of floats. Write numbers into the first one.
input = create_buffer(4 * count)  # *
output = create_buffer(4 * count)  # *
write_buffer(input, numbers)  # *
# 2. What depends on the kernel alone: module, layout, pipeline.
module = create_shader_module(code)  # *
layout = create_bind_group_layout(READ, WRITE)  # *
pipeline = create_compute_pipeline(layout, module)  # *
# 3. The buffers in their slots.
bind_group = create_bind_group(layout, input, output)  # *
# 4. A recording of one pass, with a thread for each number.
encoder = create_command_encoder()  # *
compute = begin_compute_pass(encoder)  # *
set_pipeline(compute, pipeline)  # *
set_bind_group(compute, bind_group)  # *
dispatch_workgroups(compute, (count + 3) // 4)  # *
end(compute)  # *
# 5. Submit it, and give result what is then in the second buffer.
submit(finish(encoder))  # *
result = read_buffer(output)  # *
