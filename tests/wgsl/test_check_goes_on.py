"""`wgsl.check` goes on after a mistake, in the next statement or declaration, with no fault that only follows."""

import pytest
from support.messages import stored
from support.sample import sample
from support.speakers import mistaken

import wgsl
from helpers.operations.kernels import KERNELS

TEXTS = {  # a ◆ stands before each place that is refused
    "a statement, and not what uses its name": (
        "fn f() {\n  let y = ◆nothing;\n  let z = y + 1;\n  let u: u32 = z;\n  let ◆v: u32 = 1.5;\n}"
    ),
    "a statement inside of another one": (
        "fn f() {\n  if (true) { let ◆q: f32 = 1u; }\n  for (var i = 0; i < 3; i++) { let ◆k: bool = 1; }\n}"
    ),
    "a `break` that is lost makes no endless loop": "fn f() {\n  loop { if (◆unknown) { break; } }\n}",
    "a `return` that is lost makes no missing one": "fn f() -> u32 {\n  let ◆x: u32 = 1.5;\n  return x;\n}",
    "a semicolon at the end of a declaration": "const a = 3◆\nfn f() { let ◆x: u32 = 1.5; let y = a; }",
    "the grammar in a function, which others call": (
        "fn f() -> u32 { let x = ◆; return 1; }\nfn g() { let y = f(); let z = y + 1u; let ◆w: bool = 1; }"
    ),
    "a brace that is missing at the end": (
        "fn a() { if (true) { return; }\n◆fn b() { let ◆x: f32 = 1u; }\nfn c() { let x = ◆nope; }"
    ),
    "a brace too many": "fn a() { return; }\n◆}\nfn c() { let x = ◆nope; }",
    "a brace that is missing at the begin": "fn a()◆ \n  return;\n  var x = 3;\n}\nfn c() { let x = ◆nope; }",
    "another language": "◆int main() { return 0; }\nfn ok() { let a = ◆b; }",
    "all in one line": "fn a() { x ◆} fn b() { let ◆u: u32 = 1.5; } const c = ◆; fn d() { let k = c; let m = ◆n; }",
    "all indented": "  fn a() { let x = 1 ◆}\n  const b = 2◆\n  fn c() { let ◆d: u32 = 1.5; let e = b; }\n",
    "a name that is declared twice": "const a = 1;\nconst ◆a = 2;\nfn c() { let x = ◆nope + a; }",
    "a directive": "enable ◆f17;\nfn c() { let x = ◆nope; }",
    "a name that nothing has, once in each function": (
        "fn c() { let x = ◆nope; let y = 2 * nope; { _ = nope; } }\nfn d() { let x = ◆nope; let nope = 1; _ = nope; }"
    ),
    "a constant that is wrong, once": "const a: u32 = ◆b;\nfn f() { let x = a; let ◆y: bool = 1; }",
    "a comment that never ends": "fn c() { let x = nope; }\n◆/* fn d() {",
}


@pytest.mark.parametrize("situation", TEXTS)
def test_each_place_is_named_and_no_other_one(situation):
    *before, _ = TEXTS[situation].split("◆")
    text = "".join(TEXTS[situation].split("◆"))
    offsets = [len("".join(before[: i + 1])) for i in range(len(before))]
    wanted = [(text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)) for at in offsets]
    assert [(problem.line, problem.column) for problem in wgsl.check(text)] == wanted


def test_one_mistake_is_one_problem():
    for _, place, marked, _ in sample(stored("compile_errors"), 60):
        text = mistaken(place, marked.replace("▸", ""))
        mutual = "const b = a;" in text  # two constants that use each other
        assert len(wgsl.check(text)) == 1 + mutual, text


def test_the_cures_of_several_faults_are_looked_for_in_fragments_of_kernels():
    """Their names are declared in other files."""
    for path in (KERNELS / "shared").glob("*.wgsl"):
        problems = wgsl.check(path.read_text(encoding="utf-8"))
        assert {problem.rule for problem in problems} <= {"unknown"}, path
        assert len(problems) < 20, path


def test_only_so_many_faults_of_the_grammar_are_looked_for():
    assert len(wgsl.check("const a = ;\n" * 50)) == 20
