"""The learner's folder in what is stored and compared: where it is by default, and not where it is during a test."""

import os


def as_by_default(text: str) -> str:
    """Return a text with ``notebooks/my/`` in the place of the folder that CONVGRAD_MY names."""
    folder = os.environ.get("CONVGRAD_MY")
    if not folder:
        return text
    return text.replace(f"{folder}{os.sep}", "notebooks/my/")
