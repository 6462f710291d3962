"""The schedules of the versions of convolution kernels: one file for each operation, and `shared` for several."""
