"""Mutation testing: a sample of mutants is rejected, a gap in the checker is noticed, and the report is up to date."""

import random
import re
from collections import Counter

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
    counted = Counter(mutant.kernel.name for mutant in EVERY)
    assert {name: int(count.replace(",", "")) for name, count in rows} == counted
    known = {str(mutant).partition(":")[2] for mutant in EVERY if reason(mutant)}
    assert set(re.findall(r"^- (.+)$", report, re.MULTILINE)) <= known
    assert all(why in report for why in REASONS.values())
    assert "No reason is known" not in report


# --- What is changed ----------------------------------------------------------------------------------------

CHANGES = {
    "+": {"-"},
    "<": {"<=", ">", "!="},
    "k": {"m", "n", "load_k", "first", "(k + 1u)", "(k - 1u)"},
    "1u": {"2u", "0u"},
    "2.0": {"4.0", "1.0"},
    "++": {" += 2u"},
    "output[i] = 2.0;": {""},
}


def test_each_thing_is_changed_in_its_way_and_no_declaration():
    made = mutants(Kernel(KERNEL, "sum/1_one_thread"))
    for old, new in CHANGES.items():
        assert {mutant.new for mutant in made if mutant.old == old} == new
    assert {mutant.line for mutant in made} == {4, 5, 6}
    assert "sum/1_one_thread:4: `let k = n + 1u;` -> `let k = n - 1u;`" in map(str, made)


def test_a_mutant_that_does_not_compile_is_not_counted_as_rejected():
    assert judged(EVERY[0]._replace(new="?")) == NO_COMPILE
