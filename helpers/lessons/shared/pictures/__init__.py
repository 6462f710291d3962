"""Pictures of a convolution and its gradients: a file for each direction."""
