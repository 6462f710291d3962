"""Pooling, ReLU backward, the loss and the update."""
