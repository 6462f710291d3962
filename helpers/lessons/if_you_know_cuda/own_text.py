"""A data race in a text of the reader's, drawn."""

from collections.abc import Sequence

import numpy as np

from helpers.grading.race import race
from helpers.widgets.race_picture import RacePicture
from wgsl import simulate

MOST_ITERATIONS = 2_000


def race_in(text: str, buffers: Sequence[np.ndarray], workgroups: tuple[int, int, int]) -> RacePicture | None:
    """The first data race of a reader's text, drawn; where there is none, what else is found is printed.

    It raises what `helpers.simulate` raises.
    """
    trace = simulate(text, buffers, workgroups, max_steps=MOST_ITERATIONS)
    for finding in trace.findings:
        shown = race(trace, finding) if finding.kind == "data race" else None
        if shown:
            return RacePicture(shown)
    print("\n".join(map(str, trace.findings)) or "No race was found, and nothing else that is wrong.")
    return None
