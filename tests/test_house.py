"""The house stays small: a budget of tokens for each folder, few rooms, no circle of imports, none that climbs.

That these checks can fail is in messages/house_rules.txt.
"""

from support.imports import circle, climbing, modules, order
from support.tokens import BUDGET, ROOT, budget, by_folder, over, rooms

MOST_ROOMS = 20


def test_every_folder_keeps_to_its_budget_and_there_are_few_rooms():
    counts = by_folder(ROOT)
    assert over(counts, budget(BUDGET.read_text(encoding="utf-8"))) == []
    assert len(rooms(counts)) <= MOST_ROOMS


def test_no_import_climbs_or_goes_round_in_a_circle():
    graph = modules(ROOT, "helpers", "wgsl")
    assert circle(graph) == []
    assert climbing(graph, order((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))) == []
