"""The command line's options, the buffers that it makes, and its report."""
