"""Is a gradient right? What decides it, the wrong kernels that it is tried on, and the checker (lesson 05)."""
