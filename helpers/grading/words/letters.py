"""The letters of a sentence: a capital at its start, and where it is cut."""


def capitalized(sentence: str) -> str:
    """Return a sentence with a capital at the start, and all else as it is."""
    return sentence[:1].upper() + sentence[1:]


def cut(text: str, longest: int | None) -> str:
    """Return a text cut to its first `longest` characters; dots show that it goes on."""
    return text if longest is None or len(text) <= longest else f"{text[:longest]}..."
