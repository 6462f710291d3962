"""The pictures of a training run."""
