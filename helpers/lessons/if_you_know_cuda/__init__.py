"""The page for those who know CUDA: a sum in CUDA beside the same in WGSL."""
