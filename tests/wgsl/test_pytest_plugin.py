"""The plugin of pytest: `wgsl_kernel` passes a right kernel and fails a wrong one, and `--wgsl` collects texts."""

from pathlib import Path

import pytest

import wgsl

pytest_plugins = ["pytester"]

EXAMPLES = Path(wgsl.__file__).parent / "examples"
TEST = """
import numpy as np

def test_kernel(wgsl_kernel):
    trace = wgsl_kernel("{file}", [np.ones(64, np.float32), np.zeros(1, np.float32)]{more})
    assert trace.buffers[1][0] == 64
"""


@pytest.fixture
def ran(pytester):
    """A function that runs pytest in a folder with the examples, and returns the result."""
    for path in EXAMPLES.glob("*.wgsl"):
        pytester.path.joinpath(path.name).write_text(path.read_text(encoding="utf-8"), encoding="utf-8")
    return lambda *words: pytester.runpytest_inprocess("-p", "wgsl.pytest_plugin", *words)


def test_a_right_kernel_passes(pytester, ran):
    pytester.makepyfile(TEST.format(file="sum.wgsl", more=""))
    ran().assert_outcomes(passed=1)


def test_findings_fail_the_test_and_are_printed_without_lines_of_python(pytester, ran):
    pytester.makepyfile(TEST.format(file="race.wgsl", more=""))
    result = ran()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["race.wgsl:10:30: data race: thread 0 reads `sums?32?`*", "*sums[[]i[]] += sums*"])
    assert "wgsl_kernel(" not in result.stdout.str()


def test_a_finding_that_a_comment_allows_is_none(pytester, ran):
    text = (EXAMPLES / "race.wgsl").read_text(encoding="utf-8")
    text = text.replace("  if i < half", "  // wgsl: allow data race -- one warp\n  if i < half")
    pytester.path.joinpath("allowed.wgsl").write_text(text, encoding="utf-8")
    pytester.makepyfile(TEST.format(file="allowed.wgsl", more=""))
    ran().assert_outcomes(passed=1)


def test_options_are_those_of_a_run(pytester, ran):
    pytester.makepyfile(TEST.format(file="sum.wgsl", more=', (1, 1, 1), entry_point="other"'))
    result = ran()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*`other`*"])


def test_texts_are_collected_where_that_is_wanted(pytester, ran):
    ran().assert_outcomes()
    ran("--wgsl").assert_outcomes(passed=3)
    pytester.path.joinpath("wrong.wgsl").write_text("const a: u32 = 1.5;\n")
    pytester.path.joinpath("expected.wgsl").write_text("const a: u32 = 1.5; // expect: declared\n")
    pytester.path.joinpath("naga.wgsl").write_text(
        "var<workgroup> w: u32;\nfn f(p: ptr<workgroup, u32>) -> u32 { return *p; }\n"
        "@compute @workgroup_size(1) fn main() { _ = f(&w); }\n"
    )
    result = ran("--wgsl")
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines(["*wgsl check wrong.wgsl*", "wrong.wgsl:1:7: does not compile: `a` is declared*"])
    ran("--wgsl", "--wgsl-target", "chrome").assert_outcomes(passed=5, failed=1)
