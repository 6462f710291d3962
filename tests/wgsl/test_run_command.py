"""`wgsl run`: groups and bindings, several dispatches over the same buffers, files of numbers, comments, formats."""

import json

import numpy as np
import pytest

from wgsl.command import main

TEXT = """
@group(1) @binding(3) var<storage, read> input: array<f32>;
@group(0) @binding(0) var<storage, read_write> sums: array<f32>;
@group(2) @binding(1) var<storage, read_write> bits: array<u32>;
@group(0) @binding(0) var<storage, read_write> same_place: array<u32>;
override FACTOR: f32 = 1.0;
@compute @workgroup_size(1) fn fill(@builtin(global_invocation_id) id: vec3u) { sums[id.x] = FACTOR * input[id.x]; }
@compute @workgroup_size(1) fn first() { sums[0] = 9.0; }
@compute @workgroup_size(1) fn copy(@builtin(global_invocation_id) id: vec3u) { bits[id.x] = same_place[id.x]; }
@compute @workgroup_size(1) fn past(@builtin(global_invocation_id) id: vec3u) {
  sums[id.x] = 1.0;
  _ = input[id.x + 9]; // wgsl: allow out-of-range read -- a test
}
var<workgroup> empty: f32;
@compute @workgroup_size(1) fn zero() { sums[0] = empty; }
@compute @workgroup_size(2) fn race() {
  sums[0] = 1.0; // expect: overlapping writes
  sums[1] = 1.0; // expect: data race
}
"""


@pytest.fixture
def run(tmp_path, capsys, monkeypatch):
    """A function that runs a command line, and returns the exit status and what is printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.wgsl").write_text(TEXT, encoding="utf-8")
    np.save("data.npy", np.array([1, 2, 4, 8], np.float32))
    (tmp_path / "text.npy").write_text("no array")

    def run(line: str) -> tuple[int, str]:
        try:
            status = main(["run", "text.wgsl", *line.split()])
        except SystemExit as ended:
            status = ended.code
        return status, "".join(capsys.readouterr())

    return run


def test_a_binding_has_a_name_and_a_number(run, tmp_path):
    status, _ = run("--dispatch fill:4 1:3=data.npy 0:0=4 bits=1 -D FACTOR=0.5 --save 0:0=out.npy")
    assert status == 0
    assert np.load(tmp_path / "out.npy").tolist() == [0.5, 1, 2, 4]


def test_several_dispatches_share_the_buffers(run, tmp_path):
    """Two variables at one place share it, too: the bits of a float are copied as those of a u32."""
    line = "--dispatch fill:4,1,1 --dispatch first:1x1x1 --dispatch copy:4 input=@data.npy sums=4 bits=4"
    status, printed = run(f"{line} --save bits=out.npy --show sums")
    assert status == 0, printed
    assert np.load(tmp_path / "out.npy").view(np.float32).tolist() == [9, 2, 4, 8]
    assert printed.count("no finding") == 3
    assert "[9. 2. 4. 8.]" in printed


def test_an_output_is_unwritten_if_each_dispatch_leaves_a_gap(run):
    assert run("--dispatch first:1 input=4 sums=4 bits=1")[1].count("unwritten output") == 1
    status, printed = run("--dispatch first:1 --dispatch first:1 input=4 sums=4 bits=1")
    assert (status, printed.count("unwritten output")) == (1, 1)
    assert "unwritten" not in run("--dispatch first:1 --dispatch fill:4 input=4 sums=4 bits=1")[1]


def test_workgroup_memory_begins_with_zeros_where_that_is_trusted(run):
    line = "-e zero input=1 sums=1 bits=1"
    assert "uninitialized read" in run(line)[1]
    assert run(f"{line} --zero-initialized")[0] == 0


def test_a_comment_allows_a_finding(run):
    status, printed = run("-e past -w 4 input=4 sums=4 bits=1")
    assert (status, "1 allowed by a comment" in printed) == (0, True)


def test_a_comment_expects_a_finding(run):
    line = "-e race input=4 sums=2 bits=1"
    assert run(line)[0] == 1
    status, printed = run(f"{line} --expect")
    assert status == 1
    assert "text.wgsl:18:18: unmet expectation: a problem of the kind `data-race` is expected in line 18" in printed
    assert "text.wgsl:17" not in printed


def test_findings_have_the_formats_of_problems(run):
    line = "-e race input=4 sums=2 bits=1"
    found = json.loads(run(f"{line} --format json")[1])
    assert [(one["line"], one["kind"], one["rule"]) for one in found] == [
        (17, "overlapping writes", "overlapping-writes"),
        (18, "overlapping writes", "overlapping-writes"),
    ]
    assert "::error file=text.wgsl,line=17,col=3,title=overlapping writes::" in run(f"{line} --format github")[1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--dispatch fill", "'fill' is not an entry point and its workgroups, such as main:8,1,1"),
        ("--dispatch fill:1,2,3,4", "'fill:1,2,3,4' is not an entry point and its workgroups, such as main:8,1,1"),
        ("--dispatch fill:1 -w 2", "--dispatch names entry point and workgroups: leave out --entry-point and --work"),
        ("--dispatch none:1", "`none`"),
        ("-e fill 1:4=3", "'1:4' is no binding of the kernel; these are (0, 0) sums, (1, 3) input, (2, 1) bits"),
        ("-e fill input=4 1:3=5 sums=4", "1:3=5: `input` has a buffer already"),
        ("-e fill input=text.npy sums=4", "input=text.npy: this file holds no array that NumPy has saved"),
        ("-e fill input=nowhere.npy sums=4", "No such file or directory: 'nowhere.npy'"),
        ("-e fill input=4 sums=4 -D OTHER=1", "OTHER = 1: the kernel has no `override OTHER`"),
    ],
)
def test_what_does_not_fit_is_named(run, line, message):
    status, printed = run(line)
    assert status == 2
    assert message in printed
