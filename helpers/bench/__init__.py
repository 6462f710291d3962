"""The benchmark: every version of every operation on named layers, found right first, then timed beside libraries.

`python3 start.py bench`, or `python -m helpers.bench` in an environment that has PyTorch too; `--help` explains it.
"""
