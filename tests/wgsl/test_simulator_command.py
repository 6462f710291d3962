"""The simulator's command line: what it prints, what it takes for buffers, and its exit status."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.launcher import python
from support.wgsl_programs import rows

from helpers.kernels import KERNELS
from wgsl.__main__ import main, parser

TREE = str(KERNELS / "sum" / "2_tree.wgsl")
SIZES = "input=1000", "total=1", "params=1000"
DATA = """
struct Item { at: vec3f, mass: f32, kind: u32 }
struct Data { count: u32, start: vec2f, items: array<Item> }
@group(0) @binding(0) var<storage, read> data: Data;
@group(0) @binding(1) var<storage, read> vec4s: array<vec4f>;
@group(0) @binding(2) var<uniform> options: vec4u;
@group(0) @binding(3) var<storage, read_write> counters: array<atomic<i32>, 2>;
@group(0) @binding(4) var<storage, read_write> output: array<f32>;
@group(0) @binding(5) var<storage, read> numbers: array<u32>;

@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
  atomicAdd(&counters[1], i32(options.y));
  output[id.x] = data.items[0].mass + vec4s[1].z + f32(arrayLength(&data.items));
}

@compute @workgroup_size(4)
fn copy(@builtin(global_invocation_id) id: vec3u) {
  output[id.x] = f32(numbers[id.x]);
}
"""


@pytest.fixture
def command(capsys):
    """Runs a command line: its exit status and what it prints."""

    def run(*arguments: str) -> tuple[int, str]:
        try:
            status = main(arguments)
        except SystemExit as exit:
            status = exit.code
        printed = capsys.readouterr()
        return status, printed.out + printed.err

    return run


@pytest.fixture
def data(tmp_path) -> str:
    """The file of a kernel with bindings of many kinds."""
    path = tmp_path / "data.wgsl"
    path.write_text(DATA)
    return str(path)


# --- The report ---------------------------------------------------------------------------------------------


def test_a_right_kernel_has_no_finding_and_its_counts_in_a_table(command):
    status, printed = command(TREE, *SIZES)
    assert status == 0
    assert printed.startswith(f"{TREE}: main, 1 x 1 x 1 workgroups of 256 x 1 x 1 threads: no finding\n\n")
    assert re.search(r"^loads_storage +1,000  loads from storage buffers", printed, re.MULTILINE)
    assert re.search(r"^active_share +0\.983  the share of", printed, re.MULTILINE)


def test_a_finding_has_its_place_its_line_with_a_caret_and_its_threads(command):
    status, printed = command(TREE, *SIZES[:2], "params=1001")
    assert status == 1
    head, line, caret, who = printed.split("\n")[:4]
    assert head.startswith(f"{TREE}:36:12: out-of-range read: ")
    assert line == "      sum += input[i];"
    assert (caret.strip(), caret.index("^")) == ("^", line.index("input"))
    assert who == "  thread 232 of workgroup (0, 0, 0)"
    assert "threads: 1 finding\n" in printed


def test_findings_name_up_to_eight_threads(command, tmp_path):
    path = tmp_path / "race.wgsl"
    path.write_text(Path(TREE).read_text().replace("    workgroupBarrier();", "\t"))
    status, printed = command(str(path), *SIZES)
    assert status == 1
    assert re.search(r"\d+ times, among them threads (\d+, ){7}\d+ of workgroup \(0, 0, 0\)", printed)


def test_each_line_is_counted_beside_its_text(command):
    printed = command(TREE, *SIZES, "--lines")[1]
    (row,) = (line for line in printed.split("\n") if line.endswith("sum += input[i];"))
    assert row.split()[:6] == ["1,000", "1,000", "4,000", "125", "0.977", "36"]
    assert "bank" not in printed.partition("active_share")[2]  # a column that is 0 everywhere is left out


def test_buffers_are_printed_and_saved(command, tmp_path):
    saved = tmp_path / "total.npy"
    printed = command(
        TREE, "input=1,2,4.5", "total=1", "params=3", "--show", "total", "--save", f"total={saved}", "--watch", "sum"
    )[1]
    assert "total, float32, shape (1,):\n[7.5]\n\nsum, after each statement that writes it:\n" in printed
    assert re.search(r"\nstep \d+, line \d+, thread 2 of workgroup \(0, 0, 0\): 4.5\n", printed)
    assert np.load(saved).tolist() == [7.5]


# --- Buffers ------------------------------------------------------------------------------------------------


def shown(printed: str, name: str) -> str:
    """A buffer that a command printed."""
    return printed.partition(f"{name}, ")[2]


def test_sizes_values_and_files_become_buffers_of_the_type_of_the_binding(command, data, tmp_path):
    np.save(tmp_path / "vec4s.npy", np.arange(8, dtype=np.float32))
    given = ("data=2,0.5,1.5,1,2,3,7.25,9,1,2,3,8,9", f"vec4s=@{tmp_path / 'vec4s.npy'}", "options=1,5,0,0")
    status, printed = command(
        data, "-e", "main", *given, "output=4", "--show", "output", "--show", "counters", "--show", "data"
    )
    assert status == 0
    assert "[15.25 15.25 15.25 15.25]" in shown(printed, "output")  # 7.25 + 6 + 2 items
    assert "int32, shape (2,):\n[ 0 20]" in shown(printed, "counters")
    words = np.array([2, 0, *np.float32([0.5, 1.5]).view(np.uint32)], np.uint32)
    assert f"uint32, shape (20,):\n[{words[0]:>10}" in shown(printed, "data")


def test_what_is_read_gets_small_numbers_from_a_seed_and_what_is_written_zeros(command, data):
    options = "--entry-point", "copy", "output=6:2.5", "--workgroups", "1", "--outputs=", "--show", "output"
    found = [command(data, "numbers=2x3", *options, "--seed", str(seed))[1] for seed in (0, 1, 0)]
    assert found[0] == found[2] != found[1]
    numbers = [float(each) for each in shown(found[0], "output").partition("[")[2].rstrip("\n]").split()]
    assert len(numbers) == 6
    assert all(number in range(5) for number in numbers[:4])
    assert numbers[4:] == [2.5, 2.5]
    zeros = command(data, "numbers=6", *options[:2], "output=2x3", "--outputs=", "--show", "output")[1]
    assert "shape (2, 3)" in zeros
    assert zeros.rstrip().endswith("0. 0.]]")


def test_bindings_that_the_entry_point_does_not_touch_can_be_left_out(command, data):
    assert command(data, "-e", "copy", "numbers=4", "output=4")[0] == 0
    status, printed = command(data, "-e", "main")
    assert status == 2
    assert "`options` has no values" in printed
    assert "`output` is an array<f32> without a size: write output=64" in printed
    assert "numbers" not in printed.replace("numbers of", "").replace("@numbers.npy", "")


def test_constants_and_outputs(command):
    assert "workgroups of 64 x 1 x 1" in command(TREE, *SIZES, "-D", "THREADS=64")[1]
    status, printed = command(TREE, "input=8", "total=2", "params=8")
    assert status == 1
    assert "unwritten output" in printed
    assert command(TREE, "input=8", "total=2", "params=8", "--outputs=")[0] == 0
    status, printed = command(TREE, *SIZES, "--max-steps", "3")
    assert status == 1
    assert "endless loop" in printed


# --- What is refused ----------------------------------------------------------------------------------------


REFUSED = """
--lines                                 `input` is an array<f32> without a size: write input=64
input=8 total=1                         `params` has no values: write params= and the numbers of Params (count: u32)
SIZES weight=3                          the kernel has no binding `weight`; it has input, total, params
input=1000 total=1 params=1,2           params=1,2: 2 numbers, but Params (count: u32) has 1
input=1000 total=1 params=-1            params=-1: -1 is no u32, which goes from 0 to 4294967295
input=1000 total=1 params=1.5           params=1.5: 1.5 is no u32
input=1,two total=1 params=1000         input=1,two: 'two' is no number
input=2:1e39 total=1 params=1000        input=2:1e39: 1e+39 is no f32, which goes from -3.4
input=8 total=1 params=1000000000000000000000000000000  1e+30 is no u32
input=0 total=1 params=1000             it must be from 1 to
input=@nowhere.npy total=1 params=1000  nowhere.npy
input total=1 params=1000               'input' is not of the form NAME=...
SIZES -w 4,4                            '4,4' is not one to three numbers with x between them, such as 4x4
SIZES -w 0                              workgroups' x = 0
SIZES -D TILE=8                         no `override TILE`
SIZES -D THREADS=many                   the value of an override is a number, true or false
SIZES --show sum                        'sum' is no binding of the kernel
SIZES --outputs params                  not a storage binding
SIZES -e start                          start
"""
FILES = {  # without more arguments
    str(KERNELS / "sum" / "3_two_passes.wgsl"): "sum_shares, sum_parts: choose one with --entry-point",
    "nowhere.wgsl": "nowhere.wgsl",
    str(KERNELS.parent / "README.md"): "does not compile, line 1, column 1",
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        *(((TREE, *line.replace("SIZES", " ".join(SIZES)).split()), words) for line, words in rows(REFUSED)),
        *(((path,), words) for path, words in FILES.items()),
    ],
)
def test_what_does_not_fit_is_named_and_the_exit_status_is_2(command, arguments, words):
    status, printed = command(*arguments)
    assert status == 2
    assert words in printed
    assert printed.count("\n") <= 2 or " │ " in printed  # in one line, but for the usage and a place of the text


def test_a_file_of_the_wrong_type_is_refused(command, tmp_path):
    np.save(tmp_path / "input.npy", np.zeros(8))
    status, printed = command(TREE, f"input=@{tmp_path / 'input.npy'}", *SIZES[1:])
    assert (status, "float64" in printed) == (2, True)


# --- Help, and no GPU ---------------------------------------------------------------------------------------


def test_the_examples_of_the_help_run(command, monkeypatch):
    monkeypatch.chdir(KERNELS.parent)
    text = parser().format_help().replace("\\\n", " ")
    examples = [shlex.split(line) for line in text.split("\n") if line.startswith("  python -m wgsl ")]
    assert len(examples) == 2
    for example in examples:
        status, printed = command(*example[3:])
        assert (status, "no finding" in printed) == (0, True)


def test_the_example_in_the_readme_prints_what_stands_there(command, monkeypatch):
    monkeypatch.chdir(KERNELS.parent)
    text = Path("README.md").read_text(encoding="utf-8")
    line, _, printed = re.search(r"^\$ python -m wgsl (.*?)^```", text, re.MULTILINE | re.DOTALL)[1].partition("\n")
    assert command(*line.split())[1].startswith(printed)


def test_it_runs_as_a_module_and_needs_no_wgpu():
    arguments = [TREE, *SIZES]
    printed = python(
        "import runpy, sys\nsys.modules['wgpu'] = None\n"
        f"sys.argv[1:] = {arguments!r}\nrunpy.run_module('wgsl', run_name='__main__')"
    )
    assert "no finding" in printed
