"""Threads, workgroups and buffers: the first kernels, and who owns which element."""
