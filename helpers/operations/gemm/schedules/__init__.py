"""How each version of a fully connected layer is dispatched: one file for each operation, and `shared` for both."""
