"""Convolution and its three gradients."""
