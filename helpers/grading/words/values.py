"""The values of a learner's lines of Python, as a message has them."""

MANY = 12  # elements of a tuple; of more, the first and the last are shown
FIRST = 3


def shown(value: object) -> str:
    """Return a value as a message has it."""
    if isinstance(value, tuple) and len(value) > MANY:
        first = ", ".join(map(shown, value[:FIRST]))
        return f"({first}, ..., {shown(value[-1])})"
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(map(shown, value))}{comma})"
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def as_typed(value: object) -> str:
    """Return a value in a message that is about its type: 3.0 is no whole number."""
    return repr(value) if isinstance(value, float) else shown(value)
