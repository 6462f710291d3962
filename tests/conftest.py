"""Hypothesis draws the same problems every time, so that a run can be repeated; what tests measure is printed last."""

from hypothesis import settings

settings.register_profile("convgrad", derandomize=True, database=None, deadline=None, max_examples=50)
settings.load_profile("convgrad")


def pytest_terminal_summary(terminalreporter) -> None:
    """Print what tests measured and recorded as "told", whichever process they ran in."""
    for report in terminalreporter.getreports("passed"):
        for name, value in report.user_properties:
            if name == "told":
                terminalreporter.write_line(value)
