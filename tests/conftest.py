"""Hypothesis draws the same problems every time, so that a run can be repeated."""

from hypothesis import settings

settings.register_profile("convgrad", derandomize=True, database=None, deadline=None, max_examples=50)
settings.load_profile("convgrad")
