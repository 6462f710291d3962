"""Mutation testing: a sample of mutants is rejected, a gap in the checker is noticed, and the report is up to date."""

import random
import re
from collections import Counter

import mutation
import pytest
from support import mutants as making
from support.mutants import judged
from support.sample import sample
from support.survivors import REASONS, reason

EVERY = mutation.every_mutant()
SAMPLE = sample(random.Random(9).sample(EVERY, 24), 8)


@pytest.mark.parametrize("mutant", SAMPLE, ids=str)
def test_a_mutant_is_rejected_or_there_is_a_reason_why_it_is_not(mutant):
    assert judged(mutant) or reason(mutant)


def test_a_gap_in_the_checker_is_noticed(monkeypatch, capsys):
    monkeypatch.setattr(making, "reasons", lambda kernel, shape: ())
    monkeypatch.setattr(mutation, "judge_all", lambda chosen, *where: [(mutant, judged(mutant)) for mutant in chosen])
    assert mutation.main(["sum/1_one_thread"]) == 1
    assert "survives, and no reason is known: sum/1_one_thread:" in capsys.readouterr().out


def test_a_kernel_whose_mutants_are_not_made_is_refused():
    with pytest.raises(ValueError, match="KERNEL = '6_filter_rows': it is a part of none of these: conv2d/1_"):
        mutation.main(["sum/1_one_thread", "6_filter_rows"])


def test_the_report_is_up_to_date():
    """Run `python tests/mutation.py` again where this fails."""
    report = mutation.REPORT.read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| (\w+/\w+) \| ([\d,]+) \|", report)
    counted = Counter(mutant.kernel.name for mutant in EVERY)
    assert {name: int(count.replace(",", "")) for name, count in rows} == counted
    known = {mutation.change(mutant) for mutant in EVERY if reason(mutant)}
    assert set(re.findall(r"(?m)^- (.+)$", report)) <= known
    assert all(why in report for why in REASONS.values())
    assert "No reason is known" not in report
