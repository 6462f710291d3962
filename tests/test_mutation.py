"""Mutation testing: a sample of mutants is rejected, a gap in the checker is noticed, and the report is up to date."""

import random
import re

import mutation
import pytest
from support import mutants as making
from support.mutants import NO_COMPILE, judged, mutants
from support.sample import sample
from support.survivors import REASONS, reason

from helpers.wgsl import Kernel

EVERY = mutation.every_mutant()
SAMPLE = sample(random.Random(9).sample(EVERY, 24), 16)
KERNEL = """\
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
fn main(n: u32) {
  let k = n + 1u;
  for (var i = 0u; i < k; i++) {
    output[i] = 2.0;
  }
}
"""


@pytest.mark.parametrize("mutant", SAMPLE, ids=str)
def test_a_mutant_is_rejected_or_there_is_a_reason_why_it_is_not(mutant):
    assert judged(mutant) or reason(mutant)


def test_a_gap_in_the_checker_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(making, "reasons", lambda kernel, shape: ())
    monkeypatch.setattr(mutation, "judge_all", lambda chosen: [(mutant, judged(mutant)) for mutant in chosen])
    assert mutation.main(["sum/1_one_thread"]) == 1
    assert "survives, and no reason is known: sum/1_one_thread:" in capsys.readouterr().out


def test_the_report_is_up_to_date():
    """Run `python tests/mutation.py` again where this fails."""
    report = mutation.REPORT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\w+/\w+) \| ([\d,]+) \|", report, re.MULTILINE)
    assert [(name, int(count.replace(",", ""))) for name, count in rows] == [
        (name, len(of_kernel)) for name, of_kernel in mutation.by_kernel([(mutant, "") for mutant in EVERY])
    ]
    survivors = set(re.findall(r"^- (.+)$", report, re.MULTILINE))
    known = {str(mutant).partition(":")[2] for mutant in EVERY if reason(mutant)}
    assert survivors <= known
    assert [why for why in REASONS.values() if why not in report] == []
    assert "No reason is known" not in report


# --- What is changed ----------------------------------------------------------------------------------------


def changes(old: str) -> set[str]:
    """What stands in the place of a piece of the small kernel, in all of its mutants."""
    return {mutant.new for mutant in mutants(Kernel(KERNEL)) if mutant.old == old}


def test_each_thing_is_changed_in_its_way():
    assert changes("+") == {"-"}
    assert changes("<") == {"<=", ">", "!="}
    assert changes("k") == {"m", "n", "load_k", "first", "(k + 1u)", "(k - 1u)"}
    assert changes("1u") == {"2u", "0u"}
    assert changes("2.0") == {"4.0", "1.0"}
    assert changes("++") == {" += 2u"}
    assert changes("output[i] = 2.0;") == {""}


def test_declarations_are_not_changed():
    assert {mutant.line for mutant in mutants(Kernel(KERNEL))} == {4, 5, 6}


def test_a_mutant_is_named_by_its_line():
    (mutant,) = (each for each in mutants(Kernel(KERNEL, "sum/1_one_thread")) if each.old == "+")
    assert str(mutant) == "sum/1_one_thread:4: `let k = n + 1u;` -> `let k = n - 1u;`"


def test_a_mutant_that_does_not_compile_is_not_counted_as_rejected():
    mutant = next(each for each in EVERY if each.kernel.name == "sum/1_one_thread")
    broken = mutant._replace(new="?")
    assert judged(broken) == NO_COMPILE
