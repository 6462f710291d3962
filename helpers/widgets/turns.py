"""Turns of what runs beside the cells, from the event loop.

A cell of a notebook is never half done while the event loop does something else, so `take` needs no more than a call.
In a browser, a cell that waits for the GPU is: there, the package convgrad_browser puts another `take` here.
"""

from collections.abc import Callable


def take(work: Callable[[], object]) -> None:
    """Do some work as soon as no cell and no click is at work."""
    work()
