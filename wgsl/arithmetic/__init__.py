"""WGSL's operators and built-in functions on arrays, one element for each invocation."""
