"""What WGSL's operators, conversions and built-in functions compute, on NumPy arrays of one number per invocation."""
