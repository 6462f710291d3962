"""Pictures of a fused layer: its gradients, a product in tiles, a transposed load, and its activations."""
