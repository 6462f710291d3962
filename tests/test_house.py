"""The house stays small: few rooms, no circle of imports, none that climbs.

That these checks can fail is in messages/house_rules.txt.
"""

from support.imports import circle, climbing, modules, order
from support.tokens import ROOT, by_folder, rooms

MOST_ROOMS = 20


def test_there_are_few_rooms():
    assert len(rooms(by_folder(ROOT))) <= MOST_ROOMS


def test_no_import_climbs_or_goes_round_in_a_circle():
    graph = modules(ROOT, "helpers", "wgsl")
    assert circle(graph) == []
    assert climbing(graph, order((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))) == []
