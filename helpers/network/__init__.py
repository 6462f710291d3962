"""A small network in a page: layers forward and backward over arrays that stay on the GPU, its loss and its update."""
