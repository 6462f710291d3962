"""`wgsl check`: files in, problems out; the exit status, formats, targets and comments."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from wgsl.command import EXAMPLES, main
from wgsl.version import VERSION

CLEAN = "@compute @workgroup_size(1) fn main() { }\n"
WRONG = "fn f() {\n  let x: u32 = 1.5;\n}\nfn g() {\n  _ = nothing;\n}\n"
POINTER = "var<workgroup> w: array<u32, 4>;\nfn f(p: ptr<workgroup, array<u32, 4>>) -> u32 { return (*p)[0]; }\n"
POINTER += "@compute @workgroup_size(1) fn main() { _ = f(&w); }\n"
BARRIER = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {\n"
BARRIER += "  if (t < 2) { workgroupBarrier(); }\n}\n"
WIDE = "var<private> x: f64;\n" + CLEAN  # numbers that are not checked


@pytest.fixture
def check(tmp_path, capsys, monkeypatch):
    """A function that checks texts, each in a file of its name; it returns the exit status and what is printed."""
    monkeypatch.chdir(tmp_path)

    def check(line: str, **texts: str) -> tuple[int, str]:
        for name, text in texts.items():
            Path(f"{name}.wgsl").write_text(text, encoding="utf-8")
        try:
            status = main(["check", *(line.split() if texts or line else ["."])])
        except SystemExit as ended:
            status = ended.code
        return status, "".join(capsys.readouterr())

    return check


# --- Files ----------------------------------------------------------------------------------------------------------


def test_a_clean_text_and_several_problems(check):
    assert check("clean.wgsl", clean=CLEAN) == (0, "1 text: no problems\n")
    status, printed = check("clean.wgsl wrong.wgsl", wrong=WRONG)
    assert status == 1
    assert printed == (
        "wrong.wgsl:2:7: does not compile: `x` is declared as a u32, and `1.5` is a number with a point, which no u32 "
        "can hold: write `x: f32` [declared]\n    let x: u32 = 1.5;\n        ^\n"
        "wrong.wgsl:5:7: does not compile: nothing is called `nothing` here: declare it before its first use, with "
        "`let` or `var` [unknown]\n    _ = nothing;\n        ^^^^^^^\n"
        "2 texts: 2 problems\n"
    )


def test_a_folder_and_each_file_once(check):
    Path("deep/er").mkdir(parents=True)
    Path("deep/er/wrong.wgsl").write_text(WRONG, encoding="utf-8")
    Path("deep/note.txt").write_text("no text")
    status, printed = check(". ./deep clean.wgsl", clean=CLEAN)
    assert (status, printed.count("deep/er/wrong.wgsl:"), printed.split("\n")[-2]) == (1, 2, "2 texts: 2 problems")
    assert check(". --exclude er/*.wgsl", clean=CLEAN) == (0, "1 text: no problems\n")
    assert check("deep --exclude *.wgsl")[0] == 2


def test_the_standard_input(check, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WRONG.encode())))
    status, printed = check("-")
    assert (status, printed.startswith("<stdin>:2:7: does not compile")) == (1, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nowhere.wgsl", "wgsl check: nowhere.wgsl: No such file or directory"),
        ("empty", "wgsl check: empty: this folder has no file whose name ends with .wgsl"),
        ("latin.wgsl", "wgsl check: latin.wgsl: byte 3 is 0xe9, which is not UTF-8, as WGSL must be"),
        ("clean.wgsl --target firefox", "argument --target: invalid choice: 'firefox'"),
        ("clean.wgsl --ignore nonsense", "'nonsense' is no kind of problem, such as not-portable, and no rule"),
        ("clean.wgsl --ignore data-race", "'data-race' is a kind that only `wgsl run` finds"),
        ("clean.wgsl -D TILE=2", "-D TILE=2: none of the texts has an `override TILE`"),
        ("sized.wgsl -D SIZE=1.5", "sized.wgsl: SIZE = 1.5: it must be a u32"),
    ],
)
def test_what_does_not_fit_is_named(check, line, message):
    Path("empty").mkdir()
    Path("latin.wgsl").write_bytes(b"// \xe9")
    status, printed = check(line, clean=CLEAN, sized=f"override SIZE: u32;\n{CLEAN}")
    assert status == 2
    assert message in printed


def test_a_file_that_cannot_be_read_hides_no_problem(check):
    status, printed = check("nowhere.wgsl wrong.wgsl", wrong=WRONG)
    assert (status, printed.count("does not compile")) == (2, 2)
    assert check("nowhere.wgsl") == (2, "wgsl check: nowhere.wgsl: No such file or directory\n")


def test_an_override_has_a_value_in_the_texts_that_have_it(check):
    text = "override N: u32;\nvar<workgroup> w: array<u32, N>;\n"
    text += "@compute @workgroup_size(N) fn main() { w[0] = 1u; }\n"
    assert check("sized.wgsl clean.wgsl", sized=text, clean=CLEAN)[1].endswith("1 place not checked\n")
    assert check("sized.wgsl clean.wgsl -D N=8", sized=text, clean=CLEAN) == (0, "2 texts: no problems\n")
    assert "too-many-threads" in check("sized.wgsl -D N=512", sized=text)[1]


# --- What counts ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "refused"),
    [
        (CLEAN, ""),
        (WRONG, "spec chrome naga portable"),
        (POINTER, "naga portable"),
        (BARRIER, "spec chrome portable"),
        (CLEAN.replace("size(1)", "size(1024)"), "chrome naga portable"),
    ],
)
def test_a_problem_counts_for_the_target_that_refuses_the_text(check, text, refused):
    for target in "spec", "chrome", "naga", "portable":
        status, printed = check(f"text.wgsl --target {target}", text=text)
        assert status == (target in refused.split())
        assert printed.endswith("no problems\n") == (status == 0)
    assert check("text.wgsl", text=text)[0] == bool(refused)


def test_what_was_not_checked_is_printed_and_counts_if_that_is_wanted(check):
    status, printed = check("text.wgsl", text=WIDE)
    assert (status, printed.split("\n")[-2]) == (0, "1 text: no problems, 1 place not checked")
    assert "not supported" in printed
    assert check("text.wgsl --strict", text=WIDE)[0] == 1
    assert check("text.wgsl --strict --ignore numbers-of-64-bits", text=WIDE)[0] == 0


@pytest.mark.parametrize("kind", ["not-portable", "not portable", "barrier", "NOT_PORTABLE"])
def test_a_kind_is_ignored_or_allowed_in_a_line(check, kind):
    Path("text.wgsl").write_text(BARRIER, encoding="utf-8")
    assert main(["check", "text.wgsl"]) == 1
    assert main(["check", "text.wgsl", "--ignore", kind]) == 0
    beside = BARRIER.replace("(); }\n", f"(); }} // wgsl: allow {kind} -- t < 2 is meant\n")
    alone = BARRIER.replace("  if", f"  /* a note */ // wgsl: allow {kind}\n\n  if")
    for text in beside, alone:
        assert check("text.wgsl", text=text)[1].endswith("1 text: no problems, 1 allowed\n")
    assert check("text.wgsl", text=beside.replace("// wgsl:", "// see wgsl:"))[0] == 1  # that is none of ours


def test_an_allow_without_a_problem_is_one(check):
    text = CLEAN.replace("\n", " // wgsl: allow not-portable, data race\n")  # the second is a finding of a run
    status, printed = check("text.wgsl", text=text)
    assert status == 1
    assert (
        "text.wgsl:1:43: unused allow: line 1 has no problem of the kind `not-portable`: leave out this co" in printed
    )
    assert printed.endswith("1 text: 1 problem\n")
    assert check("text.wgsl --ignore unused-allow", text=text)[0] == 0
    assert check("text.wgsl --target naga", text=BARRIER.replace("(); }", "(); } // wgsl: allow barrier"))[0] == 0


def test_an_allow_is_not_called_unused_where_something_was_not_checked(check):
    text = WRONG.replace("nothing;", "nothing; // wgsl: allow not-portable")
    assert "unused" not in check("text.wgsl", text=text)[1]
    assert "unused" not in check("text.wgsl", text=f"{WIDE}// wgsl: allow not-portable\n")[1]


def test_a_kind_that_does_not_exist_is_a_problem(check):
    for written, named in ("nonsense", "`nonsense` is no kind"), ("", "a kind of problem is missing here"):
        status, printed = check("text.wgsl", text=f"{CLEAN}// wgsl: allow {written}\n")
        assert (status, "unknown kind: " + named in printed) == (1, True)


def test_expected_problems_are_found_and_nothing_else(check):
    expected = BARRIER.replace("(); }\n", "(); } // expect: not portable\n")
    wrong = WRONG.replace("1.5;", "1.5; // expect: declared").replace("  _", "  // expect: unknown\n  _")
    run = CLEAN.replace("\n", " // expect: data race\n")  # `wgsl run` judges it
    assert check("a.wgsl b.wgsl c.wgsl --expect", a=expected, b=wrong, c=run) == (0, "3 texts: no problems\n")
    assert check("a.wgsl b.wgsl")[0] == 1  # without --expect they are comments like others
    status, printed = check("text.wgsl --expect", text=wrong.replace("1.5", "1u"))
    assert status == 1
    assert "text.wgsl:2:20: unmet expectation: a problem of the kind `declared` is expected in line 2, and" in printed
    assert check("text.wgsl --expect", text=wrong.replace("// expect: unknown", ""))[1].endswith("1 text: 1 problem\n")
    assert check("a.wgsl --expect --target naga")[0] == 1  # naga takes it


# --- Formats --------------------------------------------------------------------------------------------------------


def test_json(check):
    (problem,) = json.loads(check("text.wgsl --format json", text=POINTER)[1])
    assert problem.pop("message").startswith("not every compiler takes a pointer")
    assert problem == {
        "file": "text.wgsl",
        "line": 2,
        "column": 6,
        "length": 1,
        "level": "error",
        "kind": "not portable",
        "rule": "pointer-parameter",
        "refused_by": ["naga"],
    }
    assert json.loads(check("text.wgsl --format json", text=CLEAN)[1]) == []


def test_github(check):
    Path("50%,a:b.wgsl").write_text(WRONG, encoding="utf-8")
    status, printed = check("50%,a:b.wgsl text.wgsl --format github", text=WIDE)
    assert status == 1
    first, second, notice, _, _ = printed.split("\n")
    assert first.startswith("::error file=50%25%2Ca%3Ab.wgsl,line=2,col=7,title=does not compile::`x` is declared as")
    assert second.startswith("::error file=50%25%2Ca%3Ab.wgsl,line=5,col=7,title=does not compile::nothing is called")
    assert notice.startswith("::notice file=text.wgsl,line=1,col=17,title=not supported::the simulator has no")


def test_a_message_of_several_lines_is_one_command_for_github(check):
    printed = check("text.wgsl --format github", text="fn f() { let a: u32 = 5 %\n 2.5; }")[1]
    assert len(printed.rstrip("\n").split("\n")) == 2
    assert "%25" in printed


def test_sarif(check, capsys):
    """The fields that SARIF 2.1.0 requires, and that code hosts read."""
    whole = Path("b c.wgsl").absolute()
    whole.write_text(WRONG, encoding="utf-8")
    Path("a é.wgsl").write_text(BARRIER.replace("(); }\n", "(); } // wgsl: allow barrier\n"), encoding="utf-8")
    assert main(["check", "a é.wgsl", str(whole), "--format", "sarif"]) == 1
    log = json.loads(capsys.readouterr().out)
    assert (log["version"], log["$schema"][-23:], len(log["runs"])) == ("2.1.0", "sarif-schema-2.1.0.json", 1)
    driver = log["runs"][0]["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("wgsl", VERSION)
    results = log["runs"][0]["results"]
    assert [driver["rules"][result["ruleIndex"]]["id"] for result in results] == [one["ruleId"] for one in results]
    assert [result["ruleId"] for result in results] == ["barrier", "declared", "unknown"]
    assert [result.get("suppressions") for result in results] == [[{"kind": "inSource"}], None, None]
    assert {result["level"] for result in results} == {"error"}
    assert all(result["message"]["text"] for result in results)
    places = [result["locations"][0]["physicalLocation"] for result in results]
    assert [place["artifactLocation"]["uri"] for place in places] == ["a%20%C3%A9.wgsl", whole.as_uri(), whole.as_uri()]
    assert places[2]["region"] == {"startLine": 5, "startColumn": 7, "endLine": 5, "endColumn": 14}


def test_the_command_by_itself(capsys):
    done = subprocess.run([sys.executable, "-m", "wgsl", "--version"], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"wgsl {VERSION}\n", "")
    assert main([]) == 2
    with pytest.raises(SystemExit) as ended:
        main(["race.wgsl", "input=64"])
    assert ended.value.code == 2
    assert "'race.wgsl' is no command: write `wgsl run race.wgsl` or `wgsl check race.wgsl`" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["lint"])
    assert "'lint' is no command; the commands are check and run" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    assert f"Kernels to try are in {EXAMPLES}" in capsys.readouterr().out


def test_a_reader_who_leaves_early_is_no_error():
    command = f"{sys.executable} -m wgsl check --format json {EXAMPLES} --target spec | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60, cwd=EXAMPLES.parents[1])
    assert done.stderr == ""
