"""The order in which threads add up, in plain Python and without a GPU."""


def tree_steps(partial: list[float]) -> list[list[float]]:
    """The partial sums before the tree reduction and after each of its steps: lists of length T, T/2, ..., 1.

    Raises ValueError where T is not a power of two: a step that adds one half to the other would lose a sum.
    """
    if not partial or len(partial) & (len(partial) - 1):
        raise ValueError(f"partial has {len(partial)} sums: they must be a power of two")
    steps = [partial]
    while len(steps[-1]) > 1:
        half = len(steps[-1]) // 2
        steps.append([steps[-1][i] + steps[-1][i + half] for i in range(half)])
    return steps
