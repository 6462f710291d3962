"""The schedules of the versions of a fully connected layer: one file for each operation, and `shared` for both."""
