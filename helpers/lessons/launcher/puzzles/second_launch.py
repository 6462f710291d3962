# The official lines of the puzzle second_launch;
# the lines that end in a star are not in the skeleton.

# The kernel that computes output[i] = 3 * input[i] + 1 has
# run, and you have what the launch made:
#
#   module, layout, pipeline
#   input, output    in slots 0 and 1; output has the results
#   bind_group       with input in slot 0, output in slot 1
#
# Run it once more, on these results: read the buffer output,
# and write into the buffer input, whose numbers nobody needs
# now. Dispatch as many workgroups as before: workgroups. You
# have all that raw_launch had, too, but make nothing that was
# made already, and let no number pass through Python.

# 1. What this launch needs, and the first one did not.
swapped = create_bind_group(layout, output, input)  # *
# 2. A recording of one pass.
encoder = create_command_encoder()  # *
compute = begin_compute_pass(encoder)  # *
set_pipeline(compute, pipeline)  # *
set_bind_group(compute, swapped)  # *
dispatch_workgroups(compute, workgroups)  # *
end(compute)  # *
# 3. Submit it, and give result what this launch has written.
submit(finish(encoder))  # *
result = read_buffer(input)  # *
