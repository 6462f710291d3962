"""`wgsl run --subgroup-size` and `--subgroup-sizes`: one size, or several whose outputs are compared."""

import json
from pathlib import Path

import pytest

import wgsl
from wgsl.command import main

FILE = Path(wgsl.__file__).parent / "examples" / "subgroup_size.wgsl"
TRAP = FILE.read_text(encoding="utf-8")
ANY_SIZE = TRAP.replace("i / 32u", "k").replace("let sum", "let k = i / (256u / subgroups); let sum")


@pytest.fixture
def run(tmp_path, capsys):
    """A function that runs a text with options, and returns the exit status and what is printed."""

    def run(text: str, *options: str) -> tuple[int, str]:
        path = tmp_path / "text.wgsl"
        path.write_text(text, encoding="utf-8")
        try:
            status = main(["run", str(path), "input=256:1", "total=1", *options])
        except SystemExit as ended:
            status = ended.code
        return status, "".join(capsys.readouterr())

    return run


def test_a_run_has_32_threads_in_a_subgroup_or_as_many_as_an_option_says(run):
    assert run(TRAP)[0] == run(TRAP, "--subgroup-size", "32")[0] == 0
    status, printed = run(TRAP, "--subgroup-size", "16")
    assert status == 1
    assert "overlapping writes: thread 16 and thread 0" in printed


def test_the_line_that_takes_a_size_for_granted_is_named(run):
    status, printed = run(TRAP, "--subgroup-sizes", "all")
    assert status == 1
    assert printed.count(": the outputs with 4, 8, 16, 64 and 128 differ from those with 32: line 14, ") == 1
    assert printed.count("overlapping writes") == 1  # though several sizes show it
    assert "256 x 1 x 1 threads: 3 findings" in printed


def test_outputs_that_are_the_same_are_no_finding(run):
    status, printed = run(ANY_SIZE, "--subgroup-sizes", "16,32")
    assert (status, printed.splitlines()[-1]) == (0, "the outputs are the same with subgroups of 16 and 32 threads")


def test_a_comment_allows_a_size(run):
    line = "  if subgroupElect()"
    text = TRAP.replace(line, f"  // wgsl: allow subgroup size, overlapping writes -- this device has 32\n{line}")
    text = text.replace("all += sums[k]; }", "all += sums[k]; } // wgsl: allow uninitialized read")
    status, printed = run(text, "--subgroup-sizes", "16,32")
    assert status == 0, printed
    assert "3 allowed by a comment" in printed


def test_a_format_has_the_size_as_it_has_findings(run):
    problems = json.loads(run(TRAP, "--subgroup-sizes", "16,32", "--format", "json")[1])
    assert [problem["kind"] for problem in problems] == ["subgroup size", "overlapping writes", "uninitialized read"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--subgroup-size 5", "subgroup_size = 5: it must be a power of two from 4 to 128"),
        ("--subgroup-sizes 5", "'5' is not all, or powers of two from 4 to 128 with commas between them"),
        ("--subgroup-sizes all --show total", "--show is about one run, and --subgroup-sizes makes several"),
        ("--subgroup-sizes all --subgroup-size 4", "--subgroup-size is about one run"),
        ("--subgroup-sizes all --dispatch main:1 --dispatch main:1", "is for one dispatch, and these are 2"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_named(run, options, message):
    status, printed = run(TRAP, *options.split())
    assert status == 2
    assert message in printed
