"""How each version of a convolution kernel is dispatched: one file for each operation, and `shared` for several."""
