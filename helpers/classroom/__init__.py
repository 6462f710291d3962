"""A class: what its students handed in, as tables."""
