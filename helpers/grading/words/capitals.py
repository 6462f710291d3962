"""A sentence with a capital."""


def capitalized(sentence: str) -> str:
    """Return a sentence with a capital at the start, and all else as it is."""
    return sentence[:1].upper() + sentence[1:]
