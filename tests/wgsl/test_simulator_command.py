"""The simulator's command line; `messages/command_lines.txt` has what it prints, and how it refuses."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from support.launcher import python
from support.messages import every, said

from helpers.operations.kernels import KERNELS
from wgsl.command import main
from wgsl.command.run import parser

TREE = str(KERNELS / "sum" / "2_tree.wgsl")


@pytest.fixture
def printed(capsys):
    """A function that runs a command line and returns what it prints."""

    def run(*arguments: str) -> str:
        main(["run", *arguments])
        return capsys.readouterr().out

    return run


@every("command_lines")
def test_a_command_line_prints_what_is_stored(family, heading, text, message):
    assert said(family, heading, text) == message


def test_a_buffer_is_saved(printed, tmp_path):
    saved = tmp_path / "total.npy"
    assert printed(TREE, "input=1,2,4.5", "total=1", "params=3", "--save", f"total={saved}")
    assert np.load(saved).tolist() == [7.5]


def test_the_examples_of_the_help_run(printed, monkeypatch):
    monkeypatch.chdir(KERNELS.parent)
    text = parser().format_help().replace("\\\n", " ")
    examples = [shlex.split(line) for line in text.split("\n") if line.startswith("  wgsl run ")]
    assert len(examples) == 2
    assert all("no finding" in printed(*example[2:]) for example in examples)


def test_the_example_in_the_readme_prints_what_stands_there(printed, monkeypatch):
    monkeypatch.chdir(KERNELS.parent)
    text = Path("README.md").read_text(encoding="utf-8")
    line, _, stands = re.search(r"^\$ python -m wgsl run (.*?)^```", text, re.MULTILINE | re.DOTALL)[1].partition("\n")
    assert printed(*line.split()).startswith(stands)


def test_it_runs_as_a_module_and_needs_no_wgpu():
    arguments = [TREE, "input=1000", "total=1", "params=1000"]
    output = python(
        "import runpy, sys\nsys.modules['wgpu'] = None\n"
        f"sys.argv[1:] = ['run', *{arguments!r}]\nrunpy.run_module('wgsl', run_name='__main__')"
    )
    assert "no finding" in output


HIDDEN = "\x1b]0;a title\x07\u202e\u200b"  # a terminal would obey, and turn the direction of reading
SEEN = r"\x1b]0;a title\x07\u202e\u200b"


def test_a_text_does_not_command_the_terminal(tmp_path, printed, capsys):
    """A letter that is not seen is printed as an escape, and the caret below it points to the right place."""
    head = (
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n@compute @workgroup_size(1)\nfn main() {\n"
    )
    file = tmp_path / "kernel.wgsl"
    for line in ("data[5] = 1.0;", "data[5] = ;"):
        file.write_text(f"{head}\t/*{HIDDEN}*/ {line}\n}}\n", encoding="utf-8")
        main(["run", str(file), "data=2", "--lines"])
        output = "".join(capsys.readouterr())
        assert {letter for letter in output if not letter.isprintable()} == {"\n", "\t"}
        shown, caret = re.search(rf"(.*{re.escape(SEEN)}.*)\n(.*)\^", output).groups()
        assert shown[len(caret) :].startswith(("data", ";"))
