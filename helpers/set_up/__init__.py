"""The set-up of this project: parts of `start.py`, in the standard library alone, as nothing is installed yet."""
