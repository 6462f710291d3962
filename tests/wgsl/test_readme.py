"""The README of the package: each of its commands, snippets and tables is tried."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml

import wgsl
from wgsl.command import main
from wgsl.command.verdicts import TARGETS

pytest_plugins = ["pytester"]

FOLDER = Path(wgsl.__file__).parent
README = (FOLDER / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for line in README.split("\n") if re.match(r"wgsl (check|run) ", line)]


def snippets(language: str) -> list[str]:
    """The blocks of code of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


def table(heading: str) -> list[str]:
    """The first column of a table."""
    rows = README.partition(heading)[2].partition("\n\n")[0].split("\n|")[2:]
    return [row.split("|")[0].strip() for row in rows]


def test_there_are_commands():
    assert len(COMMANDS) == 15


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command, tmp_path, monkeypatch, capsys):
    """A file that another command has written is there."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wgsl").symlink_to(FOLDER)
    np.save("total.npy", np.ones(1, np.float32))
    status = main(shlex.split(command)[1:])
    printed = capsys.readouterr()
    wrong = ("race.wgsl" in command and "run" in command) or "--subgroup-sizes" in command
    assert status == wrong, printed.err
    if "json" in command or "sarif" in command:
        json.loads(printed.out)


def test_the_kernel_that_is_shown_is_the_example():
    assert "race.wgsl:10:30: data race" in (FOLDER / "race.svg").read_text(encoding="utf-8")


def test_the_tables_have_all_kinds_and_targets():
    kinds = set(re.findall("`([^`]+)`", " ".join(table("| kind |"))))
    assert kinds == {
        "does not compile", "not portable", "not supported", "not confirmed",
        "unused allow", "unmet expectation", "unknown kind",
    }  # fmt: skip
    assert set(re.findall("`([^`]+)`", " ".join(table("| `--target` |")))) == set(TARGETS)


def test_the_snippets_of_yaml_name_what_there_is():
    workflow, hooks = map(yaml.safe_load, snippets("yaml"))
    assert main([*shlex.split(workflow["steps"][-1]["run"])[1:-1], str(FOLDER / "examples")]) == 0
    (hook,) = yaml.safe_load((FOLDER.parent / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    (used,) = hooks["repos"][0]["hooks"]
    assert used["id"] == hook["id"]
    assert main([*hook["entry"].split()[1:], *used["args"], str(FOLDER / "examples" / "sum.wgsl")]) == 0
    assert re.search(hook["files"], "shaders/sum.wgsl")
    assert not re.search(hook["files"], "shaders/sum.wgsl.txt")
    assert (FOLDER.parent / hook["additional_dependencies"][0] / "pyproject.toml").exists()


def test_the_comment_that_allows_does(tmp_path):
    head = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {\n  let n = 2u;\n"
    (line,) = snippets("wgsl")
    path = tmp_path / "text.wgsl"
    path.write_text(f"{head}{line}}}\n", encoding="utf-8")
    assert main(["check", str(path)]) == 0
    path.write_text(f"{head}{line.partition('//')[0]}\n}}\n", encoding="utf-8")
    assert main(["check", str(path)]) == 1


def test_the_snippet_of_pytest_is_a_test(pytester):
    (snippet,) = [text for text in snippets("python") if "wgsl_kernel" in text]
    pytester.makepyfile(snippet)
    pytester.path.joinpath("sum.wgsl").write_text((FOLDER / "examples" / "sum.wgsl").read_text(encoding="utf-8"))
    pytester.runpytest_inprocess("-p", "wgsl.pytest_plugin").assert_outcomes(passed=1)
