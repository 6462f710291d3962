"""The plugin of pytest: a fixture that runs a kernel, and an option that makes each text a test.

Nothing of the package is imported before it is used, as every run of pytest loads this file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

    from wgsl.simulator.trace import Trace

    Buffers = Sequence[np.ndarray] | Mapping[Any, np.ndarray]


@pytest.fixture
def wgsl_kernel(request: pytest.FixtureRequest) -> Callable[..., Trace]:
    """Return a function that runs a kernel, and fails the test where the run has findings.

    ``wgsl_kernel(file, buffers, workgroups=(1, 1, 1), **options)`` takes what `wgsl.simulate` takes, with the file of
    the text in place of the text: its path begins in the folder of the test. Where it has only one entry point, that is
    the one to run. What a comment in the text allows is no finding.
    """

    def run(file: str | Path, buffers: Buffers, workgroups: tuple[int, int, int] = (1, 1, 1), **options: Any) -> Trace:
        __tracebackhide__ = True
        trace, report = _run(request.path.parent / file, buffers, workgroups, options)
        if report:
            pytest.fail(report, pytrace=False)
        return trace

    return run


def _run(path: Path, buffers: Buffers, workgroups: tuple[int, int, int], options: dict[str, Any]) -> tuple[Trace, str]:
    """Return the trace of a run, and what was found in words."""
    from wgsl.command.comments import ALLOW, matched, remarks
    from wgsl.command.report import described
    from wgsl.kernel import Kernel
    from wgsl.simulator.run import simulate

    kernel = Kernel(path.read_text(encoding="utf-8"), path.name)
    if len(kernel.entry_points) == 1:
        options.setdefault("entry_point", kernel.entry_points[0])
    trace = simulate(kernel, buffers, workgroups, **options)
    allowed = [remark for remark in remarks(kernel.source) if remark.verb == ALLOW]
    left = matched(trace.findings, allowed).left
    return trace, "\n\n".join(described(kernel.name, finding) for finding in left)


# --- Each text as a test ------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("wgsl")
    group.addoption("--wgsl", action="store_true", help="check each *.wgsl, as `wgsl check --expect` does")
    targets = "whose refusal counts: spec, chrome, naga or portable (the default)"
    group.addoption("--wgsl-target", default="portable", choices=["spec", "chrome", "naga", "portable"], help=targets)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.File | None:
    """Return a test for a text, where they are wanted."""
    if file_path.suffix == ".wgsl" and parent.config.getoption("--wgsl"):
        return Text.from_parent(parent, path=file_path)
    return None


class Text(pytest.File):
    """A text of WGSL, which has one test."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the test."""
        yield Check.from_parent(self, name="check")


class Problems(Exception):
    """The problems of a text, as they are printed."""


class Check(pytest.Item):
    """The check of a text."""

    def runtest(self) -> None:
        """Check it. Raises Problems where it has some."""
        from wgsl.command.formats import text
        from wgsl.command.verdicts import Rules, verdict
        from wgsl.problems import check

        source = self.path.read_text(encoding="utf-8")
        rules = Rules(self.config.getoption("--wgsl-target"), expect=True)
        judged = verdict(self.path.name, source, check(source), rules)
        if judged.errors:
            raise Problems(text([judged]))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return the problems alone, without the lines of Python that found them."""
        if isinstance(excinfo.value, Problems):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return what stands above a failure."""
        return self.path, None, f"wgsl check {self.path.name}"
