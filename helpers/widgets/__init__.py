"""What a reader touches: widgets with a little JavaScript, each of which stores a still picture and a sentence."""

from traitlets import TraitType


def synced(kind: type[TraitType], *first: object) -> TraitType:
    """A value that Python and the page both have, and what it is at first."""
    return kind(*first).tag(sync=True)
